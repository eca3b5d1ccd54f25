// Uniforms of the streams: a stretch of draws for a block of runs.
#pragma once

#include "rows.hpp"

namespace committal::COMMITTAL_ISA {

struct UniformsMicro {
  static constexpr micro::Row kRow{"uniforms", "", 0, kLeastUniform};
  static constexpr double kUnits = kWide * kDraws;
  std::uint64_t run[kWide];
  std::uint64_t first = 0;
  double* out = micro::numbers(kWide * kDraws, 0.0, 1.0);

  UniformsMicro() {
    for (int l = 0; l < kWide; ++l) run[l] = static_cast<std::uint64_t>(l);
  }
  void call() {
    fill_uniforms<kWide>(1, run, 0, first, out);
    first += kDraws;
  }
};

}  // namespace committal::COMMITTAL_ISA
