#include <cmath>

#include "kernels/table.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

// The largest error of `y` against the long double `truth`, in units of the last place of y.
double ulps(double y, long double truth) {
  const double nearest = static_cast<double>(truth);
  const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
  return static_cast<double>(std::fabs((static_cast<long double>(y) - truth) / unit));
}

// The same over many inputs, input(i, u) with u uniform, on every instruction set.
template <typename Input, typename Truth>
double worst_error(void (*KernelTable::*function)(const double*, double*, std::size_t),
                   Input&& input, Truth&& truth) {
  std::vector<double> x(20000);
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = input(i, random_number(i));
  double worst = 0.0;
  for (const std::string& isa : available_isas()) {
    (kernel_table(resolve_isa(isa)).*function)(x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst = std::fmax(worst, ulps(y[i], truth(static_cast<long double>(x[i]))));
    }
  }
  return worst;
}

TEST(exp_within_one_ulp) {
  CHECK(
      worst_error(
          &KernelTable::exp,
          [](std::size_t i, double u) { return i % 2 == 0 ? -708.0 + 1417.0 * u : 4.0 * u - 2.0; },
          [](long double x) { return std::exp(x); }) < 1.0);
}

TEST(exp_at_the_ends) {
  const double x[] = {0.0, -708.0, -709.0, -1e300, 709.0, 800.0, 1e300};
  double y[7];
  for (const std::string& isa : available_isas()) {
    kernel_table(resolve_isa(isa)).exp(x, y, 7);
    CHECK(y[0] == 1.0);
    CHECK(y[1] > 0.0);
    CHECK(y[2] == 0.0);
    CHECK(y[3] == 0.0);
    CHECK(std::isfinite(y[4]) && y[4] > 8e307);
    CHECK(y[5] == y[4]);
    CHECK(y[6] == y[4]);
  }
}

TEST(log_within_one_ulp) {
  CHECK(worst_error(
            &KernelTable::log,
            [](std::size_t i, double u) {
              return i % 2 == 0 ? std::exp(1400.0 * (u - 0.5)) : 0.5 + u;
            },
            [](long double x) { return std::log(x); }) < 1.0);
}

TEST(normal_quantile_inverts_the_normal_law) {
  constexpr std::size_t n = 4000;
  std::vector<double> u(n);
  std::vector<double> z(n);
  for (std::size_t i = 0; i < n; ++i) {
    u[i] = i % 2 == 0 ? random_number(i) + 0x1p-53 : std::exp(-36.0 * random_number(i));
  }
  for (const std::string& isa : available_isas()) {
    kernel_table(resolve_isa(isa)).normal_quantile(u.data(), z.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const double back = 0.5 * std::erfc(-z[i] / std::sqrt(2.0));
      // The condition of the inverse: an error of 1e-15 |z| in z moves u by phi(z) 1e-15 |z|.
      CHECK(std::fabs(back - u[i]) <= 1e-13 * u[i] * (1.0 + z[i] * z[i]));
    }
  }
}

}  // namespace
}  // namespace committal
