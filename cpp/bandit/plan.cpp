#include "bandit/plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace committal {
template <>
const std::vector<std::string>& names<Policy>() {
  static const std::vector<std::string> all{"softmax", "direct"};
  return all;
}
template <>
const std::vector<std::string>& names<Update>() {
  static const std::vector<std::string> all{"vanilla", "natural", "projected"};
  return all;
}
template <>
const std::vector<std::string>& names<Estimator>() {
  static const std::vector<std::string> all{"sampled", "expected"};
  return all;
}
template <>
const std::vector<std::string>& names<Behaviour>() {
  static const std::vector<std::string> all{"on_policy", "uniform_mixture", "epsilon_greedy",
                                            "fixed"};
  return all;
}
template <>
const std::vector<std::string>& names<Noise>() {
  static const std::vector<std::string> all{"deterministic", "bernoulli", "gaussian", "uniform",
                                            "table"};
  return all;
}
template <>
const std::vector<std::string>& names<BaselineKind>() {
  static const std::vector<std::string> all{
      "value",   "min_variance_gradient", "min_variance_natural", "min_variance_fixed_lambda",
      "maximum", "running_mean"};
  return all;
}
template <>
const std::vector<std::string>& names<Quantity>() {
  static const std::vector<std::string> all{"value",  "policy", "theta",  "baseline", "entropy",
                                            "action", "reward", "regret", "variance", "distance"};
  return all;
}

BaselineKind baseline_kind(std::string_view name) {
  return resolve<BaselineKind>("baseline_terms", name);
}

Quantity quantity(std::string_view name) { return resolve<Quantity>("outputs", name); }

void BanditPlan::validate() const {
  const auto policy_kind = resolve<Policy>("policy", policy);
  const auto update_kind = resolve<Update>("update", update);
  const auto estimator_kind = resolve<Estimator>("estimator", estimator);
  const auto behaviour_kind = resolve<Behaviour>("behaviour", behaviour);
  const auto noise_kind = resolve<Noise>("noise", noise);
  if (arms < 1) refuse("arms", std::to_string(arms), "at least 1");
  if (arms > std::int64_t{1} << 31) refuse("arms", std::to_string(arms), "at most 2^31");
  if (steps < 0) refuse("steps", std::to_string(steps), "at least 0");
  if (samples < 1) refuse("samples", std::to_string(samples), "at least 1");
  if (steps >= kMaxDraws / samples) {
    refuse("steps", std::to_string(steps), "steps * samples below 2^56");
  }
  require_count("theta0", theta0.size(), arms);
  require_count("means", means.size(), arms);
  require_count("spread", spread.size(), arms);
  require_count("reward_variance", reward_variance.size(), arms);
  require_range("theta0", theta0, -kLargest, kLargest);
  require_range("means", means, -kLargest, kLargest);
  require_range("spread", spread, 0.0, kLargest);
  require_range("reward_variance", reward_variance, 0.0, kLargest * kLargest);
  require_schedule("step_size", step_size, steps, 0.0, kLargest);
  require_schedule("entropy", entropy, steps, 0.0, kLargest);
  require_schedule("implicit", implicit, steps, 0.0, kLargest);
  require_schedule("exploration", exploration, steps, 0.0, 1.0);
  if (contrast && arms != 2) refuse("contrast", "true", "two arms");
  if ((policy_kind == Policy::kDirect) != (update_kind == Update::kProjected)) {
    refuse("update", quoted(update) + " with policy " + quoted(policy),
           "'projected' for 'direct', 'vanilla' or 'natural' for 'softmax'");
  }
  if (policy_kind == Policy::kDirect) {
    require_law("theta0", theta0);
    if (entropy != std::vector<double>{0.0}) {
      refuse("entropy", "a temperature with policy 'direct'", "0");
    }
  }
  if (behaviour_kind == Behaviour::kFixed) {
    require_behaviour_law(behaviour_probabilities, arms);
  }
  if (noise_kind == Noise::kBernoulli) require_range("means", means, 0.0, 1.0);
  if (noise_kind == Noise::kTable) {
    require_count("table_offsets", table_offsets.size(), arms + 1);
    require_count("table_cumulative", table_cumulative.size(),
                  static_cast<std::int64_t>(table_values.size()));
    require_range("table_values", table_values, -kLargest, kLargest);
    require_range("table_cumulative", table_cumulative, 0.0, 1.0);
    if (table_offsets.front() != 0 ||
        table_offsets.back() != static_cast<std::int64_t>(table_values.size())) {
      refuse("table_offsets", "offsets that do not span the table",
             "0 first and the length of table_values last");
    }
    for (std::size_t k = 0; k + 1 < table_offsets.size(); ++k) {
      if (table_offsets[k] >= table_offsets[k + 1]) {
        refuse("table_offsets[" + std::to_string(k + 1) + "]", std::to_string(table_offsets[k + 1]),
               "at least one entry per arm");
      }
    }
  }
  require_terms(terms);
  if (has_running_mean(terms) && estimator_kind == Estimator::kExpected) {
    refuse("baseline_terms", "'running_mean' with estimator 'expected'",
           "an estimator that draws rewards");
  }
  require_range("baseline_offset", {baseline_offset}, -kLargest, kLargest);
  require_range("running_mean_initial", {running_mean_initial}, -kLargest, kLargest);
  require_times(times, steps);
}

BanditView BanditPlan::view() const {
  const auto schedule = [](const std::vector<double>& x) {
    return Schedule{x.data(), static_cast<std::int64_t>(x.size())};
  };
  BanditView v{};
  v.arms = arms;
  v.steps = steps;
  v.samples = samples;
  v.policy = resolve<Policy>("policy", policy);
  v.contrast = contrast;
  v.update = resolve<Update>("update", update);
  v.estimator = resolve<Estimator>("estimator", estimator);
  v.behaviour = resolve<Behaviour>("behaviour", behaviour);
  v.noise = resolve<Noise>("noise", noise);
  v.theta0 = theta0.data();
  v.step_size = schedule(step_size);
  v.entropy = schedule(entropy);
  v.implicit = schedule(implicit);
  v.exploration = schedule(exploration);
  v.regularised = std::any_of(entropy.begin(), entropy.end(), [](double x) { return x > 0.0; });
  v.terms = terms.data();
  v.term_count = static_cast<std::int64_t>(terms.size());
  v.baseline_offset = baseline_offset;
  for (const BaselineTerm& term : terms) {
    if (term.kind == BaselineKind::kRunningMean) {
      v.uses_running_mean = true;
      v.running_mean_rate = term.parameter;
    }
  }
  v.running_mean_initial = running_mean_initial;
  v.behaviour_probabilities = behaviour_probabilities.data();
  v.means = means.data();
  v.spread = spread.data();
  v.reward_variance = reward_variance.data();
  v.table_offsets = table_offsets.data();
  v.table_values = table_values.data();
  v.table_cumulative = table_cumulative.data();
  const auto best = std::max_element(means.begin(), means.end());
  v.best_mean = *best;
  v.best_arm = best - means.begin();
  v.times = times.data();
  v.time_count = static_cast<std::int64_t>(times.size());
  return v;
}

std::int64_t BanditPlan::width(Quantity quantity) const {
  switch (quantity) {
    case Quantity::kPolicy:
      return arms;
    case Quantity::kTheta:
      return contrast ? 1 : arms;
    case Quantity::kAction:
    case Quantity::kReward:
      return samples;
    default:
      return 1;
  }
}

}  // namespace committal
