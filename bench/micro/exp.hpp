// exp, for weights of a softmax.
#pragma once

#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

struct ExpMicro {
  static constexpr micro::Row kRow{"exp", "", 0, kLeastExp};
  static constexpr double kUnits = kWide;
  double* x = micro::numbers(kWide, -20.0, 0.0);
  double* y = micro::numbers(kWide, 0.0, 0.0);

  void call() { exp_row<kWide>(x, y); }
};

}  // namespace committal::COMMITTAL_ISA
