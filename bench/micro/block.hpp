// A block of bandit runs with numbers in it, for kernels that work on one.
#pragma once

#include "kernels/bandit/run.hpp"
#include "rows.hpp"
#include "whole.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W, int K>
struct FilledBlock {
  const BanditView& plan = micro::natural_bandit(K);
  Block<KT, W> s;

  FilledBlock() {
    Arena counting;
    lay_out(s, plan, K, counting);
    Arena arena(micro::numbers(static_cast<std::int64_t>(counting.bytes() / sizeof(double)), 0, 0));
    lay_out(s, plan, K, arena);
    const double* theta = micro::numbers(K * W, -3.0, 3.0);
    for (int i = 0; i < K * W; ++i) s.theta[i] = theta[i];
    for (int l = 0; l < W; ++l) rebase_lane(s, l);
  }
};

}  // namespace committal::COMMITTAL_ISA
