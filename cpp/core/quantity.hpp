// A recordable quantity, as data: its name, its type and its axes beyond run and time.
#pragma once

#include <cstdint>

#include "core/array.hpp"

namespace committal {

// The type of its array. Kernels hand over doubles; integers of either kind are exact in them.
enum class Element : int { kFloat64, kInt32, kInt64 };

// An axis is a member of the view that says how long it is; null: none.
template <typename View>
struct Quantity {
  const char* name;
  Element element;
  std::int64_t View::* axes[2] = {nullptr, nullptr};

  // How many numbers it has per run and time.
  COMMITTAL_FORCE_INLINE constexpr std::int64_t width(const View& view) const {
    std::int64_t product = 1;
    for (const auto axis : axes) product *= axis == nullptr ? 1 : view.*axis;
    return product;
  }
};

// The rows that hold any one of them.
template <typename View>
COMMITTAL_FORCE_INLINE constexpr std::int64_t widest(Array<Quantity<View>> all, const View& view) {
  std::int64_t most = 0;
  for (const Quantity<View>& each : all) {
    const std::int64_t width = each.width(view);
    most = width > most ? width : most;
  }
  return most;
}

}  // namespace committal
