// Functions of the kernels on one row of lanes, for the benchmarks that measure just that.
#pragma once

#include "kernels/bandit/view.hpp"
#include "kernels/philox.hpp"
#include "micro.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr int kWide = kBanditWide;
inline constexpr int kNarrow = kBanditNarrow;

template <int W>
COMMITTAL_INLINE void exp_row(const double* x, double* y) {
  COMMITTAL_LANES(l, W) y[l] = lane_exp(x[l]);
}
template <int W>
COMMITTAL_INLINE void log_row(const double* x, double* y) {
  COMMITTAL_LANES(l, W) y[l] = lane_log(x[l]);
}
template <int W>
COMMITTAL_INLINE void quantile_row(const double* x, double* y) {
  COMMITTAL_LANES(l, W) y[l] = normal_quantile(x[l]);
}
// exp(x) / (1 + x)
template <int W>
COMMITTAL_INLINE void exp_and_divide_row(const double* x, double* y) {
  COMMITTAL_LANES(l, W) y[l] = lane_exp(x[l]) / (1.0 + x[l]);
}

inline constexpr double kLeastUniform = 37;  // ten rounds of six for a pair, seven for each of it
inline constexpr double kLeastExp = 27;
inline constexpr double kLeastLog = 27;

}  // namespace committal::COMMITTAL_ISA
