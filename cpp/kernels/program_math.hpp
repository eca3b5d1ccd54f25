// What programs do with the numbers of some lanes.
//
// Nothing hides what is not a number: minimum and maximum hand NaN on, logarithm and exponential
// have the values of IEEE 754 at their ends. What a condition masks may be anything.
#pragma once

#include "kernels/vmath.hpp"

namespace committal::COMMITTAL_ISA::operations {

template <int W>
COMMITTAL_INLINE Truth<W> is_nan(const Lanes<W>& x) {
  return !(x == x);
}
template <int W>
COMMITTAL_INLINE Lanes<W> truth(const Truth<W>& which) {
  return where(which, Lanes<W>(1.0));
}
template <int W>
COMMITTAL_INLINE Lanes<W> magnitude(const Lanes<W>& x) {
  return from_bits(to_bits(x) & Bits<W>(0x7fffffffffffffff));
}

// exp over all numbers: 0 below -708, infinite where a double is.
template <int W>
COMMITTAL_INLINE Lanes<W> full_exp(const Lanes<W>& x) {
  using T = Lanes<W>;
  constexpr double kStep = 64.0;
  constexpr double kExpOfStep = 0x1.425982cf597cdp+92;
  const Truth<W> beyond = x > T(kExpMax);
  const T near = exp_of(select(beyond, x - T(kStep), x));
  return select(is_nan(x), x, select(beyond, near * T(kExpOfStep), near));
}

// log over all numbers: -inf at 0, NaN below, infinite at infinity.
template <int W>
COMMITTAL_INLINE Lanes<W> full_log(const Lanes<W>& x) {
  using T = Lanes<W>;
  constexpr double kInfinity = __builtin_inf();
  const Truth<W> tiny = x < T(0x1p-1022);
  const T usual = log_of(select(tiny, x * T(0x1p54), x));
  T out = select(tiny, usual - T(54.0 * 0x1.62e42fefa39efp-1), usual);
  out = select(x == T(0.0), T(-kInfinity), out);
  out = select(x < T(0.0), T(__builtin_nan("")), out);
  return select(x < T(kInfinity), out, select(x < T(0.0), out, x));  // infinity and NaN stay
}

// x^y: 1 for y = 0, 0 or infinite for x = 0; below 0 for whole y only, else NaN.
template <int W>
COMMITTAL_INLINE Lanes<W> power_of(const Lanes<W>& x, const Lanes<W>& y) {
  using T = Lanes<W>;
  const auto whole = [](const T& z) COMMITTAL_INLINE_LAMBDA {
    return (magnitude(z) >= T(0x1p51)) | (((z + T(kRound)) - T(kRound)) == z);
  };
  const T size = full_exp(y * full_log(magnitude(x)));
  const T below = select(whole(y), select(whole(y * T(0.5)), size, -size), T(__builtin_nan("")));
  return select(y == T(0.0), T(1.0), select(x < T(0.0), below, size));
}

// Every operation may have a whole number, which few look at.
struct Plain {
  std::int64_t number;
};

#define COMMITTAL_PROGRAM_OF_ONE(Name, expression)    \
  struct Name : Plain {                               \
    template <typename T>                             \
    COMMITTAL_INLINE T operator()(const T& a) const { \
      return expression;                              \
    }                                                 \
  };
#define COMMITTAL_PROGRAM_OF_TWO(Name, expression)                \
  struct Name : Plain {                                           \
    template <typename T>                                         \
    COMMITTAL_INLINE T operator()(const T& a, const T& b) const { \
      return expression;                                          \
    }                                                             \
  };

COMMITTAL_PROGRAM_OF_TWO(Add, a + b)
COMMITTAL_PROGRAM_OF_TWO(Subtract, a - b)
COMMITTAL_PROGRAM_OF_TWO(Multiply, (a * b))
COMMITTAL_PROGRAM_OF_TWO(Divide, a / b)
COMMITTAL_PROGRAM_OF_TWO(Power, power_of(a, b))
COMMITTAL_PROGRAM_OF_TWO(Less, truth(a < b))
COMMITTAL_PROGRAM_OF_TWO(LessEqual, truth(a <= b))
COMMITTAL_PROGRAM_OF_TWO(Greater, truth(a > b))
COMMITTAL_PROGRAM_OF_TWO(GreaterEqual, truth(a >= b))
COMMITTAL_PROGRAM_OF_TWO(Equal, truth(a == b))
COMMITTAL_PROGRAM_OF_TWO(NotEqual, truth(!(a == b)))
COMMITTAL_PROGRAM_OF_TWO(And, truth(!((a == T(0.0)) | (b == T(0.0)))))
COMMITTAL_PROGRAM_OF_TWO(Or, truth(!((a == T(0.0)) & (b == T(0.0)))))
COMMITTAL_PROGRAM_OF_TWO(Minimum, select((a < b) | is_nan(a), a, b))
COMMITTAL_PROGRAM_OF_TWO(Maximum, select((a > b) | is_nan(a), a, b))
COMMITTAL_PROGRAM_OF_ONE(Negate, -a)
COMMITTAL_PROGRAM_OF_ONE(Not, truth(a == T(0.0)))
COMMITTAL_PROGRAM_OF_ONE(Magnitude, magnitude(a))
COMMITTAL_PROGRAM_OF_ONE(Sign, select(a > T(0.0), T(1.0), select(a < T(0.0), T(-1.0), a + T(0.0))))
COMMITTAL_PROGRAM_OF_ONE(Exponential, full_exp(a))
COMMITTAL_PROGRAM_OF_ONE(Logarithm, full_log(a))
COMMITTAL_PROGRAM_OF_ONE(SquareRoot, root(a))
COMMITTAL_PROGRAM_OF_ONE(Copy, a)

struct Choose : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& condition, const T& a, const T& b) const {
    return select(condition == T(0.0), b, a);
  }
};
// Rounded twice, as the two operations that they stand for.
struct MultiplyAdd : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a, const T& b, const T& c) const {
    return a * b + c;
  }
};
struct MultiplySubtract : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a, const T& b, const T& c) const {
    return a * b - c;
  }
};
struct SubtractProduct : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a, const T& b, const T& c) const {
    return c - a * b;
  }
};

struct OverRoot : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& x, const T& y, const T& e) const {
    return x / (root(y) + e);
  }
};
struct TwoProducts : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a, const T& b, const T& c, const T& d) const {
    return a * b + c * d;
  }
};
struct ProductAndSquare : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a, const T& b, const T& c, const T& d) const {
    return a * b + c * (d * d);
  }
};

// What 1 / z has lost by rounding, times 1 / z.
COMMITTAL_PROGRAM_OF_TWO(ReciprocalRest, less_fused(a, b, T(1.0)) * b)
COMMITTAL_PROGRAM_OF_ONE(Reciprocal, T(1.0) / a)
#undef COMMITTAL_PROGRAM_OF_ONE
#undef COMMITTAL_PROGRAM_OF_TWO

// A divisor whose reciprocal is known to about 106 bits, as a sum: x / z without a division.
//
// x (high + low), rounded, is next to the quotient or it; then what is left of x, which is exact,
// times the rounded reciprocal, corrects it to the rounded quotient (Markstein 1990; Brisebarre,
// Muller and Raina 2004). That needs numbers whose remainders are no subnormal ones; for others,
// and where a fused operation is slow, it is a division. The bits are the same.
inline constexpr bool kFusedIsFast = kNativeLanes > 2;
inline constexpr double kLeastDivided = 0x1p-400;
inline constexpr double kMostDivided = 0x1p400;
template <int N>
struct Divisor {
  using T = Lanes<N>;
  T z;
  T high;
  T low;

  COMMITTAL_INLINE static Divisor load(const double* z, const double* high, const double* low) {
    return {T::load(z), T::load(high), T::load(low)};
  }
  // Whether quotients by a number, which is on all lanes, can be had so.
  COMMITTAL_INLINE static bool is_usual(double z) {
    return kFusedIsFast && z >= kLeastDivided && z <= kMostDivided;
  }
  // Of numbers within the bounds.
  COMMITTAL_INLINE T near(const T& x) const {
    const T close = fused(x, high, x * low);
    return fused(less_fused(close, z, x), high, close);
  }
  // The same of zeros, which keep their sign.
  COMMITTAL_INLINE T near_or_zero(const T& x) const { return select(x == T(0.0), x, near(x)); }
};
// Where a magnitude is no number within the bounds; 0 may be left out.
template <int N>
COMMITTAL_INLINE Truth<N> is_unusual(const Lanes<N>& size) {
  return !((size >= Lanes<N>(kLeastDivided)) & (size <= Lanes<N>(kMostDivided)));
}
template <int N>
COMMITTAL_INLINE Truth<N> is_unusual_or_zero(const Lanes<N>& size) {
  return without(is_unusual(size), size == Lanes<N>(0.0));
}

// x^n by squaring, always in the same order.
struct WholePower : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a) const {
    T out(1.0);
    T square = a;
    for (std::int64_t left = number < 0 ? -number : number; left > 0; left >>= 1) {
      if ((left & 1) != 0) out *= square;
      square *= square;
    }
    return number < 0 ? T(1.0) / out : out;
  }
};
struct Square : Plain {
  template <typename T>
  COMMITTAL_INLINE T operator()(const T& a) const {
    return a * a;
  }
};

}  // namespace committal::COMMITTAL_ISA::operations
