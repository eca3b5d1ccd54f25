// The bandit engine: runs of a plan, over threads, recorded per run or reduced on the fly.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "committal/plan.hpp"

namespace committal {

// Which runs, and how to make them. Nothing here but `key`, `first_run` and `runs` can change a
// result.
struct Request {
  std::uint64_t key = 0;
  std::uint64_t first_run = 0;
  std::int64_t runs = 0;
  int threads = 1;
  std::string isa = "auto";
  int block = 0;  // lanes per block: 8, 64, or 0 to choose by the number of arms
  // Called about ten times a second by the calling thread with the updates done so far. May throw:
  // the workers are then stopped and joined, and the exception goes on to the caller.
  std::function<void(std::int64_t updates)> poll;
};

// Per-run output of one quantity: numbers[run][time][width]; actions are 32-bit integers.
struct Output {
  Quantity quantity;
  double* numbers = nullptr;
  std::int32_t* integers = nullptr;
};

void simulate(const BanditPlan& plan, const Request& request, const std::vector<Output>& outputs);

// Exact sums of x and x^2: limbs[time][width][2][kAccumulatorLimbs], added to.
struct Moments {
  Quantity quantity;
  std::int64_t* limbs;
};

// Counts per cell: counts[time][width][bins + 2], below `low` first and above `high` last, added to.
struct Histogram {
  Quantity quantity;
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

void reduce(const BanditPlan& plan, const Request& request, const Reductions& reductions);

}  // namespace committal
