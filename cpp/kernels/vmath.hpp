// exp, log and the normal quantile without libm: the same bits on every machine.
//
// Only +, -, *, /, sqrt and fma are used, each correctly rounded by IEEE 754, and the compiler may
// not contract or reorder them (-ffp-contract=off, and no fast-math). Written once, for a number
// and for lanes of them. The polynomials are minimax fits; the tests measure their errors.
#pragma once

#include "kernels/vector.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr double kLn2High = 0x1.62e42fefa0000p-1;  // 33 bits: k * kLn2High is exact
inline constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, kept in the low bits
inline constexpr double kExpMin = -708.0;   // below: 0, so that no result is subnormal
inline constexpr double kExpMax = 709.0;    // above: exp(709), so that no result is infinite

// exp(x) within 1 ulp for x in [-708, 709]; 0 below and exp(709) above.
template <typename T>
COMMITTAL_INLINE T exp_of(const T& x) {
  const T y = smaller(x, T(kExpMax));
  const T shifted = fused(y, T(kLog2E), T(kRound));
  const T k = shifted - T(kRound);
  const T r = less_fused(k, T(kLn2Low), less_fused(k, T(kLn2High), y));
  const T r2 = r * r;
  const T r4 = r2 * r2;
  const T q01 = fused(T(0x1.5555555555556p-3), r, T(0x1.0000000000001p-1));
  const T q23 = fused(T(0x1.11111111109b3p-7), r, T(0x1.5555555553d63p-5));
  const T q45 = fused(T(0x1.a01a01a7c41d5p-13), r, T(0x1.6c16c1788bd90p-10));
  const T q67 = fused(T(0x1.71de0dae63bb3p-19), r, T(0x1.a019b90d2ae7ap-16));
  const T q89 = fused(T(0x1.af38a9b0ec855p-26), r, T(0x1.289185613a3d6p-22));
  const T q03 = fused(q23, r2, q01);
  const T q49 = fused(fused(q89, r2, q67), r2, q45);
  const T q = fused(q49, r4, q03);
  const T one_r = T(1.0) + r;
  const T lost = (T(1.0) - one_r) + r;  // exact: what the rounding of 1 + r dropped
  const T p = one_r + fused(r2, q, lost);
  const T scaled = from_bits(to_bits(p) + (to_bits(shifted) << 52));
  return where(x >= T(kExpMin), scaled);  // what was computed below means nothing
}

// w exp(d) within 1 ulp for |d| <= kShortest, by its series: a third of the work.
inline constexpr double kShortest = 0x1p-5;
template <typename T>
COMMITTAL_INLINE T short_growth(const T& w, const T& d) {
  const T d2 = d * d;
  const T q01 = fused(T(1.0 / 2.0), d, T(1.0));
  const T q23 = fused(T(1.0 / 24.0), d, T(1.0 / 6.0));
  const T q45 = fused(T(1.0 / 720.0), d, T(1.0 / 120.0));
  const T q = fused(fused(fused(T(1.0 / 5040.0), d2, q45), d2, q23), d2, q01);
  return fused(w, d * q, w);
}

// The same for |d| <= kGrowthMost, by a polynomial that is next to the series.
inline constexpr double kGrowthMost = 0x1.5p-4;
template <typename T>
COMMITTAL_INLINE T growth(const T& w, const T& d) {
  const T d2 = d * d;
  const T d4 = d2 * d2;
  const T q01 = fused(T(0.5), d, T(1.0));
  const T q23 = fused(T(0x1.5555555556127p-5), d, T(0x1.55555555572e1p-3));
  const T q45 = fused(T(0x1.6c16c1277b8b4p-10), d, T(0x1.111110bb4ea64p-7));
  const T q67 = fused(T(0x1.a029efb4f0ba2p-16), d, T(0x1.a02deb4c71e8fp-13));
  const T q = fused(fused(q67, d2, q45), d4, fused(q23, d2, q01));
  return fused(w, d * q, w);
}

// log(x) within 1 ulp for normal x > 0. Callers never pass 0, negative or subnormal numbers.
template <typename T>
COMMITTAL_INLINE T log_of(const T& x) {
  // x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
  using B = decltype(to_bits(x));
  const B root_half(0x3fe6a09e667f3bcd);
  const B offset = to_bits(x) - root_half;
  // The signed shift keeps k's sign; the float trick converts it without an integer convert.
  const T k = from_bits(shift_right_signed(offset, 52) + to_bits(T(kRound))) - T(kRound);
  const T f = from_bits((offset & B(0x000fffffffffffff)) + root_half) - T(1.0);
  const T s = f / (T(2.0) + f);
  const T z = s * s;
  const T z2 = z * z;
  const T p01 = fused(T(0x1.9999999995273p-2), z, T(0x1.5555555555558p-1));
  const T p23 = fused(T(0x1.c71c62d5e53e0p-3), z, T(0x1.2492492dfd86cp-2));
  const T p45 = fused(T(0x1.39fdcceb4bb45p-3), z, T(0x1.7462b91b8df65p-3));
  const T p46 = fused(T(0x1.2b5f68a50d903p-3), z2, p45);
  const T p = fused(fused(p46, z2, p23), z2, p01);
  const T half_f2 = T(0.5) * f * f;
  const T tail = fused(s, fused(z, p, half_f2), k * T(kLn2Low));
  return k * T(kLn2High) - ((half_f2 - tail) - f);
}

// A polynomial in Horner's form, the highest power first.
template <typename T, int N>
COMMITTAL_INLINE T horner(const T& x, const double (&coefficients)[N]) {
  T sum(coefficients[0]);
  COMMITTAL_PARTS(i, N - 1) sum = sum * x + T(coefficients[i + 1]);
  return sum;
}

// Rational approximations of Wichura (AS 241): near the median, in the tails, far out in them.
inline constexpr double kCentralOver[] = {2.5090809287301226727e3, 3.3430575583588128105e4,
                                          6.7265770927008700853e4, 4.5921953931549871457e4,
                                          1.3731693765509461125e4, 1.9715909503065514427e3,
                                          1.3314166789178437745e2, 3.3871328727963666080e0};
inline constexpr double kCentralUnder[] = {5.2264952788528545610e3, 2.8729085735721942674e4,
                                           3.9307895800092710610e4, 2.1213794301586595867e4,
                                           5.3941960214247511077e3, 6.8718700749205790830e2,
                                           4.2313330701600911252e1, 1.0};
inline constexpr double kMiddleOver[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                         2.41780725177450611770e-1, 1.27045825245236838258e0,
                                         3.64784832476320460504e0,  5.76949722146069140550e0,
                                         4.63033784615654529590e0,  1.42343711074968357734e0};
inline constexpr double kMiddleUnder[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                          1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                          6.89767334985100004550e-1, 1.67638483018380384940e0,
                                          2.05319162663775882187e0,  1.0};
inline constexpr double kFarOver[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                      1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                      2.96560571828504891230e-1, 1.78482653991729133580e0,
                                      5.46378491116411436990e0,  6.65790464350110377720e0};
inline constexpr double kFarUnder[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                       1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                       1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                       5.99832206555887937690e-1,  1.0};

// The quantile of the standard normal law, |relative error| < 1e-15 (Wichura's AS 241), 0 < u < 1.
template <typename T>
COMMITTAL_INLINE T normal_quantile(const T& u) {
  const T q = u - T(0.5);
  const T c = T(0.180625) - q * q;
  const T central = q * horner(c, kCentralOver) / horner(c, kCentralUnder);
  const T r = root(-log_of(smaller(u, T(1.0) - u)));
  const T m = r - T(1.6);
  const T middle = horner(m, kMiddleOver) / horner(m, kMiddleUnder);
  const T f = r - T(5.0);
  const T far = horner(f, kFarOver) / horner(f, kFarUnder);
  const T tail = select(r <= T(5.0), middle, far);
  const T signed_tail = select(q < T(0.0), -tail, tail);
  return select(larger(q, -q) <= T(0.425), central, signed_tail);
}

}  // namespace committal::COMMITTAL_ISA
