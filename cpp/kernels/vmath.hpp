// exp, log and the normal quantile without libm: the same bits on every machine.
//
// Only +, -, *, /, sqrt and fma are used, each correctly rounded by IEEE 754, and the compiler may
// not contract or reorder them (-ffp-contract=off, and no fast-math). Written as scalar functions;
// lane loops inline them and vectorise. tools/fit_vmath.py recomputes the polynomials.
#pragma once

#include "kernels/lanes.hpp"

namespace committal::COMMITTAL_ISA {

COMMITTAL_INLINE double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
COMMITTAL_INLINE std::uint64_t to_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
COMMITTAL_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
COMMITTAL_INLINE double root(double x) { return __builtin_sqrt(x); }
COMMITTAL_INLINE double smaller(double a, double b) { return a < b ? a : b; }
COMMITTAL_INLINE double larger(double a, double b) { return a > b ? a : b; }

inline constexpr double kLn2High = 0x1.62e42fefa0000p-1;  // 33 bits: k * kLn2High is exact
inline constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, kept in the low bits
inline constexpr double kExpMin = -708.0;   // below: 0, so that no result is subnormal
inline constexpr double kExpMax = 709.0;    // above: exp(709), so that no result is infinite

// exp(x) within 1 ulp for x in [-708, 709]; 0 below and exp(709) above.
COMMITTAL_INLINE double lane_exp(double x) {
  const double y = smaller(larger(x, kExpMin), kExpMax);
  const double shifted = fused(y, kLog2E, kRound);
  const double k = shifted - kRound;
  const double r = fused(-k, kLn2Low, fused(-k, kLn2High, y));
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double q01 = fused(0x1.5555555555556p-3, r, 0x1.0000000000001p-1);
  const double q23 = fused(0x1.11111111109b3p-7, r, 0x1.5555555553d63p-5);
  const double q45 = fused(0x1.a01a01a7c41d5p-13, r, 0x1.6c16c1788bd90p-10);
  const double q67 = fused(0x1.71de0dae63bb3p-19, r, 0x1.a019b90d2ae7ap-16);
  const double q89 = fused(0x1.af38a9b0ec855p-26, r, 0x1.289185613a3d6p-22);
  const double q03 = fused(q23, r2, q01);
  const double q49 = fused(fused(q89, r2, q67), r2, q45);
  const double q = fused(q49, r4, q03);
  const double one_r = 1.0 + r;
  const double lost = (1.0 - one_r) + r;  // exact: what the rounding of 1 + r dropped
  const double p = one_r + fused(r2, q, lost);
  const double scaled = from_bits(to_bits(p) + (to_bits(shifted) << 52));
  return x < kExpMin ? 0.0 : scaled;
}

// log(x) within 1 ulp for normal x > 0. Callers never pass 0, negative or subnormal numbers.
COMMITTAL_INLINE double lane_log(double x) {
  // x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const std::uint64_t offset = to_bits(x) - kRootHalf;
  // The arithmetic shift keeps k's sign; the float trick converts it without an integer convert.
  const std::int64_t ki = static_cast<std::int64_t>(offset) >> 52;
  const double k = from_bits(static_cast<std::uint64_t>(ki) + to_bits(kRound)) - kRound;
  const double f = from_bits((offset & 0x000fffffffffffff) + kRootHalf) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double z2 = z * z;
  const double p01 = fused(0x1.9999999995273p-2, z, 0x1.5555555555558p-1);
  const double p23 = fused(0x1.c71c62d5e53e0p-3, z, 0x1.2492492dfd86cp-2);
  const double p45 = fused(0x1.39fdcceb4bb45p-3, z, 0x1.7462b91b8df65p-3);
  const double p46 = fused(0x1.2b5f68a50d903p-3, z2, p45);
  const double p = fused(fused(p46, z2, p23), z2, p01);
  const double half_f2 = 0.5 * f * f;
  const double tail = fused(s, fused(z, p, half_f2), k * kLn2Low);
  return k * kLn2High - ((half_f2 - tail) - f);
}

// The quantile of the standard normal law, |relative error| < 1e-15 (Wichura's AS 241), 0 < u < 1.
COMMITTAL_INLINE double normal_quantile(double u) {
  const double q = u - 0.5;
  const double c = 0.180625 - q * q;
  const double central =
      q *
      (((((((2.5090809287301226727e3 * c + 3.3430575583588128105e4) * c + 6.7265770927008700853e4) *
               c +
           4.5921953931549871457e4) *
              c +
          1.3731693765509461125e4) *
             c +
         1.9715909503065514427e3) *
            c +
        1.3314166789178437745e2) *
           c +
       3.3871328727963666080e0) /
      (((((((5.2264952788528545610e3 * c + 2.8729085735721942674e4) * c + 3.9307895800092710610e4) *
               c +
           2.1213794301586595867e4) *
              c +
          5.3941960214247511077e3) *
             c +
         6.8718700749205790830e2) *
            c +
        4.2313330701600911252e1) *
           c +
       1.0);
  const double nearer = smaller(u, 1.0 - u);
  const double r = root(-lane_log(nearer));
  const double m = r - 1.6;
  const double middle = (((((((7.74545014278341407640e-4 * m + 2.27238449892691845833e-2) * m +
                              2.41780725177450611770e-1) *
                                 m +
                             1.27045825245236838258e0) *
                                m +
                            3.64784832476320460504e0) *
                               m +
                           5.76949722146069140550e0) *
                              m +
                          4.63033784615654529590e0) *
                             m +
                         1.42343711074968357734e0) /
                        (((((((1.05075007164441684324e-9 * m + 5.47593808499534494600e-4) * m +
                              1.51986665636164571966e-2) *
                                 m +
                             1.48103976427480074590e-1) *
                                m +
                            6.89767334985100004550e-1) *
                               m +
                           1.67638483018380384940e0) *
                              m +
                          2.05319162663775882187e0) *
                             m +
                         1.0);
  const double f = r - 5.0;
  const double far = (((((((2.01033439929228813265e-7 * f + 2.71155556874348757815e-5) * f +
                           1.24266094738807843860e-3) *
                              f +
                          2.65321895265761230930e-2) *
                             f +
                         2.96560571828504891230e-1) *
                            f +
                        1.78482653991729133580e0) *
                           f +
                       5.46378491116411436990e0) *
                          f +
                      6.65790464350110377720e0) /
                     (((((((2.04426310338993978564e-15 * f + 1.42151175831644588870e-7) * f +
                           1.84631831751005468180e-5) *
                              f +
                          7.86869131145613259100e-4) *
                             f +
                         1.48753612908506148525e-2) *
                            f +
                        1.36929880922735805310e-1) *
                           f +
                       5.99832206555887937690e-1) *
                          f +
                      1.0);
  const double tail = r <= 5.0 ? middle : far;
  const double signed_tail = q < 0.0 ? -tail : tail;
  return (q < 0.0 ? -q : q) <= 0.425 ? central : signed_tail;
}

}  // namespace committal::COMMITTAL_ISA
