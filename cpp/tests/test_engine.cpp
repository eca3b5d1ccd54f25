// The engine with a simulator of its own, which is neither a bandit nor an MDP.
#include <cstring>

#include "core/accumulator.hpp"
#include "core/check.hpp"
#include "core/engine.hpp"
#include "core/limits.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

constexpr int kLanes = 8;
constexpr std::int64_t kTimes = 3;

// Run r has the value frac(r / 7) at every time, and the pair (r, -time).
struct Counting final : Simulator {
  std::int64_t time_count() const override { return kTimes; }
  Described describe(std::string_view name) const override {
    if (name == "value") return {0, Element::kFloat64, {}};
    if (name == "pair") return {1, Element::kInt32, {2}};
    refuse("outputs", quoted(name), "'value' or 'pair'");
  }
  int lanes(int) const override { return kLanes; }
  BlockKernel block(Isa, int) const override {
    return {sizeof(double) * 2 * kLanes, [](const BlockTask& task) {
              auto* rows = static_cast<double*>(task.workspace);
              for (std::int64_t time = 0; time < kTimes; ++time) {
                for (int l = 0; l < kLanes; ++l) {
                  const auto run = task.first_run + static_cast<std::uint64_t>(l);
                  rows[l] = static_cast<double>(run % 7) / 7.0;
                }
                if (task.sink.wants(0)) task.sink.emit(task.sink.context, 0, time, rows, 1, kLanes);
                for (int l = 0; l < kLanes; ++l) {
                  rows[l] = static_cast<double>(task.first_run + static_cast<std::uint64_t>(l));
                  rows[kLanes + l] = -static_cast<double>(time);
                }
                if (task.sink.wants(1)) task.sink.emit(task.sink.context, 1, time, rows, 2, kLanes);
                if (!task.proceed(task.proceed_context, 1)) return;
              }
            }};
  }
};

Request request_of(std::int64_t runs, int threads) {
  Request request;
  request.first_run = 5;
  request.runs = runs;
  request.threads = threads;
  return request;
}

TEST(every_run_is_stored_in_its_place_and_type) {
  const Counting simulator;
  for (const int threads : {1, 4}) {
    std::vector<double> values(21 * kTimes, -1.0);
    std::vector<std::int32_t> pairs(21 * kTimes * 2, -1);
    simulate(
        simulator, request_of(21, threads),
        {{simulator.describe("value"), values.data()}, {simulator.describe("pair"), pairs.data()}});
    for (std::size_t run = 0; run < 21; ++run) {
      for (std::size_t time = 0; time < kTimes; ++time) {
        const std::size_t at = run * kTimes + time;
        CHECK(values[at] == static_cast<double>((run + 5) % 7) / 7.0);
        CHECK(pairs[2 * at] == static_cast<std::int32_t>(run + 5));
        CHECK(pairs[2 * at + 1] == -static_cast<std::int32_t>(time));
      }
    }
  }
}

TEST(reductions_agree_with_the_runs) {
  const Counting simulator;
  const Described value = simulator.describe("value");
  std::vector<double> values(150 * kTimes);
  simulate(simulator, request_of(150, 2), {{value, values.data()}});
  std::vector<std::int64_t> limbs(kTimes * 2 * kAccumulatorLimbs);
  std::vector<std::int64_t> counts(kTimes * 12);
  std::vector<std::int64_t> below(kTimes);
  Reductions reductions;
  reductions.moments = {{value, limbs.data()}};
  reductions.histograms = {{value, counts.data(), 10, 0.0, 1.0}};
  reductions.failures = below.data();
  reductions.below = 0.5;
  reduce(simulator, request_of(150, 3), reductions);
  for (std::size_t t = 0; t < kTimes; ++t) {
    std::int64_t expected[2 * kAccumulatorLimbs] = {};
    std::int64_t failed = 0;
    for (std::size_t run = 0; run < 150; ++run) {
      const double x = values[run * kTimes + t];
      accumulate(expected, x);
      accumulate_square(expected + kAccumulatorLimbs, x);
      failed += x < 0.5 ? 1 : 0;
    }
    carry(expected);
    carry(expected + kAccumulatorLimbs);
    CHECK(std::memcmp(expected, limbs.data() + t * 2 * kAccumulatorLimbs, sizeof expected) == 0);
    CHECK(failed == below[t]);
    std::int64_t total = 0;
    for (std::size_t cell = 0; cell < 12; ++cell) total += counts[t * 12 + cell];
    CHECK(total == 150);
  }
}

TEST(requests_are_refused_by_name) {
  const auto complaint = [](auto&& spoil) {
    Request request = request_of(0, 1);
    spoil(request);
    return message_of<std::invalid_argument>([&] { simulate(Counting(), request, {}); });
  };
  CHECK(starts_with(complaint([](Request& r) { r.runs = -1; }), "runs = -1"));
  CHECK(starts_with(complaint([](Request& r) { r.threads = 0; }), "threads = 0"));
  CHECK(starts_with(complaint([](Request& r) { r.threads = kMostThreads + 1; }), "threads"));
  CHECK(starts_with(complaint([](Request& r) { r.isa = "neon9"; }), "isa = 'neon9'"));
  CHECK(
      starts_with(complaint([](Request& r) { r.first_run = ~std::uint64_t{0} - 3; }), "first_run"));
  CHECK(complaint([](Request&) {}).empty());
}

}  // namespace
}  // namespace committal
