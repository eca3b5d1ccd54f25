// Memory for a block of lanes, laid out by one function that is run twice.
//
// The function takes its rows from an Arena: first from one without memory, which only counts, and
// then from one over as many bytes as were counted. There is no second formula that could forget a
// row. Sums saturate instead of wrapping around: make_workspace() refuses what does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/attributes.hpp"

namespace committal {

inline constexpr std::size_t kWorkspaceAlignment = 64;  // of the widest vectors
inline constexpr std::size_t kTooManyBytes = ~std::size_t{0};

class Arena {
 public:
  COMMITTAL_FORCE_INLINE explicit Arena(void* memory = nullptr)
      : base_(static_cast<unsigned char*>(memory)) {}

  // `rows` rows of `each` numbers, aligned; null from an arena that counts.
  template <typename T>
  COMMITTAL_FORCE_INLINE T* take(std::int64_t rows, std::int64_t each = 1) {
    const std::size_t begin = bytes_;
    std::size_t size = 0;
    constexpr std::size_t kMask = kWorkspaceAlignment - 1;
    if (__builtin_mul_overflow(rows, each, &size) ||
        __builtin_mul_overflow(size, sizeof(T), &size) ||
        __builtin_add_overflow(size, kMask, &size) ||
        __builtin_add_overflow(begin, size & ~kMask, &bytes_)) {
      bytes_ = kTooManyBytes;
    }
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + begin);
  }

  COMMITTAL_FORCE_INLINE std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* base_;
  std::size_t bytes_ = 0;
};

struct ReleaseWorkspace {
  void operator()(void* memory) const;
};
using Workspace = std::unique_ptr<void, ReleaseWorkspace>;

// Throws a std::bad_alloc that says how much was asked for.
Workspace make_workspace(std::size_t bytes);

}  // namespace committal
