#include "whole.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bandit/simulator.hpp"
#include "core/accumulator.hpp"
#include "core/arena.hpp"
#include "kernels/table.hpp"
#include "mdp/evaluation.hpp"
#include "mdp/simulator.hpp"
#include "micro.hpp"

namespace committal::micro {
namespace {

constexpr std::int64_t kSteps = 256;  // so that the start of a block hardly counts
constexpr std::int64_t kEpisodes = 8;
constexpr std::int64_t kPolicies = 32;

BanditPlan bandit_plan(const Work& work) {
  const auto arms = static_cast<std::size_t>(work.arms);
  BanditPlan plan;
  plan.arms = work.arms;
  plan.steps = kSteps;
  plan.update = work.update;
  plan.policy = plan.update == "projected" ? "direct" : "softmax";
  plan.behaviour = work.behaviour;
  plan.exploration = {plan.behaviour == "on_policy" ? 0.0 : 0.1};
  plan.noise = work.noise;
  plan.theta0.assign(arms, plan.policy == "direct" ? 1.0 / static_cast<double>(arms) : 0.0);
  // A natural step grows like 1 / pi: the same size for many arms.
  plan.step_size = {plan.update == "natural" ? 0.1 / static_cast<double>(arms) : 0.1};
  for (std::size_t k = 0; k < arms; ++k) {
    plan.means.push_back(1.0 - static_cast<double>(k) / static_cast<double>(arms));
  }
  plan.spread.assign(arms, plan.noise == "gaussian" ? 1.0 : 0.0);
  plan.reward_variance = plan.spread;
  plan.baseline_terms = {baseline_term(work.baseline, 1.0, 0.0)};
  for (std::int64_t t = work.recorded ? 1 : kSteps; t <= kSteps; ++t) plan.times.push_back(t);
  return plan;
}

// Four rooms in a square: a wall along each middle, with a door in each half. Four moves; the last
// corner is the goal. Nobody acts in a wall, so it is terminal.
MdpTables four_rooms(std::int64_t side) {
  const std::int64_t middle = side / 2;
  const std::int64_t doors[] = {middle / 2, middle + (side - middle) / 2};
  const auto is_door = [&](std::int64_t at) { return at == doors[0] || at == doors[1]; };
  const auto is_wall = [&](std::int64_t y, std::int64_t x) {
    if (y < 0 || x < 0 || y >= side || x >= side) return true;
    return (y == middle && !is_door(x)) || (x == middle && !is_door(y));
  };
  MdpTables maze;
  maze.states = side * side;
  maze.actions = 4;
  maze.gamma = 0.99;
  maze.row_offsets = {0};
  for (std::int64_t s = 0; s < side * side; ++s) {
    const std::int64_t y = s / side;
    const std::int64_t x = s % side;
    maze.terminal.push_back(s == side * side - 1 || is_wall(y, x) ? 1 : 0);
    for (const auto& [dy, dx] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}}) {
      const std::int64_t to = is_wall(y + dy, x + dx) ? s : (y + dy) * side + x + dx;
      maze.next_state.push_back(static_cast<std::int32_t>(to));
      maze.probability.push_back(1.0);
      maze.reward.push_back(to == side * side - 1 ? 1.0 : 0.0);
      maze.row_offsets.push_back(static_cast<std::int64_t>(maze.next_state.size()));
    }
  }
  return maze;
}

std::shared_ptr<const Simulator> maze_simulator(const Work& work) {
  auto model = std::make_shared<const MdpModel>(four_rooms(work.side));
  MdpPlan plan;
  plan.steps = kEpisodes;
  plan.limit = 100;
  plan.theta0.assign(static_cast<std::size_t>(model->states() * model->actions()), 0.0);
  plan.step_size = {0.1};
  plan.start_states = {0};
  plan.start_cumulative = {1.0};
  plan.times = {kEpisodes};
  plan.estimator = work.estimator;
  if (work.baseline[0] != '\0') plan.baseline_terms = {baseline_term(work.baseline, 1.0, 0.0)};
  return std::make_shared<const MdpSimulator>(std::move(model), plan);
}

}  // namespace

struct Whole {
  What what;
  std::string isa;
  double units;
  // of runs
  std::shared_ptr<const Simulator> simulator;
  BlockKernel kernel;
  Workspace workspace;
  std::vector<double> recorded;  // if it is, [lanes][times][arms]
  // of policies
  std::shared_ptr<const MdpModel> model;
  std::vector<double> policies;
  std::vector<double> values;
};

Whole* make_whole(const Work& work, const char* isa) {
  auto* whole = new Whole{};  // lives as long as the program
  whole->what = work.what;
  whole->isa = isa;
  if (work.what == What::kElimination) {
    whole->model = std::make_shared<const MdpModel>(four_rooms(work.side));
    const std::int64_t pairs = whole->model->states() * whole->model->actions();
    whole->policies.assign(static_cast<std::size_t>(kPolicies * pairs), 0.25);
    whole->values.resize(static_cast<std::size_t>(kPolicies * whole->model->states()));
    whole->units = kPolicies;
    return whole;
  }
  const bool maze = work.what == What::kMaze;
  if (maze) {
    whole->simulator = maze_simulator(work);
  } else {
    whole->simulator = std::make_shared<const BanditSimulator>(bandit_plan(work));
  }
  const int lanes = whole->simulator->lanes(0);
  whole->units = static_cast<double>(lanes * (maze ? kEpisodes : kSteps));
  if (work.recorded) {
    whole->recorded.resize(static_cast<std::size_t>(lanes * kSteps * work.arms));
  } else {
    whole->kernel = whole->simulator->block(resolve_isa(isa), lanes);
    whole->workspace = make_workspace(whole->kernel.workspace_bytes);
  }
  return whole;
}

void run_whole(Whole& whole) {
  if (whole.what == What::kElimination) {
    Evaluation evaluation;
    evaluation.count = kPolicies;
    evaluation.given = whole.policies.data();
    evaluation.isa = whole.isa;
    evaluation.out = whole.values.data();
    evaluate_policies(*whole.model, evaluation);
    return;
  }
  if (!whole.recorded.empty()) {
    Request request;
    request.runs = whole.simulator->lanes(0);
    request.isa = whole.isa;
    simulate(*whole.simulator, request,
             {{whole.simulator->describe("policy"), whole.recorded.data()}});
    return;
  }
  BlockTask task{};
  task.key = 1;
  task.valid = whole.simulator->lanes(0);
  Divergence divergence;
  task.divergence = &divergence;
  task.proceed = [](void*, std::int64_t) { return true; };
  task.workspace = whole.workspace.get();
  whole.kernel.run(task);
}

double units_of(const Whole& whole) { return whole.units; }

const BanditView& natural_bandit(std::int64_t arms) {
  const Work work{.arms = arms};
  const auto* plan = new BanditPlan(bandit_plan(work));  // both live as long as the program
  plan->validate();
  return *new BanditView(plan->view());
}

void accumulate_all(const double* x, int count) {
  static std::int64_t limbs[2][kAccumulatorLimbs] = {};
  for (int i = 0; i < count; ++i) {
    accumulate(limbs[0], x[i]);
    accumulate_square(limbs[1], x[i]);
  }
  carry(limbs[0]);
  carry(limbs[1]);
}

double* numbers(std::int64_t count, double low, double high) {
  auto* all = static_cast<double*>(
      make_workspace(static_cast<std::size_t>(count) * sizeof(double) + 64).release());
  double x = 0.5;
  for (std::int64_t i = 0; i < count; ++i) {
    x += 0.6180339887498949;  // steps of the golden ratio fill the interval evenly
    if (x >= 1.0) x -= 1.0;
    all[i] = low + (high - low) * x;
  }
  return all;
}

}  // namespace committal::micro
