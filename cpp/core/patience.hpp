// How a long loop learns that it should stop.
#pragma once

#include <cstdint>

#include "core/attributes.hpp"

namespace committal {

// Thrown where the work should stop because of what has happened elsewhere, and is known there.
struct Stopped {};

// A loop says how much it has done since it last said so; every few milliseconds of that, the
// caller is asked whether to go on. Work is counted in rows of lanes: what an addition or a product
// of all lanes costs, some nanoseconds.
class Patience {
 public:
  // Adds to the updates done; false asks to stop. May throw.
  using Proceed = bool (*)(void* context, std::int64_t updates);

  COMMITTAL_FORCE_INLINE Patience() = default;  // of somebody who never asks
  COMMITTAL_FORCE_INLINE Patience(Proceed proceed, void* context)
      : proceed_(proceed), context_(context) {}

  // Throws Stopped, or what the caller throws: nothing half made is ever used.
  COMMITTAL_FORCE_INLINE void spend(std::int64_t rows) {
    left_ -= rows;
    if (left_ <= 0) ask();
  }

 private:
  static constexpr std::int64_t kRows = std::int64_t{1} << 18;

  void ask();

  Proceed proceed_ = nullptr;
  void* context_ = nullptr;
  std::int64_t left_ = kRows;
};

}  // namespace committal
