// Rewards: R given the action, from the reward slot of the stream.
#pragma once

#include "kernels/bandit/block.hpp"

namespace committal::COMMITTAL_ISA {

// What of a reward does not depend on the action, made where its uniforms are drawn: R = m + s z
// with the mean and spread of the arm. Bernoulli rewards and tables need the uniforms themselves.
template <int W>
inline void prepare_noise(Noise noise, double* rows) {
  if (noise != Noise::kGaussian && noise != Noise::kUniform) return;
  for (int i = 0; i < kDraws * W; i += kStrip) {
    const Strip v = Strip::load(rows + i);
    // v + 2^-53 lies strictly inside (0, 1): the quantile is finite.
    (noise == Noise::kGaussian ? normal_quantile(v + Strip(0x1p-53)) : Strip(2.0) * v - Strip(1.0))
        .store(rows + i);
  }
}

// The rewards of a strip of lanes, given mean and spread of their arms, for all laws but tables.
template <int N>
COMMITTAL_INLINE Lanes<N> reward_of(Noise noise, const Lanes<N>& mean, const Lanes<N>& spread,
                                    const double* z) {
  if (noise == Noise::kDeterministic) return mean;
  if (noise == Noise::kBernoulli) return where(Lanes<N>::load(z) < mean, Lanes<N>(1.0));
  return mean + spread * Lanes<N>::load(z);
}

COMMITTAL_INLINE double reward_of_table(const BanditView& plan, std::int64_t action, double v) {
  std::int64_t entry = plan.table_offsets[action];
  const std::int64_t last = plan.table_offsets[action + 1] - 1;
  while (entry < last && !(v < plan.table_cumulative[entry])) ++entry;
  return plan.table_values[entry];
}

// The rewards of the actions drawn.
template <int KT, int W>
COMMITTAL_INLINE void draw_rewards(Block<KT, W>& s, const BanditView& plan, const double* z) {
  if (plan.noise == Noise::kTable) {
    for (int l = 0; l < W; ++l) s.reward[l] = reward_of_table(plan, s.action[l], z[l]);
    return;
  }
  const bool spreads = plan.noise == Noise::kGaussian || plan.noise == Noise::kUniform;
  for (int l = 0; l < W; ++l) s.reward[l] = plan.means[s.action[l]];
  if (plan.noise == Noise::kDeterministic) return;
  fill<W>(s.spare, 0.0);
  if (spreads) {
    for (int l = 0; l < W; ++l) s.spare[l] = plan.spread[s.action[l]];
  }
  COMMITTAL_STRIPS(l, W) {
    reward_of(plan.noise, Strip::load(s.reward + l), Strip::load(s.spare + l), z + l)
        .store(s.reward + l);
  }
}

}  // namespace committal::COMMITTAL_ISA
