// What an action is worth: Q - b in every state, with the exact Q of the policy of each lane.
#pragma once

#include "kernels/baselines.hpp"
#include "kernels/mdp/block.hpp"
#include "kernels/mdp/solve.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr std::int64_t kMaxSweeps = 1000000;

template <int KT, int W>
inline void evaluate_values(MdpBlock<KT, W>& s) {
  if (s.plan.solver == Solver::kDirect) {
    solve_values<W>(s.m, s.policy, s.slots, s.values, s.patience);
  } else {
    sweep_values<W>(s.m, s.policy, s.plan.tolerance, kMaxSweeps, s.values, s.spare, s.patience);
  }
}

// advantage of state i -= b
template <int KT, int W>
inline void subtract(MdpBlock<KT, W>& s, std::int64_t i, const double* b) {
  for (std::int64_t k = 0; k < s.A(); ++k) {
    double* row = s.advantage + (i * s.A() + k) * W;
    COMMITTAL_LANES(l, W) row[l] -= b[l];
  }
}

// values, and advantage = Q - b (the expected estimator: Q - V).
template <int KT, int W>
inline void evaluate_policy(MdpBlock<KT, W>& s) {
  evaluate_values(s);
  q_values<W>(s.m, s.values, s.advantage);
  if (s.plan.estimator == MdpEstimator::kExpected) {
    for (std::int64_t i = 0; i < s.n; ++i) subtract(s, i, s.values + i * W);
    return;
  }
  fill<W>(s.spare2, 1.0);
  for (std::int64_t i = 0; i < s.n; ++i) {
    // The policy is normalised: its total is 1 up to rounding, and baselines only need ratios.
    const ArmRows<W> actions{s.A(), s.policy + i * s.A() * W, s.spare2};
    const LaneRewards<W> q{s.advantage + i * s.A() * W};
    double* b = s.baseline + i * W;
    fill<W>(b, s.plan.baseline_offset);
    for (const BaselineTerm& term : s.plan.baseline_terms) {
      evaluate_kind<KT>(term.kind, actions, q, term.parameter, s.spare);
      COMMITTAL_LANES(l, W) b[l] += term.coefficient * s.spare[l];
    }
    subtract(s, i, b);
  }
}

}  // namespace committal::COMMITTAL_ISA
