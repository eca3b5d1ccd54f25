// What a kernel is asked to do: make a block of runs and say what it records.
#pragma once

#include <cstdint>

#include "core/attributes.hpp"
#include "core/patience.hpp"

namespace committal {

// Where a block of runs sends what it records: rows[width][lanes_per_block].
struct Sink {
  void* context;
  void (*emit)(void* context, int quantity, std::int64_t time_index, const double* rows,
               std::int64_t width, int stride);
  std::uint64_t wanted;  // bit q set: quantity q is recorded

  COMMITTAL_FORCE_INLINE bool wants(int quantity) const { return (wanted >> quantity & 1u) != 0; }
};
inline constexpr int kMostQuantities = 64;  // the bits of `wanted`

// Where a run left the numbers: its parameters are no longer finite.
struct Divergence {
  std::int64_t update = -1;  // how many updates it took; negative if there was none
  std::uint64_t run = 0;
};

struct BlockTask {
  std::uint64_t key;
  std::uint64_t first_run;  // runs first_run, first_run + 1, ... fill the lanes of the block
  Sink sink;
  // Called between stretches of updates with the number done since; false asks to stop.
  Patience::Proceed proceed;
  void* proceed_context;
  void* workspace;         // as many bytes as the layout of the block counts
  int valid;               // lanes that are asked for; the others fill up the block
  Divergence* divergence;  // set, and the block left, if a run diverges
};

}  // namespace committal
