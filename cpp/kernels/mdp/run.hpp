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
}

template <int KT, int W>
inline void run_mdp(const MdpView& plan, const BlockTask& task) {
  MdpBlock<KT, W> s(plan, task);
  Arena arena(task.workspace);
  lay_out(s, plan, widest(kMdpQuantities, plan), arena);
  start(s);
  std::int64_t next_record = 0;
  for (std::int64_t t = 0;; ++t) {
    if (next_record == plan.times.count) return;
    const bool recorded = plan.times[next_record] == t;
    const bool last = t == plan.steps;
    const bool evaluated = plan.estimator != MdpEstimator::kReinforce && !last;
    if (evaluated) evaluate_policy(s);
    const bool updates_by_episode = plan.estimator != MdpEstimator::kExpected && !last;
    if (updates_by_episode || s.kept.episodes) {
      draw_episode(s, t, recorded && s.kept.action_entropy);
    }
    if (recorded) record_all(s, next_record++, evaluated);
    if (last) return;
    apply_update(s, t);
    if (!task.proceed(task.proceed_context, 1)) return;
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
