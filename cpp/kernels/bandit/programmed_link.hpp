// A link of the user's own: pi = f(theta) / F with F = sum f, and rise = f'(theta).
#pragma once

#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

// The score of the link at the arm drawn, f'_a / f_a - f'_a / F: of what the others have together,
// for next to a corner the difference would have no digits left. At another arm it is -f' / F.
template <int KT, int W>
inline void own_linked_scores(const Block<KT, W>& s, const std::int64_t* action, const double* rise,
                              double* out) {
  double number[W];
  for (int l = 0; l < W; ++l) number[l] = static_cast<double>(action[l]);
  COMMITTAL_STRIPS(l, W) {
    const Strip a = Strip::load(number + l);
    Strip others(0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      others += where(!(a == Strip(static_cast<double>(k))), Strip::load(s.weight + k * W + l));
    }
    (others / Strip::load(s.total + l)).store(out + l);
  }
  for (int l = 0; l < W; ++l) {
    const std::int64_t at = action[l] * W + l;
    out[l] *= rise[at] / s.weight[at];
  }
}

// Along the score of the link.
template <int KT, int W>
inline void add_linked(Block<KT, W>& s, const double* rise, double inverse_samples) {
  for (int l = 0; l < W; ++l) s.spare2[l] = s.weight[s.action[l] * W + l];
  COMMITTAL_STRIPS(l, W) {
    const Strip inverse_total = Strip(1.0) / Strip::load(s.total + l);
    const Strip ratio = Strip::load(s.spare2 + l) * inverse_total * Strip::load(s.importance + l);
    const Strip coefficient =
        (Strip::load(s.reward + l) - Strip::load(s.baseline + l)) * ratio * Strip(inverse_samples);
    coefficient.store(s.spare + l);
  }
  own_linked_scores(s, s.action, rise, s.spare2);
  double kept[W];
  for (int l = 0; l < W; ++l) kept[l] = s.direction[s.action[l] * W + l];
  COMMITTAL_STRIPS(l, W) {
    const Strip share = Strip::load(s.spare + l) / Strip::load(s.total + l);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const std::int64_t at = k * W + l;
      (Strip::load(s.direction + at) - share * Strip::load(rise + at)).store(s.direction + at);
    }
  }
  for (int l = 0; l < W; ++l) {
    s.direction[s.action[l] * W + l] = kept[l] + s.spare[l] * s.spare2[l];
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
