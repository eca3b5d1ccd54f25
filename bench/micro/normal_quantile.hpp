// normal_quantile, for Gaussian rewards.
#pragma once

#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

struct QuantileMicro {
  static constexpr micro::Row kRow{"normal_quantile", "", 0, 0};
  static constexpr double kUnits = kWide;
  double* x = micro::numbers(kWide, 0.001, 0.999);
  double* y = micro::numbers(kWide, 0.0, 0.0);

  void call() {
    map_row<kWide>(x, y, [](const Strip& v) COMMITTAL_INLINE_LAMBDA { return normal_quantile(v); });
  }
};

}  // namespace committal::COMMITTAL_ISA
