// The samples of an update as programs see them: policy, actions, rewards, weights, directions.
#pragma once

#include "kernels/bandit/programmed_link.hpp"
#include "kernels/bandit/programmed_rows.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
struct BanditProgramSamples : BanditProgramRows<KT, W> {
  using Rows = BanditProgramRows<KT, W>;
  using State = Block<KT, W>;
  using Rows::action_;
  using Rows::batch_;
  using Rows::few_;
  using Rows::importance_;
  using Rows::inverse_;
  using Rows::link_;
  using Rows::mu_;
  using Rows::natural_;
  using Rows::number_;
  using Rows::ones_;
  using Rows::pi_;
  using Rows::ratio_;
  using Rows::reward_;
  using Rows::score_;
  using Rows::time_;
  using Rows::update_;
  using Rows::uses;

  // Everything that depends on theta and t.
  COMMITTAL_INLINE void see(State& s, const BanditView& plan, std::int64_t t) {
    if (uses(ProgramInput::kTime)) fill<W>(time_, static_cast<double>(t));
    const bool off_policy = plan.behaviour != kOnPolicy;
    if (uses(ProgramInput::kPolicy) || uses(ProgramInput::kScore) || uses(ProgramInput::kNatural) ||
        (uses(ProgramInput::kBehaviour) && !off_policy)) {
      normalise(s.K(), s.weight, s.total, pi_);
    }
    if (uses(ProgramInput::kBehaviour) && off_policy) {
      const BehaviourRows behaviour = behaviour_rows(s, plan, t);
      normalise(s.K(), behaviour.q, behaviour.total, mu_);
    }
  }

  static COMMITTAL_INLINE void normalise(std::int64_t count, const double* weight,
                                         const double* total, double* out) {
    COMMITTAL_STRIPS(l, W) {
      const Strip inverse = Strip(1.0) / Strip::load(total + l);
      for (std::int64_t k = 0; k < count; ++k) {
        larger(Strip::load(weight + k * W + l) * inverse, Strip(kLeastSeen)).store(out + k * W + l);
      }
    }
  }

  // All samples of update t: actions, rewards, importance weights, and what follows from them.
  void draw_batch(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    const BehaviourRows behaviour = behaviour_rows(s, plan, t);
    std::int64_t* const action = s.action;
    double* const importance = s.importance;
    double* const reward = s.reward;
    const bool plainly_on_policy = plan.behaviour == kOnPolicy && !(plan.implicit.at(t) > 0.0);
    Patience patience(task.proceed, task.proceed_context);
    if (few_) {
      return draw_few_samples(s, plan, task, behaviour, t, {0, plan.samples}, plainly_on_policy,
                              patience);
    }
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      s.action = action_ + i * W;
      s.importance = importance_ + i * W;
      s.reward = reward_ + i * W;
      draw(s, plan, task, behaviour, t, i);
      if (uses(ProgramInput::kAction)) {
        for (int l = 0; l < W; ++l) number_[i * W + l] = static_cast<double>(s.action[l]);
      }
      find_inverse(s, i, plainly_on_policy);
      if (uses(ProgramInput::kScore) || uses(ProgramInput::kNatural)) find_scores(s, i);
      patience.spend(s.K());
    }
    if (ratio_ != nullptr && (uses(ProgramInput::kRatio) || uses(ProgramInput::kWeight))) {
      find_ratios(plan.samples, plainly_on_policy);
    }
    s.action = action;
    s.importance = importance;
    s.reward = reward;
  }

  COMMITTAL_INLINE FewSample few_sample(std::int64_t i) const {
    return {number_ + i * W, importance_ + i * W, inverse_ + i * W, reward_ + i * W};
  }
  // Samples `range` of update t of few arms; without a batch they are all laid in the first row.
  void draw_few_samples(State& s, const BanditView& plan, const BlockTask& task,
                        BehaviourRows behaviour, std::int64_t t, RowRange range,
                        bool plainly_on_policy, Patience& patience) {
    const auto draw = [&]<Wanted kWanted>() COMMITTAL_INLINE_LAMBDA {
      draw_few<kWanted>(s, plan, task, behaviour, t, range.first, range.end, few_sample(0),
                        patience);
    };
    if (!plainly_on_policy) {
      draw.template operator()<Wanted::kAll>();
    } else if (weighs_arms(plan) || uses(ProgramInput::kNatural)) {
      draw.template operator()<Wanted::kWeight>();
    } else {
      draw.template operator()<Wanted::kDrawn>();
    }
    const std::int64_t count = range.end - range.first;
    find_ratios(count, plainly_on_policy);
    if (!uses(ProgramInput::kScore) && !uses(ProgramInput::kNatural)) return;
    for (std::int64_t i = 0; i < count; ++i) {
      score_few<W>(s.K(), few_sample(i), pi_,
                   uses(ProgramInput::kScore) ? score_ + i * s.K() * W : nullptr,
                   uses(ProgramInput::kNatural) ? natural_ + i * s.K() * W : nullptr);
    }
  }
  // Whether samples of few arms go along e_a, so that somebody reads 1 / mu(a).
  bool weighs_arms(const BanditView& plan) const {
    return !update_ && !kRows<UpdateRow, Updates>[static_cast<int>(plan.update)].along_score;
  }
  // 1 / pi(a): on the policy it is there already.
  COMMITTAL_INLINE void find_inverse(const State& s, std::int64_t i, bool plainly_on_policy) {
    double* inverse = inverse_ + i * W;
    if (plainly_on_policy) {
      COMMITTAL_STRIPS(l, W) Strip::load(importance_ + i * W + l).store(inverse + l);
      return;
    }
    for (int l = 0; l < W; ++l) inverse[l] = s.weight[s.action[l] * W + l];
    COMMITTAL_STRIPS(l, W) {
      (Strip::load(s.total + l) / larger(Strip::load(inverse + l), Strip(1e-290)))
          .store(inverse + l);
    }
  }

  // rho = pi(a) / (mu(a) + implicit) of the first `count` samples. On the policy it stays 1.
  COMMITTAL_INLINE void find_ratios(std::int64_t count, bool plainly_on_policy) {
    const std::int64_t known = plainly_on_policy ? ones_ : 0;
    for (std::int64_t i = known; i < count; ++i) find_ratio(i, plainly_on_policy);
    ones_ = !plainly_on_policy ? 0 : (count > ones_ ? count : ones_);
  }
  COMMITTAL_INLINE void find_ratio(std::int64_t i, bool plainly_on_policy) {
    if (plainly_on_policy) return fill<W>(ratio_ + i * W, 1.0);
    COMMITTAL_STRIPS(l, W) {
      (Strip::load(importance_ + i * W + l) / Strip::load(inverse_ + i * W + l))
          .store(ratio_ + i * W + l);
    }
  }

  // e_a - pi, or what the link makes of it, and e_a / pi_a.
  void find_scores(const State& s, std::int64_t i) {
    const std::int64_t* action = action_ + i * W;
    if (uses(ProgramInput::kScore)) {
      double* score = score_ + i * s.K() * W;
      if (link_) {
        find_linked_scores(s, action, score);
      } else {
        for (int l = 0; l < W; ++l) s.spare[l] = static_cast<double>(action[l]);
        scores<W>(s.K(), s.spare, pi_, score);
      }
    }
    if (uses(ProgramInput::kNatural)) {
      double* natural = natural_ + i * s.K() * W;
      for (std::int64_t k = 0; k < s.K(); ++k) fill<W>(natural + k * W, 0.0);
      for (int l = 0; l < W; ++l) natural[action[l] * W + l] = inverse_[i * W + l];
    }
  }

  void find_linked_scores(const State& s, const std::int64_t* action, double* score) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        (-(Strip::load(slope() + k * W + l) / Strip::load(s.total + l))).store(score + k * W + l);
      }
    }
    own_linked_scores(s, action, slope(), s.spare);
    for (int l = 0; l < W; ++l) score[action[l] * W + l] = s.spare[l];
  }

  COMMITTAL_INLINE const double* slope() const { return link_.output(1).row; }
};

}  // namespace committal::COMMITTAL_ISA
