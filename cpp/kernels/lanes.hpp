// What every kernel starts from.
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

#define COMMITTAL_INLINE COMMITTAL_FORCE_INLINE
// Behind the parameters of a lambda that is written for one call.
#define COMMITTAL_INLINE_LAMBDA __attribute__((always_inline))
