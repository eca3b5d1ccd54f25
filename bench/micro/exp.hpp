// exp, for weights of a softmax.
#pragma once

#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

struct ExpMicro {
  static constexpr micro::Row kRow{"exp", "", 0, kLeastExp};
  static constexpr double kUnits = kWide;
  double* x = micro::numbers(kWide, -20.0, 0.0);
  double* y = micro::numbers(kWide, 0.0, 0.0);

  void call() {
    map_row<kWide>(x, y, [](const Strip& v) COMMITTAL_INLINE_LAMBDA { return exp_of(v); });
  }
};

}  // namespace committal::COMMITTAL_ISA
