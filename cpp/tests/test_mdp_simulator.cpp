#include <memory>

#include "mdp/simulator.hpp"
#include "tests/ring.hpp"
#include "tests/workspace.hpp"

namespace committal {
namespace {

MdpPlan small_plan(const Ring& ring) {
  MdpPlan plan;
  plan.steps = 20;
  plan.limit = 15;
  plan.theta0.assign(static_cast<std::size_t>(ring.states * ring.actions), 0.0);
  plan.step_size = {0.3};
  plan.start_states = {0};
  plan.start_cumulative = {1.0};
  plan.times = {0, 20};
  return plan;
}

TEST(mdp_runs_do_not_depend_on_the_machine) {
  for (const char* estimator : {"exact_q", "reinforce", "expected"}) {
    for (const bool slippery : {false, true}) {
      for (const std::int64_t actions : {3, 4}) {
        const Ring ring(9, actions, slippery);
        MdpPlan plan = small_plan(ring);
        plan.estimator = estimator;
        const MdpSimulator simulator(std::make_shared<const MdpModel>(ring), plan);
        std::vector<std::vector<double>> expected;
        for (const std::string& isa : available_isas()) {
          for (const int block : {8, 16}) {
            Request request;
            request.key = 5;
            request.runs = 37;
            request.threads = 3;
            request.isa = isa;
            request.block = block;
            std::vector<std::vector<double>> found;
            std::vector<Output> outputs;
            for (const char* name : {"return", "value", "state_entropy", "policy"}) {
              const Described described = simulator.describe(name);
              found.emplace_back(static_cast<std::size_t>(37 * 2 * described.width()));
              outputs.push_back({described, found.back().data()});
            }
            simulate(simulator, request, outputs);
            if (expected.empty()) expected = found;
            CHECK(found == expected);
          }
        }
      }
    }
  }
}

// Every update, estimator, behaviour and solver, and everything recorded.
TEST(mdp_blocks_stay_in_their_workspace) {
  for (const std::int64_t actions : {1, 3, 4}) {
    const Ring ring(9, actions, actions == 3);
    for (const std::int64_t near_bytes : {kNearBytes, std::int64_t{0}}) {
      const auto model = std::make_shared<const MdpModel>(ring, near_bytes);
      for (const Named& update : rows_of(MdpUpdate{})) {
        for (const Named& estimator : rows_of(MdpEstimator{})) {
          for (const Named& solver : rows_of(Solver{})) {
            for (const BehaviourRow& behaviour : rows_of(Behaviour{})) {
              if (behaviour.remembers) continue;
              MdpPlan plan = small_plan(ring);
              plan.update = update.name;
              plan.estimator = estimator.name;
              plan.solver = solver.name;
              plan.behaviour = behaviour.name;
              plan.exploration = {0.25};
              plan.behaviour_probabilities.assign(static_cast<std::size_t>(actions),
                                                  1.0 / static_cast<double>(actions));
              const MdpSimulator simulator(model, plan);
              for (const std::string& isa : available_isas()) {
                CHECK(stays_inside(simulator, resolve_isa(isa), kMdpWide));
                CHECK(stays_inside(simulator, resolve_isa(isa), kMdpNarrow));
              }
            }
          }
        }
      }
    }
  }
}

TEST(mdp_plans_are_refused_by_name) {
  const Ring ring(7, 3, true);
  const auto model = std::make_shared<const MdpModel>(ring);
  const auto complaint = [&](auto&& spoil) {
    MdpPlan plan = small_plan(ring);
    spoil(plan);
    return message_of<std::invalid_argument>([&] { MdpSimulator{model, plan}; });
  };
  CHECK(complaint([](MdpPlan&) {}).empty());
  CHECK(starts_with(complaint([](MdpPlan& p) { p.limit = 0; }), "limit = 0"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.limit = kMostEpisode + 1; }), "limit"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.update = "projected"; }), "update"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.tolerance = 0.0; }), "tolerance = 0"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.epochs = kMostEpochs + 1; }), "epochs = 65"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.epochs = 2; }), "epochs = 2"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.behaviour = "snapshot"; }), "behaviour"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.theta0.pop_back(); }), "theta0"));
  CHECK(starts_with(complaint([](MdpPlan& p) { p.start_states = {6}; }), "start_states[0] = 6"));
  CHECK(starts_with(
      complaint([](MdpPlan& p) { p.baseline_terms = {baseline_term("running_mean", 1.0, 0.0)}; }),
      "baseline_terms"));
}

TEST(mdp_quantities_are_described) {
  const Ring ring(7, 3, true);
  const MdpSimulator simulator(std::make_shared<const MdpModel>(ring), small_plan(ring));
  using Lengths = std::vector<std::int64_t>;
  CHECK(simulator.describe("policy").shape == (Lengths{7, 3}));
  CHECK(simulator.describe("policy").width() == 21);
  CHECK(simulator.describe("goal_probability").shape == Lengths{1});
  CHECK(simulator.describe("visits").element == Element::kInt64);
  CHECK(simulator.describe("goal").element == Element::kInt32);
  CHECK(simulator.describe("return").shape.empty());
}

}  // namespace
}  // namespace committal
