// MDPs with formulas, compiled once per instruction set.
#include "kernels/mdp/programmed.hpp"

#include "kernels/mdp/window.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

// f(window) for the visits of some lanes, in windows of kSeen.
template <int W, typename F>
void for_each_visit(MdpRows<W>& s, const MdpView& plan, int lanes, bool inverses,
                    Patience& patience, F&& f) {
  Window<W> window(s, plan);
  const auto actions = static_cast<std::uint32_t>(window.A);
  const LaneProgram<kSeen>& weight = window.p.weight;
  const LaneProgram<kSeen>& update = window.p.update;
  const std::int64_t operations =
      (weight ? weight.view().code.count : 0) + (update ? update.view().code.count : 0);
  const auto look = [&] {
    if (window.count == 0) return;
    window.gather_visits(inverses);
    if (weight) {
      weight.run();
      window.look_at(weight.output(0), 1, window.p.factor);
    }
    f(window);
    patience.spend((operations + 4) * window.A);
    window.count = 0;
  };
  for (int l = 0; l < lanes; ++l) {
    const std::uint32_t* path = s.path + l * path_moves(plan.limit);
    const std::int64_t first = l * window.states * window.A;
    for (std::int64_t move = 0; move < s.made[l]; ++move) {
      const std::uint32_t action = actions == 4 ? path[move] & 3u : path[move] % actions;
      const int j = window.count;
      window.lane[j] = l;
      window.move[j] = move;
      window.pair[j] = first + path[move];
      window.own[j] = window.pair[j] - action;
      window.p.action[j] = static_cast<double>(action);
      if (++window.count == kSeen) look();
    }
  }
  look();
}

// to[pair][lane] = from[lane][pair] for all pairs of the table.
template <int W>
void to_rows(std::int64_t pairs, std::int64_t stride, const double* from, double* to) {
  std::int64_t pair = 0;
  for (; pair + 4 <= pairs; pair += 4) {
    double* rows = to + pair * W;
    for (int l = 0; l < W; l += 4) {
      const double* lane = from + l * stride + pair;
      transpose4({lane, lane + stride, lane + 2 * stride, lane + 3 * stride},
                 {rows + l, rows + W + l, rows + 2 * W + l, rows + 3 * W + l});
    }
  }
  for (; pair < pairs; ++pair) {
    for (int l = 0; l < W; ++l) to[pair * W + l] = from[l * stride + pair];
  }
}

// to[lane][pair] += alpha * from[pair][lane]
template <int W>
void add_rows_to(std::int64_t pairs, std::int64_t stride, double alpha, const BoundRows& from,
                 double* to) {
  std::int64_t pair = 0;
  for (; pair + 4 <= pairs; pair += 4) {
    const double* rows = from.row + pair * from.arm;
    for (int l = 0; l < W; l += 4) {
      double step[4][4];
      transpose4({rows + l, rows + from.arm + l, rows + 2 * from.arm + l, rows + 3 * from.arm + l},
                 {step[0], step[1], step[2], step[3]});
      for (int i = 0; i < 4; ++i) {
        *reinterpret_cast<Quad*>(to + (l + i) * stride + pair) +=
            alpha * *reinterpret_cast<const Quad*>(step[i]);
      }
    }
  }
  for (; pair < pairs; ++pair) {
    for (int l = 0; l < W; ++l) to[l * stride + pair] += alpha * from.row[pair * from.arm + l];
  }
}

}  // namespace

template <int W>
MdpPrograms<W>* lay_out_programs(const MdpView& plan, Arena& arena) {
  const ProgramSetView& set = plan.programs;
  if (!set.any() && plan.episodes == 1) return nullptr;
  const std::int64_t A = plan.model.actions;
  const std::int64_t n = plan.model.acting;
  const std::int64_t own_pairs = own_states(n) * A;
  MdpPrograms<W> p;
  MdpPrograms<W>* held = arena.take<MdpPrograms<W>>(1);
  p.baseline.lay_out(set.baseline, {A, 1}, arena);
  p.weight.lay_out(set.weight, {A, 1}, arena);
  p.update.lay_out(set.update, {A, 1}, arena);
  p.link.lay_out(set.link, {A, 1}, arena);
  p.along_link = set.link != nullptr && (set.update == nullptr || set.update->uses(Input::kScore));
  p.optimiser.lay_out(set.optimiser, {n * A, 1}, arena);
  p.group.lay_out(set.group, {1, plan.samples}, arena);
  p.scale.lay_out(set.scale, {1, plan.episodes}, arena);
  p.group_returns = arena.take<double>(set.group != nullptr ? plan.samples : 0, W);
  p.advantages = arena.take<double>(set.group != nullptr ? plan.episodes : 0, W);
  const bool by_norms = set.group != nullptr && set.group->uses(Input::kWeight);
  p.group_norms = arena.take<double>(by_norms ? plan.samples : 0, W);
  p.norms = arena.take<double>(by_norms ? plan.episodes : 0, W);
  p.score_sum = arena.take<double>(by_norms ? own_pairs : 0);
  lay_out_critic<W>(p, plan, arena);
  const auto used = [](const ProgramView* view) { return view == nullptr ? 0u : view->used; };
  p.of_place = used(set.baseline);
  p.of_visit = used(set.weight) | used(set.update);
  for (double** row : {&p.time, &p.one, &p.arms, &p.total, &p.action, &p.reward, &p.ratio, &p.b,
                       &p.advantage, &p.inverse, &p.factor}) {
    *row = arena.take<double>(kSeen);
  }
  for (double** rows : {&p.pi, &p.r, &p.theta, &p.start, &p.mu, &p.score, &p.natural}) {
    *rows = arena.take<double>(A, kSeen);
  }
  lay_out_quantities<W>(p, plan, arena);
  p.place_b = arena.take<double>(own_pairs, W);
  if (plan.estimator == MdpEstimator::kExactQ &&
      (has(p.of_visit, Input::kRewards) || has(p.of_visit, Input::kReward))) {
    p.place_q = arena.take<double>(own_pairs, W);
  }
  p.rise = arena.take<double>(set.link != nullptr ? own_pairs : 0, W);
  p.lost = arena.take<double>(W);
  p.gradient = arena.take<double>(p.gathers() ? own_pairs : 0, W);
  for (double** row : {&p.lane_time, &p.group_b, &p.group_size, &p.batch_size}) {
    *row = arena.take<double>(W);
  }
  if (set.optimiser != nullptr) {
    p.all = arena.take<double>(W);
    p.gradient_rows = arena.take<double>(n * A, W);
    p.theta_rows = arena.take<double>(n * A, W);
    p.everywhere = arena.take<Place>(n * W + kPlaces);
  }
  if (held != nullptr) *held = p;
  return held;
}

template <int W>
void start_programs(MdpRows<W>& s, const MdpView& plan, int lanes) {
  MdpPrograms<W>& p = *s.programs;
  const std::int64_t A = plan.model.actions;
  const std::int64_t n = plan.model.acting;
  const std::int64_t own_pairs = own_states(n) * A;
  // Numbers everywhere: what is not filled is worked on too.
  for (double* row : {p.time, p.one, p.total, p.action, p.reward, p.ratio, p.b, p.advantage,
                      p.inverse, p.factor}) {
    fill<kSeen>(row, 1.0);
  }
  for (double* rows : {p.pi, p.r, p.theta, p.start, p.mu, p.score, p.natural}) {
    for (std::int64_t k = 0; k < A; ++k) fill<kSeen>(rows + k * kSeen, 1.0);
  }
  fill<kSeen>(p.arms, static_cast<double>(A));
  fill<W>(p.lost, 0.0);
  for (std::int64_t i = 0; i < own_pairs; ++i) fill<W>(p.place_b + i * W, 0.0);
  BoundRows known[rows_of(Input{}).count];
  const auto bind = [&](Input input, double* row) {
    const RowShape shape = kProgramInputs[static_cast<int>(input)].shape;
    known[static_cast<int>(input)] = contiguous<kSeen>(row, shape, {A, 1});
  };
  bind(Input::kTime, p.time);
  bind(Input::kArms, p.arms);
  bind(Input::kSamples, p.one);
  bind(Input::kPolicy, p.pi);
  bind(Input::kRewards, p.r);
  bind(Input::kTheta, p.theta);
  bind(Input::kStart, p.start);
  bind(Input::kBehaviour, p.mu);
  bind(Input::kAction, p.action);
  bind(Input::kReward, p.reward);
  bind(Input::kRatio, p.ratio);
  bind(Input::kBaseline, p.b);
  bind(Input::kAdvantage, p.advantage);
  bind(Input::kScore, p.score);
  bind(Input::kNatural, p.natural);
  for (std::int64_t i = 0; i < plan.programs.quantities.count; ++i) p.quantities[i].bind(known);
  if (p.baseline) p.baseline.bind(known);
  if (p.weight) p.weight.bind(known);
  bind(Input::kWeight, p.ratio);
  if (p.weight) known[static_cast<int>(Input::kWeight)] = p.weight.output(0);
  if (p.update) p.update.bind(known);
  if (p.link) p.link.bind(known);
  for (std::int64_t i = 0; i < own_pairs * W && p.link; ++i) p.rise[i] = 0.0;
  if (p.critic) p.critic.bind(known);
  if (p.critic) start_critic<W>(p, plan);
  for (std::int64_t i = 0; i < own_pairs * W && p.gathers(); ++i) p.gradient[i] = 0.0;
  known[static_cast<int>(Input::kTime)] = {p.lane_time, 0, 0};
  if (p.group) {
    fill<W>(p.group_size, static_cast<double>(plan.samples));
    fill<W>(p.batch_size, static_cast<double>(plan.episodes));
    known[static_cast<int>(Input::kSamples)] = {p.group_size, 0, 0};
    known[static_cast<int>(Input::kReward)] = {p.group_returns, W, 0};
    known[static_cast<int>(Input::kBaseline)] = {p.group_b, 0, 0};
    known[static_cast<int>(Input::kWeight)] = {p.group_norms, W, 0};
    p.group.bind(known);
    for (std::int64_t i = 0; i < plan.episodes * W && p.by_norms(); ++i) p.norms[i] = 1.0;
    for (std::int64_t i = 0; i < own_pairs && p.by_norms(); ++i) p.score_sum[i] = 0.0;
    known[static_cast<int>(Input::kSamples)] = {p.batch_size, 0, 0};
    known[static_cast<int>(Input::kReward)] = {s.returns, W, 0};
    if (p.scale) p.scale.bind(known);
  }
  if (!p.optimiser) return;
  fill<W>(p.all, static_cast<double>(n * A));
  known[static_cast<int>(Input::kArms)] = {p.all, 0, 0};
  known[static_cast<int>(Input::kTheta)] = {p.theta_rows, 0, W};
  known[static_cast<int>(Input::kGradient)] = {p.gradient_rows, 0, W};
  p.optimiser.bind(known);
  p.places = 0;
  const auto place = [&](std::int64_t l, std::int64_t state) {
    return Place{l * own_pairs + state * A, static_cast<std::uint32_t>(state * A),
                 static_cast<std::int32_t>(l)};
  };
  for (int l = 0; l < lanes; ++l) {
    for (std::int64_t i = 0; i < n; ++i) p.everywhere[p.places++] = place(l, i);
  }
  for (int i = 0; i < kPlaces; ++i) p.everywhere[p.places + i] = place(0, n);
}

template <int W>
void see_time(MdpRows<W>& s, std::int64_t t) {
  const MdpPrograms<W>& p = *s.programs;
  fill<kSeen>(p.time, static_cast<double>(t));
  fill<W>(p.lane_time, static_cast<double>(t));
}

template <int W>
void add_formula_baseline(MdpRows<W>& s, const MdpView& plan, const Place* places,
                          std::int64_t count, Patience& patience) {
  Window<W> window(s, plan);
  const LaneProgram<kSeen>& baseline = window.p.baseline;
  window.add_to_baseline(baseline, places, count, patience, [&] {
    window.gather_states(window.p.of_place, s.advantage);
    baseline.run();
  });
}

template <int W>
void compare_episodes(MdpRows<W>& s, const MdpView& plan, Patience& patience) {
  MdpPrograms<W>& p = *s.programs;
  const std::int64_t size = plan.samples * W;
  for (std::int64_t first = 0; first < plan.episodes * W; first += size) {
    for (std::int64_t i = 0; i < size; ++i) p.group_returns[i] = s.returns[first + i];
    for (std::int64_t i = 0; i < size && p.by_norms(); ++i) p.group_norms[i] = p.norms[first + i];
    p.group.run();
    patience.spend(plan.samples);
    const BoundRows& advantage = p.group.output(0);
    for (std::int64_t i = 0; i < size; ++i) {
      p.advantages[first + i] = advantage.row[i / W * advantage.sample + i % W];
    }
  }
  if (p.scale) {
    p.scale.run();
    const double* scale = p.scale.output(0).row;
    for (std::int64_t i = 0; i < plan.episodes * W; ++i) {
      const double by = scale[i % W];
      p.advantages[i] = by == 0.0 ? 0.0 : p.advantages[i] / by;
    }
  }
  for (std::int64_t i = 0; i < plan.episodes * W; ++i) {
    p.lost[i % W] += p.advantages[i] - p.advantages[i];
  }
}

template <int W>
void weigh_by_program(MdpRows<W>& s, const MdpView& plan, int lanes, bool along_score,
                      Patience& patience) {
  for_each_visit<W>(s, plan, lanes, !along_score, patience, [&](Window<W>& window) {
    const MdpPrograms<W>& p = window.p;
    const double* w = p.weight.output(0).row;
    for (int j = 0; j < window.count; ++j) {
      const double along = along_score ? w[j] : w[j] * p.inverse[j];
      // A visit that does not count has no weight, whatever the formula makes of it.
      s.path_weight[window.lane[j] * path_moves(plan.limit) + window.move[j]] =
          p.factor[j] != 0.0 ? p.factor[j] * along * p.advantage[j] : 0.0;
    }
  });
}

template <int W>
void follow_update(MdpRows<W>& s, const MdpView& plan, int lanes, double alpha, double* table,
                   Patience& patience) {
  for_each_visit<W>(s, plan, lanes, /*inverses=*/false, patience, [&](Window<W>& window) {
    const MdpPrograms<W>& p = window.p;
    p.update.run();
    const BoundRows& value = p.update.output(0);
    window.look_at(value, window.A, p.factor);
    const double* rows = value.row;
    for (int j = 0; j < window.count; ++j) {
      if (p.factor[j] == 0.0) continue;
      const double by = alpha * p.factor[j];
      double* own = table + window.own[j];
      if (window.A == 4) {
        const double* x = rows + j;
        *reinterpret_cast<Quad*>(own) +=
            by * Quad{x[0], x[value.arm], x[2 * value.arm], x[3 * value.arm]};
      } else {
        for (std::int64_t k = 0; k < window.A; ++k) own[k] += by * rows[k * value.arm + j];
      }
    }
  });
}

template <int W>
void take_step(MdpRows<W>& s, const MdpView& plan, double alpha, const Place* places,
               std::int64_t count) {
  MdpPrograms<W>& p = *s.programs;
  const std::int64_t A = plan.model.actions;
  if (p.optimiser) {
    const std::int64_t pairs = plan.model.acting * A;
    const std::int64_t stride = own_states(plan.model.acting) * A;
    to_rows<W>(pairs, stride, p.gradient, p.gradient_rows);
    if (p.optimiser.view().uses(Input::kTheta)) to_rows<W>(pairs, stride, s.theta, p.theta_rows);
    p.optimiser.run();
    add_rows_to<W>(pairs, stride, alpha, p.optimiser.output(0), s.theta);
    p.optimiser.advance();
  }
  for (std::int64_t i = 0; i < count; ++i) {
    double* gradient = p.gradient + places[i].own;
    double* theta = s.theta + places[i].own;
    for (std::int64_t k = 0; k < A; ++k) {
      if (!p.optimiser) theta[k] += alpha * gradient[k];
      gradient[k] = 0.0;
    }
  }
}

template <int W>
void add_lost(const MdpPrograms<W>& p, double* sum) {
  for (int l = 0; l < W; ++l) sum[l] += p.lost[l];
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
  template void start_programs<W>(MdpRows<W>&, const MdpView&, int);                             \
  template void see_time<W>(MdpRows<W>&, std::int64_t);                                          \
  template void add_formula_baseline<W>(MdpRows<W>&, const MdpView&, const Place*, std::int64_t, \
                                        Patience&);                                              \
  template void compare_episodes<W>(MdpRows<W>&, const MdpView&, Patience&);                     \
  template void weigh_by_program<W>(MdpRows<W>&, const MdpView&, int, bool, Patience&);          \
  template void follow_update<W>(MdpRows<W>&, const MdpView&, int, double, double*, Patience&);  \
  template void take_step<W>(MdpRows<W>&, const MdpView&, double, const Place*, std::int64_t);   \
  template void add_lost<W>(const MdpPrograms<W>&, double*);
COMMITTAL_MDP_PROGRAMS(kMdpWide)
COMMITTAL_MDP_PROGRAMS(kMdpNarrow)
#undef COMMITTAL_MDP_PROGRAMS

}  // namespace committal::COMMITTAL_ISA
