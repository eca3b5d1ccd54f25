// Every baseline on every lane, for three arms and for a hundred.
#pragma once

#include "kernels/baselines.hpp"
#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

template <typename Part, int KT, int W, int K>
struct BaselineMicro {
  static constexpr micro::Row kRow{"baseline", Part::kRow.name, K};
  static constexpr double kUnits = W;
  double* weight = micro::numbers(K * W, 0.1, 1.0);
  double* total = micro::numbers(W, 0.0, 0.0);
  double* means = micro::numbers(K, 0.0, 1.0);
  double* out = micro::numbers(W, 0.0, 0.0);

  BaselineMicro() { sum_rows<KT, W>(K, weight, total); }
  void call() { evaluate<Part, KT>(ArmRows<W>{K, weight, total}, SharedRewards{means}, 0.25, out); }
};

}  // namespace committal::COMMITTAL_ISA
