// log, for entropies.
#pragma once

#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

struct LogMicro {
  static constexpr micro::Row kRow{"log", "", 0, kLeastLog};
  static constexpr double kUnits = kWide;
  double* x = micro::numbers(kWide, 0.1, 10.0);
  double* y = micro::numbers(kWide, 0.0, 0.0);

  void call() {
    map_row<kWide>(x, y, [](const Strip& v) COMMITTAL_INLINE_LAMBDA { return log_of(v); });
  }
};

}  // namespace committal::COMMITTAL_ISA
