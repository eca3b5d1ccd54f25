// Kernels are compiled once per instruction set; small functions shared with the rest of the
// library must never exist out of line there, or the linker could pick a copy that the machine
// cannot run.
#pragma once

#define COMMITTAL_FORCE_INLINE inline __attribute__((always_inline))
