// A bandit experiment as numbers: what the Python side lowers an Experiment to.
//
// Parts are kept by name; kernels see a BanditView, in which names have become numbers.
#pragma once

#include <vector>

#include "kernels/bandit/view.hpp"
#include "plan/fields.hpp"

namespace committal {

// Owns the arrays. validate() must pass before view() is used.
struct BanditPlan : BanditFields<Owned> {
  BanditPlan();  // with the defaults of the fields that have one

  // Throws std::invalid_argument naming the field, its value and what is allowed.
  void validate() const;
  BanditView view() const;
  // Refuses quantities that are not defined for these programs.
  void require_recordable(std::string_view quantity) const;

  // f(field, each.member...) for every field, see plan/fields.hpp.
  template <typename F, typename... Each>
  static void visit(F&& f, Each&... each);

 private:
  void validate_table() const;
  void validate_programs(const BanditView& view) const;
};

template <typename F, typename... Each>
void BanditPlan::visit(F&& f, Each&... each) {
  const std::vector<double> off{0.0};
  const std::vector<double> no_numbers;
  const std::vector<std::int64_t> no_offsets;
  f(Field{"arms", Required{}, Whole{1, kMostArms}}, each.arms...);
  f(Field{"steps", Required{}, Whole{0}}, each.steps...);
  f(Field{"samples", 1, Whole{1, kMostSamples}}, each.samples...);
  f(Field{"policy", "softmax", OneOf<Policy>{}}, each.policy...);
  f(Field{"contrast", false, Unchecked{}}, each.contrast...);
  f(Field{"update", "natural", OneOf<Update>{}}, each.update...);
  f(Field{"estimator", "sampled", OneOf<Estimator>{}}, each.estimator...);
  f(Field{"behaviour", "on_policy", OneOf<Behaviour>{}}, each.behaviour...);
  f(Field{"noise", "deterministic", OneOf<Noise>{}}, each.noise...);
  f(Field{"theta0", Required{}, Between{-kLargest, kLargest}}, each.theta0...);
  f(Field{"step_size", Required{}, Scheduled{0.0, kLargest}}, each.step_size...);
  f(Field{"entropy", off, Scheduled{0.0, kLargest}}, each.entropy...);
  f(Field{"implicit", off, Scheduled{0.0, kLargest}}, each.implicit...);
  f(Field{"exploration", off, Scheduled{0.0, 1.0}}, each.exploration...);
  f(Field{"baseline_terms", std::vector<BaselineTerm>{}, Terms{}}, each.baseline_terms...);
  f(Field{"baseline_offset", 0.0, Between{-kLargest, kLargest}}, each.baseline_offset...);
  f(Field{"running_mean_initial", 0.0, Between{-kLargest, kLargest}}, each.running_mean_initial...);
  f(Field{"behaviour_probabilities", no_numbers, Between{0.0, 1.0}},
    each.behaviour_probabilities...);
  f(Field{"means", Required{}, Between{-kLargest, kLargest}}, each.means...);
  f(Field{"spread", Required{}, Between{0.0, kLargest}}, each.spread...);
  f(Field{"reward_variance", Required{}, Between{0.0, kLargest * kLargest}},
    each.reward_variance...);
  f(Field{"table_offsets", no_offsets, Unchecked{}}, each.table_offsets...);
  f(Field{"table_values", no_numbers, Between{-kLargest, kLargest}}, each.table_values...);
  f(Field{"table_cumulative", no_numbers, Between{0.0, 1.0}}, each.table_cumulative...);
  f(Field{"times", Required{}, Times{}}, each.times...);
  f(Field{"programs", ProgramSet{}, Unchecked{}}, each.programs...);
}

}  // namespace committal
