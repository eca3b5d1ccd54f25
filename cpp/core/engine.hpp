// The engine: runs of an experiment, over threads, recorded per run or reduced on the fly.
//
// It knows nothing of bandits or MDPs: a Simulator makes blocks of runs, the engine deals blocks to
// workers and receives what they record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/isa.hpp"
#include "core/quantity.hpp"
#include "core/task.hpp"

namespace committal {

// A quantity of one simulator: its number there, the type and the trailing shape of its arrays.
struct Described {
  int quantity;
  Element element;
  std::vector<std::int64_t> shape;

  // How many numbers it has per run and time.
  std::int64_t width() const;
};

// Makes one block of runs, in a workspace of so many bytes.
struct BlockKernel {
  std::size_t workspace_bytes;
  std::function<void(const BlockTask&)> run;
};

// An experiment that can be run.
class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual std::int64_t time_count() const = 0;
  // Throws std::invalid_argument for a name that it does not record. All simulators have a
  // "value", which counts as a failure when it is below a threshold.
  virtual Described describe(std::string_view name) const = 0;
  // Lanes per block: what was asked for, if it exists, or the best choice for 0.
  virtual int lanes(int asked) const = 0;
  virtual BlockKernel block(Isa isa, int lanes) const = 0;
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

// Per-run output of one quantity, [run][time][shape].
struct Output {
  Described described;
  void* data;  // of the type described
};

void simulate(const Simulator& simulator, const Request& request,
              const std::vector<Output>& outputs);

// Exact sums of x and x^2: limbs[time][width][2][kAccumulatorLimbs], added to.
struct Moments {
  Described described;
  std::int64_t* limbs;
};

// Counts per cell: counts[time][width][bins + 2], below `low` first and above `high` last, added
// to.
struct Histogram {
  Described described;
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

void reduce(const Simulator& simulator, const Request& request, const Reductions& reductions);

}  // namespace committal
