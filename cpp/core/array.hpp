// A pointer and a count: what kernels, which keep away from the standard library, hold of an array.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/attributes.hpp"

namespace committal {

template <typename T>
struct Array {
  const T* data = nullptr;
  std::int64_t count = 0;

  COMMITTAL_FORCE_INLINE constexpr const T& operator[](std::int64_t i) const { return data[i]; }
  COMMITTAL_FORCE_INLINE constexpr const T* begin() const { return data; }
  COMMITTAL_FORCE_INLINE constexpr const T* end() const { return data + count; }
};

template <typename T, std::size_t N>
COMMITTAL_FORCE_INLINE constexpr Array<T> array_of(const T (&all)[N]) {
  return {all, static_cast<std::int64_t>(N)};
}

}  // namespace committal
