// The table of functions that each instruction set provides, and how it is chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bandit/plan.hpp"
#include "mdp/model.hpp"

namespace committal {

// Where a block of runs sends what it records: rows[width][lanes_per_block].
struct Sink {
  void* context;
  void (*emit)(void* context, int quantity, std::int64_t time_index, const double* rows,
               std::int64_t width, int stride);
  unsigned wanted;  // bit q set: quantity q is recorded

  template <typename Enum>
  COMMITTAL_FORCE_INLINE bool wants(Enum quantity) const {
    return (wanted >> static_cast<int>(quantity) & 1u) != 0;
  }
};

struct BlockTask {
  std::uint64_t key;
  std::uint64_t first_run;  // runs first_run, first_run + 1, ... fill the lanes of the block
  Sink sink;
  // Called between stretches of updates with the number done since; false asks to stop.
  bool (*proceed)(void* context, std::int64_t updates);
  void* proceed_context;
  void* workspace;  // 64-byte aligned
};

struct KernelTable {
  const char* name;
  void (*bandit_block_wide)(const BanditView&, const BlockTask&);    // kWideBlock lanes
  void (*bandit_block_narrow)(const BanditView&, const BlockTask&);  // kNarrowBlock lanes
  void (*mdp_block_wide)(const MdpView&, const BlockTask&);          // kMdpWideBlock lanes
  void (*mdp_block_narrow)(const MdpView&, const BlockTask&);        // kMdpNarrowBlock lanes
  // As many policies; false, and nothing written, if one of them is not a law.
  bool (*mdp_solve_wide)(const MdpModelView&, const MdpSolve&);
  bool (*mdp_solve_narrow)(const MdpModelView&, const MdpSolve&);
  void (*exp)(const double* x, double* y, std::size_t count);
  void (*log)(const double* x, double* y, std::size_t count);
  void (*normal_quantile)(const double* x, double* y, std::size_t count);
  void (*uniforms)(std::uint64_t key, std::uint64_t run, std::uint32_t slot, std::uint64_t first,
                   double* out, std::size_t count);
};

inline constexpr int kWideBlock = 64;    // few arms: everything stays in the L1 cache
inline constexpr int kNarrowBlock = 16;  // many arms

inline constexpr std::int64_t kManyArms = 64;  // with more, a wide block would leave the cache

// Still more arms are summed by leaves (kernels/leaves.hpp): about as many arms per leaf as leaves.
inline constexpr std::int64_t kArmsWithoutLeaves = 128;
struct LeafLayout {
  std::int64_t arms;         // per leaf, a power of two
  std::int64_t count;        // 0 for few arms
  std::int64_t padded_arms;  // in whole leaves
};
COMMITTAL_FORCE_INLINE LeafLayout leaf_layout(std::int64_t arms) {
  if (arms <= kArmsWithoutLeaves) return {0, 0, arms};
  std::int64_t size = 16;
  while (size * size < arms) size *= 2;
  const std::int64_t count = (arms + size - 1) / size;
  return {size, count, count * size};
}

// The instruction sets compiled in *and* runnable here, slowest first.
std::vector<std::string> available_isas();
// "auto" gives the fastest. Throws std::invalid_argument for a name that is not available.
const KernelTable& kernel_table(std::string_view isa);

}  // namespace committal
