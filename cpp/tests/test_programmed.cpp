// Blocks with programs stay in the memory that their layout counts.
#include "kernels/bandit/view.hpp"
#include "kernels/mdp/view.hpp"
#include "mdp/simulator.hpp"
#include "plan/programs.hpp"
#include "tests/bandit.hpp"
#include "tests/harness.hpp"
#include "tests/ring.hpp"
#include "tests/workspace.hpp"

namespace committal {
namespace {

using Held = ProgramSet::Held;

// A program that gives `value`, of one operation on one or two inputs.
Held program_of(const std::string& shape, const std::string& op,
                const std::vector<std::pair<std::string, std::string>>& inputs) {
  ProgramParts parts;
  ProgramParts::Operation operation{op, {static_cast<std::int64_t>(inputs.size())}};
  for (const auto& [name, of] : inputs) {
    const auto number = static_cast<std::int64_t>(parts.registers.size());
    parts.registers.push_back(of);
    parts.inputs.push_back({name, number});
    operation.numbers.push_back(number);
  }
  parts.registers.push_back(shape);
  parts.code = {operation};
  parts.outputs = {{"value", static_cast<std::int64_t>(inputs.size())}};
  return std::make_shared<Program>(parts);
}

// step = m = 0.5 m + g
Held momentum() {
  ProgramParts parts;
  parts.registers = {"arm", "arm", "run", "arm", "arm"};
  parts.constants = {{2, 0.5}};
  parts.inputs = {{"g", 0}, {"state:m", 1}};
  parts.code = {{"mul", {3, 1, 2}}, {"add", {4, 3, 0}}};
  parts.outputs = {{"value", 4}, {"state:m", 4}};
  parts.state = {{"m", 0.0}};
  return std::make_shared<Program>(parts);
}

// v += R - v, of two kinds: one number, and one per action
Held learner() {
  ProgramParts parts;
  parts.registers = {"run", "arm", "sample", "run", "run", "run", "run", "arm"};
  parts.inputs = {{"state:v", 0}, {"state:q", 1}, {"R", 2}};
  parts.code = {{"copy", {3, 0}},
                {"sum_arms", {4, 1}},
                {"mean_samples", {5, 2}},
                {"sub", {6, 5, 0}},
                {"sub", {7, 1, 5}}};
  parts.outputs = {{"value", 3}, {"own", 4}, {"state:v", 6}, {"state:q", 7}};
  parts.state = {{"v", 0.5}, {"q", 0.0}};
  return std::make_shared<Program>(parts);
}

void check_bandit(const BanditPlan& plan) {
  const BanditSimulator simulator(plan);
  for (const std::string& isa : available_isas()) {
    CHECK(stays_inside(simulator, resolve_isa(isa), kBanditWide));
    CHECK(stays_inside(simulator, resolve_isa(isa), kBanditNarrow));
  }
}

TEST(bandit_blocks_with_programs_stay_in_their_workspace) {
  for (const std::int64_t arms : {2, 3, 20, 150}) {
    for (const std::int64_t samples : {1, 3}) {
      for (const char* behaviour : {"on_policy", "uniform_mixture"}) {
        BanditPlan plan = small_bandit(arms);
        plan.samples = samples;
        plan.behaviour = behaviour;
        plan.exploration = {0.2};
        plan.programs.baseline = program_of("run", "max_arms", {{"pi", "arm"}});
        plan.programs.add_quantity("moved",
                                   program_of("arm", "sub", {{"theta", "arm"}, {"theta0", "arm"}}));
        check_bandit(plan);
        plan.programs.optimiser = momentum();
        check_bandit(plan);
        plan.programs.weight = program_of("sample", "min", {{"rho", "sample"}, {"A", "sample"}});
        plan.programs.add_quantity("mean", program_of("run", "mean_samples", {{"R", "sample"}}));
        check_bandit(plan);
        plan.programs.update =
            program_of("sample_arm", "mul", {{"score", "sample_arm"}, {"mu", "arm"}});
        plan.programs.add_quantity("natural",
                                   program_of("arm", "sum_samples", {{"natural", "sample_arm"}}));
        plan.programs.baseline = program_of("sample", "others_sum_samples", {{"R", "sample"}});
        check_bandit(plan);
      }
    }
  }
}

TEST(mdp_blocks_with_programs_stay_in_their_workspace) {
  for (const std::int64_t actions : {2, 4}) {
    const Ring ring(7, actions, true);
    const auto model = std::make_shared<MdpModel>(ring);
    for (const char* estimator : {"exact_q", "reinforce"}) {
      MdpPlan plan;
      plan.start_states = {0};
      plan.start_cumulative = {1.0};
      plan.limit = 9;
      plan.steps = 5;
      plan.theta0.assign(static_cast<std::size_t>(7 * actions), 0.0);
      plan.estimator = estimator;
      plan.step_size = {0.1};
      plan.times = {0, 5};
      const auto check = [&] {
        const MdpSimulator simulator(model, plan);
        for (const std::string& isa : available_isas()) {
          CHECK(stays_inside(simulator, resolve_isa(isa), kMdpWide));
          CHECK(stays_inside(simulator, resolve_isa(isa), kMdpNarrow));
        }
      };
      plan.programs.baseline = program_of("run", "max_arms", {{"mu", "arm"}});
      check();
      plan.programs.weight = program_of("sample", "min", {{"rho", "sample"}, {"A", "sample"}});
      check();
      plan.programs.critic = learner();
      check();
      plan.programs.optimiser = momentum();
      check();
      plan.programs.update =
          program_of("sample_arm", "mul", {{"score", "sample_arm"}, {"theta", "arm"}});
      check();
      if (plan.estimator != "reinforce") continue;
      plan.samples = 3;
      check();
      plan.programs.group = program_of("sample", "others_sum_samples", {{"R", "sample"}});
      plan.programs.scale = program_of("run", "std_samples", {{"R", "sample"}});
      check();
      plan.programs.group = program_of("sample", "mul", {{"R", "sample"}, {"w", "sample"}});
      plan.epochs = 3;
      check();
      plan.behaviour = "snapshot";
      plan.exploration = {1.0, 0.0, 1.0, 0.0, 0.0};
      check();
      plan.epochs = 1;
      check();
      plan.exploration = {0.0};
      CHECK(starts_with(message_of([&] { plan.validate(*model); }), "exploration[0] = 0"));
      plan.behaviour = "on_policy";
      plan.programs.update = nullptr;
      plan.programs.weight = nullptr;
      plan.start_states = {0, 2};
      plan.start_cumulative = {0.5, 1.0};
      plan.each_start = true;
      check();
      plan.samples = kMostSamples;
      CHECK(starts_with(message_of([&] { plan.validate(*model); }), "samples = "));
    }
  }
}

TEST(programs_that_do_not_fit_their_place_are_refused) {
  BanditPlan plan = small_bandit(3);
  plan.programs.baseline = program_of("arm", "copy", {{"pi", "arm"}});
  CHECK(message_of([&] { plan.validate(); }) ==
        "programs['baseline'] = a program that gives shape 'arm' is not allowed; expected shape "
        "'run' 'sample'");
  plan.programs.baseline = program_of("run", "max_arms", {{"g", "arm"}});
  CHECK(starts_with(message_of([&] { plan.validate(); }),
                    "programs['baseline'] = a program with the input 'g' is not allowed"));
  plan.programs.baseline = nullptr;
  plan.programs.critic = learner();
  CHECK(starts_with(message_of([&] { plan.validate(); }), "programs = a critic is not allowed"));
}

}  // namespace
}  // namespace committal
