// Functions of the kernels on one row of lanes, for the benchmarks that measure just that.
#pragma once

#include "kernels/bandit/view.hpp"
#include "kernels/philox.hpp"
#include "micro.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr int kWide = kBanditWide;
inline constexpr int kNarrow = kBanditNarrow;

// y = f(x), f of a strip of lanes.
template <int W, typename F>
COMMITTAL_INLINE void map_row(const double* x, double* y, F f) {
  COMMITTAL_STRIPS(l, W) f(Strip::load(x + l)).store(y + l);
}

// Rounds of six instructions make a pair, seven more a uniform of each.
inline constexpr double kLeastUniform = 3 * kPhiloxRounds + 7;
inline constexpr double kLeastExp = 27;
inline constexpr double kLeastLog = 27;

}  // namespace committal::COMMITTAL_ISA
