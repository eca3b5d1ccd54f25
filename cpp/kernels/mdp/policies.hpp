// The softmax policy of an MDP: theta -> policy, where theta has changed.
#pragma once

#include "kernels/mdp/block.hpp"

namespace committal::COMMITTAL_ISA {

// policy[i] = softmax(theta[i]) of state i on every lane.
template <int KT, int W>
inline void refresh_state(MdpBlock<KT, W>& s, std::int64_t i) {
  const double* theta = s.theta + i * s.A() * W;
  double* policy = s.policy + i * s.A() * W;
  double highest[W];
  double total[W];
  COMMITTAL_LANES(l, W) highest[l] = theta[l];
  for (std::int64_t k = 1; k < s.A(); ++k) {
    COMMITTAL_LANES(l, W) highest[l] = larger(highest[l], theta[k * W + l]);
  }
  fill<W>(total, 0.0);
  for (std::int64_t k = 0; k < s.A(); ++k) {
    COMMITTAL_LANES(l, W) {
      policy[k * W + l] = exp_of(theta[k * W + l] - highest[l]);
      total[l] += policy[k * W + l];
    }
  }
  for (std::int64_t k = 0; k < s.A(); ++k) {
    COMMITTAL_LANES(l, W) policy[k * W + l] /= total[l];
  }
}

// The same for the state in which each lane was at a move. Visiting a state again changes nothing,
// so it does not matter how often it is refreshed.
template <int KT, int W>
inline void refresh_visited(MdpBlock<KT, W>& s, std::int64_t move) {
  const std::int64_t* state = s.path_state + move * W;
  double highest[W];
  double total[W];
  COMMITTAL_LANES(l, W) highest[l] = s.theta[state[l] * s.A() * W + l];
  for (std::int64_t k = 1; k < s.A(); ++k) {
    COMMITTAL_LANES(l, W) {
      highest[l] = larger(highest[l], s.theta[(state[l] * s.A() + k) * W + l]);
    }
  }
  fill<W>(total, 0.0);
  for (std::int64_t k = 0; k < s.A(); ++k) {
    double* weight = s.scratch_rows + k * W;
    COMMITTAL_LANES(l, W) {
      weight[l] = exp_of(s.theta[(state[l] * s.A() + k) * W + l] - highest[l]);
      total[l] += weight[l];
    }
  }
  for (std::int64_t k = 0; k < s.A(); ++k) {
    const double* weight = s.scratch_rows + k * W;
    COMMITTAL_LANES(l, W) s.policy[(state[l] * s.A() + k) * W + l] = weight[l] / total[l];
  }
}

// Either way every policy that may have changed is computed anew, from its theta alone. One state
// of all lanes is cheaper than a state of each, if lanes were in the same ones.
template <int KT, int W>
inline void refresh_touched(MdpBlock<KT, W>& s) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < s.n; ++i) count += s.touched[i];
  const bool together = count <= 2 * s.moves;
  for (std::int64_t move = 0; move < s.moves && !together; ++move) {
    refresh_visited(s, move);
    s.patience.spend(s.A());
  }
  for (std::int64_t i = 0; i <= s.n; ++i) {
    if (together && s.touched[i] != 0) refresh_state(s, i);
    s.touched[i] = 0;
  }
}

}  // namespace committal::COMMITTAL_ISA
