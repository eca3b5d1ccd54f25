// Functions of the kernels on one row of lanes, for the benchmarks that measure just that.
#pragma once

#include "kernels/bandit/view.hpp"
#include "kernels/philox.hpp"
#include "micro.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr int kWide = kBanditWide;
inline constexpr int kNarrow = kBanditNarrow;

#if __has_include("kernels/vector.hpp")
#define COMMITTAL_ROW_OF(x, y, formula) \
  COMMITTAL_STRIPS(l, W) {              \
    const Strip v = Strip::load(x + l); \
    (formula).store(y + l);             \
  }
#else
#define COMMITTAL_ROW_OF(x, y, formula) \
  COMMITTAL_LANES(l, W) {               \
    const double v = x[l];              \
    y[l] = formula;                     \
  }
using Strip = double;
COMMITTAL_INLINE double exp_of(double x) { return lane_exp(x); }
COMMITTAL_INLINE double log_of(double x) { return lane_log(x); }
#endif

template <int W>
COMMITTAL_INLINE void exp_row(const double* x, double* y) {
  COMMITTAL_ROW_OF(x, y, exp_of(v))
}
template <int W>
COMMITTAL_INLINE void log_row(const double* x, double* y) {
  COMMITTAL_ROW_OF(x, y, log_of(v))
}
template <int W>
COMMITTAL_INLINE void quantile_row(const double* x, double* y) {
  COMMITTAL_ROW_OF(x, y, normal_quantile(v))
}
// exp(x) / (1 + x)
template <int W>
COMMITTAL_INLINE void exp_and_divide_row(const double* x, double* y) {
  COMMITTAL_ROW_OF(x, y, exp_of(v) / (Strip(1.0) + v))
}

// Rounds of six instructions make a pair, seven more a uniform of each.
inline constexpr double kLeastUniform = 3 * kPhiloxRounds + 7;
inline constexpr double kLeastExp = 27;
inline constexpr double kLeastLog = 27;

}  // namespace committal::COMMITTAL_ISA
