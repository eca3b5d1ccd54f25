// What the machine does with one register of numbers: the only place that knows instruction sets.
//
// Written with the compiler's vector types and a few intrinsics, for SSE2, AVX2, AVX-512 and NEON.
// Everything is exact or correctly rounded by IEEE 754. vector.hpp makes values of it.
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
typedef double Native __attribute__((vector_size(kNativeLanes * 8)));
typedef std::int64_t NativeInt __attribute__((vector_size(kNativeLanes * 8)));
typedef std::uint64_t NativeBits __attribute__((vector_size(kNativeLanes * 8)));
// The same in memory, wherever it lies.
typedef double NativeAt __attribute__((vector_size(kNativeLanes * 8), aligned(8), may_alias));
typedef std::uint64_t NativeBitsAt
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

COMMITTAL_INLINE Native plus(Native a, Native b) { return a + b; }
COMMITTAL_INLINE Native minus(Native a, Native b) { return a - b; }
COMMITTAL_INLINE Native minus(Native a) { return -a; }
COMMITTAL_INLINE Native times(Native a, Native b) { return a * b; }
COMMITTAL_INLINE Native over(Native a, Native b) { return a / b; }
#if defined(__AVX512F__)
COMMITTAL_INLINE Native same(double x) { return _mm512_set1_pd(x); }
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) { return _mm512_fmadd_pd(a, b, c); }
COMMITTAL_INLINE Native less_fused(Native a, Native b, Native c) {
  return _mm512_fnmadd_pd(a, b, c);
}
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
COMMITTAL_INLINE Native where(NativeTruth which, Native a) { return _mm512_maskz_mov_pd(which, a); }
COMMITTAL_INLINE Native add_where(NativeTruth which, Native a, Native b) {
  return _mm512_mask_add_pd(a, which, a, b);
}
#elif defined(__AVX2__)
COMMITTAL_INLINE Native same(double x) { return _mm256_set1_pd(x); }
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) { return _mm256_fmadd_pd(a, b, c); }
COMMITTAL_INLINE Native less_fused(Native a, Native b, Native c) {
  return _mm256_fnmadd_pd(a, b, c);
}
COMMITTAL_INLINE Native root(Native a) { return _mm256_sqrt_pd(a); }
COMMITTAL_INLINE Native smaller(Native a, Native b) { return _mm256_min_pd(a, b); }
COMMITTAL_INLINE Native larger(Native a, Native b) { return _mm256_max_pd(a, b); }
COMMITTAL_INLINE NativeTruth less(Native a, Native b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
COMMITTAL_INLINE NativeTruth at_most(Native a, Native b) { return _mm256_cmp_pd(a, b, _CMP_LE_OQ); }
COMMITTAL_INLINE NativeTruth equal(Native a, Native b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
COMMITTAL_INLINE NativeTruth both(NativeTruth a, NativeTruth b) { return _mm256_and_pd(a, b); }
COMMITTAL_INLINE NativeTruth either(NativeTruth a, NativeTruth b) { return _mm256_or_pd(a, b); }
COMMITTAL_INLINE NativeTruth without(NativeTruth a, NativeTruth b) {
  return _mm256_andnot_pd(b, a);
}
COMMITTAL_INLINE NativeTruth everywhere() { return _mm256_castsi256_pd(_mm256_set1_epi64x(-1)); }
COMMITTAL_INLINE bool any(NativeTruth a) { return _mm256_movemask_pd(a) != 0; }
// GCC would compare the truth with 0 first, were it told by an intrinsic.
COMMITTAL_INLINE Native select(NativeTruth which, Native yes, Native no) {
  Native out;
  __asm__("vblendvpd %3, %2, %1, %0" : "=x"(out) : "x"(no), "xm"(yes), "x"(which));
  return out;
}
COMMITTAL_INLINE Native where(NativeTruth which, Native a) { return _mm256_and_pd(which, a); }
#else
#if defined(__aarch64__)
COMMITTAL_INLINE Native fused(Native a, Native b, Native c) { return vfmaq_f64(c, a, b); }
COMMITTAL_INLINE Native root(Native a) { return vsqrtq_f64(a); }
COMMITTAL_INLINE bool any(NativeTruth a) { return (a[0] | a[1]) != 0; }
#else
// Machines without fused multiply-add: a * b and what its rounding lost, exactly (Dekker's
// product), both added to c with one rounding in the end. The last but one is rounded to odd, so
// that the last sees on which side of a tie it is (Boldo and Melquiond 2008). The same bits as the
// instruction.
inline Native fused_one_by_one(Native a, Native b, Native c) {
  Native out;
  for (int l = 0; l < kNativeLanes; ++l) out[l] = __builtin_fma(a[l], b[l], c[l]);
  return out;
}
COMMITTAL_INLINE Native size_of(Native a) {
  return reinterpret_cast<Native>(reinterpret_cast<NativeBits>(a) & 0x7fffffffffffffff);
}
COMMITTAL_INLINE Native larger_size(Native a, Native b) {
  return _mm_max_pd(size_of(a), size_of(b));
}
COMMITTAL_INLINE void split(Native a, Native& high, Native& low) {
  const Native scaled = a * 0x1.000002p27;
  high = scaled - (scaled - a);
  low = a - high;
}
COMMITTAL_INLINE void add_exactly(Native a, Native b, Native& sum, Native& lost) {
  sum = a + b;
  const Native from_b = sum - a;
  lost = (a - (sum - from_b)) + (b - from_b);
}
// Never inline: it is long.
__attribute__((noinline)) inline Native fused(Native a, Native b, Native c) {
  const Native product = a * b;
  // Where a part could overflow or lose digits to the smallest numbers, by the C library.
  const Native size = larger_size(larger_size(a, b), larger_size(c, product));
  const NativeTruth exact = (a == 0.0) | (b == 0.0);
  const NativeTruth rare = ~(size < 0x1p900) | (~exact & ~(size_of(product) > 0x1p-900));
  if (_mm_movemask_pd(reinterpret_cast<__m128d>(rare)) != 0) return fused_one_by_one(a, b, c);
  Native a1, a2, b1, b2;
  split(a, a1, a2);
  split(b, b1, b2);
  const Native lost = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
  Native t, t_lost, v, v_lost, odd, beyond;
  add_exactly(c, lost, t, t_lost);
  add_exactly(product, t, v, v_lost);
  add_exactly(t_lost, v_lost, odd, beyond);
  const NativeBits bits = reinterpret_cast<NativeBits>(odd);
  const NativeBits inexact = reinterpret_cast<NativeBits>(beyond != 0.0);
  // One unit away from 0 if what is beyond has the sign of the sum, else one towards it.
  const NativeBits opposite = (bits ^ reinterpret_cast<NativeBits>(beyond)) >> 63;
  const NativeBits even = (bits & 1) ^ 1;
  odd = reinterpret_cast<Native>(bits + ((even - ((opposite & even) << 1)) & inexact));
  const Native sum = v + odd;
  // The sign of 0 + 0 is that of the plain sum.
  return reinterpret_cast<Native>((exact & reinterpret_cast<NativeTruth>(product + c)) |
                                  (~exact & reinterpret_cast<NativeTruth>(sum)));
}
COMMITTAL_INLINE Native root(Native a) { return _mm_sqrt_pd(a); }
COMMITTAL_INLINE bool any(NativeTruth a) {
  return _mm_movemask_pd(reinterpret_cast<__m128d>(a)) != 0;
}
#endif
COMMITTAL_INLINE Native same(double x) { return Native{x, x}; }
COMMITTAL_INLINE Native less_fused(Native a, Native b, Native c) { return fused(-a, b, c); }
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

}  // namespace committal::COMMITTAL_ISA
