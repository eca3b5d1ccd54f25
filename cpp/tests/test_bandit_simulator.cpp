#include "tests/bandit.hpp"
#include "tests/harness.hpp"
#include "tests/workspace.hpp"

namespace committal {
namespace {

std::vector<double> values_of(const BanditSimulator& simulator, int threads, const std::string& isa,
                              int block) {
  Request request;
  request.key = 42;
  request.runs = 150;
  request.threads = threads;
  request.isa = isa;
  request.block = block;
  std::vector<double> values(static_cast<std::size_t>(request.runs * simulator.time_count()));
  simulate(simulator, request, {{simulator.describe("value"), values.data()}});
  return values;
}

TEST(bandit_runs_do_not_depend_on_the_machine) {
  for (const std::int64_t arms : {2, 3, 5, 17, 70, 130, 300}) {
    const BanditSimulator simulator(small_bandit(arms));
    const std::vector<double> expected = values_of(simulator, 1, "generic", 64);
    for (const std::string& isa : available_isas()) {
      for (const int threads : {1, 3}) {
        for (const int block : {16, 64}) {
          CHECK(values_of(simulator, threads, isa, block) == expected);
        }
      }
    }
  }
}

// Every update, estimator, behaviour and baseline, and everything recorded.
TEST(bandit_blocks_stay_in_their_workspace) {
  for (const UpdateRow& update : rows_of(Update{})) {
    for (const Named& estimator : rows_of(Estimator{})) {
      for (const BehaviourRow& behaviour : rows_of(Behaviour{})) {
        for (const std::int64_t arms : {1, 2, 3, 4, 7, 150}) {
          BanditPlan plan = small_bandit(arms);
          plan.update = update.name;
          plan.policy = rows_of(Policy{})[static_cast<std::int64_t>(update.policy)].name;
          plan.estimator = estimator.name;
          plan.behaviour = behaviour.name;
          plan.noise = "gaussian";
          plan.samples = behaviour.needs_law ? 9 : 1;  // more than arms, or less
          plan.steps = 20;
          plan.times = {0, 20};
          plan.exploration = {0.25};
          const std::vector<double> level(static_cast<std::size_t>(arms),
                                          1.0 / static_cast<double>(arms));
          plan.behaviour_probabilities = level;
          if (update.policy == Policy::kDirect) plan.theta0 = level;
          plan.baseline_terms.clear();
          for (const BaselineRow& baseline : rows_of(Baseline{})) {
            if (baseline.follows_rewards && plan.estimator == "expected") continue;
            plan.baseline_terms.push_back(baseline_term(baseline.name, 0.25, 0.5));
          }
          const BanditSimulator simulator(plan);
          for (const std::string& isa : available_isas()) {
            CHECK(stays_inside(simulator, resolve_isa(isa), kBanditWide));
            CHECK(stays_inside(simulator, resolve_isa(isa), kBanditNarrow));
          }
        }
      }
    }
  }
}

TEST(bandit_quantities_are_described) {
  BanditPlan plan = small_bandit(2);
  plan.samples = 4;
  const auto shape = [&](const char* name) { return BanditSimulator(plan).describe(name).shape; };
  using Lengths = std::vector<std::int64_t>;
  CHECK(shape("value") == Lengths{});
  CHECK(shape("policy") == Lengths{2});
  CHECK(shape("theta") == Lengths{2});
  CHECK(shape("reward") == Lengths{4});
  plan.contrast = true;
  CHECK(shape("theta") == Lengths{1});
  CHECK(BanditSimulator(plan).describe("action").element == Element::kInt32);
  CHECK(starts_with(message_of([&] { shape("velocity"); }), "outputs = 'velocity'"));
}

TEST(a_workspace_beyond_all_memory_is_refused) {
  BanditPlan plan = small_bandit(2);
  plan.samples = kMostSamples;
  const BlockKernel kernel = BanditSimulator(plan).block(Isa::kGeneric, kBanditWide);
  CHECK(kernel.workspace_bytes > static_cast<std::size_t>(kMostSamples) * kBanditWide * 8);
  plan.samples = kMostSamples + 1;
  CHECK(starts_with(message_of([&] { BanditSimulator{plan}; }), "samples"));
}

TEST(poll_can_stop_the_workers) {
  BanditPlan plan = small_bandit(3);
  plan.steps = 100000000;
  plan.times = {100000000};
  const BanditSimulator simulator(plan);
  Request request;
  request.runs = 1000;
  request.threads = 2;
  request.poll = [](std::int64_t) { throw std::runtime_error("stop"); };
  std::vector<double> values(1000);
  CHECK(message_of<std::runtime_error>([&] {
          simulate(simulator, request, {{simulator.describe("value"), values.data()}});
        }) == "stop");
}

}  // namespace
}  // namespace committal
