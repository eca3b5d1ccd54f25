// MDPs with formulas, compiled once per instruction set.
#include "kernels/mdp/programmed.hpp"

#include "kernels/mdp/block.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

using Input = ProgramInput;

inline constexpr double kLeastSeen = 1e-150;

template <int W>
bool uses(const MdpPrograms<W>& p, Input input) {
  return (p.used >> static_cast<int>(input) & 1u) != 0;
}

// mu of the state that is in p.pi.
template <int W>
void find_behaviour(MdpRows<W>& s, const MdpView& plan, MdpPrograms<W>& p, std::int64_t t) {
  const std::int64_t A = plan.model.actions;
  if (!uses(p, Input::kBehaviour)) return;
  sum_rows<0, W>(A, p.pi, s.here_total);
  const BehaviourRows rows = behaviour_rows<0, W>(
      plan.behaviour, {plan.exploration.at(t), plan.behaviour_probabilities.data},
      ArmRows<W>{A, p.pi, s.here_total}, s.mixture, s.mixture_total);
  for (std::int64_t k = 0; k < A; ++k) {
    for (int l = 0; l < W; ++l) {
      p.mu[k * W + l] = larger(rows.q[k * W + l] / rows.total[l], kLeastSeen);
    }
  }
}

// Rows of the states where the lanes are: the policy, theta, Q.
template <int W>
void gather_states(MdpRows<W>& s, const MdpView& plan, MdpPrograms<W>& p, const std::int64_t* state,
                   bool subtracted) {
  const std::int64_t A = plan.model.actions;
  const bool exact = plan.estimator == MdpEstimator::kExactQ;
  for (std::int64_t k = 0; k < A; ++k) {
    for (int l = 0; l < W; ++l) {
      const std::int64_t at = (state[l] * A + k) * W + l;
      p.pi[k * W + l] = larger(s.policy[at], kLeastSeen);
      p.theta[k * W + l] = s.theta[at];
      const double b = subtracted ? s.baseline[state[l] * W + l] : 0.0;
      p.r[k * W + l] = exact ? s.advantage[at] + b : 0.0;
    }
  }
  find_behaviour(s, plan, p, static_cast<std::int64_t>(p.time[0]));
}

// Everything that programs see of a visit, and what multiplies it from outside.
template <int W>
void gather_visit(MdpRows<W>& s, const MdpView& plan, MdpPrograms<W>& p, std::int64_t move,
                  const double* other) {
  const std::int64_t A = plan.model.actions;
  const bool exact = plan.estimator == MdpEstimator::kExactQ;
  const bool on_policy = plan.behaviour == kOnPolicy;
  const std::int64_t* state = s.path_state + move * W;
  const std::int64_t* action = s.path_action + move * W;
  gather_states(s, plan, p, state, /*subtracted=*/true);
  double discount = 1.0;
  if (plan.discounted && exact) {
    for (std::int64_t i = 0; i < move; ++i) discount *= plan.model.gamma;
  }
  if (!exact) {
    for (int l = 0; l < W; ++l) p.b[l] = other[l];
    if (p.baseline) {
      p.baseline.run();
      const double* value = p.baseline.output(0).row;
      for (int l = 0; l < W; ++l) p.b[l] += value[l];
    }
  }
  for (int l = 0; l < W; ++l) {
    const std::int64_t at = state[l] * A + action[l];
    const double chosen = s.policy[at * W + l];
    const double before = on_policy || move == 0 ? 1.0 : s.path_ratio[(move - 1) * W + l];
    const double through = on_policy ? 1.0 : s.path_ratio[move * W + l];
    const bool alive = s.path_weight[move * W + l] != 0.0;
    if (exact) p.b[l] = s.baseline[state[l] * W + l];
    p.action[l] = static_cast<double>(action[l]);
    p.inverse[l] = 1.0 / larger(chosen, 1e-290);
    p.ratio[l] = before > 0.0 ? through / before : 0.0;
    p.advantage[l] = exact ? s.advantage[at * W + l] : s.episode_return[l] - p.b[l];
    p.reward[l] = exact ? p.r[action[l] * W + l] : s.episode_return[l];
    p.factor[l] = alive ? before * discount : 0.0;
  }
  for (std::int64_t k = 0; k < A; ++k) {
    const double number = static_cast<double>(k);
    for (int l = 0; l < W; ++l) {
      p.score[k * W + l] = (p.action[l] == number ? 1.0 : 0.0) - p.pi[k * W + l];
      p.natural[k * W + l] = p.action[l] == number ? p.inverse[l] : 0.0;
    }
  }
}

}  // namespace

template <int W>
MdpPrograms<W>* lay_out_programs(const MdpView& plan, Arena& arena) {
  const ProgramSetView& set = plan.programs;
  if (!set.any()) return nullptr;
  const std::int64_t A = plan.model.actions;
  const std::int64_t n = plan.model.acting;
  MdpPrograms<W> p;
  MdpPrograms<W>* held = arena.take<MdpPrograms<W>>(1);
  const auto add = [&](LaneProgram<W>& program, const ProgramView* view, std::int64_t arms) {
    program.lay_out(view, {arms, 1}, arena);
    p.used |= view == nullptr ? 0u : view->used;
  };
  add(p.baseline, set.baseline, A);
  add(p.weight, set.weight, A);
  add(p.update, set.update, A);
  add(p.optimiser, set.optimiser, n * A);
  for (double** row : {&p.time, &p.one, &p.arms, &p.all, &p.action, &p.reward, &p.ratio, &p.b,
                       &p.advantage, &p.inverse, &p.factor}) {
    *row = arena.take<double>(W);
  }
  for (double** rows : {&p.pi, &p.r, &p.theta, &p.mu, &p.score, &p.natural}) {
    *rows = arena.take<double>(A, W);
  }
  p.gradient = arena.take<double>(p.gathers() ? (n + 1) * A : 0, W);
  if (held != nullptr) *held = p;
  return held;
}

template <int W>
void start_programs(MdpRows<W>& s, const MdpView& plan) {
  MdpPrograms<W>& p = *s.programs;
  const std::int64_t A = plan.model.actions;
  fill<W>(p.time, 0.0);
  fill<W>(p.one, 1.0);
  fill<W>(p.arms, static_cast<double>(A));
  fill<W>(p.all, static_cast<double>(plan.model.acting * A));
  BoundRows known[rows_of(Input{}).count];
  const auto bind = [&](Input input, double* row) {
    const RowShape shape = kProgramInputs[static_cast<int>(input)].shape;
    known[static_cast<int>(input)] = contiguous<W>(row, shape, {A, 1});
  };
  bind(Input::kTime, p.time);
  bind(Input::kArms, p.arms);
  bind(Input::kSamples, p.one);
  bind(Input::kPolicy, p.pi);
  bind(Input::kRewards, p.r);
  bind(Input::kTheta, p.theta);
  bind(Input::kBehaviour, p.mu);
  bind(Input::kAction, p.action);
  bind(Input::kReward, p.reward);
  bind(Input::kRatio, p.ratio);
  bind(Input::kBaseline, p.b);
  bind(Input::kAdvantage, p.advantage);
  bind(Input::kScore, p.score);
  bind(Input::kNatural, p.natural);
  if (p.baseline) p.baseline.bind(known);
  if (p.weight) p.weight.bind(known);
  bind(Input::kWeight, p.ratio);
  if (p.weight) known[static_cast<int>(Input::kWeight)] = p.weight.output(0);
  if (p.update) p.update.bind(known);
  bind(Input::kArms, p.all);
  bind(Input::kTheta, s.theta);
  bind(Input::kGradient, p.gradient);
  if (p.optimiser) p.optimiser.bind(known);
}

template <int W>
void see_time(MdpRows<W>& s, std::int64_t t) {
  fill<W>(s.programs->time, static_cast<double>(t));
}

template <int W>
void add_formula_baseline(MdpRows<W>& s, const MdpView& plan, std::int64_t i, double* b) {
  MdpPrograms<W>& p = *s.programs;
  if (!p.baseline) return;
  std::int64_t state[W];
  for (int l = 0; l < W; ++l) state[l] = i;
  gather_states(s, plan, p, state, /*subtracted=*/false);
  p.baseline.run();
  const double* value = p.baseline.output(0).row;
  for (int l = 0; l < W; ++l) b[l] += value[l];
}

template <int W>
void formula_baseline_at(MdpRows<W>& s, const MdpView& plan, std::int64_t move, const double* other,
                         double* b) {
  MdpPrograms<W>& p = *s.programs;
  for (int l = 0; l < W; ++l) b[l] = other[l];
  if (!p.baseline) return;
  gather_states(s, plan, p, s.path_state + move * W, /*subtracted=*/true);
  p.baseline.run();
  const double* value = p.baseline.output(0).row;
  for (int l = 0; l < W; ++l) b[l] += value[l];
}

template <int W>
void weigh_by_program(MdpRows<W>& s, const MdpView& plan, std::int64_t move, bool along_score,
                      const double* other) {
  MdpPrograms<W>& p = *s.programs;
  gather_visit(s, plan, p, move, other);
  p.weight.run();
  const double* w = p.weight.output(0).row;
  const bool exact = plan.estimator == MdpEstimator::kExactQ;
  for (int l = 0; l < W; ++l) {
    const double signal = exact ? 1.0 : p.advantage[l];
    const double along = along_score ? w[l] : w[l] * p.inverse[l];
    // What has ended has no weight, whatever the formula makes of it.
    s.path_weight[move * W + l] = p.factor[l] != 0.0 ? p.factor[l] * along * signal : 0.0;
  }
}

template <int W>
void follow_update(MdpRows<W>& s, const MdpView& plan, std::int64_t move, double alpha,
                   const double* other) {
  MdpPrograms<W>& p = *s.programs;
  gather_visit(s, plan, p, move, other);
  if (p.weight) p.weight.run();
  p.update.run();
  const BoundRows& value = p.update.output(0);
  const std::int64_t A = plan.model.actions;
  const std::int64_t* state = s.path_state + move * W;
  double* theta = p.gathers() ? p.gradient : s.theta;
  for (std::int64_t k = 0; k < A; ++k) {
    const double* row = value.row + k * value.arm;
    for (int l = 0; l < W; ++l) {
      theta[(state[l] * A + k) * W + l] += p.factor[l] != 0.0 ? alpha * p.factor[l] * row[l] : 0.0;
    }
  }
}

template <int W>
double* start_gradient(MdpRows<W>& s, const MdpView& plan) {
  const std::int64_t rows = (plan.model.acting + 1) * plan.model.actions;
  for (std::int64_t row = 0; row < rows; ++row) fill<W>(s.programs->gradient + row * W, 0.0);
  return s.programs->gradient;
}

template <int W>
void take_step(MdpRows<W>& s, const MdpView& plan, double alpha) {
  MdpPrograms<W>& p = *s.programs;
  if (p.optimiser) p.optimiser.run();
  const BoundRows step = p.optimiser ? p.optimiser.output(0) : BoundRows{p.gradient, 0, W};
  const std::int64_t rows = plan.model.acting * plan.model.actions;
  constexpr int N = kStripOf<W>;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int l = 0; l < W; l += N) {
      double* theta = s.theta + row * W + l;
      (Lanes<N>::load(theta) + Lanes<N>(alpha) * Lanes<N>::load(step.row + row * step.arm + l))
          .store(theta);
    }
  }
  if (p.optimiser) p.optimiser.advance();
}

template <int W>
void add_lost(const MdpPrograms<W>& p, double* sum) {
  if (!p.optimiser) return;
  for (std::int64_t i = 0; i < p.optimiser.view().states.count; ++i) {
    const double* rows = p.optimiser.state(i).row;
    for (std::int64_t at = 0; at < p.optimiser.state_rows(i) * W; ++at) {
      sum[at % W] += rows[at] - rows[at];
    }
  }
}

#define COMMITTAL_MDP_PROGRAMS(W)                                                                \
  template MdpPrograms<W>* lay_out_programs<W>(const MdpView&, Arena&);                          \
  template void start_programs<W>(MdpRows<W>&, const MdpView&);                                  \
  template void see_time<W>(MdpRows<W>&, std::int64_t);                                          \
  template void add_formula_baseline<W>(MdpRows<W>&, const MdpView&, std::int64_t, double*);     \
  template void formula_baseline_at<W>(MdpRows<W>&, const MdpView&, std::int64_t, const double*, \
                                       double*);                                                 \
  template void weigh_by_program<W>(MdpRows<W>&, const MdpView&, std::int64_t, bool,             \
                                    const double*);                                              \
  template void follow_update<W>(MdpRows<W>&, const MdpView&, std::int64_t, double,              \
                                 const double*);                                                 \
  template double* start_gradient<W>(MdpRows<W>&, const MdpView&);                               \
  template void take_step<W>(MdpRows<W>&, const MdpView&, double);                               \
  template void add_lost<W>(const MdpPrograms<W>&, double*);
COMMITTAL_MDP_PROGRAMS(kMdpWide)
COMMITTAL_MDP_PROGRAMS(kMdpNarrow)
#undef COMMITTAL_MDP_PROGRAMS

}  // namespace committal::COMMITTAL_ISA
