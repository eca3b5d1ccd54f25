// The life of a block of MDP runs: one episode per update, until the last step.
#pragma once

#include "kernels/mdp/programmed_update.hpp"
#include "kernels/mdp/recorders.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
inline void start(MdpBlock<KT, W>& s) {
  const std::int64_t pairs = s.n * s.A();
  if (s.programs != nullptr) start_programs<W>(s, s.plan, s.task.valid);
  for (std::int64_t pair = 0; pair < pairs; ++pair) s.theta[pair] = s.plan.acting_theta0[pair];
  for (std::int64_t k = 0; k < s.A(); ++k) s.theta[pairs + k] = 0.0;
  for (std::int64_t k = 0; k < 2 * s.A(); ++k) s.law_at(pairs)[k] = 1.0;
  for (std::int64_t i = 0; i < s.n; ++i) s.places[i] = s.place(0, i);
  fill_up(s, s.places, s.n);
  refresh_places(s, s.places, s.n);
  for (int l = 0; l < W; ++l) {
    s.run[l] = s.task.first_run + static_cast<std::uint64_t>(l);
    s.walking_run[l] = s.run[l];
    // All lanes start like the first.
    double* theta = s.theta + l * s.own_pairs;
    double* law = s.law_at(l * s.own_pairs);
    for (std::int64_t i = 0; i < pairs + s.A() && l > 0; ++i) theta[i] = s.theta[i];
    for (std::int64_t i = 0; i < 2 * (pairs + s.A()) && l > 0; ++i) law[i] = s.law[i];
    for (std::int64_t i = 0; i < pairs && s.plan.programs.link != nullptr; ++i) {
      s.programs->rise[l * s.own_pairs + i] = s.programs->rise[i];
    }
    for (std::int64_t k = 0; k < s.A(); ++k) s.advantage[l * s.own_pairs + pairs + k] = 0.0;
  }
  for (std::int64_t i = 0; i < s.n; ++i) s.stale[i] = 1;
  if (s.plan.estimator == MdpEstimator::kExpected) {
    for (int l = 0; l < s.task.valid; ++l) {
      for (std::int64_t i = 0; i < s.n; ++i) {
        if (s.plan.reachable[i] != 0) s.places[s.reachable_places++] = s.place(l, i);
      }
    }
    fill_up(s, s.places, s.reachable_places);
  }
  if (s.m.deterministic) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) s.next_row[pair] = s.m.next[pair] * W;
  }
  for (std::int64_t i = 0; i < s.n; ++i) fill<W>(s.visits + i * W, 0.0);
  for (std::int64_t i = 0; i <= s.n; ++i) s.marks[i] = 0;
  for (std::int64_t k = 0; k < s.A(); ++k) fill<W>(s.here + k * W, 1.0);
  double discount = 1.0;
  for (std::int64_t move = 0; move < s.path_stride; ++move) {
    s.discounts[move] = discount;
    discount *= s.m.gamma;
  }
  for (std::int64_t j = s.plan.episodes - 1; j >= 0; --j) {
    face(s, s.plan, j);
    for (int l = 0; l < W; ++l) s.made[l] = 0;
    fill<W>(s.length, 0.0);
    fill<W>(s.goal, 0.0);
    fill<W>(s.episode_return, 0.0);
  }
  fill<W>(s.spare, 0.0);
  for (std::int64_t i = 0; i < s.n + s.m.goals; ++i) fill<W>(s.values + i * W, 0.0);
  fill<W>(s.running_mean, s.plan.running_mean_initial);
  s.kept = kept_for(s.task.sink);
}

// Formulas that are only recorded leave the updates what they are, to the last bit.
template <int KT, int W>
bool updates_by_programs(const MdpBlock<KT, W>& s) {
  return s.plan.programs.move() || s.plan.episodes > 1;
}

// A lane whose parameters are not numbers any more, or -1.
template <int KT, int W>
int wild_lane(const MdpBlock<KT, W>& s) {
  double lost[W];
  fill<W>(lost, 0.0);
  if (s.programs != nullptr) add_lost<W>(*s.programs, lost);
  for (int l = 0; l < s.task.valid; ++l) {
    const double* theta = s.theta + l * s.own_pairs;
    const std::int64_t pairs = s.n * s.A();
    Strip differences(0.0);  // x - x is 0 for numbers and NaN for all else
    std::int64_t i = 0;
    for (; i + kStrip <= pairs; i += kStrip) {
      const Strip x = Strip::load(theta + i);
      differences += x - x;
    }
    double rest = lost[l];
    for (; i < pairs; ++i) rest += theta[i] - theta[i];
    if (rest != 0.0 || !all(differences == Strip(0.0))) return l;
  }
  return -1;
}

inline constexpr std::int64_t kUpdatesBetweenLooks = 64;

// Runs the block up to `until` updates and looks for a divergence after every `between` of them and
// before every record. Returns how many updates were made when one was found, or -1.
template <int KT, int W>
std::int64_t run_mdp_until(const MdpView& plan, const BlockTask& task, std::int64_t until,
                           std::int64_t between);

template <int KT, int W>
void run_mdp(const MdpView& plan, const BlockTask& task) {
  const std::int64_t seen = run_mdp_until<KT, W>(plan, task, plan.steps, kUpdatesBetweenLooks);
  if (seen < 0) return;
  // The same runs again, without recording, to tell which update it was.
  BlockTask quiet = task;
  quiet.sink.wanted = 0;
  run_mdp_until<KT, W>(plan, quiet, seen, 1);
}

template <int KT, int W>
std::int64_t run_mdp_until(const MdpView& plan, const BlockTask& task, std::int64_t until,
                           std::int64_t between) {
  MdpBlock<KT, W> s(plan, task);
  Arena arena(task.workspace);
  lay_out(s, plan, widest(kMdpQuantities, plan), arena);
  start(s);
  std::int64_t next_record = 0;
  for (std::int64_t t = 0;; ++t) {
    if (next_record == plan.times.count) return -1;
    const bool recorded = plan.times[next_record] == t;
    const bool last = t == plan.steps;
    if (recorded || t == until || t % between == 0) {
      const int lane = wild_lane(s);
      if (lane >= 0) {
        *task.divergence = {t, task.first_run + static_cast<std::uint64_t>(lane)};
        return t;
      }
    }
    if (s.programs != nullptr) see_time<W>(s, t);
    if (plan.keeps_law && (!plan.lags || plan.exploration.at(t) > 0.0)) keep_law(s);
    const bool evaluated = plan.estimator != MdpEstimator::kReinforce && !last;
    if (evaluated) evaluate_values(s);
    const bool updates_by_episode = plan.estimator != MdpEstimator::kExpected && !last;
    if (updates_by_episode || s.kept.episodes) {
      draw_episodes(s, t, recorded && s.kept.action_entropy);
    }
    if (recorded) {
      record_all(s, next_record, evaluated);
      if (!record_formulas(s, t, next_record, evaluated)) return -1;
      ++next_record;
    }
    if (last) return -1;
    if (updates_by_programs(s)) {
      apply_programs(s, t);
    } else {
      apply_update(s, t);
    }
    if (!task.proceed(task.proceed_context, between > 1 ? 1 : 0)) return -1;
  }
}

template <int W>
void run_mdp_block(const MdpView& plan, const BlockTask& task) {
  if (plan.model.actions == 4) {
    run_mdp<4, W>(plan, task);
  } else {
    run_mdp<0, W>(plan, task);
  }
}

template <int W>
std::size_t mdp_block_bytes(const MdpView& plan) {
  MdpRows<W> rows;
  Arena counting;
  lay_out(rows, plan, widest(kMdpQuantities, plan), counting);
  return counting.bytes();
}

}  // namespace committal::COMMITTAL_ISA
