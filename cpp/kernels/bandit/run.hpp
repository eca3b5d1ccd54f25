// The life of a block of bandit runs: start, update, record, until the last step.
#pragma once

#include "kernels/bandit/recorders.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
class BanditBlock {
 public:
  BanditBlock(const BanditView& plan, const BlockTask& task) : plan_(plan), task_(task) {
    lay_out(s_, plan, task);
    if (plan.policy == Policy::kDirect) s_.weight = s_.theta;
    COMMITTAL_LANES(l, W) s_.run[l] = task.first_run + static_cast<std::uint64_t>(l);
    for (std::int64_t k = 0; k < s_.K(); ++k) fill<W>(s_.theta + k * W, plan.theta0[k]);
    if (plan.policy == Policy::kSoftmax) {
      rebase_lane(s_, 0);  // all lanes start alike
      fill<W>(s_.shift, s_.shift[0]);
      for (std::int64_t k = 0; k < s_.K(); ++k) fill<W>(s_.weight + k * W, s_.weight[k * W]);
    } else {
      fill<W>(s_.shift, 0.0);
    }
    fill<W>(s_.running_mean, plan.running_mean_initial);
    fill<W>(s_.regret, 0.0);
    tracks_regret_ = wants(Quantity::kRegret);
    moves_one_arm_ = plan.update == Update::kNatural && plan.samples == 1 && !plan.regularised &&
                     plan.estimator != Estimator::kExpected;
    if (moves_one_arm_ && plan.behaviour == Behaviour::kOnPolicy) keep_leaves(s_, plan);
  }

  void run() {
    std::int64_t t = 0;
    std::int64_t next_record = 0;
    const std::int64_t stretch = stretch_length();
    settle_start();
    for (;;) {
      if (next_record < plan_.time_count && plan_.times[next_record] == t) {
        record(next_record++, t);
      }
      const std::int64_t stop =
          next_record < plan_.time_count ? plan_.times[next_record] : t;  // nothing left to see
      if (stop == t) return;
      while (t < stop) {
        const std::int64_t until = t + stretch < stop ? t + stretch : stop;
        for (std::int64_t i = t; i < until; ++i) step(i);
        const std::int64_t done = until - t;
        t = until;
        if (!task_.proceed(task_.proceed_context, done)) return;
      }
    }
  }

 private:
  // Updates between two questions whether to go on: some milliseconds for any number of arms.
  std::int64_t stretch_length() const {
    const std::int64_t affordable = (std::int64_t{1} << 20) / (plan_.arms * plan_.samples);
    return affordable > 256 ? 256 : (affordable < 1 ? 1 : affordable);
  }

  bool wants(Quantity q) const { return task_.sink.wants(q); }

  // Draws action and reward number `sample` of update t.
  void draw(BehaviourRows rows, std::int64_t t, std::int64_t sample) {
    const auto number = static_cast<std::uint64_t>(t) * static_cast<std::uint64_t>(plan_.samples) +
                        static_cast<std::uint64_t>(sample);
    reach_draw(s_, plan_, task_, number);
    const std::uint64_t row = number % kDraws * W;
    if (s_.has_leaves()) {
      draw_from_leaves(s_, s_.action_uniforms + row, plan_.implicit.at(t));
    } else {
      draw_actions<KT, W>(s_.K(), rows, s_.action_uniforms + row, plan_.implicit.at(t), s_.action,
                          s_.importance);
    }
    draw_rewards(s_, plan_, s_.reward_uniforms + row);
  }

  // One update of every lane. On entry and exit weight and total describe theta.
  void step(std::int64_t t) {
    const double alpha = plan_.step_size.at(t);
    if (tracks_regret_) accumulate_regret(s_, plan_);
    if (plan_.estimator == Estimator::kExpected) {
      expected_direction(s_, plan_);
    } else {
      compute_baseline(s_, plan_);
      const BehaviourRows rows = behaviour_rows(s_, plan_, t);
      if (!moves_one_arm_) fill_rows(s_.direction, 0.0);
      const double inverse_samples = 1.0 / static_cast<double>(plan_.samples);
      for (std::int64_t sample = 0; sample < plan_.samples; ++sample) {
        draw(rows, t, sample);
        if (moves_one_arm_) {
          natural_single(s_, alpha);
        } else if (plan_.update == Update::kVanilla) {
          add_score_sample(s_, inverse_samples);
        } else {
          add_importance_sample(s_, inverse_samples);
        }
        if (plan_.uses_running_mean) {
          follow_rewards<W>(s_.running_mean, s_.reward, plan_.running_mean_rate,
                            static_cast<double>(t * plan_.samples + sample + 1));
        }
      }
      if (moves_one_arm_) return s_.has_leaves() ? settle_leaves(s_) : settle(s_, plan_);
    }
    if (plan_.regularised) add_entropy_gradient(s_, plan_, plan_.entropy.at(t));
    apply_direction(s_, plan_, alpha);
    settle(s_, plan_);
  }

  void settle_start() {
    if (!s_.has_leaves()) return settle(s_, plan_);
    start_leaves(s_);
  }

  void fill_rows(double* rows, double value) {
    for (std::int64_t k = 0; k < s_.K(); ++k) fill<W>(rows + k * W, value);
  }

  void emit(Quantity quantity, std::int64_t index, const double* rows, std::int64_t width) {
    task_.sink.emit(task_.sink.context, static_cast<int>(quantity), index, rows, width, W);
  }

  void record(std::int64_t index, std::int64_t t) {
    if (wants(Quantity::kValue)) {
      record_value(s_, plan_);
      emit(Quantity::kValue, index, s_.record, 1);
    }
    if (wants(Quantity::kPolicy)) {
      record_policy(s_);
      emit(Quantity::kPolicy, index, s_.record, s_.K());
    }
    if (wants(Quantity::kTheta)) {
      record_theta(s_, plan_);
      emit(Quantity::kTheta, index, s_.record, plan_.contrast ? 1 : s_.K());
    }
    if (wants(Quantity::kEntropy)) {
      record_entropy(s_, plan_);
      emit(Quantity::kEntropy, index, s_.record, 1);
    }
    if (wants(Quantity::kRegret)) emit(Quantity::kRegret, index, s_.regret, 1);
    if (wants(Quantity::kDistance)) {
      record_distance(s_, plan_);
      emit(Quantity::kDistance, index, s_.record, 1);
    }
    if (wants(Quantity::kBaseline) || wants(Quantity::kVariance)) {
      compute_baseline(s_, plan_);
      if (wants(Quantity::kBaseline)) emit(Quantity::kBaseline, index, s_.baseline, 1);
      if (wants(Quantity::kVariance)) {
        record_variance(s_, plan_, t);
        emit(Quantity::kVariance, index, s_.record, 1);
      }
    }
    if (wants(Quantity::kAction)) record_draws(Quantity::kAction, index, t);
    if (wants(Quantity::kReward)) record_draws(Quantity::kReward, index, t);
  }

  // The draws that update t + 1 will use; streams are counters, so looking ahead is free.
  void record_draws(Quantity quantity, std::int64_t index, std::int64_t t) {
    const BehaviourRows rows = behaviour_rows(s_, plan_, t);
    for (std::int64_t sample = 0; sample < plan_.samples; ++sample) {
      draw(rows, t, sample);
      double* out = s_.record + sample * W;
      if (quantity == Quantity::kAction) {
        COMMITTAL_LANES(l, W) out[l] = static_cast<double>(s_.action[l]);
      } else {
        COMMITTAL_LANES(l, W) out[l] = s_.reward[l];
      }
    }
    emit(quantity, index, s_.record, plan_.samples);
  }

  const BanditView& plan_;
  const BlockTask& task_;
  Block<KT, W> s_;
  bool tracks_regret_ = false;
  bool moves_one_arm_ = false;
};

template <int W>
void run_bandit_block(const BanditView& plan, const BlockTask& task) {
  switch (plan.arms) {
    case 2:
      return BanditBlock<2, W>(plan, task).run();
    case 3:
      return BanditBlock<3, W>(plan, task).run();
    case 4:
      return BanditBlock<4, W>(plan, task).run();
    default:
      return BanditBlock<0, W>(plan, task).run();
  }
}

}  // namespace committal::COMMITTAL_ISA
