// What a sample of a bandit is made of: the baseline, the behaviour, an action and its reward.
#pragma once

#include "kernels/bandit/leaves.hpp"
#include "kernels/bandit/rewards.hpp"

namespace committal::COMMITTAL_ISA {

// b = offset + sum of coefficient * B, for the arms of a bandit.
template <int KT, int W>
COMMITTAL_INLINE void compute_baseline(Block<KT, W>& s, const BanditView& plan) {
  fill<W>(s.baseline, plan.baseline_offset);
  for (const BaselineTerm& term : plan.baseline_terms) {
    const double* out = s.spare;
    if (term.kind == kBaseline<RunningMeanBaseline>) {
      out = s.running_mean;
    } else if (term.kind == kBaseline<ValueBaseline> && s.has_leaves()) {
      value_from_leaves(s, s.spare);
    } else {
      evaluate_kind<KT>(term.kind, s.arm_rows(), SharedRewards{plan.means.data}, term.parameter,
                        s.spare);
    }
    const Strip coefficient(term.coefficient);
    COMMITTAL_STRIPS(l, W) {
      (Strip::load(s.baseline + l) + coefficient * Strip::load(out + l)).store(s.baseline + l);
    }
  }
  if (s.formula_baseline == nullptr) return;
  COMMITTAL_STRIPS(l, W) {
    (Strip::load(s.baseline + l) + Strip::load(s.formula_baseline + l)).store(s.baseline + l);
  }
}

template <int KT, int W>
COMMITTAL_INLINE BehaviourRows behaviour_rows(Block<KT, W>& s, const BanditView& plan,
                                              std::int64_t t) {
  return behaviour_rows<KT, W>(plan.behaviour,
                               {plan.exploration.at(t), plan.behaviour_probabilities.data},
                               s.arm_rows(), s.mixture, s.mixture_total);
}

// Makes the rows of uniforms hold draw d.
template <int KT, int W>
COMMITTAL_INLINE void reach_draw(Block<KT, W>& s, const BanditView& plan, const BlockTask& task,
                                 std::uint64_t draw) {
  const std::uint64_t stretch = draw / kDraws;
  if (stretch == s.filled) return;
  s.filled = stretch;
  fill_uniforms<W>(task.key, s.run, static_cast<std::uint32_t>(Slot::kAction), stretch * kDraws,
                   s.action_uniforms);
  if (plan.noise != Noise::kDeterministic) {
    fill_uniforms<W>(task.key, s.run, static_cast<std::uint32_t>(Slot::kReward), stretch * kDraws,
                     s.reward_uniforms);
    prepare_noise<W>(plan.noise, s.reward_uniforms);
  }
}

// Draws action and reward number `sample` of update t.
template <int KT, int W>
inline void draw(Block<KT, W>& s, const BanditView& plan, const BlockTask& task, BehaviourRows rows,
                 std::int64_t t, std::int64_t sample) {
  const auto number = static_cast<std::uint64_t>(t) * static_cast<std::uint64_t>(plan.samples) +
                      static_cast<std::uint64_t>(sample);
  reach_draw(s, plan, task, number);
  const std::uint64_t row = number % kDraws * W;
  if (s.has_leaves()) {
    draw_from_leaves(s, s.action_uniforms + row, plan.implicit.at(t));
  } else {
    draw_actions<KT, W>(s.K(), rows, s.action_uniforms + row, plan.implicit.at(t), s.action,
                        s.importance);
  }
  draw_rewards(s, plan, s.reward_uniforms + row);
}

}  // namespace committal::COMMITTAL_ISA
