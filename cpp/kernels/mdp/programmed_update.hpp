// Updates of MDPs with formulas: what a visit is worth, where it leads, what becomes of the sum.
#pragma once

#include "kernels/mdp/updates.hpp"

namespace committal::COMMITTAL_ISA {

// b in the places of this update, and Q - b where the signal is exact.
template <int KT, int W>
inline void find_programmed_baseline(MdpBlock<KT, W>& s, std::int64_t places) {
  MdpPrograms<W>& p = *s.programs;
  const bool exact = s.plan.estimator == MdpEstimator::kExactQ;
  if (exact && !p.baseline && !p.critic && !p.per_visit())
    return find_advantages(s, s.places, places);
  for_each_strip(s.places, places, [&](const Place* place, int filled) {
    double b[kPlaces];
    if (exact) find_q(s, place, filled, b);
    for (int i = 0; i < filled; ++i) {
      p.place_b[place[i].own] = exact ? b[i] : return_baseline(s, place[i].lane);
    }
    s.patience.spend(s.A());
  });
  if (p.baseline) add_formula_baseline<W>(s, s.plan, s.places, places, s.patience);
  if (p.critic) add_critic<W>(s, s.plan, s.places, places, s.patience);
  for (std::int64_t i = 0; i < places && exact; ++i) {
    const std::int64_t own = s.places[i].own;
    for (std::int64_t k = 0; k < s.A() && p.place_q != nullptr; ++k) {
      p.place_q[own + k] = s.advantage[own + k];
    }
    subtract(s, s.places[i], p.place_b[own]);
  }
}

// The places where the lanes were in all episodes of this update: every state once per lane.
template <int KT, int W>
inline std::int64_t find_all_places(MdpBlock<KT, W>& s) {
  if (s.plan.episodes == 1) return find_places(s);
  const auto actions = static_cast<std::uint32_t>(s.A());
  std::int64_t count = 0;
  for (int l = 0; l < s.task.valid; ++l) {
    std::int64_t fresh = 0;
    for (std::int64_t j = 0; j < s.plan.episodes; ++j) {
      face(s, s.plan, j);
      const std::uint32_t* path = s.path_of(l);
      for (std::int64_t move = 0; move < s.made[l]; ++move) {
        const std::uint32_t state = path[move] / actions;
        s.found[fresh] = state;
        fresh += s.marks[state] == 0 ? 1 : 0;
        s.marks[state] = 1;
      }
      s.patience.spend(s.made[l]);
    }
    for (std::int64_t i = 0; i < fresh; ++i) {
      s.marks[s.found[i]] = 0;
      s.places[count++] = s.place(l, s.found[i]);
      s.stale[s.found[i]] = 1;
    }
  }
  fill_up(s, s.places, count);
  return count;
}

// path_weight: from the importance of every move of lane l to its ratio; path_ratio: the product of
// the ratios of the moves before.
template <int KT, int W>
inline void find_ratios(MdpBlock<KT, W>& s, int l) {
  const std::int64_t path = l * s.path_stride;
  double before = 1.0;
  for (std::int64_t move = path; move < path + s.made[l]; ++move) {
    s.path_weight[move] = drawn_pi(s, l, s.path[move]) * s.path_weight[move];
    s.path_ratio[move] = before;
    before *= s.path_weight[move];
  }
}

// row += by * (e_a - pi), where what is left of 1 is the sum of the others.
template <int KT>
COMMITTAL_INLINE void add_whole_score(std::int64_t actions, double by, const double* pi,
                                      std::int64_t action, double* row) {
  if constexpr (KT == 4) {
    constexpr QuadIndex kNumbers{0, 1, 2, 3};
    const QuadIndex drawn = kNumbers == action;
    const Quad all = *reinterpret_cast<const Quad*>(pi);
    const Quad rest = reinterpret_cast<Quad>(~drawn & reinterpret_cast<QuadIndex>(all));
    const Quad others = Quad{} + (rest[0] + rest[1] + rest[2] + rest[3]);
    *reinterpret_cast<Quad*>(row) +=
        by * reinterpret_cast<Quad>((drawn & reinterpret_cast<QuadIndex>(others)) |
                                    (~drawn & reinterpret_cast<QuadIndex>(-all)));
  } else {
    double others = 0.0;
    for (std::int64_t k = 0; k < actions; ++k) {
      const double each = k == action ? 0.0 : pi[k];
      row[k] -= by * each;
      others += each;
    }
    row[action] += by * others;
  }
}

// row += by * (f'_a / f_a e_a - f' / F), from pi and from f' / F.
COMMITTAL_INLINE void add_linked_score(std::int64_t actions, double by, const double* pi,
                                       const double* rise, std::int64_t action, double* row) {
  if (by == 0.0) return;  // off the policy an action that the policy never takes may be drawn
  double others = 0.0;
  for (std::int64_t k = 0; k < actions; ++k) {
    if (k == action) continue;
    row[k] -= by * rise[k];
    others += pi[k];
  }
  row[action] += by * (rise[action] * (others / pi[action]));
}

// table[s_i] += coefficient * (e_a - pi, or e_a) along the episode of lane l, coefficients(first)
// of a strip of moves. The weights of a formula may be as large as the score is small, and an
// optimiser may look at nothing but signs: e_a - pi keeps its digits next to a corner.
template <typename Part, int KT, int W, typename F>
inline void follow_moves(MdpBlock<KT, W>& s, int l, double* table, F&& coefficients) {
  const std::uint32_t* path = s.path_of(l);
  double* own = table + l * s.own_pairs;
  double by[kPlaces];
  for (std::int64_t move = 0; move < s.made[l]; ++move) {
    if (move % kPlaces == 0) {
      coefficients(move).store(by);
      s.patience.spend(s.A());
    }
    const double each = by[move % kPlaces];
    if constexpr (Part::kAlongScore) {
      const std::int64_t pair = s.first_pair(path[move]);
      const double* pi = s.pi_at(l * s.own_pairs + pair);
      if (s.programs->link) {
        const double* rise = s.programs->rise + l * s.own_pairs + pair;
        add_linked_score(s.A(), each, pi, rise, path[move] - pair, own + pair);
      } else {
        add_whole_score<KT>(s.A(), each, pi, path[move] - pair, own + pair);
      }
    } else {
      own[path[move]] += each;
    }
  }
}

// table += alpha times what the episodes that are looked at give.
template <int KT, int W>
inline void follow_episodes(MdpBlock<KT, W>& s, double alpha, double* table) {
  const MdpPrograms<W>& p = *s.programs;
  const int lanes = s.task.valid;
  if (p.per_visit() && s.plan.behaviour != kOnPolicy) {
    for (int l = 0; l < lanes; ++l) find_ratios(s, l);
  }
  if (p.update) return follow_update<W>(s, s.plan, lanes, alpha, table, s.patience);
  with_update(s.plan, [&]<typename Part>() {
    if (p.weight) weigh_by_program<W>(s, s.plan, lanes, Part::kAlongScore, s.patience);
    for (int l = 0; l < lanes; ++l) {
      if (p.weight) {
        const double* weight = s.path_weight + l * s.path_stride;
        follow_moves<Part>(s, l, table, [&](std::int64_t first) COMMITTAL_INLINE_LAMBDA {
          return Places(alpha) * Places::load(weight + first);
        });
      } else if (p.signal != nullptr) {
        const GroupAdvantage of_group{p.signal[l]};
        follow_moves<Part>(s, l, table, [&](std::int64_t first) COMMITTAL_INLINE_LAMBDA {
          return move_coefficients<Part>(s, l, first, alpha, of_group);
        });
      } else {
        const double* b = p.place_b + l * s.own_pairs;
        const StateBaseline by_state{b, static_cast<std::uint32_t>(s.A())};
        weigh_episode<Part>(s, l, by_state);
        follow_moves<Part>(s, l, table, [&](std::int64_t first) COMMITTAL_INLINE_LAMBDA {
          return move_coefficients<Part>(s, l, first, alpha, by_state);
        });
      }
    }
  });
}

// f(j) for every episode of this update, which is looked at then.
template <int KT, int W, typename F>
inline void for_each_episode(MdpBlock<KT, W>& s, F&& f) {
  MdpPrograms<W>& p = *s.programs;
  for (std::int64_t j = 0; j < s.plan.episodes; ++j) {
    face(s, s.plan, j);
    if (p.group) p.signal = p.advantages + j * W;
    f(j);
  }
  face(s, s.plan, 0);
}

// |sum_i (e_a - pi)|^2 over the moves of every episode: of its score, all states together.
template <int KT, int W>
inline void find_norms(MdpBlock<KT, W>& s) {
  MdpPrograms<W>& p = *s.programs;
  for_each_episode(s, [&](std::int64_t j) {
    for (int l = 0; l < s.task.valid; ++l) {
      const std::uint32_t* path = s.path_of(l);
      for (std::int64_t move = 0; move < s.made[l]; ++move) {
        const std::int64_t pair = s.first_pair(path[move]);
        add_whole_score<KT>(s.A(), 1.0, s.pi_at(l * s.own_pairs + pair), path[move] - pair,
                            p.score_sum + pair);
      }
      double norm = 0.0;
      for (std::int64_t move = 0; move < s.made[l]; ++move) {
        double* sum = p.score_sum + s.first_pair(path[move]);  // 0 if it was there before
        for (std::int64_t k = 0; k < s.A(); ++k) {
          norm += sum[k] * sum[k];
          sum[k] = 0.0;
        }
      }
      p.norms[j * W + l] = norm;
      s.patience.spend(2 * s.made[l] * s.A());
    }
  });
}

// theta follows what was gathered, if it was, and the law follows theta.
template <int KT, int W>
inline void settle(MdpBlock<KT, W>& s, double alpha, std::int64_t places) {
  const MdpPrograms<W>& p = *s.programs;
  if (p.gathers()) take_step<W>(s, s.plan, alpha, s.places, places);
  if (!p.optimiser) return refresh_places(s, s.places, places);
  // An optimiser may move what no episode has.
  for (std::int64_t i = 0; i < s.n; ++i) s.stale[i] = 1;
  refresh_places(s, p.everywhere, p.places);
}

// The update number t. With several epochs theta moves as often, by the same episodes and what they
// were found to be worth: formulas and optimisers count the moves.
template <int KT, int W>
inline void apply_programs(MdpBlock<KT, W>& s, std::int64_t t) {
  MdpPrograms<W>& p = *s.programs;
  const double alpha = s.plan.step_size.at(t);
  const double rate = p.gathers() ? 1.0 : alpha;
  double* table = p.gathers() ? p.gradient : s.theta;
  if (s.plan.estimator == MdpEstimator::kExpected) {
    follow_expectation(s, rate, table);
    return settle(s, alpha, s.reachable_places);
  }
  const std::int64_t places = find_all_places(s);
  find_programmed_baseline(s, places);
  if (p.group) {
    for (int l = 0; l < W; ++l) p.group_b[l] = return_baseline(s, l);
    if (p.by_norms()) find_norms(s);
    compare_episodes<W>(s, s.plan, s.patience);
  }
  if (p.critic) {
    for_each_episode(s, [&](std::int64_t) { learn<W>(s, s.plan, s.task.valid, s.patience); });
  }
  const double each = rate / static_cast<double>(s.plan.episodes);
  for (std::int64_t epoch = 0; epoch < s.plan.epochs; ++epoch) {
    if (s.plan.epochs > 1) see_time<W>(s, s.plan.epochs * t + epoch);
    for_each_episode(s, [&](std::int64_t) { follow_episodes(s, each, table); });
    settle(s, alpha, places);
  }
  for_each_episode(s, [&](std::int64_t j) { follow_returns(s, t * s.plan.episodes + j); });
}

}  // namespace committal::COMMITTAL_ISA
