// Episodes: the lanes of a block walk in step, one move at a time, until each has reached its goal.
#pragma once

#include "kernels/mdp/updates.hpp"

namespace committal::COMMITTAL_ISA {

// Makes uniforms from number `first` on, a column for every walker.
template <int KT, int W>
inline void draw_uniforms(MdpBlock<KT, W>& s, std::uint64_t first) {
  for (int j = 0; j < s.walking; ++j) s.walkers[j].column = j;
  const auto make = [&](Slot slot, double* out) COMMITTAL_INLINE_LAMBDA {
    fill_uniforms_of<W>(s.walking, kWalkDraws, s.task.key, s.walking_run,
                        static_cast<std::uint32_t>(slot), first, out);
  };
  make(Slot::kAction, s.action_uniforms);
  if (!s.m.deterministic) make(Slot::kTransition, s.transition_uniforms);
}

template <int KT, int W>
inline void draw_starts(MdpBlock<KT, W>& s, std::int64_t episode) {
  const Array<double>& cumulative = s.plan.start_cumulative;
  const std::int64_t last = cumulative.count - 1;
  const double* law = s.drawn != nullptr ? s.drawn : s.law;
  s.walking = s.task.valid;
  for (int l = 0; l < s.walking; ++l) {
    std::int64_t at = s.plan.each_start ? episode % s.plan.episodes / s.plan.samples : 0;
    if (last > 0 && !s.plan.each_start) {
      const double u =
          uniform(s.task.key, s.run[l], Slot::kStart, static_cast<std::uint64_t>(episode)) *
          cumulative[last];
      while (at < last && !(u < cumulative[at])) ++at;
    }
    s.walkers[l] = {.law = law + 2 * l * s.own_pairs,
                    .path = s.path_of(l),
                    .earned = 0.0,
                    .pair = s.plan.acting_starts[at] * s.A(),
                    .lane = l,
                    .column = l};
    s.walking_run[l] = s.run[l];
  }
}

// How many of the cumulative weights of a law, but for the last, are at most u of the last: the
// action drawn.
template <int KT>
COMMITTAL_INLINE std::int64_t draw_action(const double* law, std::int64_t actions,
                                          const double& u) {
#if defined(__AVX2__)
  if constexpr (KT == 4) {
    const __m256d x = _mm256_mul_pd(_mm256_broadcast_sd(&u), _mm256_broadcast_sd(law + 3));
    const __m256d at_most = _mm256_cmp_pd(_mm256_loadu_pd(law), x, _CMP_LE_OQ);
    return _mm_popcnt_u32(static_cast<unsigned>(_mm256_movemask_pd(at_most)) & 7u);
  }
#endif
  const double x = u * law[actions - 1];
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < actions - 1; ++k) count += law[k] <= x ? 1 : 0;
  return count;
}

// What all walkers find at this move.
struct Move {
  std::int64_t number;
  double discount;
  const double* u;  // uniforms by column: for the action
  const double* v;  // and for where it leads
};

// Goes where an action leads, by the pair's number; returns the reward, discounted. kNotes: which
// outcome it was is noted for a critic.
template <bool kDeterministic, bool kNotes, int KT, int W>
COMMITTAL_INLINE double follow(const MdpBlock<KT, W>& s, Walker& walker, std::int64_t pair,
                               const Move& move) {
  walker.path[move.number] = static_cast<std::uint32_t>(pair);
  double reward = 0.0;
  std::int64_t outcome = pair;
  if constexpr (kDeterministic) {
    walker.pair = s.m.only_pair[pair];
    reward = move.discount * s.m.reward[pair];
  } else {
    outcome = s.m.row_offsets[pair];
    const std::int64_t last = s.m.row_offsets[pair + 1] - 1;
    const double v = move.v[walker.column];
    while (outcome < last && !(v < s.m.cumulative[outcome])) ++outcome;
    walker.pair = s.m.next[outcome] * s.A();
    reward = move.discount * s.m.reward[outcome];
  }
  if constexpr (kNotes) s.path_outcome[walker.lane * s.path_stride + move.number] = outcome;
  walker.earned += reward;
  return reward;
}

// All walkers make a move. Returns whether one has reached a goal.
template <bool kDeterministic, bool kNotes, int KT, int W>
COMMITTAL_INLINE bool walk_on_policy(MdpBlock<KT, W>& s, const Move& move) {
  std::int64_t furthest = 0;
  for (Walker *walker = s.walkers, *end = walker + s.walking; walker != end; ++walker) {
    const std::int64_t action =
        draw_action<KT>(walker->law + 2 * walker->pair, s.A(), move.u[walker->column]);
    follow<kDeterministic, kNotes>(s, *walker, walker->pair + action, move);
    furthest = walker->pair > furthest ? walker->pair : furthest;
  }
  return furthest >= s.n * s.A();
}

// The same by another law, which is mixed from the policy where the walkers are.
template <bool kDeterministic, bool kNotes, int KT, int W>
inline bool walk_off_policy(MdpBlock<KT, W>& s, std::int64_t t, const Move& move) {
  for (int j = 0; j < s.walking; ++j) {
    const Walker& walker = s.walkers[j];
    s.spare[j] = move.u[walker.column];
    const double* pi = walker.law + 2 * walker.pair + s.A();
    for (std::int64_t k = 0; k < s.A(); ++k) s.here[k * W + j] = pi[k];
  }
  sum_rows<KT, W>(s.A(), s.here, s.here_total);
  const ArmRows<W> here{s.A(), s.here, s.here_total};
  const BehaviourRows rows = behaviour_rows<KT, W>(
      s.plan.behaviour, {s.plan.exploration.at(t), s.plan.behaviour_probabilities.data}, here,
      s.mixture, s.mixture_total);
  draw_actions<KT, W>(s.A(), rows, s.spare, 0.0, s.action, s.importance);
  std::int64_t furthest = 0;
  for (int j = 0; j < s.walking; ++j) {
    Walker& walker = s.walkers[j];
    const std::int64_t at = walker.lane * s.path_stride + move.number;
    s.path_weight[at] = s.importance[j];
    s.path_reward[at] = follow<kDeterministic, kNotes>(s, walker, walker.pair + s.action[j], move);
    furthest = walker.pair > furthest ? walker.pair : furthest;
  }
  return furthest >= s.n * s.A();
}

// Notes the end of the episode of a walker, after so many moves.
template <int KT, int W>
COMMITTAL_INLINE void arrive(MdpBlock<KT, W>& s, const Walker& walker, std::int64_t moves) {
  const std::int64_t l = walker.lane;
  const std::int64_t goal = walker.pair / s.A() - s.n;
  s.made[l] = moves;
  s.length[l] = static_cast<double>(moves);
  s.episode_return[l] = walker.earned;
  s.goal[l] = goal >= 0 ? static_cast<double>(goal) : -1.0;
  for (int i = 0; i < kPlaces; ++i) {
    walker.path[moves + i] = static_cast<std::uint32_t>(s.n * s.A() + i % s.A());
  }
}

// Those who have not arrived go on.
template <int KT, int W>
inline void part(MdpBlock<KT, W>& s, std::int64_t moves) {
  int left = 0;
  for (int j = 0; j < s.walking; ++j) {
    if (s.walkers[j].pair >= s.n * s.A()) {
      arrive(s, s.walkers[j], moves);
    } else {
      s.walking_run[left] = s.walking_run[j];
      s.walkers[left++] = s.walkers[j];
    }
  }
  s.walking = left;
}

template <int KT, int W>
inline void count_visits(MdpBlock<KT, W>& s) {
  for (int l = 0; l < s.task.valid; ++l) {
    const std::uint32_t* path = s.path_of(l);
    for (std::int64_t i = 0; i < s.made[l]; ++i) s.visits[path[i] / s.A() * W + l] += 1.0;
  }
}

// - sum pi log pi, summed over the moves of an episode.
template <int KT, int W>
inline void sum_action_entropy(MdpBlock<KT, W>& s) {
  constexpr int N = kStripOf<W>;
  for (int l = 0; l < W; l += N) {
    std::int64_t longest = 0;
    for (int i = 0; i < N; ++i) longest = s.made[l + i] > longest ? s.made[l + i] : longest;
    Lanes<N> sum(0.0);
    for (std::int64_t move = 0; move < longest; ++move) {
      const auto walks = [&](int i) { return move < s.made[l + i]; };
      const Lanes<N> alive = collect<N>([&](int i) { return walks(i) ? 1.0 : 0.0; });
      for (std::int64_t k = 0; k < s.A(); ++k) {
        const Lanes<N> pi = collect<N>([&](int i) {
          const std::int64_t pair = walks(i) ? s.first_pair(s.path_of(l + i)[move]) : s.n * s.A();
          return s.pi_at((l + i) * s.own_pairs + pair)[k];
        });
        const Lanes<N> term = pi * log_of(larger(pi, Lanes<N>(1e-300)));
        sum -= alive * where(pi > Lanes<N>(1e-300), term);
      }
      s.patience.spend(s.A());
    }
    sum.store(s.entropy_sum + l);
  }
}

// One episode per lane from theta_t: path, return, length, goal.
template <bool kDeterministic, bool kNotes, int KT, int W>
inline void walk(MdpBlock<KT, W>& s, std::int64_t t, std::int64_t episode) {
  const std::uint64_t first =
      static_cast<std::uint64_t>(episode) * static_cast<std::uint64_t>(s.plan.limit);
  const bool on_policy = s.plan.behaviour == kOnPolicy;
  for (std::int64_t number = 0; number < s.plan.limit && s.walking > 0; ++number) {
    const std::uint64_t draw = first + static_cast<std::uint64_t>(number);
    const auto place = static_cast<int>(draw % kWalkDraws);
    if (place == 0 || number == 0) draw_uniforms(s, draw - static_cast<std::uint64_t>(place));
    const Move move{number, s.discounts[number], s.action_uniforms + place * W,
                    s.transition_uniforms + place * W};
    const bool arrived = on_policy ? walk_on_policy<kDeterministic, kNotes>(s, move)
                                   : walk_off_policy<kDeterministic, kNotes>(s, t, move);
    if (arrived) part(s, number + 1);
    s.patience.spend(s.A());
  }
  for (int j = 0; j < s.walking; ++j) arrive(s, s.walkers[j], s.plan.limit);
}

template <int KT, int W>
inline void draw_episode(MdpBlock<KT, W>& s, std::int64_t t, std::int64_t episode,
                         bool with_entropy) {
  draw_starts(s, episode);
  const bool notes = s.plan.programs.critic != nullptr;
  if (s.m.deterministic) {
    notes ? walk<true, true>(s, t, episode) : walk<true, false>(s, t, episode);
  } else {
    notes ? walk<false, true>(s, t, episode) : walk<false, false>(s, t, episode);
  }
  if (s.kept.visits) count_visits(s);
  if (with_entropy) sum_action_entropy(s);
}

// From now on episodes are drawn from the policy as it is now.
template <int KT, int W>
inline void keep_law(MdpBlock<KT, W>& s) {
  for (int l = 0; l < W; ++l) {
    const std::int64_t first = 2 * l * s.own_pairs;
    for (std::int64_t i = first; i < first + 2 * s.n * s.A(); ++i) s.drawn[i] = s.law[i];
  }
  s.patience.spend(s.n * s.A());
}

// Those of one update. The first is looked at in the end: what is recorded is recorded of it.
template <int KT, int W>
inline void draw_episodes(MdpBlock<KT, W>& s, std::int64_t t, bool with_entropy) {
  const std::int64_t first = t * s.plan.episodes;
  for (std::int64_t j = s.plan.episodes - 1; j > 0; --j) {
    face(s, s.plan, j);
    draw_episode(s, t, first + j, false);
  }
  face(s, s.plan, 0);
  draw_episode(s, t, first, with_entropy);
}

}  // namespace committal::COMMITTAL_ISA
