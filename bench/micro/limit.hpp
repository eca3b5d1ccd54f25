// The least that a natural step can cost: one uniform, one exp and one division, by the code that
// the kernels use, and nothing else.
#pragma once

#include "uniforms.hpp"

namespace committal::COMMITTAL_ISA {

struct LimitMicro {
  static constexpr micro::Row kRow{"limit", "", 0, kLeastUniform + kLeastExp + 1};
  static constexpr double kUnits = UniformsMicro::kUnits;
  UniformsMicro uniforms;
  double* y = micro::numbers(kWide, 0.0, 0.0);

  void call() {
    uniforms.call();
    for (int draw = 0; draw < kDraws; ++draw) {
      map_row<kWide>(uniforms.out + draw * kWide, y, [](const Strip& v) COMMITTAL_INLINE_LAMBDA {
        return exp_of(v) / (Strip(1.0) + v);
      });
    }
  }
};

}  // namespace committal::COMMITTAL_ISA
