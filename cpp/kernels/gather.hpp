// Lanes whose numbers lie apart in memory: every lane is elsewhere. Scalar loads and stores, joined
// in registers: no machine has faster ones.
#pragma once

#include "kernels/vector.hpp"

namespace committal::COMMITTAL_ISA {

// number(l) of every lane
template <int N, typename F>
COMMITTAL_INLINE Lanes<N> collect(F&& number) {
  Lanes<N> out;
  COMMITTAL_PARTS(i, Lanes<N>::kParts) {
    const int l = i * kNativeLanes;
#if defined(__AVX512F__)
    out.part[i] = Native{number(l),     number(l + 1), number(l + 2), number(l + 3),
                         number(l + 4), number(l + 5), number(l + 6), number(l + 7)};
#elif defined(__AVX2__)
    out.part[i] = Native{number(l), number(l + 1), number(l + 2), number(l + 3)};
#else
    out.part[i] = Native{number(l), number(l + 1)};
#endif
  }
  return out;
}

// to(l) = the number of lane l
template <int N, typename F>
COMMITTAL_INLINE void deal(const Lanes<N>& numbers, F&& to) {
  COMMITTAL_PARTS(i, Lanes<N>::kParts) {
    COMMITTAL_PARTS(q, kNativeLanes) to(i * kNativeLanes + q) = numbers.part[i][q];
  }
}

}  // namespace committal::COMMITTAL_ISA
