// The life of a block of MDP runs: one episode per update, until the last step.
#pragma once

#include "kernels/mdp/recorders.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
inline void start(MdpBlock<KT, W>& s) {
  const std::int64_t pairs = s.n * s.A();
  COMMITTAL_LANES(l, W) s.run[l] = s.task.first_run + static_cast<std::uint64_t>(l);
  for (std::int64_t row = 0; row < pairs; ++row) {
    fill<W>(s.theta + row * W, s.plan.acting_theta0[row]);
  }
  for (std::int64_t row = pairs; row < pairs + s.A(); ++row) {
    fill<W>(s.theta + row * W, 0.0);
    fill<W>(s.advantage + row * W, 0.0);
  }
  for (std::int64_t i = 0; i <= s.n; ++i) {
    fill<W>(s.visits + i * W, 0.0);
    s.touched[i] = 0;
    refresh_state(s, i);
  }
  for (std::int64_t i = 0; i < s.n + s.m.goals; ++i) fill<W>(s.values + i * W, 0.0);
  fill<W>(s.running_mean, s.plan.running_mean_initial);
  s.kept = kept_for(s.task.sink);
  if (s.programs != nullptr) start_programs<W>(s, s.plan);
}

// A lane whose parameters are not numbers any more, or -1.
template <int KT, int W>
int wild_lane(const MdpBlock<KT, W>& s) {
  double sum[W];  // x - x is 0 for numbers and NaN for all else
  fill<W>(sum, 0.0);
  for (std::int64_t row = 0; row < s.n * s.A(); ++row) {
    COMMITTAL_LANES(l, W) sum[l] += s.theta[row * W + l] - s.theta[row * W + l];
  }
  if (s.programs != nullptr) add_lost<W>(*s.programs, sum);
  for (int l = 0; l < s.task.valid; ++l) {
    if (sum[l] != 0.0) return l;
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
    const bool evaluated = plan.estimator != MdpEstimator::kReinforce && !last;
    if (evaluated) evaluate_policy(s);
    const bool updates_by_episode = plan.estimator != MdpEstimator::kExpected && !last;
    if (updates_by_episode || s.kept.episodes) {
      draw_episode(s, t, recorded && s.kept.action_entropy);
    }
    if (recorded) record_all(s, next_record++, evaluated);
    if (last) return -1;
    apply_update(s, t);
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
