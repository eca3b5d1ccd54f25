// What an action is worth: Q - b, with the exact Q of the policy of each lane.
#pragma once

#include "kernels/baselines.hpp"
#include "kernels/mdp/policies.hpp"
#include "kernels/mdp/solve.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr std::int64_t kMaxSweeps = 1000000;

template <int KT, int W>
inline void evaluate_values(MdpBlock<KT, W>& s) {
  spread_policy(s);
  if (s.plan.solver == Solver::kDirect) {
    solve_values<W>(s.m, s.policy, s.slots, s.values, s.patience);
  } else {
    sweep_values<W>(s.m, s.policy, s.plan.tolerance, kMaxSweeps, s.values, s.spare, s.patience);
  }
}

// V of the policy as it is, exact whatever the solver of the updates: a swept V would record its
// own error. `evaluated`: `values` belongs to it.
template <int KT, int W>
inline const double* exact_values(MdpBlock<KT, W>& s, bool evaluated) {
  const bool swept = s.plan.solver != Solver::kDirect;
  double* values = swept ? s.spare_values : s.values;
  if (swept || !evaluated) {
    spread_policy(s);
    solve_values<W>(s.m, s.policy, s.slots, values, s.patience);
  }
  return values;
}

// q[A] of a place, as q_values() has it, from V.
template <int KT, int W>
COMMITTAL_INLINE void q_values_of(const MdpBlock<KT, W>& s, const Place& place,
                                  const double* values, double* q) {
  const double* value = values + place.lane;
  const std::int64_t first = place.pair;
  if (KT == 4 && s.m.deterministic) {
    const std::int32_t* next = s.next_row + first;
    const Quad after{value[next[0]], value[next[1]], value[next[2]], value[next[3]]};
    *reinterpret_cast<Quad*>(q) = *reinterpret_cast<const Quad*>(s.m.expected_reward + first) +
                                  *reinterpret_cast<const Quad*>(s.m.weight + first) * after;
    return;
  }
  for (std::int64_t k = 0; k < s.A(); ++k) {
    q[k] = s.m.expected_reward[first + k];
    for (std::int64_t at = s.m.row_offsets[first + k]; at < s.m.row_offsets[first + k + 1]; ++at) {
      q[k] += s.m.weight[at] * value[static_cast<std::int64_t>(s.m.next[at]) * W];
    }
  }
}

// b of as many places as a strip has lanes, from their policies and q.
template <int KT, int W>
COMMITTAL_INLINE Places baselines_of(MdpBlock<KT, W>& s) {
  // The policy is normalised: its total is 1 up to rounding, and baselines only need ratios.
  double total[kPlaces];
  Places(1.0).store(total);
  const ArmRows<kPlaces> actions{s.A(), s.strip_policy, total};
  const LaneRewards<kPlaces> q{s.strip_q};
  Places b(s.plan.baseline_offset);
  for (const BaselineTerm& term : s.plan.baseline_terms) {
    double each[kPlaces];
    Places(0.0).store(each);
    evaluate_kind<KT>(term.kind, actions, q, term.parameter, each);
    b += Places(term.coefficient) * Places::load(each);
  }
  return b;
}

// Q of a strip of places into the rows of advantages, and b (the expected estimator: V). Nothing is
// known of what fills up, nor asked.
template <int KT, int W>
COMMITTAL_INLINE void find_q(MdpBlock<KT, W>& s, const Place* place, int filled, double* b) {
  const auto advantage = [&](int i) COMMITTAL_INLINE_LAMBDA { return s.advantage + place[i].own; };
  for (int i = 0; i < filled; ++i) q_values_of(s, place[i], s.values, advantage(i));
  if (s.plan.estimator == MdpEstimator::kExpected) {
    for (int i = 0; i < filled; ++i) b[i] = s.values[place[i].pair / s.A() * W + place[i].lane];
  } else {
    rows_to_strip<KT>(
        s.A(), [&](int i) COMMITTAL_INLINE_LAMBDA { return s.pi_at(place[i].own); },
        s.strip_policy);
    rows_to_strip<KT>(s.A(), advantage, s.strip_q);
    baselines_of(s).store(b);
  }
}

// f(place, how many of them are filled) of every strip of some places, filled up.
template <typename F>
COMMITTAL_INLINE void for_each_strip(const Place* places, std::int64_t count, F&& f) {
  for (std::int64_t first = 0; first < count; first += kPlaces) {
    f(places + first, count - first < kPlaces ? static_cast<int>(count - first) : kPlaces);
  }
}

template <int KT, int W>
COMMITTAL_INLINE void subtract(const MdpBlock<KT, W>& s, const Place& place, double b) {
  double* row = s.advantage + place.own;
  if constexpr (KT == 4) {
    *reinterpret_cast<Quad*>(row) -= b;
  } else {
    for (std::int64_t k = 0; k < s.A(); ++k) row[k] -= b;
  }
}

// advantage = Q - b in some places, filled up.
template <int KT, int W>
inline void find_advantages(MdpBlock<KT, W>& s, const Place* places, std::int64_t count) {
  for_each_strip(places, count, [&](const Place* place, int filled) COMMITTAL_INLINE_LAMBDA {
    double b[kPlaces];
    find_q(s, place, filled, b);
    for (int i = 0; i < filled; ++i) subtract(s, place[i], b[i]);
    s.patience.spend(s.A());
  });
}

}  // namespace committal::COMMITTAL_ISA
