// The lanes of a row as a value that stays in registers, whatever their width: eight lanes are one
// of AVX-512, two of AVX, four of what every x86-64 or ARM has.
#pragma once

#include "kernels/vmath.hpp"

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

namespace committal::COMMITTAL_ISA {

#if defined(__AVX512F__)
inline constexpr int kNativeLanes = 8;
#elif defined(__AVX__)
inline constexpr int kNativeLanes = 4;
#else
inline constexpr int kNativeLanes = 2;
#endif
typedef double Native __attribute__((vector_size(kNativeLanes * 8), aligned(8), may_alias));

COMMITTAL_INLINE Native fused(Native a, Native b, Native c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  Native out;
  for (int l = 0; l < kNativeLanes; ++l) out[l] = fused(a[l], b[l], c[l]);
  return out;
#endif
}

template <int W>
struct Lanes {
  static constexpr int kParts = W / kNativeLanes;
  Native part[kParts];

  Lanes() = default;
  COMMITTAL_INLINE explicit Lanes(double everywhere) {
    COMMITTAL_ARMS(i, 0, kParts) part[i] = Native{} + everywhere;
  }
  COMMITTAL_INLINE static Lanes load(const double* row) {
    Lanes out;
    COMMITTAL_ARMS(i, 0, kParts) {
      out.part[i] = *reinterpret_cast<const Native*>(row + i * kNativeLanes);
    }
    return out;
  }
  COMMITTAL_INLINE void store(double* row) const {
    COMMITTAL_ARMS(i, 0, kParts) * reinterpret_cast<Native*>(row + i * kNativeLanes) = part[i];
  }
};

// The answer to a comparison, lane by lane: all bits or none.
typedef std::int64_t NativeTruth __attribute__((vector_size(kNativeLanes * 8)));
template <int W>
struct Truth {
  NativeTruth part[Lanes<W>::kParts];
};

template <int W>
COMMITTAL_INLINE Truth<W> operator<=(const Lanes<W>& a, const Lanes<W>& b) {
  Truth<W> out;
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) out.part[i] = a.part[i] <= b.part[i];
  return out;
}
template <int W>
COMMITTAL_INLINE Truth<W> operator>(const Lanes<W>& a, const Lanes<W>& b) {
  Truth<W> out;
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) out.part[i] = a.part[i] > b.part[i];
  return out;
}
template <int W>
COMMITTAL_INLINE Truth<W> operator==(const Lanes<W>& a, const Lanes<W>& b) {
  Truth<W> out;
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) out.part[i] = a.part[i] == b.part[i];
  return out;
}
template <int W>
COMMITTAL_INLINE Truth<W> operator&(Truth<W> a, const Truth<W>& b) {
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) a.part[i] &= b.part[i];
  return a;
}
template <int W>
COMMITTAL_INLINE Lanes<W> select(const Truth<W>& which, const Lanes<W>& yes, const Lanes<W>& no) {
  Lanes<W> out;
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) out.part[i] = which.part[i] ? yes.part[i] : no.part[i];
  return out;
}
template <int W>
COMMITTAL_INLINE bool all(const Truth<W>& truth) {
  std::int64_t every = -1;
  for (const NativeTruth& part : truth.part) {
    for (int l = 0; l < kNativeLanes; ++l) every &= part[l];
  }
  return every != 0;
}

template <int W>
COMMITTAL_INLINE Lanes<W> operator+(Lanes<W> a, const Lanes<W>& b) {
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) a.part[i] += b.part[i];
  return a;
}
template <int W>
COMMITTAL_INLINE Lanes<W> operator-(Lanes<W> a, const Lanes<W>& b) {
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) a.part[i] -= b.part[i];
  return a;
}
template <int W>
COMMITTAL_INLINE Lanes<W> operator*(Lanes<W> a, const Lanes<W>& b) {
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) a.part[i] *= b.part[i];
  return a;
}
template <int W>
COMMITTAL_INLINE Lanes<W> operator/(Lanes<W> a, const Lanes<W>& b) {
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) a.part[i] /= b.part[i];
  return a;
}
template <int W>
COMMITTAL_INLINE Lanes<W> fused(const Lanes<W>& a, const Lanes<W>& b, Lanes<W> c) {
  COMMITTAL_ARMS(i, 0, Lanes<W>::kParts) c.part[i] = fused(a.part[i], b.part[i], c.part[i]);
  return c;
}

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
