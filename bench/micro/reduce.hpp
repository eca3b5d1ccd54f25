// Exact sums of a row and of its squares. The same code on every instruction set.
#pragma once

#include "rows.hpp"
#include "whole.hpp"

namespace committal::COMMITTAL_ISA {

struct ReduceMicro {
  static constexpr micro::Row kRow{"reduce", "moments"};
  static constexpr double kUnits = kWide;
  double* x = micro::numbers(kWide, 0.0, 1.0);

  void call() { micro::accumulate_all(x, kWide); }
};

}  // namespace committal::COMMITTAL_ISA
