#include "core/engine.hpp"

#include <algorithm>
#include <limits>

#include "core/accumulator.hpp"
#include "core/arena.hpp"
#include "core/check.hpp"
#include "core/limits.hpp"
#include "core/pool.hpp"

namespace committal {
namespace {

void check(const Request& request) {
  require_between("runs", request.runs, 0, std::numeric_limits<std::int64_t>::max());
  require_threads(request.threads);
  // The padding lanes of the last block number runs past the last one.
  if (request.first_run >
      ~std::uint64_t{0} - static_cast<std::uint64_t>(request.runs) - kMostLanes) {
    refuse("first_run", std::to_string(request.first_run), "first_run + runs below 2^64");
  }
}

// Runs every block of the request; make_sink(worker, first lane's place among the runs, lanes)
// says where a block's records go.
template <typename MakeSink>
void run_all(const Simulator& simulator, const Request& request, MakeSink&& make_sink) {
  check(request);
  const int lanes = simulator.lanes(request.block);
  const BlockKernel kernel = simulator.block(resolve_isa(request.isa), lanes);
  const std::int64_t blocks = request.runs / lanes + (request.runs % lanes != 0 ? 1 : 0);
  std::vector<Workspace> workspaces(static_cast<std::size_t>(request.threads));

  struct Counter {
    Progress* progress;
    std::int64_t valid;
  };
  run_blocks(
      blocks, request.threads,
      [&](int worker, std::int64_t block, Progress& progress) {
        Workspace& workspace = workspaces[static_cast<std::size_t>(worker)];
        if (!workspace) workspace = make_workspace(kernel.workspace_bytes);
        const std::int64_t place = block * lanes;
        const std::int64_t valid = std::min<std::int64_t>(lanes, request.runs - place);
        auto sink = make_sink(worker, place, valid);
        Counter counter{&progress, valid};
        BlockTask task{};
        task.key = request.key;
        task.first_run = request.first_run + static_cast<std::uint64_t>(place);
        task.sink = {&sink, decltype(sink)::emit, sink.wanted()};
        task.proceed = [](void* context, std::int64_t updates) {
          const auto& count = *static_cast<Counter*>(context);
          return count.progress->advance(updates * count.valid);
        };
        task.proceed_context = &counter;
        task.workspace = workspace.get();
        task.valid = static_cast<int>(valid);
        Divergence divergence;
        task.divergence = &divergence;
        kernel.run(task);
        if (divergence.update >= 0) throw Diverged(divergence);
      },
      request.poll);
}

std::uint64_t bit(const Described& described) { return std::uint64_t{1} << described.quantity; }

// Stores every run.
struct StoreSink {
  const std::vector<Output>* outputs;
  std::int64_t times;
  std::int64_t place;
  std::int64_t valid;

  std::uint64_t wanted() const {
    std::uint64_t mask = 0;
    for (const Output& output : *outputs) mask |= bit(output.described);
    return mask;
  }

  template <typename T>
  void store(void* data, std::int64_t time, const double* rows, std::int64_t width,
             int stride) const {
    for (std::int64_t l = 0; l < valid; ++l) {
      T* to = static_cast<T*>(data) + ((place + l) * times + time) * width;
      for (std::int64_t k = 0; k < width; ++k) to[k] = static_cast<T>(rows[k * stride + l]);
    }
  }

  static void emit(void* context, int quantity, std::int64_t time, const double* rows,
                   std::int64_t width, int stride) {
    const auto& sink = *static_cast<StoreSink*>(context);
    for (const Output& output : *sink.outputs) {
      if (output.described.quantity != quantity) continue;
      switch (output.described.element) {
        case Element::kFloat64:
          sink.store<double>(output.data, time, rows, width, stride);
          break;
        case Element::kInt32:
          sink.store<std::int32_t>(output.data, time, rows, width, stride);
          break;
        case Element::kInt64:
          sink.store<std::int64_t>(output.data, time, rows, width, stride);
          break;
      }
    }
  }
};

// One worker's sums; added to the caller's arrays at the end. All integers: order cannot matter.
struct Tally {
  bool ready = false;
  std::int64_t additions = 0;  // to each limb since the last carry
  std::vector<std::vector<std::int64_t>> moments;
  std::vector<std::vector<std::int64_t>> histograms;
  std::vector<std::int64_t> failures;

  void carry_all() {
    for (std::vector<std::int64_t>& limbs : moments) {
      for (std::size_t i = 0; i < limbs.size(); i += kAccumulatorLimbs) carry(limbs.data() + i);
    }
    additions = 0;
  }
};

struct TallySink {
  const Reductions* reductions;
  Tally* tally;
  std::int64_t valid;
  int value_quantity;

  std::uint64_t wanted() const {
    std::uint64_t mask = 0;
    for (const Moments& each : reductions->moments) mask |= bit(each.described);
    for (const Histogram& each : reductions->histograms) mask |= bit(each.described);
    if (reductions->failures != nullptr) mask |= std::uint64_t{1} << value_quantity;
    return mask;
  }

  static std::int64_t cell(const Histogram& histogram, double x) {
    if (x < histogram.low) return 0;
    if (x > histogram.high) return histogram.bins + 1;
    const double position = (x - histogram.low) / (histogram.high - histogram.low) *
                            static_cast<double>(histogram.bins);
    return 1 + std::min(static_cast<std::int64_t>(position), histogram.bins - 1);
  }

  static void emit(void* context, int quantity, std::int64_t time, const double* rows,
                   std::int64_t width, int stride) {
    auto& sink = *static_cast<TallySink*>(context);
    const Reductions& reductions = *sink.reductions;
    for (std::size_t i = 0; i < reductions.moments.size(); ++i) {
      if (reductions.moments[i].described.quantity != quantity) continue;
      std::int64_t* limbs = sink.tally->moments[i].data() + time * width * 2 * kAccumulatorLimbs;
      for (std::int64_t k = 0; k < width; ++k, limbs += 2 * kAccumulatorLimbs) {
        for (std::int64_t l = 0; l < sink.valid; ++l) {
          const double x = rows[k * stride + l];
          accumulate(limbs, x);
          accumulate_square(limbs + kAccumulatorLimbs, x);
        }
      }
    }
    for (std::size_t i = 0; i < reductions.histograms.size(); ++i) {
      const Histogram& histogram = reductions.histograms[i];
      if (histogram.described.quantity != quantity) continue;
      std::int64_t* counts = sink.tally->histograms[i].data() + time * width * (histogram.bins + 2);
      for (std::int64_t k = 0; k < width; ++k, counts += histogram.bins + 2) {
        for (std::int64_t l = 0; l < sink.valid; ++l)
          ++counts[cell(histogram, rows[k * stride + l])];
      }
    }
    if (reductions.failures != nullptr && quantity == sink.value_quantity) {
      for (std::int64_t l = 0; l < sink.valid; ++l) {
        sink.tally->failures[static_cast<std::size_t>(time)] += rows[l] < reductions.below ? 1 : 0;
      }
    }
  }
};

void add_to(std::int64_t* target, const std::vector<std::int64_t>& part) {
  for (std::size_t i = 0; i < part.size(); ++i) target[i] += part[i];
}

}  // namespace

Diverged::Diverged(const Divergence& where)
    : std::runtime_error("run " + std::to_string(where.run) + " diverged: after " +
                         std::to_string(where.update) + " updates " +
                         (where.quantity < 0 ? "its parameters are" : "a recorded formula is") +
                         " not finite"),
      where_(where) {}

std::int64_t Described::width() const {
  std::int64_t product = 1;
  for (const std::int64_t length : shape) product *= length;
  return product;
}

void simulate(const Simulator& simulator, const Request& request,
              const std::vector<Output>& outputs) {
  const std::int64_t times = simulator.time_count();
  run_all(simulator, request, [&](int, std::int64_t place, std::int64_t valid) {
    return StoreSink{&outputs, times, place, valid};
  });
}

void reduce(const Simulator& simulator, const Request& request, const Reductions& reductions) {
  check(request);
  const std::int64_t times = simulator.time_count();
  const auto cells = [&](const Described& described, std::int64_t each) {
    return static_cast<std::size_t>(times * described.width() * each);
  };
  std::vector<Tally> tallies(static_cast<std::size_t>(request.threads));
  const auto prepare = [&](Tally& tally) {
    for (const Moments& each : reductions.moments) {
      tally.moments.emplace_back(cells(each.described, 2 * kAccumulatorLimbs));
    }
    for (const Histogram& each : reductions.histograms) {
      tally.histograms.emplace_back(cells(each.described, each.bins + 2));
    }
    tally.failures.resize(static_cast<std::size_t>(times));
    tally.ready = true;
  };
  const int value = simulator.describe("value").quantity;
  run_all(simulator, request, [&](int worker, std::int64_t, std::int64_t valid) {
    Tally& tally = tallies[static_cast<std::size_t>(worker)];
    if (!tally.ready) prepare(tally);
    const std::int64_t additions = 2 * valid;  // a square is added in two parts
    if (tally.additions > kAccumulatorMostAdditions - additions) tally.carry_all();
    tally.additions += additions;
    return TallySink{&reductions, &tally, valid, value};
  });
  for (Tally& tally : tallies) {
    if (!tally.ready) continue;
    tally.carry_all();
    for (std::size_t i = 0; i < reductions.moments.size(); ++i) {
      std::int64_t* limbs = reductions.moments[i].limbs;
      add_to(limbs, tally.moments[i]);
      const std::size_t count = tally.moments[i].size();
      for (std::size_t j = 0; j < count; j += kAccumulatorLimbs) carry(limbs + j);
    }
    for (std::size_t i = 0; i < reductions.histograms.size(); ++i) {
      add_to(reductions.histograms[i].counts, tally.histograms[i]);
    }
    if (reductions.failures != nullptr) add_to(reductions.failures, tally.failures);
  }
}

}  // namespace committal
