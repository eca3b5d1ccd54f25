// MDPs with formulas, compiled once per instruction set.
#include "kernels/mdp/programmed.hpp"

#include "kernels/behaviours.hpp"
#include "kernels/mdp/block.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

using Input = ProgramInput;

inline constexpr double kLeastSeen = 1e-150;
inline constexpr int kSeen = kMdpSeen;

bool has(std::uint32_t inputs, Input input) {
  return (inputs >> static_cast<int>(input) & 1u) != 0;
}

// What programs look at together: where each of them is, the first `count` of kSeen.
template <int W>
struct Window {
  MdpRows<W>& s;
  const MdpView& plan;
  MdpPrograms<W>& p;
  const std::int64_t A;
  const std::int64_t states;  // of one lane
  const bool exact;
  const bool on_policy;
  int count = 0;
  std::int32_t lane[kSeen];
  std::int64_t move[kSeen];  // of the lane's path
  std::int64_t own[kSeen];   // as in a Place
  std::int64_t pair[kSeen];  // own and the action

  Window(MdpRows<W>& rows, const MdpView& view)
      : s(rows),
        plan(view),
        p(*rows.programs),
        A(view.model.actions),
        states(own_states(view.model.acting)),
        exact(view.estimator == MdpEstimator::kExactQ),
        on_policy(view.behaviour == kOnPolicy) {}

  const double* pi_at(int j) const { return s.law + 2 * own[j] + A; }

  // rows[k][j] = from(j)[k]
  template <typename F>
  void gather(double* rows, F&& from) {
    int j = 0;
    for (; A == 4 && j + 4 <= count; j += 4) {
      transpose4({from(j), from(j + 1), from(j + 2), from(j + 3)},
                 {rows + j, rows + kSeen + j, rows + 2 * kSeen + j, rows + 3 * kSeen + j});
    }
    for (; j < count; ++j) {
      for (std::int64_t k = 0; k < A; ++k) rows[k * kSeen + j] = from(j)[k];
    }
  }

  // The rows of the states that are asked for.
  void gather_states(std::uint32_t inputs, const double* q) {
    if (has(inputs, Input::kPolicy) || has(inputs, Input::kBehaviour)) {
      gather(p.pi, [&](int j) { return pi_at(j); });
      for (std::int64_t at = 0; at < A * kSeen; at += kStrip) {
        larger(Strip::load(p.pi + at), Strip(kLeastSeen)).store(p.pi + at);
      }
    }
    if (has(inputs, Input::kTheta)) gather(p.theta, [&](int j) { return s.theta + own[j]; });
    if (has(inputs, Input::kRewards)) gather(p.r, [&](int j) { return q + own[j]; });
    if (has(inputs, Input::kBehaviour)) find_behaviour();
  }

  // mu of the states that are in p.pi.
  void find_behaviour() {
    sum_rows<0, kSeen>(A, p.pi, p.total);
    const auto t = static_cast<std::int64_t>(p.time[0]);
    const BehaviourRows rows = behaviour_rows<0, kSeen>(
        plan.behaviour, {plan.exploration.at(t), plan.behaviour_probabilities.data},
        ArmRows<kSeen>{A, p.pi, p.total}, p.mu, p.total);
    for (std::int64_t k = 0; k < A; ++k) {
      COMMITTAL_STRIPS(j, kSeen) {
        const Strip mu = Strip::load(rows.q + k * kSeen + j) / Strip::load(rows.total + j);
        larger(mu, Strip(kLeastSeen)).store(p.mu + k * kSeen + j);
      }
    }
  }

  // Everything that programs are asked to see of the visits, and what multiplies them from outside.
  void gather_visits(bool inverses) {
    gather_states(p.of_visit, p.place_q);
    for (int j = 0; j < count; ++j) p.b[j] = p.place_b[own[j]];
    for (int j = 0; j < count; ++j) {
      p.advantage[j] = exact ? s.advantage[pair[j]] : s.episode_return[lane[j]] - p.b[j];
    }
    if (has(p.of_visit, Input::kReward)) {
      for (int j = 0; j < count; ++j) {
        p.reward[j] = exact ? p.place_q[pair[j]] : s.episode_return[lane[j]];
      }
    }
    // Where nothing is written there is 1.
    const bool discounted = plan.discounted && exact;
    for (int j = 0; j < count && discounted; ++j) p.factor[j] = s.discounts[move[j]];
    for (int j = 0; j < count && !on_policy; ++j) {
      const std::int64_t at = lane[j] * path_moves(plan.limit) + move[j];
      p.ratio[j] = s.path_weight[at];
      p.factor[j] = s.path_ratio[at] * (discounted ? p.factor[j] : 1.0);
    }
    if (has(p.of_visit, Input::kScore)) find_scores();
    if (inverses || has(p.of_visit, Input::kNatural)) find_inverses();
  }

  // e_a - pi. What is left of 1 is the sum of the others: next to a corner the difference would
  // have no digits.
  void find_scores() {
    gather(p.score, [&](int j) { return pi_at(j); });
    COMMITTAL_STRIPS(j, kSeen) {
      const Strip action = Strip::load(p.action + j);
      Strip others(0.0);
      for (std::int64_t k = 0; k < A; ++k) {
        const StripTruth other = !(action == Strip(static_cast<double>(k)));
        others += where(other, Strip::load(p.score + k * kSeen + j));
      }
      for (std::int64_t k = 0; k < A; ++k) {
        double* score = p.score + k * kSeen + j;
        const StripTruth drawn = action == Strip(static_cast<double>(k));
        select(drawn, others, -Strip::load(score)).store(score);
      }
    }
  }

  // 1 / pi(a), and e_a / pi(a)
  void find_inverses() {
    for (int j = 0; j < count; ++j) p.inverse[j] = pi_at(j)[pair[j] - own[j]];
    COMMITTAL_STRIPS(j, kSeen) {
      const Strip inverse = Strip(1.0) / larger(Strip::load(p.inverse + j), Strip(1e-290));
      inverse.store(p.inverse + j);
      for (std::int64_t k = 0; k < A; ++k) {
        const StripTruth drawn = Strip::load(p.action + j) == Strip(static_cast<double>(k));
        where(drawn, inverse).store(p.natural + k * kSeen + j);
      }
    }
  }

  // Notes what a program gave in some rows, wherever it counts.
  void look_at(const BoundRows& value, std::int64_t rows, const double* counts) {
    Strip differences(0.0);  // x - x is 0 for numbers and NaN for all else
    for (std::int64_t k = 0; k < rows; ++k) {
      COMMITTAL_STRIPS(j, kSeen) {
        const Strip x = Strip::load(value.row + k * value.arm + j);
        differences += x - x;
      }
    }
    if (all(differences == Strip(0.0))) return;
    for (std::int64_t k = 0; k < rows; ++k) {
      for (int j = 0; j < count; ++j) {
        const double x = value.row[k * value.arm + j];
        if (counts[j] != 0.0) p.lost[lane[j]] += x - x;
      }
    }
  }
};

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
  if (!set.any()) return nullptr;
  const std::int64_t A = plan.model.actions;
  const std::int64_t n = plan.model.acting;
  const std::int64_t own_pairs = own_states(n) * A;
  MdpPrograms<W> p;
  MdpPrograms<W>* held = arena.take<MdpPrograms<W>>(1);
  p.baseline.lay_out(set.baseline, {A, 1}, arena);
  p.weight.lay_out(set.weight, {A, 1}, arena);
  p.update.lay_out(set.update, {A, 1}, arena);
  p.optimiser.lay_out(set.optimiser, {n * A, 1}, arena);
  const auto used = [](const ProgramView* view) { return view == nullptr ? 0u : view->used; };
  p.of_place = used(set.baseline);
  p.of_visit = used(set.weight) | used(set.update);
  for (double** row : {&p.time, &p.one, &p.arms, &p.total, &p.action, &p.reward, &p.ratio, &p.b,
                       &p.advantage, &p.inverse, &p.factor}) {
    *row = arena.take<double>(kSeen);
  }
  for (double** rows : {&p.pi, &p.r, &p.theta, &p.mu, &p.score, &p.natural}) {
    *rows = arena.take<double>(A, kSeen);
  }
  p.place_b = arena.take<double>(own_pairs, W);
  if (plan.estimator == MdpEstimator::kExactQ &&
      (has(p.of_visit, Input::kRewards) || has(p.of_visit, Input::kReward))) {
    p.place_q = arena.take<double>(own_pairs, W);
  }
  p.lost = arena.take<double>(W);
  p.gradient = arena.take<double>(p.gathers() ? own_pairs : 0, W);
  if (set.optimiser != nullptr) {
    p.lane_time = arena.take<double>(W);
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
  for (double* rows : {p.pi, p.r, p.theta, p.mu, p.score, p.natural}) {
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
  for (std::int64_t i = 0; i < own_pairs * W && p.gathers(); ++i) p.gradient[i] = 0.0;
  if (!p.optimiser) return;
  fill<W>(p.all, static_cast<double>(n * A));
  known[static_cast<int>(Input::kTime)] = {p.lane_time, 0, 0};
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
  if (p.optimiser) fill<W>(p.lane_time, static_cast<double>(t));
}

template <int W>
void add_formula_baseline(MdpRows<W>& s, const MdpView& plan, const Place* places,
                          std::int64_t count, Patience& patience) {
  Window<W> window(s, plan);
  MdpPrograms<W>& p = window.p;
  for (std::int64_t first = 0; first < count; first += kSeen) {
    window.count = count - first < kSeen ? static_cast<int>(count - first) : kSeen;
    for (int j = 0; j < window.count; ++j) {
      window.own[j] = places[first + j].own;
      window.lane[j] = places[first + j].lane;
    }
    window.gather_states(p.of_place, s.advantage);
    p.baseline.run();
    const BoundRows& value = p.baseline.output(0);
    for (int j = 0; j < window.count; ++j) p.place_b[window.own[j]] += value.row[j];
    window.look_at(value, 1, p.one);
    patience.spend((p.baseline.view().code.count + 4) * window.A);
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
  template void weigh_by_program<W>(MdpRows<W>&, const MdpView&, int, bool, Patience&);          \
  template void follow_update<W>(MdpRows<W>&, const MdpView&, int, double, double*, Patience&);  \
  template void take_step<W>(MdpRows<W>&, const MdpView&, double, const Place*, std::int64_t);   \
  template void add_lost<W>(const MdpPrograms<W>&, double*);
COMMITTAL_MDP_PROGRAMS(kMdpWide)
COMMITTAL_MDP_PROGRAMS(kMdpNarrow)
#undef COMMITTAL_MDP_PROGRAMS

}  // namespace committal::COMMITTAL_ISA
