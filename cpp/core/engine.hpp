// The engine: runs of a plan, over threads, recorded per run or reduced on the fly.
//
// It knows nothing of bandits or MDPs: a Simulator makes blocks of runs, the engine deals blocks to
// workers and receives what they record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/table.hpp"

namespace committal {

// A plan that can be run. Quantities are numbered by the enumeration of its kind.
class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual std::int64_t time_count() const = 0;
  // How many numbers a quantity has per run and time.
  virtual std::int64_t width(int quantity) const = 0;
  // The quantity that counts as a failure when it is below a threshold.
  virtual int value_quantity() const = 0;
  // Lanes per block: what was asked for, if it exists, or the best choice for 0.
  virtual int lanes(int asked) const = 0;
  virtual std::size_t workspace_bytes(int lanes) const = 0;
  virtual std::function<void(const BlockTask&)> block(const KernelTable& kernels,
                                                      int lanes) const = 0;
};

// Which runs, and how to make them. Nothing here but `key`, `first_run` and `runs` can change a
// result.
struct Request {
  std::uint64_t key = 0;
  std::uint64_t first_run = 0;
  std::int64_t runs = 0;
  int threads = 1;
  std::string isa = "auto";
  int block = 0;  // lanes per block, 0 to let the simulator choose
  // Called about ten times a second by the calling thread with the updates done so far. May throw:
  // the workers are then stopped and joined, and the exception goes on to the caller.
  std::function<void(std::int64_t updates)> poll;
};

// Per-run output of one quantity, [run][time][width], in one of three types.
struct Output {
  int quantity;
  double* numbers = nullptr;
  std::int32_t* integers = nullptr;
  std::int64_t* longs = nullptr;
};

void simulate(const Simulator& plan, const Request& request, const std::vector<Output>& outputs);

// Exact sums of x and x^2: limbs[time][width][2][kAccumulatorLimbs], added to.
struct Moments {
  int quantity;
  std::int64_t* limbs;
};

// Counts per cell: counts[time][width][bins + 2], below `low` first and above `high` last, added
// to.
struct Histogram {
  int quantity;
  std::int64_t* counts;
  std::int64_t bins;
  double low;
  double high;
};

struct Reductions {
  std::vector<Moments> moments;
  std::vector<Histogram> histograms;
  std::int64_t* failures = nullptr;  // [time]: runs whose value is below `below`, added to
  double below = 0.0;
};

void reduce(const Simulator& plan, const Request& request, const Reductions& reductions);

}  // namespace committal
