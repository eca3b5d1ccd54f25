// Rewards: R given the action, from the reward slot of the stream.
#pragma once

#include "kernels/bandit/block.hpp"

namespace committal::COMMITTAL_ISA {

// One number per arm, looked up by action: selects among copies when the arms are few (a lane loop
// can then keep them in registers), a gather otherwise.
template <int KT>
struct PerArm {
  double x[KT];
  explicit PerArm(const double* numbers) { COMMITTAL_ARMS(k, 0, KT) x[k] = numbers[k]; }
  COMMITTAL_INLINE double operator[](std::int64_t action) const {
    double chosen = x[KT - 1];
    if constexpr (KT >= 4) chosen = action == 2 ? x[2] : chosen;
    if constexpr (KT >= 3) chosen = action == 1 ? x[1] : chosen;
    return action == 0 ? x[0] : chosen;
  }
};

template <>
struct PerArm<0> {
  const double* x;
  explicit PerArm(const double* numbers) : x(numbers) {}
  COMMITTAL_INLINE double operator[](std::int64_t action) const { return x[action]; }
};

template <int KT, int W>
COMMITTAL_INLINE void draw_rewards(Block<KT, W>& s, const BanditView& plan, const double* v) {
  const PerArm<KT> mean(plan.means.data);
  const PerArm<KT> spread(plan.spread.data);
  switch (plan.noise) {
    case Noise::kDeterministic:
      COMMITTAL_LANES(l, W) s.reward[l] = mean[s.action[l]];
      break;
    case Noise::kBernoulli:
      COMMITTAL_LANES(l, W) { s.reward[l] = v[l] < mean[s.action[l]] ? 1.0 : 0.0; }
      break;
    case Noise::kGaussian:
      // v + 2^-53 lies strictly inside (0, 1): the quantile is finite.
      COMMITTAL_LANES(l, W) {
        s.reward[l] = mean[s.action[l]] + spread[s.action[l]] * normal_quantile(v[l] + 0x1p-53);
      }
      break;
    case Noise::kUniform:
      COMMITTAL_LANES(l, W) {
        s.reward[l] = mean[s.action[l]] + spread[s.action[l]] * (2.0 * v[l] - 1.0);
      }
      break;
    case Noise::kTable:
      for (int l = 0; l < W; ++l) {
        std::int64_t entry = plan.table_offsets[s.action[l]];
        const std::int64_t last = plan.table_offsets[s.action[l] + 1] - 1;
        while (entry < last && !(v[l] < plan.table_cumulative[entry])) ++entry;
        s.reward[l] = plan.table_values[entry];
      }
      break;
  }
}

}  // namespace committal::COMMITTAL_ISA
