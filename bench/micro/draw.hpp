// The draw of an action and 1 / mu(a).
#pragma once

#include "kernels/behaviours.hpp"
#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W, int K>
struct DrawMicro {
  // One product, K - 1 sums and comparisons, as many blends of the arm's weight, the quotient.
  static constexpr micro::Row kRow{"draw", "", K, 3 * K};
  static constexpr double kUnits = W;
  double* q = micro::numbers(K * W, 0.1, 1.0);
  double* total = micro::numbers(W, 0.0, 0.0);
  double* u = micro::numbers(W, 0.0, 0.999);
  double* importance = micro::numbers(W, 0.0, 0.0);
  std::int64_t action[W];

  DrawMicro() { sum_rows<KT, W>(K, q, total); }
  void call() { draw_actions<KT, W>(K, {q, total}, u, 0.0, action, importance); }
};

}  // namespace committal::COMMITTAL_ISA
