#include "mdp/simulator.hpp"

#include <utility>

#include "plan/simulators.hpp"

namespace committal {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

MdpSimulator::MdpSimulator(std::shared_ptr<const MdpModel> model, MdpPlan plan)
    : model_(std::move(model)), plan_(std::move(plan)) {
  plan_.validate(*model_);
  const std::int64_t actions = model_->actions();
  for (const std::int64_t s : model_->original()) {
    const auto from = plan_.theta0.begin() + s * actions;
    acting_theta0_.insert(acting_theta0_.end(), from, from + actions);
  }
  start_.assign(at(model_->acting()), 0.0);
  double before = 0.0;
  for (std::size_t i = 0; i < plan_.start_states.size(); ++i) {
    const std::int32_t inner = model_->inner()[at(plan_.start_states[i])];
    acting_starts_.push_back(inner);
    start_[at(inner)] += (plan_.start_cumulative[i] - before) / plan_.start_cumulative.back();
    before = plan_.start_cumulative[i];
  }
  find_reachable();
}

// Where a policy that tries everything can get to.
void MdpSimulator::find_reachable() {
  reachable_.assign(at(model_->acting()), 0);
  std::vector<std::int32_t> frontier = acting_starts_;
  for (const std::int32_t s : frontier) reachable_[at(s)] = 1;
  const MdpModelView m = model_->view();
  while (!frontier.empty()) {
    const std::int64_t s = frontier.back();
    frontier.pop_back();
    for (std::int64_t e = m.row_offsets[s * m.actions]; e < m.row_offsets[(s + 1) * m.actions];
         ++e) {
      const std::int32_t next = m.next[e];
      if (next < m.acting && reachable_[at(next)] == 0) {
        reachable_[at(next)] = 1;
        frontier.push_back(next);
      }
    }
  }
}

std::int64_t MdpSimulator::time_count() const {
  return static_cast<std::int64_t>(plan_.times.size());
}

Described MdpSimulator::describe(std::string_view name) const {
  const MdpView v = view();
  const std::vector<std::string>& names = plan_.programs.quantity_names();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(names.size()); ++i) {
    if (name != names[at(i)]) continue;
    const auto number = static_cast<int>(parts().mdp_quantities.count + i);
    Described described{number, Element::kFloat64, {}};
    if (v.over_states(i) == OverStates::kEach) described.shape.push_back(v.states);
    if (v.has_actions(i)) described.shape.push_back(v.actions);
    return described;
  }
  return describe_quantity(name, parts().mdp_quantities, v);
}

int MdpSimulator::lanes(int asked) const {
  return choose_lanes(asked, kMdpNarrow, kMdpWide, model_->lanes());
}

MdpView MdpSimulator::view() const {
  MdpView v{};
  MdpPlan::visit(SeeFields{}, plan_, v);
  v.model = model_->view();
  v.states = model_->states();
  v.actions = model_->actions();
  v.goals = model_->goals();
  v.episodes = plan_.episodes();
  v.lags = plan_.lags();
  v.keeps_law = v.lags || v.epochs > 1;
  if (v.lags)
    v.behaviour = static_cast<Behaviour>(resolve("behaviour", "on_policy", rows_of(Behaviour{})));
  v.original = model_->original().data();
  v.acting_theta0 = acting_theta0_.data();
  const RunningMean mean = running_mean(plan_.baseline_terms);
  v.uses_running_mean = mean.used;
  v.running_mean_rate = mean.rate;
  v.acting_starts = acting_starts_.data();
  v.start = start_.data();
  v.reachable = reachable_.data();
  return v;
}

BlockKernel MdpSimulator::block(Isa isa, int lanes) const {
  const auto& kernels = kernel_table(isa).mdp;
  return bind_block(lanes == kMdpWide ? kernels.wide : kernels.narrow, view());
}

}  // namespace committal
