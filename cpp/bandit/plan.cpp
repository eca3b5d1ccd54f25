#include "bandit/plan.hpp"

#include <algorithm>

namespace committal {

BanditPlan::BanditPlan() : BanditFields<Owned>{} { visit(DefaultFields{}, *this); }

void BanditPlan::validate() const {
  visit(CheckFields{steps}, *this);
  require_draws(steps, "samples", samples);
  require_count("theta0", theta0.size(), arms);
  require_count("means", means.size(), arms);
  require_count("spread", spread.size(), arms);
  require_count("reward_variance", reward_variance.size(), arms);
  if (contrast && arms != 2) refuse("contrast", "true", "two arms");
  const BanditView v = view();
  if (rows_of(v.update)[static_cast<std::int64_t>(v.update)].policy != v.policy) {
    std::string allowed = "one that moves such a policy:";
    for (const UpdateRow& row : rows_of(v.update)) {
      if (row.policy == v.policy) allowed.append(" ").append(quoted(row.name));
    }
    refuse("update", quoted(update) + " with policy " + quoted(policy), allowed);
  }
  if (v.policy == Policy::kDirect) {
    require_law("theta0", theta0);
    if (v.regularised) refuse("entropy", "a temperature with policy " + quoted(policy), "0");
  }
  require_behaviour_law(behaviour, behaviour_probabilities, arms);
  if (rows_of(v.behaviour)[static_cast<std::int64_t>(v.behaviour)].remembers &&
      !(exploration.front() > 0.0)) {
    refuse("exploration[0]", "0 with behaviour " + quoted(behaviour), "more than 0");
  }
  if (v.noise == Noise::kBernoulli) require_range("means", means, 0.0, 1.0);
  if (v.noise == Noise::kTable) validate_table();
  validate_programs(v);
  if (v.uses_running_mean && v.estimator == Estimator::kExpected) {
    refuse("baseline_terms", "a mean of the rewards with estimator " + quoted(estimator),
           "an estimator that draws rewards");
  }
}

void BanditPlan::validate_table() const {
  const auto entries = static_cast<std::int64_t>(table_values.size());
  require_count("table_offsets", table_offsets.size(), arms + 1);
  require_count("table_cumulative", table_cumulative.size(), entries);
  if (table_offsets.front() != 0 || table_offsets.back() != entries) {
    refuse("table_offsets", "offsets that do not span the table",
           "0 first and the length of table_values last");
  }
  for (std::size_t k = 1; k < table_offsets.size(); ++k) {
    if (table_offsets[k - 1] >= table_offsets[k]) {
      refuse(item("table_offsets", k), std::to_string(table_offsets[k]),
             "at least one entry per arm");
    }
  }
}

void BanditPlan::validate_programs(const BanditView& v) const {
  using Input = ProgramInput;
  constexpr std::uint32_t kSeen =
      inputs_mask(Input::kTime, Input::kArms, Input::kSamples, Input::kPolicy, Input::kRewards,
                  Input::kTheta, Input::kBehaviour);
  constexpr std::uint32_t kDrawn =
      kSeen |
      inputs_mask(Input::kAction, Input::kReward, Input::kRatio, Input::kScore, Input::kNatural);
  constexpr std::uint32_t kJudged = kDrawn | inputs_mask(Input::kBaseline, Input::kAdvantage);
  constexpr std::uint32_t kWeighed = kJudged | inputs_mask(Input::kWeight);
  ProgramOffers offers{};
  offers.baseline = kDrawn;
  offers.weight = kJudged;
  offers.update = kWeighed;
  offers.link = inputs_mask(Input::kTheta, Input::kArms);
  offers.optimiser = kSeen | inputs_mask(Input::kGradient);
  offers.quantity = kWeighed | inputs_mask(Input::kStart);
  offers.sample_states = true;
  require_programs(programs, offers);
  for (const std::string& name : programs.quantity_names()) {
    for (const Quantity<BanditView>& native : parts().quantities) {
      if (name == native.name) refuse("programs['quantities']", quoted(name), "a name of its own");
    }
  }
  if (v.estimator == Estimator::kExpected) {
    if (programs.baseline || programs.weight || programs.update) {
      refuse("programs", "a baseline, weight or update with estimator " + quoted(estimator),
             "an estimator that draws samples");
    }
    for (const ProgramSet::Held& program : programs.quantities()) {
      if ((program->view().used & kBatchInputs) != 0) {
        refuse("programs['quantities']", "a formula of samples with estimator " + quoted(estimator),
               "an estimator that draws samples");
      }
    }
  }
  if (!programs.link) return;
  if (v.policy != Policy::kSoftmax || v.regularised || contrast) {
    refuse("programs['link']", "a link with another policy, a contrast or an entropy",
           "policy 'softmax' without them");
  }
  if (!programs.update && !rows_of(v.update)[static_cast<std::int64_t>(v.update)].along_score) {
    refuse("programs['link']", "a link with update " + quoted(update), "'vanilla'");
  }
}

void BanditPlan::require_recordable(std::string_view quantity) const {
  if (quantity != "variance") return;
  if (programs.weight || programs.update || programs.link ||
      (programs.baseline && (programs.baseline->view().used & kBatchInputs) != 0)) {
    refuse("outputs", quoted(quantity) + " with a formula that looks at samples or a link",
           "another quantity");
  }
}

BanditView BanditPlan::view() const {
  BanditView v{};
  visit(SeeFields{}, *this, v);
  v.parameters = contrast ? 1 : arms;
  v.regularised = std::any_of(entropy.begin(), entropy.end(), [](double x) { return x > 0.0; });
  const RunningMean mean = running_mean(baseline_terms);
  v.uses_running_mean = mean.used;
  v.running_mean_rate = mean.rate;
  const auto best = std::max_element(means.begin(), means.end());
  v.best_mean = *best;
  v.best_arm = best - means.begin();
  return v;
}

}  // namespace committal
