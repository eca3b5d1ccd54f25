// Lane loops: the one way in which kernels walk over runs.
//
// Every file below kernels/ is compiled once per instruction set, inside the namespace named by
// COMMITTAL_ISA, so that the linker never mixes code built for different machines. For the same
// reason nothing here instantiates standard library templates.
#pragma once

#include <bit>
#include <cstdint>

#include "core/attributes.hpp"

#ifndef COMMITTAL_ISA
#error "COMMITTAL_ISA names the instruction set this file is compiled for"
#endif

// A loop over the W lanes of a block. The trip count is a constant and no iteration depends on
// another one, which is what lets the compiler turn it into straight vector code.
#if defined(__clang__)
#define COMMITTAL_LANES(l, W) \
  _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (W); ++l)
#else
// Without "unroll 1" GCC peels short loops into scalar code before it thinks of vectors.
#define COMMITTAL_LANES(l, W) \
  _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (int l = 0; l < (W); ++l)
#endif

// A loop over a constant, small number of arms, unrolled so that the lane loop around it
// vectorises.
#if defined(__clang__)
#define COMMITTAL_ARMS(k, begin, end) \
  _Pragma("clang loop unroll(full)") for (int k = (begin); k < (end); ++k)
#else
#define COMMITTAL_ARMS(k, begin, end) _Pragma("GCC unroll 4") for (int k = (begin); k < (end); ++k)
#endif

#define COMMITTAL_INLINE COMMITTAL_FORCE_INLINE
// Behind the parameters of a lambda that is written for one call.
#define COMMITTAL_INLINE_LAMBDA __attribute__((always_inline))
