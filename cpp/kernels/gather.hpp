// Lanes whose numbers lie apart in memory: every lane is elsewhere. Scalar loads and stores, joined
// in registers: no machine has faster ones.
#pragma once

#include "kernels/vector.hpp"

namespace committal::COMMITTAL_ISA {

// number(l) of every lane, from `first` on
template <int N, typename F>
COMMITTAL_INLINE Lanes<N> collect(F&& number, int first = 0) {
  if constexpr (N > kNativeLanes) {
    return {collect<N / 2>(number, first), collect<N / 2>(number, first + N / 2)};
  } else {
    const int l = first;
#if defined(__AVX512F__)
    return Lanes<N>(Native{number(l), number(l + 1), number(l + 2), number(l + 3), number(l + 4),
                           number(l + 5), number(l + 6), number(l + 7)});
#elif defined(__AVX2__)
    return Lanes<N>(Native{number(l), number(l + 1), number(l + 2), number(l + 3)});
#else
    return Lanes<N>(Native{number(l), number(l + 1)});
#endif
  }
}

}  // namespace committal::COMMITTAL_ISA
