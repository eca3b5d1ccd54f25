// A micro-benchmark: one kernel on numbers that stay in the nearest cache.
//
// Each is a structure in a file named after its kernel, and is listed in micros.cpp, which is
// compiled once per instruction set like kernels/kernels.cpp. It offers
//
//   kRow       what it is called and, where that can be said simply, the fewest instructions
//   call()     one call of the kernel
//   kUnits     for how many runs (and updates) that is; or units(), if only the object knows
//
// As in the kernels, nothing here may instantiate templates of the standard library.
#pragma once

#include <cstdint>

#include "core/array.hpp"

namespace committal::micro {

struct Row {
  const char* kernel;
  const char* variant = "";
  std::int64_t arms = 0;  // 0 where there are none
  // Arithmetic that each run needs by its formula: instructions for as many runs as a vector of the
  // machine holds. 0 where that cannot be said simply.
  double least = 0.0;
};

struct Micro {
  Row row;
  void* (*make)();
  void (*call)(void* state);
  double (*units)(const void* state);
};

// All of an instruction set.
Array<Micro> micros(const char* isa);

// Aligned memory with numbers spread evenly over [low, high], in no order; never freed.
double* numbers(std::int64_t count, double low, double high);

template <typename Part>
struct Bench {
  static void* make() {
    static Part state;
    return &state;
  }
  [[gnu::noinline]] static void call(void* state) { static_cast<Part*>(state)->call(); }
  static double units([[maybe_unused]] const void* state) {
    if constexpr (requires { Part::kUnits; }) {
      return Part::kUnits;
    } else {
      return static_cast<const Part*>(state)->units();
    }
  }
  static constexpr Micro kMicro{Part::kRow, make, call, units};
};

}  // namespace committal::micro
