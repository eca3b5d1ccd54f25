// Episodes: all lanes of a block walk in step, one move at a time.
#pragma once

#include "kernels/mdp/updates.hpp"

namespace committal::COMMITTAL_ISA {

// Makes the rows of uniforms hold a draw.
template <int KT, int W>
inline void reach_draw(MdpBlock<KT, W>& s, std::uint64_t draw) {
  const std::uint64_t stretch = draw / kDraws;
  if (stretch == s.filled) return;
  s.filled = stretch;
  fill_uniforms<W>(s.task.key, s.run, static_cast<std::uint32_t>(Slot::kAction), stretch * kDraws,
                   s.action_uniforms);
  if (!s.m.deterministic) {
    fill_uniforms<W>(s.task.key, s.run, static_cast<std::uint32_t>(Slot::kTransition),
                     stretch * kDraws, s.transition_uniforms);
  }
}

template <int KT, int W>
inline void draw_starts(MdpBlock<KT, W>& s, std::int64_t t) {
  const Array<double>& cumulative = s.plan.start_cumulative;
  const std::int64_t last = cumulative.count - 1;
  for (int l = 0; l < W; ++l) {
    std::int64_t at = 0;
    if (last > 0) {
      const double u = uniform(s.task.key, s.run[l], Slot::kStart, static_cast<std::uint64_t>(t)) *
                       cumulative[last];
      while (at < last && !(u < cumulative[at])) ++at;
    }
    s.state[l] = s.plan.acting_starts[at];
  }
}

template <int KT, int W>
inline void add_action_entropy(MdpBlock<KT, W>& s) {
  for (std::int64_t k = 0; k < s.A(); ++k) {
    COMMITTAL_LANES(l, W) {
      const double pi = s.here[k * W + l];
      const double term = pi * log_of(larger(pi, 1e-300));
      s.entropy_sum[l] -= s.alive[l] * (pi > 1e-300 ? term : 0.0);
    }
  }
}

template <int KT, int W>
inline void follow_transition(MdpBlock<KT, W>& s, const double* v, double discount) {
  double* reward = s.path_reward + s.moves * W;
  std::int64_t next[W];
  if (s.m.deterministic) {
    COMMITTAL_LANES(l, W) {
      const std::int64_t row = s.state[l] * s.A() + s.action[l];
      next[l] = s.m.only_next[row];
      reward[l] = discount * s.m.only_reward[row];
    }
  } else {
    for (int l = 0; l < W; ++l) {
      next[l] = s.n;
      reward[l] = 0.0;
      if (!(s.alive[l] > 0.0)) continue;
      const std::int64_t row = s.state[l] * s.A() + s.action[l];
      std::int64_t at = s.m.row_offsets[row];
      const std::int64_t last = s.m.row_offsets[row + 1] - 1;
      while (at < last && !(v[l] < s.m.cumulative[at])) ++at;
      next[l] = s.m.next[at];
      reward[l] = discount * s.m.reward[at];
    }
  }
  COMMITTAL_LANES(l, W) {
    s.episode_return[l] += reward[l];
    s.reached[l] = s.alive[l] > 0.0 ? next[l] : s.reached[l];
    s.alive[l] = next[l] >= s.n ? 0.0 : s.alive[l];
    s.state[l] = next[l] >= s.n ? s.n : next[l];
  }
}

template <int KT, int W>
inline void draw_move(MdpBlock<KT, W>& s, std::uint64_t draw, std::int64_t t, double discount,
                      bool with_entropy) {
  reach_draw(s, draw);
  std::int64_t* path_state = s.path_state + s.moves * W;
  std::int64_t* path_action = s.path_action + s.moves * W;
  COMMITTAL_LANES(l, W) path_state[l] = s.state[l];
  for (std::int64_t k = 0; k < s.A(); ++k) {
    COMMITTAL_LANES(l, W) s.here[k * W + l] = s.policy[(s.state[l] * s.A() + k) * W + l];
  }
  sum_rows<KT, W>(s.A(), s.here, s.here_total);
  const ArmRows<W> here{s.A(), s.here, s.here_total};
  const BehaviourRows rows = behaviour_rows<KT, W>(
      s.plan.behaviour, {s.plan.exploration.at(t), s.plan.behaviour_probabilities.data}, here,
      s.mixture, s.mixture_total);
  const std::uint64_t at = draw % kDraws * W;
  draw_actions<KT, W>(s.A(), rows, s.action_uniforms + at, 0.0, s.action, s.importance);
  COMMITTAL_LANES(l, W) path_action[l] = s.action[l];
  weigh_move(s, discount);
  if (with_entropy) add_action_entropy(s);
  COMMITTAL_LANES(l, W) s.length[l] += s.alive[l];
  if (s.kept.visits) {
    COMMITTAL_LANES(l, W) s.visits[s.state[l] * W + l] += s.alive[l];
  }
  for (int l = 0; l < W; ++l) s.touched[path_state[l]] = 1;
  follow_transition(s, s.transition_uniforms + at, discount);
}

// One episode per lane from theta_t: path, return, length, goal; visits are counted.
template <int KT, int W>
inline void draw_episode(MdpBlock<KT, W>& s, std::int64_t t, bool with_entropy) {
  draw_starts(s, t);
  fill<W>(s.episode_return, 0.0);
  fill<W>(s.length, 0.0);
  fill<W>(s.entropy_sum, 0.0);
  fill<W>(s.alive, 1.0);
  fill<W>(s.prefix, 1.0);
  double discount = 1.0;
  const std::uint64_t first =
      static_cast<std::uint64_t>(t) * static_cast<std::uint64_t>(s.plan.limit);
  s.moves = 0;
  while (s.moves < s.plan.limit) {
    draw_move(s, first + static_cast<std::uint64_t>(s.moves), t, discount, with_entropy);
    ++s.moves;
    discount *= s.m.gamma;
    std::int64_t walking = 0;
    COMMITTAL_LANES(l, W) walking |= static_cast<std::int64_t>(s.alive[l] > 0.0);
    if (walking == 0) break;
    s.patience.spend(s.A());
  }
  for (int l = 0; l < W; ++l) {
    s.goal[l] = s.reached[l] >= s.n ? static_cast<double>(s.reached[l] - s.n) : -1.0;
  }
}

}  // namespace committal::COMMITTAL_ISA
