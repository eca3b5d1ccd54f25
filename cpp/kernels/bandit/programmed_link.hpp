// A link of the user's own: pi = f(theta) / F with F = sum f, and rise = f'(theta).
#pragma once

#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

// Along the score of the link: f'_a / f_a at the arm drawn, less f' / F everywhere.
template <int KT, int W>
inline void add_linked(Block<KT, W>& s, const double* rise, double inverse_samples) {
  for (int l = 0; l < W; ++l) s.spare2[l] = s.weight[s.action[l] * W + l];
  COMMITTAL_STRIPS(l, W) {
    const Strip inverse_total = Strip(1.0) / Strip::load(s.total + l);
    const Strip ratio = Strip::load(s.spare2 + l) * inverse_total * Strip::load(s.importance + l);
    const Strip coefficient =
        (Strip::load(s.reward + l) - Strip::load(s.baseline + l)) * ratio * Strip(inverse_samples);
    coefficient.store(s.spare + l);
    const Strip share = coefficient * inverse_total;
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const std::int64_t at = k * W + l;
      (Strip::load(s.direction + at) - share * Strip::load(rise + at)).store(s.direction + at);
    }
  }
  for (int l = 0; l < W; ++l) {
    const std::int64_t at = s.action[l] * W + l;
    s.direction[at] += s.spare[l] * (rise[at] / s.spare2[l]);
  }
}
// E g = f' / F (r - J)
template <int KT, int W>
inline void expect_linked(Block<KT, W>& s, const BanditView& plan, const double* rise) {
  evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{plan.means.data}, 0.0, s.spare);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_STRIPS(l, W) {
      (Strip::load(rise + k * W + l) / Strip::load(s.total + l) *
       (Strip(plan.means[k]) - Strip::load(s.spare + l)))
          .store(s.direction + k * W + l);
    }
  }
}

// Weights must be numbers from 0 and their total positive: remembered, as it may pass.
template <int KT, int W>
inline void check_link(const Block<KT, W>& s, double* bad) {
  COMMITTAL_STRIPS(l, W) {
    const Strip total = Strip::load(s.total + l);
    Strip least = Strip::load(s.weight + l);
    for (std::int64_t k = 1; k < s.K(); ++k) {
      least = smaller(least, Strip::load(s.weight + k * W + l));
    }
    const StripTruth good =
        (least >= Strip(0.0)) & (total > Strip(0.0)) & (total <= Strip(1.7976931348623157e308));
    (Strip::load(bad + l) + where(!good, Strip(1.0))).store(bad + l);
  }
}

}  // namespace committal::COMMITTAL_ISA
