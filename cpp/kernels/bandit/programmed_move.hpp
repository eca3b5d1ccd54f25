// theta follows what an optimiser makes of the gradient, some rows at a time: from the gradient of
// one sample to the new weights they stay in the nearest cache.
#pragma once

#include "kernels/bandit/programmed_few.hpp"
#include "kernels/program.hpp"

namespace committal::COMMITTAL_ISA {

// The gradient of one sample as rows of W lanes: `along` times e_a - pi, where `share` is along
// over the total, or times e_a.
struct SampleGradient {
  const double* number;  // a
  const double* along;
  const double* share;
};

template <bool kAlongScore, int KT, int W>
inline void gradient_rows(Block<KT, W>& s, const SampleGradient& g, RowRange rows) {
  for (std::int64_t k = rows.first; k < rows.end; ++k) {
    const Strip arm(static_cast<double>(k));
    COMMITTAL_STRIPS(l, W) {
      const std::int64_t at = k * W + l;
      Strip sum(0.0);
      if constexpr (kAlongScore) sum -= Strip::load(g.share + l) * Strip::load(s.weight + at);
      add_where(Strip::load(g.number + l) == arm, sum, Strip::load(g.along + l))
          .store(s.direction + at);
    }
  }
}

// theta += alpha step, as MovesTheta::apply(), and the total comes along in the order of the arms.
template <int KT, int W>
inline void follow_rows(Block<KT, W>& s, const BoundRows& step, double alpha, RowRange rows) {
  COMMITTAL_STRIPS(l, W) {
    const Strip shift = Strip::load(s.shift + l);
    Strip total = rows.first == 0 ? Strip(0.0) : Strip::load(s.total + l);
    for (std::int64_t k = rows.first; k < rows.end; ++k) {
      const std::int64_t at = k * W + l;
      const Strip theta =
          Strip::load(s.theta + at) + Strip(alpha) * Strip::load(step.row + k * step.arm + l);
      theta.store(s.theta + at);
      const Strip weight = exp_of(theta - shift);
      weight.store(s.weight + at);
      total += weight;
    }
    total.store(s.total + l);
  }
}

}  // namespace committal::COMMITTAL_ISA
