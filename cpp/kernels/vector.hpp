// The one vector vocabulary of the kernels: lanes of runs as values that stay in registers.
//
// `Lanes<W>` are W numbers, one per run, held in as many registers of the machine's own width as
// that takes: AVX-512 holds eight in one, AVX four, SSE2 and NEON two. `Truth<W>` is the answer to a
// comparison, in the form in which the machine gives it. Nothing here is wider than a register:
// compilers turn comparisons of wider vectors into scalar code.
//
// Everything is exact or correctly rounded by IEEE 754, so the same source gives the same bits on
// every machine. Functions of vmath.hpp are written once, for double and for Lanes.
#pragma once

#include "kernels/lanes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace committal::COMMITTAL_ISA {

#if defined(__AVX512F__)
inline constexpr int kNativeLanes = 8;
#elif defined(__AVX2__)
inline constexpr int kNativeLanes = 4;
#else
inline constexpr int kNativeLanes = 2;
#endif
typedef double Native __attribute__((vector_size(kNativeLanes * 8), aligned(8), may_alias));
typedef std::int64_t NativeInt __attribute__((vector_size(kNativeLanes * 8), aligned(8), may_alias));
typedef std::uint64_t NativeBits
    __attribute__((vector_size(kNativeLanes * 8), aligned(8), may_alias));

// Where AVX-512 has registers of single bits, others have all bits of a lane or none.
#if defined(__AVX512F__)
using NativeTruth = __mmask8;
#elif defined(__AVX2__)
using NativeTruth = __m256d;
#else
typedef std::int64_t NativeTruth __attribute__((vector_size(kNativeLanes * 8)));
#endif

// What the machine does with one register.
namespace native {

#if defined(__AVX512F__)
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) { return _mm512_fmadd_pd(a, b, c); }
COMMITTAL_INLINE Native root(Native a) { return _mm512_sqrt_pd(a); }
COMMITTAL_INLINE Native smaller(Native a, Native b) { return _mm512_min_pd(a, b); }
COMMITTAL_INLINE Native larger(Native a, Native b) { return _mm512_max_pd(a, b); }
COMMITTAL_INLINE NativeTruth less(Native a, Native b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
COMMITTAL_INLINE NativeTruth at_most(Native a, Native b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}
COMMITTAL_INLINE NativeTruth equal(Native a, Native b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
COMMITTAL_INLINE NativeTruth both(NativeTruth a, NativeTruth b) { return a & b; }
COMMITTAL_INLINE NativeTruth either(NativeTruth a, NativeTruth b) { return a | b; }
COMMITTAL_INLINE NativeTruth without(NativeTruth a, NativeTruth b) {
  return static_cast<NativeTruth>(a & ~b);
}
COMMITTAL_INLINE NativeTruth everywhere() { return 0xff; }
COMMITTAL_INLINE bool any(NativeTruth a) { return a != 0; }
COMMITTAL_INLINE Native select(NativeTruth which, Native yes, Native no) {
  return _mm512_mask_blend_pd(which, no, yes);
}
COMMITTAL_INLINE Native where(NativeTruth which, Native a) {
  return _mm512_maskz_mov_pd(which, a);
}
COMMITTAL_INLINE Native add_where(NativeTruth which, Native a, Native b) {
  return _mm512_mask_add_pd(a, which, a, b);
}
#elif defined(__AVX2__)
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) { return _mm256_fmadd_pd(a, b, c); }
COMMITTAL_INLINE Native root(Native a) { return _mm256_sqrt_pd(a); }
COMMITTAL_INLINE Native smaller(Native a, Native b) { return _mm256_min_pd(a, b); }
COMMITTAL_INLINE Native larger(Native a, Native b) { return _mm256_max_pd(a, b); }
COMMITTAL_INLINE NativeTruth less(Native a, Native b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
COMMITTAL_INLINE NativeTruth at_most(Native a, Native b) {
  return _mm256_cmp_pd(a, b, _CMP_LE_OQ);
}
COMMITTAL_INLINE NativeTruth equal(Native a, Native b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
COMMITTAL_INLINE NativeTruth both(NativeTruth a, NativeTruth b) { return _mm256_and_pd(a, b); }
COMMITTAL_INLINE NativeTruth either(NativeTruth a, NativeTruth b) { return _mm256_or_pd(a, b); }
COMMITTAL_INLINE NativeTruth without(NativeTruth a, NativeTruth b) {
  return _mm256_andnot_pd(b, a);
}
COMMITTAL_INLINE NativeTruth everywhere() {
  return _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
}
COMMITTAL_INLINE bool any(NativeTruth a) { return _mm256_movemask_pd(a) != 0; }
COMMITTAL_INLINE Native select(NativeTruth which, Native yes, Native no) {
  return _mm256_blendv_pd(no, yes, which);
}
COMMITTAL_INLINE Native where(NativeTruth which, Native a) { return _mm256_and_pd(which, a); }
#else
#if defined(__aarch64__)
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) { return vfmaq_f64(c, a, b); }
COMMITTAL_INLINE Native root(Native a) { return vsqrtq_f64(a); }
COMMITTAL_INLINE bool any(NativeTruth a) { return (a[0] | a[1]) != 0; }
#else
// Machines without fused multiply-add do it in software, by the C library: the same bits, slowly.
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) {
  Native out;
  for (int l = 0; l < kNativeLanes; ++l) out[l] = __builtin_fma(a[l], b[l], c[l]);
  return out;
}
COMMITTAL_INLINE Native root(Native a) { return _mm_sqrt_pd(a); }
COMMITTAL_INLINE bool any(NativeTruth a) {
  return _mm_movemask_pd(reinterpret_cast<__m128d>(a)) != 0;
}
#endif
COMMITTAL_INLINE NativeTruth less(Native a, Native b) { return a < b; }
COMMITTAL_INLINE NativeTruth at_most(Native a, Native b) { return a <= b; }
COMMITTAL_INLINE NativeTruth equal(Native a, Native b) { return a == b; }
COMMITTAL_INLINE NativeTruth both(NativeTruth a, NativeTruth b) { return a & b; }
COMMITTAL_INLINE NativeTruth either(NativeTruth a, NativeTruth b) { return a | b; }
COMMITTAL_INLINE NativeTruth without(NativeTruth a, NativeTruth b) { return a & ~b; }
COMMITTAL_INLINE NativeTruth everywhere() { return ~NativeTruth{}; }
COMMITTAL_INLINE Native select(NativeTruth which, Native yes, Native no) {
  return reinterpret_cast<Native>((which & reinterpret_cast<NativeTruth>(yes)) |
                                  (~which & reinterpret_cast<NativeTruth>(no)));
}
COMMITTAL_INLINE Native where(NativeTruth which, Native a) {
  return reinterpret_cast<Native>(which & reinterpret_cast<NativeTruth>(a));
}
#endif
#if !defined(__AVX512F__)
// Adding 0 changes nothing: no number here is -0.
COMMITTAL_INLINE Native add_where(NativeTruth which, Native a, Native b) {
  return a + where(which, b);
}
#endif
#if !defined(__AVX2__)
// As x86 does it: b unless a is beyond.
COMMITTAL_INLINE Native smaller(Native a, Native b) { return select(less(a, b), a, b); }
COMMITTAL_INLINE Native larger(Native a, Native b) { return select(less(b, a), a, b); }
#endif

}  // namespace native

// A loop over the registers of one value, written out.
#if defined(__clang__)
#define COMMITTAL_PARTS(i, count) \
  _Pragma("clang loop unroll(full)") for (int i = 0; i < (count); ++i)
#else
#define COMMITTAL_PARTS(i, count) _Pragma("GCC unroll 32") for (int i = 0; i < (count); ++i)
#endif

template <int W>
struct Truth {
  static constexpr int kParts = W / kNativeLanes;
  NativeTruth part[kParts];

  COMMITTAL_INLINE static Truth everywhere() {
    Truth out;
    COMMITTAL_PARTS(i, kParts) out.part[i] = native::everywhere();
    return out;
  }
  friend COMMITTAL_INLINE Truth operator&(Truth a, const Truth& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::both(a.part[i], b.part[i]);
    return a;
  }
  friend COMMITTAL_INLINE Truth operator|(Truth a, const Truth& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::either(a.part[i], b.part[i]);
    return a;
  }
  friend COMMITTAL_INLINE Truth operator!(const Truth& a) { return without(everywhere(), a); }
  // a and not b
  friend COMMITTAL_INLINE Truth without(Truth a, const Truth& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::without(a.part[i], b.part[i]);
    return a;
  }
  friend COMMITTAL_INLINE bool any(const Truth& a) {
    NativeTruth some = a.part[0];
    COMMITTAL_PARTS(i, kParts) some = native::either(some, a.part[i]);
    return native::any(some);
  }
  friend COMMITTAL_INLINE bool all(const Truth& a) { return !any(!a); }
};

template <int W>
struct Lanes {
  static_assert(W % kNativeLanes == 0);
  static constexpr int kParts = W / kNativeLanes;
  Native part[kParts];

  Lanes() = default;
  COMMITTAL_INLINE Lanes(double everywhere) {
    COMMITTAL_PARTS(i, kParts) part[i] = Native{} + everywhere;
  }
  COMMITTAL_INLINE static Lanes load(const double* row) {
    Lanes out;
    COMMITTAL_PARTS(i, kParts) {
      out.part[i] = *reinterpret_cast<const Native*>(row + i * kNativeLanes);
    }
    return out;
  }
  COMMITTAL_INLINE void store(double* row) const {
    COMMITTAL_PARTS(i, kParts) * reinterpret_cast<Native*>(row + i * kNativeLanes) = part[i];
  }

  friend COMMITTAL_INLINE Lanes operator+(Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] += b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Lanes operator-(Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] -= b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Lanes operator*(Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] *= b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Lanes operator/(Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] /= b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Lanes operator-(Lanes a) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = -a.part[i];
    return a;
  }
  COMMITTAL_INLINE Lanes& operator+=(const Lanes& b) { return *this = *this + b; }
  COMMITTAL_INLINE Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  COMMITTAL_INLINE Lanes& operator*=(const Lanes& b) { return *this = *this * b; }

  friend COMMITTAL_INLINE Truth<W> operator<(const Lanes& a, const Lanes& b) {
    Truth<W> out;
    COMMITTAL_PARTS(i, kParts) out.part[i] = native::less(a.part[i], b.part[i]);
    return out;
  }
  friend COMMITTAL_INLINE Truth<W> operator<=(const Lanes& a, const Lanes& b) {
    Truth<W> out;
    COMMITTAL_PARTS(i, kParts) out.part[i] = native::at_most(a.part[i], b.part[i]);
    return out;
  }
  friend COMMITTAL_INLINE Truth<W> operator==(const Lanes& a, const Lanes& b) {
    Truth<W> out;
    COMMITTAL_PARTS(i, kParts) out.part[i] = native::equal(a.part[i], b.part[i]);
    return out;
  }
  friend COMMITTAL_INLINE Truth<W> operator>(const Lanes& a, const Lanes& b) { return b < a; }
  friend COMMITTAL_INLINE Truth<W> operator>=(const Lanes& a, const Lanes& b) { return b <= a; }

  friend COMMITTAL_INLINE Lanes select(const Truth<W>& which, const Lanes& yes, const Lanes& no) {
    Lanes out;
    COMMITTAL_PARTS(i, kParts) {
      out.part[i] = native::select(which.part[i], yes.part[i], no.part[i]);
    }
    return out;
  }
  // a where it is so, else 0
  friend COMMITTAL_INLINE Lanes where(const Truth<W>& which, Lanes a) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::where(which.part[i], a.part[i]);
    return a;
  }
  // a + b where it is so, else a
  friend COMMITTAL_INLINE Lanes add_where(const Truth<W>& which, Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::add_where(which.part[i], a.part[i], b.part[i]);
    return a;
  }
  // a * b + c, rounded once
  friend COMMITTAL_INLINE Lanes fused(const Lanes& a, const Lanes& b, Lanes c) {
    COMMITTAL_PARTS(i, kParts) c.part[i] = native::fused(a.part[i], b.part[i], c.part[i]);
    return c;
  }
  friend COMMITTAL_INLINE Lanes smaller(Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::smaller(a.part[i], b.part[i]);
    return a;
  }
  friend COMMITTAL_INLINE Lanes larger(Lanes a, const Lanes& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::larger(a.part[i], b.part[i]);
    return a;
  }
  friend COMMITTAL_INLINE Lanes root(Lanes a) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = native::root(a.part[i]);
    return a;
  }
};

// The same for one number.
COMMITTAL_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
COMMITTAL_INLINE double root(double x) { return __builtin_sqrt(x); }
COMMITTAL_INLINE double smaller(double a, double b) { return a < b ? a : b; }
COMMITTAL_INLINE double larger(double a, double b) { return a > b ? a : b; }
COMMITTAL_INLINE double select(bool which, double yes, double no) { return which ? yes : no; }
COMMITTAL_INLINE double where(bool which, double a) { return which ? a : 0.0; }

// Small whole numbers, as integers.
template <int W>
COMMITTAL_INLINE void store_integers(const Lanes<W>& a, std::int64_t* out) {
  COMMITTAL_PARTS(i, Lanes<W>::kParts) {
    // Adding 2^52 leaves a whole number in the low bits.
    const NativeBits bits = reinterpret_cast<NativeBits>(a.part[i] + 0x1p52);
    *reinterpret_cast<NativeBits*>(out + i * kNativeLanes) = bits & 0x000fffffffffffff;
  }
}

// The bits of numbers as integers.
template <int W>
struct Bits {
  static constexpr int kParts = W / kNativeLanes;
  NativeBits part[kParts];

  Bits() = default;
  COMMITTAL_INLINE Bits(std::uint64_t everywhere) {
    COMMITTAL_PARTS(i, kParts) part[i] = NativeBits{} + everywhere;
  }
  friend COMMITTAL_INLINE Bits operator+(Bits a, const Bits& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] += b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Bits operator-(Bits a, const Bits& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] -= b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Bits operator&(Bits a, const Bits& b) {
    COMMITTAL_PARTS(i, kParts) a.part[i] &= b.part[i];
    return a;
  }
  friend COMMITTAL_INLINE Bits operator<<(Bits a, int places) {
    COMMITTAL_PARTS(i, kParts) a.part[i] = a.part[i] << places;
    return a;
  }
  // as signed numbers: the sign stays
  friend COMMITTAL_INLINE Bits shift_right_signed(Bits a, int places) {
    COMMITTAL_PARTS(i, kParts) {
      a.part[i] = reinterpret_cast<NativeBits>(reinterpret_cast<NativeInt>(a.part[i]) >> places);
    }
    return a;
  }
  friend COMMITTAL_INLINE Lanes<W> from_bits(const Bits& a) {
    Lanes<W> out;
    COMMITTAL_PARTS(i, kParts) out.part[i] = reinterpret_cast<Native>(a.part[i]);
    return out;
  }
};
template <int W>
COMMITTAL_INLINE Bits<W> to_bits(const Lanes<W>& a) {
  Bits<W> out;
  COMMITTAL_PARTS(i, Bits<W>::kParts) out.part[i] = reinterpret_cast<NativeBits>(a.part[i]);
  return out;
}
COMMITTAL_INLINE double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
COMMITTAL_INLINE std::uint64_t to_bits(double x) { return std::bit_cast<std::uint64_t>(x); }
COMMITTAL_INLINE std::uint64_t shift_right_signed(std::uint64_t a, int places) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> places);
}

// Lanes that go through a kernel together: two registers at a time hide each other's latency and
// leave enough registers for what they need.
inline constexpr int kStrip = 2 * kNativeLanes;
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
