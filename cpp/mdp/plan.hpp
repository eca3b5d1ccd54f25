// An MDP experiment as numbers, but for the MDP itself.
#pragma once

#include <vector>

#include "kernels/mdp/view.hpp"
#include "plan/fields.hpp"

namespace committal {

class MdpModel;

inline constexpr std::int64_t kMostEpochs = 64;

// Owns the arrays. validate() must pass before the fields are seen by kernels.
struct MdpPlan : MdpFields<Owned> {
  MdpPlan();  // with the defaults of the fields that have one

  // Throws std::invalid_argument naming the field, its value and what is allowed.
  void validate(const MdpModel& model) const;

  // Of one update, of all groups.
  std::int64_t episodes() const {
    return samples * (each_start ? static_cast<std::int64_t>(start_states.size()) : 1);
  }

  // Whether episodes are drawn from the policy as it was some updates ago.
  bool lags() const;

  // f(field, each.member...) for every field, see plan/fields.hpp.
  template <typename F, typename... Each>
  static void visit(F&& f, Each&... each);

 private:
  void validate_start(const MdpModel& model) const;
  void validate_terms() const;
  void validate_copies() const;
  void validate_programs() const;
  void validate_quantities() const;
};

template <typename F, typename... Each>
void MdpPlan::visit(F&& f, Each&... each) {
  const std::vector<double> off{0.0};
  const std::vector<double> no_numbers;
  f(Field{"start_states", Required{}, Unchecked{}}, each.start_states...);
  f(Field{"start_cumulative", Required{}, Between{0.0, 1.0 + kSumTolerance}},
    each.start_cumulative...);
  f(Field{"limit", Required{}, Whole{1, kMostEpisode}}, each.limit...);
  f(Field{"steps", Required{}, Whole{0}}, each.steps...);
  f(Field{"theta0", Required{}, Between{-kLargest, kLargest}}, each.theta0...);
  f(Field{"update", "natural", OneOf<MdpUpdate>{}}, each.update...);
  f(Field{"estimator", "exact_q", OneOf<MdpEstimator>{}}, each.estimator...);
  f(Field{"solver", "direct", OneOf<Solver>{}}, each.solver...);
  f(Field{"tolerance", 1e-3, Between{0.0, kLargest}}, each.tolerance...);
  f(Field{"discounted", false, Unchecked{}}, each.discounted...);
  f(Field{"samples", 1, Whole{1, kMostSamples}}, each.samples...);
  f(Field{"each_start", false, Unchecked{}}, each.each_start...);
  f(Field{"epochs", 1, Whole{1, kMostEpochs}}, each.epochs...);
  f(Field{"step_size", Required{}, Scheduled{0.0, kLargest}}, each.step_size...);
  f(Field{"baseline_terms", std::vector<BaselineTerm>{}, Terms{}}, each.baseline_terms...);
  f(Field{"baseline_offset", 0.0, Between{-kLargest, kLargest}}, each.baseline_offset...);
  f(Field{"running_mean_initial", 0.0, Between{-kLargest, kLargest}}, each.running_mean_initial...);
  f(Field{"behaviour", "on_policy", OneOf<Behaviour>{}}, each.behaviour...);
  f(Field{"exploration", off, Scheduled{0.0, 1.0}}, each.exploration...);
  f(Field{"behaviour_probabilities", no_numbers, Between{0.0, 1.0}},
    each.behaviour_probabilities...);
  f(Field{"times", Required{}, Times{}}, each.times...);
  f(Field{"programs", ProgramSet{}, Unchecked{}}, each.programs...);
  f(Field{"quantity_states", std::vector<std::int32_t>{}, Unchecked{}}, each.quantity_states...);
}

}  // namespace committal
