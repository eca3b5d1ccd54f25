// What programs do with the numbers of some lanes.
//
// Nothing hides what is not a number: minimum and maximum hand NaN on, logarithm and exponential
// have the values of IEEE 754 at their ends. What a condition masks may be anything.
#pragma once

#include "kernels/vmath.hpp"

namespace committal::COMMITTAL_ISA {

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
#undef COMMITTAL_PROGRAM_OF_ONE
#undef COMMITTAL_PROGRAM_OF_TWO

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

}  // namespace committal::COMMITTAL_ISA
