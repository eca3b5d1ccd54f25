#include "mdp/simulator.hpp"

#include <stdexcept>
#include <utility>

#include "core/check.hpp"

namespace committal {

template <>
const std::vector<std::string>& names<MdpEstimator>() {
  static const std::vector<std::string> all{"exact_q", "reinforce", "expected"};
  return all;
}
template <>
const std::vector<std::string>& names<Solver>() {
  static const std::vector<std::string> all{"direct", "iterative"};
  return all;
}
template <>
const std::vector<std::string>& names<MdpQuantity>() {
  static const std::vector<std::string> all{
      "return", "length",           "goal",   "action_entropy", "state_entropy",
      "value",  "goal_probability", "policy", "theta",          "visits"};
  return all;
}

MdpQuantity mdp_quantity(std::string_view name) { return resolve<MdpQuantity>("outputs", name); }

MdpSimulator::MdpSimulator(std::shared_ptr<const MdpModel> model, MdpPlan plan)
    : model_(std::move(model)), plan_(std::move(plan)) {
  validate();
  const auto n = static_cast<std::size_t>(model_->acting());
  const auto A = static_cast<std::size_t>(model_->actions());
  for (const std::int32_t s : model_->original()) {
    const auto from =
        plan_.theta0.begin() + static_cast<std::ptrdiff_t>(s) * static_cast<std::ptrdiff_t>(A);
    theta0_.insert(theta0_.end(), from, from + static_cast<std::ptrdiff_t>(A));
  }
  start_.assign(n, 0.0);
  double before = 0.0;
  for (std::size_t i = 0; i < plan_.start_states.size(); ++i) {
    const std::int32_t inner = model_->inner()[static_cast<std::size_t>(plan_.start_states[i])];
    start_states_.push_back(inner);
    start_[static_cast<std::size_t>(inner)] +=
        (plan_.start_cumulative[i] - before) / plan_.start_cumulative.back();
    before = plan_.start_cumulative[i];
  }
  // Where a policy that tries everything can get to.
  reachable_.assign(n, 0);
  std::vector<std::int32_t> frontier = start_states_;
  for (const std::int32_t s : frontier) reachable_[static_cast<std::size_t>(s)] = 1;
  const MdpModelView m = model_->view();
  while (!frontier.empty()) {
    const std::int64_t s = frontier.back();
    frontier.pop_back();
    for (std::int64_t e = m.row_offsets[s * m.actions]; e < m.row_offsets[(s + 1) * m.actions];
         ++e) {
      const std::int32_t next = m.next[e];
      if (next < m.acting && reachable_[static_cast<std::size_t>(next)] == 0) {
        reachable_[static_cast<std::size_t>(next)] = 1;
        frontier.push_back(next);
      }
    }
  }
}

void MdpSimulator::validate() const {
  const MdpPlan& p = plan_;
  const auto update = resolve<Update>("update", p.update);
  const auto estimator = resolve<MdpEstimator>("estimator", p.estimator);
  const auto behaviour = resolve<Behaviour>("behaviour", p.behaviour);
  resolve<Solver>("solver", p.solver);
  if (update == Update::kProjected) refuse("update", quoted(p.update), "'vanilla' or 'natural'");
  if (p.steps < 0) refuse("steps", std::to_string(p.steps), "at least 0");
  if (p.limit < 1 || p.limit > std::int64_t{1} << 31) {
    refuse("limit", std::to_string(p.limit), "1 to 2^31");
  }
  if (p.steps >= kMaxDraws / p.limit) {
    refuse("steps", std::to_string(p.steps), "steps * limit below 2^56");
  }
  if (!(p.tolerance > 0.0 && p.tolerance <= kLargest)) {
    refuse("tolerance", show(p.tolerance), "a positive number");
  }
  require_count("theta0", p.theta0.size(), model_->states() * model_->actions());
  require_range("theta0", p.theta0, -kLargest, kLargest);
  require_schedule("step_size", p.step_size, p.steps, 0.0, kLargest);
  require_schedule("exploration", p.exploration, p.steps, 0.0, 1.0);
  if (behaviour == Behaviour::kFixed) {
    require_behaviour_law(p.behaviour_probabilities, model_->actions());
  }
  require_terms(p.terms);
  for (const BaselineTerm& term : p.terms) {
    const bool running = term.kind == BaselineKind::kRunningMean;
    if (running != (estimator == MdpEstimator::kReinforce)) {
      refuse("baseline_terms",
             quoted(names<BaselineKind>()[static_cast<std::size_t>(term.kind)]) +
                 " with estimator " + quoted(p.estimator),
             "'running_mean' with 'reinforce' only, and nothing else with it");
    }
  }
  require_range("baseline_offset", {p.baseline_offset}, -kLargest, kLargest);
  require_range("running_mean_initial", {p.running_mean_initial}, -kLargest, kLargest);
  if (p.start_states.empty()) refuse("start_states", "an empty list", "at least one state");
  require_count("start_cumulative", p.start_cumulative.size(),
                static_cast<std::int64_t>(p.start_states.size()));
  double before = 0.0;
  for (std::size_t i = 0; i < p.start_states.size(); ++i) {
    const std::int32_t s = p.start_states[i];
    if (s < 0 || s >= model_->states() || model_->is_terminal(s)) {
      refuse("start_states[" + std::to_string(i) + "]", std::to_string(s),
             "a state that is not terminal");
    }
    if (!(p.start_cumulative[i] >= before && p.start_cumulative[i] <= 1.0 + 1e-6)) {
      refuse("start_cumulative[" + std::to_string(i) + "]", show(p.start_cumulative[i]),
             "increasing numbers up to 1");
    }
    before = p.start_cumulative[i];
  }
  if (!(before > 0.0)) refuse("start_cumulative", "0", "a positive probability");
  require_times(p.times, p.steps);
}

std::int64_t MdpSimulator::time_count() const {
  return static_cast<std::int64_t>(plan_.times.size());
}

std::int64_t MdpSimulator::width(int quantity) const {
  switch (static_cast<MdpQuantity>(quantity)) {
    case MdpQuantity::kGoalProbability:
      return model_->goals();
    case MdpQuantity::kPolicy:
    case MdpQuantity::kTheta:
      return model_->states() * model_->actions();
    case MdpQuantity::kVisits:
      return model_->states();
    default:
      return 1;
  }
}

int MdpSimulator::lanes(int asked) const {
  if (asked == 0) return model_->lanes();
  if (asked != kMdpNarrowBlock && asked != kMdpWideBlock) {
    throw std::invalid_argument("block = " + std::to_string(asked) +
                                " is not allowed; expected 0, 8 or 16");
  }
  return asked;
}

std::size_t MdpSimulator::workspace_bytes(int lanes) const {
  // Mirrors MdpBlock::lay_out().
  const auto n = static_cast<std::size_t>(model_->acting());
  const auto A = static_cast<std::size_t>(model_->actions());
  const auto goals = static_cast<std::size_t>(model_->goals());
  const auto states = static_cast<std::size_t>(model_->states());
  const auto limit = static_cast<std::size_t>(plan_.limit);
  constexpr std::size_t kUniformRows = 32;
  constexpr std::size_t kSingleRows = 16;
  const std::size_t touched_rows = n / (sizeof(double) * static_cast<std::size_t>(lanes)) + 1;
  const std::size_t rows = touched_rows + 3 * (n + 1) * A + 2 * (n + 1) + (n + goals) +
                           static_cast<std::size_t>(model_->elimination_slots()) + 5 * limit +
                           (states * A + goals + n + 1) + 3 * A + kUniformRows + kSingleRows;
  return rows * static_cast<std::size_t>(lanes) * sizeof(double);
}

MdpView MdpSimulator::view() const {
  const auto schedule = [](const std::vector<double>& x) {
    return Schedule{x.data(), static_cast<std::int64_t>(x.size())};
  };
  MdpView v{};
  v.model = model_->view();
  v.states = model_->states();
  v.original = model_->original().data();
  v.steps = plan_.steps;
  v.limit = plan_.limit;
  v.update = resolve<Update>("update", plan_.update);
  v.estimator = resolve<MdpEstimator>("estimator", plan_.estimator);
  v.solver = resolve<Solver>("solver", plan_.solver);
  v.tolerance = plan_.tolerance;
  v.discounted = plan_.discounted;
  v.behaviour = resolve<Behaviour>("behaviour", plan_.behaviour);
  v.theta0 = theta0_.data();
  v.terminal_theta = plan_.theta0.data();
  v.step_size = schedule(plan_.step_size);
  v.exploration = schedule(plan_.exploration);
  v.terms = plan_.terms.data();
  v.term_count = static_cast<std::int64_t>(plan_.terms.size());
  v.baseline_offset = plan_.baseline_offset;
  for (const BaselineTerm& term : plan_.terms) {
    if (term.kind != BaselineKind::kRunningMean) continue;
    v.uses_running_mean = true;
    v.running_mean_rate = term.parameter;
  }
  v.running_mean_initial = plan_.running_mean_initial;
  v.behaviour_probabilities = plan_.behaviour_probabilities.data();
  v.start_states = start_states_.data();
  v.start_cumulative = plan_.start_cumulative.data();
  v.start_count = static_cast<std::int64_t>(start_states_.size());
  v.start = start_.data();
  v.reachable = reachable_.data();
  v.times = plan_.times.data();
  v.time_count = time_count();
  return v;
}

std::function<void(const BlockTask&)> MdpSimulator::block(const KernelTable& kernels,
                                                          int lanes) const {
  const auto run = lanes == kMdpWideBlock ? kernels.mdp_block_wide : kernels.mdp_block_narrow;
  return [run, view = view()](const BlockTask& task) { run(view, task); };
}

}  // namespace committal
