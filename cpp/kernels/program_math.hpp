// What programs do with the numbers of one vector of lanes.
//
// Nothing hides what is not a number: minimum and maximum hand NaN on, logarithm and exponential
// have the values of IEEE 754 at their ends. What a condition masks may be anything.
#pragma once

#include "kernels/registers.hpp"

namespace committal::COMMITTAL_ISA {

typedef std::uint64_t NativeBits __attribute__((vector_size(kNativeLanes * 8), may_alias));

COMMITTAL_INLINE Native everywhere(double x) { return Native{} + x; }
COMMITTAL_INLINE NativeBits bits_of(Native x) { return (NativeBits)x; }
COMMITTAL_INLINE Native number_of(NativeBits x) { return (Native)x; }
COMMITTAL_INLINE Native truth(NativeTruth x) { return x ? everywhere(1.0) : Native{}; }

COMMITTAL_INLINE Native root(Native x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(x);
#elif defined(__AVX__)
  return _mm256_sqrt_pd(x);
#else
  Native out;
  for (int l = 0; l < kNativeLanes; ++l) out[l] = root(x[l]);
  return out;
#endif
}

COMMITTAL_INLINE Native lower_of(Native a, Native b) { return ((a < b) | (a != a)) ? a : b; }
COMMITTAL_INLINE Native higher_of(Native a, Native b) { return ((a > b) | (a != a)) ? a : b; }

// As lane_exp(), bit for bit.
COMMITTAL_INLINE Native clamped_exp(Native x) {
  const Native least = everywhere(kExpMin);
  const Native most = everywhere(kExpMax);
  const Native above = x > least ? x : least;
  const Native y = above < most ? above : most;
  const Native shifted = fused(y, everywhere(kLog2E), everywhere(kRound));
  const Native k = shifted - kRound;
  const Native r = fused(-k, everywhere(kLn2Low), fused(-k, everywhere(kLn2High), y));
  const Native r2 = r * r;
  const Native r4 = r2 * r2;
  const auto pair = [&](double high, double low) COMMITTAL_INLINE_LAMBDA {
    return fused(everywhere(high), r, everywhere(low));
  };
  const Native q01 = pair(0x1.5555555555556p-3, 0x1.0000000000001p-1);
  const Native q23 = pair(0x1.11111111109b3p-7, 0x1.5555555553d63p-5);
  const Native q45 = pair(0x1.a01a01a7c41d5p-13, 0x1.6c16c1788bd90p-10);
  const Native q67 = pair(0x1.71de0dae63bb3p-19, 0x1.a019b90d2ae7ap-16);
  const Native q89 = pair(0x1.af38a9b0ec855p-26, 0x1.289185613a3d6p-22);
  const Native q03 = fused(q23, r2, q01);
  const Native q49 = fused(fused(q89, r2, q67), r2, q45);
  const Native q = fused(q49, r4, q03);
  const Native one_r = 1.0 + r;
  const Native lost = (1.0 - one_r) + r;
  const Native p = one_r + fused(r2, q, lost);
  const Native scaled = number_of(bits_of(p) + (bits_of(shifted) << 52));
  return x < least ? Native{} : scaled;
}

// exp over all numbers: 0 below -708, infinite where a double is.
COMMITTAL_INLINE Native full_exp(Native x) {
  constexpr double kStep = 64.0;
  constexpr double kExpOfStep = 0x1.425982cf597cdp+92;
  const NativeTruth beyond = x > everywhere(kExpMax);
  const Native near = clamped_exp(beyond ? x - kStep : x);
  const Native out = beyond ? near * kExpOfStep : near;
  return x == x ? out : x;
}

// As lane_log() for normal x > 0, bit for bit.
COMMITTAL_INLINE Native normal_log(Native x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t kBias = 1024;  // a shift without a sign serves on every machine
  const NativeBits offset = bits_of(x) - kRootHalf;
  const NativeBits exponent = (offset + (kBias << 52)) >> 52;
  const Native k = number_of(exponent + std::bit_cast<std::uint64_t>(kRound)) -
                   (kRound + static_cast<double>(kBias));
  const Native f = number_of((offset & 0x000fffffffffffff) + kRootHalf) - 1.0;
  const Native s = f / (2.0 + f);
  const Native z = s * s;
  const Native z2 = z * z;
  const auto pair = [&](double high, double low) COMMITTAL_INLINE_LAMBDA {
    return fused(everywhere(high), z, everywhere(low));
  };
  const Native p01 = pair(0x1.9999999995273p-2, 0x1.5555555555558p-1);
  const Native p23 = pair(0x1.c71c62d5e53e0p-3, 0x1.2492492dfd86cp-2);
  const Native p45 = pair(0x1.39fdcceb4bb45p-3, 0x1.7462b91b8df65p-3);
  const Native p46 = fused(everywhere(0x1.2b5f68a50d903p-3), z2, p45);
  const Native p = fused(fused(p46, z2, p23), z2, p01);
  const Native half_f2 = 0.5 * f * f;
  const Native tail = fused(s, fused(z, p, half_f2), k * kLn2Low);
  return k * kLn2High - ((half_f2 - tail) - f);
}

// log over all numbers: -inf at 0, NaN below, infinite at infinity.
COMMITTAL_INLINE Native full_log(Native x) {
  constexpr double kInfinity = __builtin_inf();
  const NativeTruth tiny = x < everywhere(0x1p-1022);
  const Native scaled = tiny ? x * 0x1p54 : x;
  const Native usual = normal_log(scaled);
  Native out = tiny ? usual - 54.0 * 0x1.62e42fefa39efp-1 : usual;
  out = x == Native{} ? everywhere(-kInfinity) : out;
  out = x < Native{} ? everywhere(__builtin_nan("")) : out;
  out = x == everywhere(kInfinity) ? x : out;
  return x == x ? out : x;
}

// x^y: 1 for y = 0, and 0 or infinite for x = 0; NaN for x < 0 unless y = 0.
COMMITTAL_INLINE Native power_of(Native x, Native y) {
  const Native out = full_exp(y * full_log(x));
  return y == Native{} ? everywhere(1.0) : out;
}

// Every operation may have a whole number, which few look at.
struct Plain {
  std::int64_t number;
};

struct Add : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return a + b; }
};
struct Subtract : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return a - b; }
};
struct Multiply : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return a * b; }
};
struct Divide : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return a / b; }
};
struct Power : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return power_of(a, b); }
};
struct Less : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return truth(a < b); }
};
struct LessEqual : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return truth(a <= b); }
};
struct Greater : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return truth(a > b); }
};
struct GreaterEqual : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return truth(a >= b); }
};
struct Equal : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return truth(a == b); }
};
struct NotEqual : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return truth(a != b); }
};
struct And : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const {
    return truth((a != Native{}) & (b != Native{}));
  }
};
struct Or : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const {
    return truth((a != Native{}) | (b != Native{}));
  }
};
struct Minimum : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return lower_of(a, b); }
};
struct Maximum : Plain {
  COMMITTAL_INLINE Native operator()(Native a, Native b) const { return higher_of(a, b); }
};
struct Negate : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const { return -a; }
};
struct Not : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const { return truth(a == Native{}); }
};
struct Magnitude : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const {
    return number_of(bits_of(a) & 0x7fffffffffffffff);
  }
};
struct Sign : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const {
    const Native at_most_0 = a < Native{} ? everywhere(-1.0) : a + Native{};
    return a > Native{} ? everywhere(1.0) : at_most_0;
  }
};
struct Exponential : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const { return full_exp(a); }
};
struct Logarithm : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const { return full_log(a); }
};
struct SquareRoot : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const { return root(a); }
};
struct Copy : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const { return a; }
};
// x^n by squaring, always in the same order.
struct WholePower : Plain {
  COMMITTAL_INLINE Native operator()(Native a) const {
    Native out = everywhere(1.0);
    Native square = a;
    for (std::int64_t left = number < 0 ? -number : number; left > 0; left >>= 1) {
      if ((left & 1) != 0) out *= square;
      square *= square;
    }
    return number < 0 ? 1.0 / out : out;
  }
};

}  // namespace committal::COMMITTAL_ISA
