// Whether blocks stay in the workspace that their layout counts.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/engine.hpp"

namespace committal {

// Makes one block that records everything, in a workspace with guards around it.
inline bool stays_inside(const Simulator& simulator, Isa isa, int lanes) {
  constexpr std::size_t kGuard = 4096;
  constexpr int kMark = 0x5a;
  const BlockKernel kernel = simulator.block(isa, lanes);
  const std::size_t bytes = kernel.workspace_bytes;
  const Workspace memory = make_workspace(bytes + 2 * kGuard);
  auto* begin = static_cast<unsigned char*>(memory.get());
  std::memset(begin, kMark, bytes + 2 * kGuard);
  BlockTask task{};
  Divergence divergence{};
  task.key = 3;
  task.valid = lanes;
  task.divergence = &divergence;
  task.sink = {nullptr,
               [](void*, int, std::int64_t, const double* rows, std::int64_t width, int stride) {
                 volatile double last = rows[width * stride - 1];  // for the address sanitizer
                 (void)last;
               },
               ~std::uint64_t{0}};
  task.proceed = [](void*, std::int64_t) { return true; };
  task.workspace = begin + kGuard;
  kernel.run(task);
  for (std::size_t i = 0; i < kGuard; ++i) {
    if (begin[i] != kMark || begin[kGuard + bytes + i] != kMark) return false;
  }
  return true;
}

}  // namespace committal
