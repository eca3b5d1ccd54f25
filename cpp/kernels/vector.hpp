// The one vector vocabulary of the kernels: lanes of runs as values that stay in registers.
//
// `Lanes<W>` are W numbers, one per run, held in as many registers of the machine's own width as
// that takes: AVX-512 holds eight in one, AVX four, SSE2 and NEON two. `Truth<W>` is the answer to
// a comparison, in the form in which the machine gives it. Nothing here is wider than a register:
// compilers turn comparisons of wider vectors into scalar code.
//
// Everything is exact or correctly rounded by IEEE 754, so the same source gives the same bits on
// every machine. Functions of vmath.hpp are written once, for double and for Lanes.
#pragma once

#include "kernels/native.hpp"

namespace committal::COMMITTAL_ISA {

// A short loop of constant length, written out.
#if defined(__clang__)
#define COMMITTAL_PARTS(i, count) \
  _Pragma("clang loop unroll(full)") for (int i = 0; i < (count); ++i)
#else
#define COMMITTAL_PARTS(i, count) _Pragma("GCC unroll 32") for (int i = 0; i < (count); ++i)
#endif

// More than one register are two halves: compilers keep the members of such a structure apart, in
// registers, where they would carry an array through memory.
template <int W>
struct Truth {
  Truth<W / 2> low;
  Truth<W / 2> high;

  COMMITTAL_INLINE static Truth everywhere() {
    return {Truth<W / 2>::everywhere(), Truth<W / 2>::everywhere()};
  }
};
template <>
struct Truth<kNativeLanes> {
  NativeTruth v;

  COMMITTAL_INLINE static Truth everywhere() { return {native::everywhere()}; }
};

template <int W>
struct Lanes {
  static_assert(W > kNativeLanes && W % kNativeLanes == 0);
  using Half = Lanes<W / 2>;
  Half low;
  Half high;

  Lanes() = default;
  // Halves are copied one by one: a copy of the whole would go through memory.
  COMMITTAL_INLINE Lanes(const Lanes& a) : low(a.low), high(a.high) {}
  COMMITTAL_INLINE Lanes& operator=(const Lanes& a) {
    low = a.low;
    high = a.high;
    return *this;
  }
  COMMITTAL_INLINE Lanes(double everywhere) : low(everywhere), high(everywhere) {}
  COMMITTAL_INLINE Lanes(const Half& a, const Half& b) : low(a), high(b) {}
  COMMITTAL_INLINE static Lanes load(const double* row) {
    return {Half::load(row), Half::load(row + W / 2)};
  }
  COMMITTAL_INLINE void store(double* row) const {
    low.store(row);
    high.store(row + W / 2);
  }
  COMMITTAL_INLINE Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
  COMMITTAL_INLINE Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  COMMITTAL_INLINE Lanes& operator*=(const Lanes& b) { return *this = *this * b; }
};
template <>
struct Lanes<kNativeLanes> {
  Native v;

  Lanes() = default;
  COMMITTAL_INLINE Lanes(const Lanes& a) : v(a.v) {}
  COMMITTAL_INLINE Lanes& operator=(const Lanes& a) {
    v = a.v;
    return *this;
  }
  COMMITTAL_INLINE Lanes(double everywhere) : v(native::same(everywhere)) {}
  COMMITTAL_INLINE explicit Lanes(Native x) : v(x) {}
  COMMITTAL_INLINE static Lanes load(const double* row) {
    return Lanes(Native(*reinterpret_cast<const NativeAt*>(row)));
  }
  COMMITTAL_INLINE void store(double* row) const { *reinterpret_cast<NativeAt*>(row) = v; }
  COMMITTAL_INLINE Lanes& operator+=(const Lanes& b);
  COMMITTAL_INLINE Lanes& operator-=(const Lanes& b);
  COMMITTAL_INLINE Lanes& operator*=(const Lanes& b);
};
using One = Lanes<kNativeLanes>;       // one register of numbers
using OneTruth = Truth<kNativeLanes>;  // of answers
template <int W>
concept Several = (W > kNativeLanes);

// Each operation: on one register, and on both halves of more.
#define COMMITTAL_UNARY(name, one)                                  \
  COMMITTAL_INLINE One name(const One& a) { return One(one(a.v)); } \
  template <int W>                                                  \
    requires Several<W>                                             \
  COMMITTAL_INLINE Lanes<W> name(const Lanes<W>& a) {               \
    return {name(a.low), name(a.high)};                             \
  }
#define COMMITTAL_BINARY(name, one)                                                    \
  COMMITTAL_INLINE One name(const One& a, const One& b) { return One(one(a.v, b.v)); } \
  template <int W>                                                                     \
    requires Several<W>                                                                \
  COMMITTAL_INLINE Lanes<W> name(const Lanes<W>& a, const Lanes<W>& b) {               \
    return {name(a.low, b.low), name(a.high, b.high)};                                 \
  }
#define COMMITTAL_TERNARY(name, one)                                                        \
  COMMITTAL_INLINE One name(const One& a, const One& b, const One& c) {                     \
    return One(one(a.v, b.v, c.v));                                                         \
  }                                                                                         \
  template <int W>                                                                          \
    requires Several<W>                                                                     \
  COMMITTAL_INLINE Lanes<W> name(const Lanes<W>& a, const Lanes<W>& b, const Lanes<W>& c) { \
    return {name(a.low, b.low, c.low), name(a.high, b.high, c.high)};                       \
  }
#define COMMITTAL_COMPARISON(name, one)                                                  \
  COMMITTAL_INLINE OneTruth name(const One& a, const One& b) { return {one(a.v, b.v)}; } \
  template <int W>                                                                       \
    requires Several<W>                                                                  \
  COMMITTAL_INLINE Truth<W> name(const Lanes<W>& a, const Lanes<W>& b) {                 \
    return {name(a.low, b.low), name(a.high, b.high)};                                   \
  }
#define COMMITTAL_OF_TRUTHS(name, one)                                                             \
  COMMITTAL_INLINE OneTruth name(const OneTruth& a, const OneTruth& b) { return {one(a.v, b.v)}; } \
  template <int W>                                                                                 \
    requires Several<W>                                                                            \
  COMMITTAL_INLINE Truth<W> name(const Truth<W>& a, const Truth<W>& b) {                           \
    return {name(a.low, b.low), name(a.high, b.high)};                                             \
  }

COMMITTAL_UNARY(operator-, native::minus)
COMMITTAL_UNARY(root, native::root)
COMMITTAL_BINARY(operator+, native::plus)
COMMITTAL_BINARY(operator-, native::minus)
COMMITTAL_BINARY(operator*, native::times)
COMMITTAL_BINARY(operator/, native::over)
COMMITTAL_BINARY(smaller, native::smaller)
COMMITTAL_BINARY(larger, native::larger)
COMMITTAL_TERNARY(fused, native::fused)            // a * b + c, rounded once
COMMITTAL_TERNARY(less_fused, native::less_fused)  // c - a * b, rounded once
COMMITTAL_COMPARISON(operator<, native::less)
COMMITTAL_COMPARISON(operator<=, native::at_most)
COMMITTAL_COMPARISON(operator==, native::equal)
COMMITTAL_OF_TRUTHS(operator&, native::both)
COMMITTAL_OF_TRUTHS(operator|, native::either)
COMMITTAL_OF_TRUTHS(without, native::without)  // a and not b
template <int W>
COMMITTAL_INLINE Truth<W> operator>(const Lanes<W>& a, const Lanes<W>& b) {
  return b < a;
}
template <int W>
COMMITTAL_INLINE Truth<W> operator>=(const Lanes<W>& a, const Lanes<W>& b) {
  return b <= a;
}
template <int W>
COMMITTAL_INLINE Truth<W> operator!(const Truth<W>& a) {
  return without(Truth<W>::everywhere(), a);
}
COMMITTAL_INLINE One& One::operator+=(const One& b) { return *this = *this + b; }
COMMITTAL_INLINE One& One::operator-=(const One& b) { return *this = *this - b; }
COMMITTAL_INLINE One& One::operator*=(const One& b) { return *this = *this * b; }

COMMITTAL_INLINE bool any(const OneTruth& a) { return native::any(a.v); }
template <int W>
  requires Several<W>
COMMITTAL_INLINE bool any(const Truth<W>& a) {
  return any(a.low | a.high);
}
template <int W>
COMMITTAL_INLINE bool all(const Truth<W>& a) {
  return !any(!a);
}

COMMITTAL_INLINE One select(const OneTruth& which, const One& yes, const One& no) {
  return One(native::select(which.v, yes.v, no.v));
}
template <int W>
  requires Several<W>
COMMITTAL_INLINE Lanes<W> select(const Truth<W>& which, const Lanes<W>& yes, const Lanes<W>& no) {
  return {select(which.low, yes.low, no.low), select(which.high, yes.high, no.high)};
}
// a where it is so, else 0
COMMITTAL_INLINE One where(const OneTruth& which, const One& a) {
  return One(native::where(which.v, a.v));
}
template <int W>
  requires Several<W>
COMMITTAL_INLINE Lanes<W> where(const Truth<W>& which, const Lanes<W>& a) {
  return {where(which.low, a.low), where(which.high, a.high)};
}
// a + b where it is so, else a
COMMITTAL_INLINE One add_where(const OneTruth& which, const One& a, const One& b) {
  return One(native::add_where(which.v, a.v, b.v));
}
template <int W>
  requires Several<W>
COMMITTAL_INLINE Lanes<W> add_where(const Truth<W>& which, const Lanes<W>& a, const Lanes<W>& b) {
  return {add_where(which.low, a.low, b.low), add_where(which.high, a.high, b.high)};
}

// The same for one number.
COMMITTAL_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
COMMITTAL_INLINE double less_fused(double a, double b, double c) { return __builtin_fma(-a, b, c); }
COMMITTAL_INLINE double root(double x) { return __builtin_sqrt(x); }
COMMITTAL_INLINE double smaller(double a, double b) { return a < b ? a : b; }
COMMITTAL_INLINE double larger(double a, double b) { return a > b ? a : b; }
COMMITTAL_INLINE double select(bool which, double yes, double no) { return which ? yes : no; }
COMMITTAL_INLINE double where(bool which, double a) { return which ? a : 0.0; }

// The bits of numbers as integers.
template <int W>
struct Bits {
  using Half = Bits<W / 2>;
  Half low;
  Half high;

  Bits() = default;
  COMMITTAL_INLINE Bits(std::uint64_t everywhere) : low(everywhere), high(everywhere) {}
  COMMITTAL_INLINE Bits(const Half& a, const Half& b) : low(a), high(b) {}
};
template <>
struct Bits<kNativeLanes> {
  NativeBits v;

  Bits() = default;
  COMMITTAL_INLINE Bits(std::uint64_t everywhere) : v(NativeBits{} + everywhere) {}
  COMMITTAL_INLINE explicit Bits(NativeBits x) : v(x) {}
};
using OneBits = Bits<kNativeLanes>;

#define COMMITTAL_OF_BITS(name)                                                \
  COMMITTAL_INLINE OneBits operator name(const OneBits& a, const OneBits& b) { \
    return OneBits(a.v name b.v);                                              \
  }                                                                            \
  template <int W>                                                             \
    requires Several<W>                                                        \
  COMMITTAL_INLINE Bits<W> operator name(const Bits<W>& a, const Bits<W>& b) { \
    return {a.low name b.low, a.high name b.high};                             \
  }
COMMITTAL_OF_BITS(+)
COMMITTAL_OF_BITS(-)
COMMITTAL_OF_BITS(&)

COMMITTAL_INLINE OneBits operator<<(const OneBits& a, int places) { return OneBits(a.v << places); }
template <int W>
  requires Several<W>
COMMITTAL_INLINE Bits<W> operator<<(const Bits<W>& a, int places) {
  return {a.low << places, a.high << places};
}
// as signed numbers: the sign stays
COMMITTAL_INLINE OneBits shift_right_signed(const OneBits& a, int places) {
  return OneBits(reinterpret_cast<NativeBits>(reinterpret_cast<NativeInt>(a.v) >> places));
}
template <int W>
  requires Several<W>
COMMITTAL_INLINE Bits<W> shift_right_signed(const Bits<W>& a, int places) {
  return {shift_right_signed(a.low, places), shift_right_signed(a.high, places)};
}
COMMITTAL_INLINE One from_bits(const OneBits& a) { return One(reinterpret_cast<Native>(a.v)); }
template <int W>
  requires Several<W>
COMMITTAL_INLINE Lanes<W> from_bits(const Bits<W>& a) {
  return {from_bits(a.low), from_bits(a.high)};
}
COMMITTAL_INLINE OneBits to_bits(const One& a) {
  return OneBits(reinterpret_cast<NativeBits>(a.v));
}
template <int W>
  requires Several<W>
COMMITTAL_INLINE Bits<W> to_bits(const Lanes<W>& a) {
  return {to_bits(a.low), to_bits(a.high)};
}

// Small whole numbers, as integers: adding 2^52 leaves one in the low bits.
COMMITTAL_INLINE void store_integers(const One& a, std::int64_t* out) {
  *reinterpret_cast<NativeBitsAt*>(out) =
      reinterpret_cast<NativeBits>(a.v + 0x1p52) & 0x000fffffffffffff;
}
template <int W>
  requires Several<W>
COMMITTAL_INLINE void store_integers(const Lanes<W>& a, std::int64_t* out) {
  store_integers(a.low, out);
  store_integers(a.high, out + W / 2);
}

COMMITTAL_INLINE double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
COMMITTAL_INLINE std::uint64_t to_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
COMMITTAL_INLINE std::uint64_t shift_right_signed(std::uint64_t a, int places) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> places);
}

// Lanes that go through a kernel together: two registers at a time hide each other's latency and
// leave enough registers for what they need.
inline constexpr int kStrip = kNativeLanes < 8 ? kNativeLanes : 2 * kNativeLanes;
// No more than a narrow block has.
template <int W>
inline constexpr int kStripOf = W < kStrip ? W : kStrip;
using Strip = Lanes<kStrip>;
using StripTruth = Truth<kStrip>;
// A loop over the strips of a block of W lanes.
#define COMMITTAL_STRIPS(l, W) for (int l = 0; l < (W); l += kStrip)

// Four by four numbers, read by columns and written by rows or the other way round.
typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int64_t QuadIndex __attribute__((vector_size(32)));

COMMITTAL_INLINE void transpose4(const double* const (&from)[4], double* const (&to)[4]) {
  const Quad a = *reinterpret_cast<const Quad*>(from[0]);
  const Quad b = *reinterpret_cast<const Quad*>(from[1]);
  const Quad c = *reinterpret_cast<const Quad*>(from[2]);
  const Quad d = *reinterpret_cast<const Quad*>(from[3]);
#if defined(__clang__)
  const Quad ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Quad ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Quad cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Quad cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  *reinterpret_cast<Quad*>(to[0]) = __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5);
  *reinterpret_cast<Quad*>(to[1]) = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5);
  *reinterpret_cast<Quad*>(to[2]) = __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7);
  *reinterpret_cast<Quad*>(to[3]) = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7);
#else
  const Quad ab_even = __builtin_shuffle(a, b, QuadIndex{0, 4, 2, 6});
  const Quad ab_odd = __builtin_shuffle(a, b, QuadIndex{1, 5, 3, 7});
  const Quad cd_even = __builtin_shuffle(c, d, QuadIndex{0, 4, 2, 6});
  const Quad cd_odd = __builtin_shuffle(c, d, QuadIndex{1, 5, 3, 7});
  *reinterpret_cast<Quad*>(to[0]) = __builtin_shuffle(ab_even, cd_even, QuadIndex{0, 1, 4, 5});
  *reinterpret_cast<Quad*>(to[1]) = __builtin_shuffle(ab_odd, cd_odd, QuadIndex{0, 1, 4, 5});
  *reinterpret_cast<Quad*>(to[2]) = __builtin_shuffle(ab_even, cd_even, QuadIndex{2, 3, 6, 7});
  *reinterpret_cast<Quad*>(to[3]) = __builtin_shuffle(ab_odd, cd_odd, QuadIndex{2, 3, 6, 7});
#endif
}

}  // namespace committal::COMMITTAL_ISA
