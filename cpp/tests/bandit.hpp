// A small bandit plan for tests.
#pragma once

#include "bandit/simulator.hpp"

namespace committal {

inline BanditPlan small_bandit(std::int64_t arms) {
  const auto count = static_cast<std::size_t>(arms);
  BanditPlan plan;
  plan.arms = arms;
  plan.steps = 60;
  plan.theta0.assign(count, 0.0);
  plan.step_size = {0.1};
  plan.means.assign(count, 0.0);
  plan.means[0] = 1.0;
  plan.spread.assign(count, 0.0);
  plan.reward_variance.assign(count, 0.0);
  plan.baseline_terms = {baseline_term("min_variance_gradient", 1.0, 0.0)};
  plan.times = {0, 7, 60};
  plan.validate();
  return plan;
}

}  // namespace committal
