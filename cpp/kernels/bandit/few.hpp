// Whole updates of few arms from one sample: a strip of lanes stays in registers from the draw to
// the new weights, every row is loaded once and stored once, and a natural step divides once.
//
//   natural   theta_a += alpha A Q / (q_a + implicit Q)
//   vanilla   theta   += alpha A rho (e_a - pi)
//
// where q / Q is the behaviour, rho = pi(a) / (mu(a) + implicit), and A = R - b has b as a fraction.
// What has no place here (several samples, entropy, expectations) goes through updates.hpp.
#pragma once

#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

// b, as a fraction on a strip: offset + coefficient * B for one baseline B of the policy ...
template <typename Part>
struct PlainBaseline {
  Strip offset;
  Strip coefficient;
  static constexpr bool kOverTotal = kSame<Part, ValueBaseline>;  // it divides by the total

  COMMITTAL_INLINE explicit PlainBaseline(const BanditView& plan)
      : offset(plan.baseline_offset), coefficient(plan.baseline_terms[0].coefficient) {}

  // (R - b) times what b divides by, and that
  template <int KT>
  COMMITTAL_INLINE Fraction<kStrip> advantage(const Strip& reward, const Strip (&w)[KT],
                                              const Strip& total, const Strip (&r)[KT],
                                              int) const {
    const Fraction<kStrip> b = Part::template few<KT>(w, total, r);
    return {(reward - offset) * b.under - coefficient * b.over, b.under};
  }
};

// ... or a number of each lane, already there.
template <int W>
struct GivenBaseline {
  const double* rows;
  static constexpr bool kOverTotal = false;

  template <int KT>
  COMMITTAL_INLINE Fraction<kStrip> advantage(const Strip& reward, const Strip (&)[KT],
                                              const Strip&, const Strip (&)[KT], int l) const {
    return {reward - Strip::load(rows + l), Strip(1.0)};
  }
};

// What one update of a block needs to know.
struct FewStep {
  const BanditView& plan;
  BehaviourRows behaviour;
  const double* u;  // [W] uniforms of the action
  const double* z;  // [W] of the reward
  double alpha;
  double implicit;
};

// The mean reward of the drawn arm, made a reward by its law.
template <int KT>
COMMITTAL_INLINE Strip reward_of_few(const FewStep& step, const FewDrawn<KT, kStrip>& drawn,
                                     Strip mean, int l) {
  const BanditView& plan = step.plan;
  if (plan.noise == Noise::kDeterministic) return mean;
  if (plan.noise == Noise::kBernoulli) return where(Strip::load(step.z + l) < mean, Strip(1.0));
  if (plan.noise != Noise::kTable) {
    Strip spread[KT];
    COMMITTAL_PARTS(k, KT) spread[k] = Strip(plan.spread[k]);
    return mean + drawn.of(spread) * Strip::load(step.z + l);
  }
  Strip number[KT];
  COMMITTAL_PARTS(k, KT) number[k] = Strip(static_cast<double>(k));
  std::int64_t action[kStrip];
  store_integers(drawn.of(number), action);
  double given[kStrip];
  for (int i = 0; i < kStrip; ++i) given[i] = reward_of_table(plan, action[i], step.z[l + i]);
  return Strip::load(given);
}

// One update of every lane. Returns whether a total has left its range.
//
// Three short passes over the block instead of one long one: from the draw to the new parameters
// (the division waits), the exponentials, and the weights. The chain of one lane is longer than what
// a processor looks ahead; in a short pass many strips are in flight at once.
template <bool kNatural, bool kOnPolicy, int KT, int W, typename B>
bool step_few(Block<KT, W>& s, const FewStep& step, const B& baseline) {
  const Strip alpha(step.alpha);
  const Strip implicit(step.implicit);
  const bool plain = kOnPolicy && step.implicit == 0.0;  // rho = 1
  // Copies: the compiler cannot know that what is stored below is none of these.
  double* const s_theta = s.theta;
  double* const s_weight = s.weight;
  double* const s_total = s.total;
  const double* const s_shift = s.shift;
  double* const fresh = s.spare;
  double* const followed = step.plan.uses_running_mean ? s.reward : nullptr;
  const double* const means = step.plan.means.data;
  const double* const u = step.u;
  const BehaviourRows behaviour = step.behaviour;
  StripTruth kept[KT - 1][W / kStrip];

  COMMITTAL_STRIPS(l, W) {
    Strip w[KT];
    COMMITTAL_PARTS(k, KT) w[k] = Strip::load(s_weight + k * W + l);
    const Strip total = Strip::load(s_total + l);
    Strip q[KT];
    COMMITTAL_PARTS(k, KT) q[k] = kOnPolicy ? w[k] : Strip::load(behaviour.q + k * W + l);
    const Strip q_total = kOnPolicy ? total : Strip::load(behaviour.total + l);
    const FewDrawn<KT, kStrip> drawn(q, q_total, Strip::load(u + l));
    const Strip q_drawn = drawn.of(q);

    Strip mean[KT];
    COMMITTAL_PARTS(k, KT) mean[k] = Strip(means[k]);
    const Strip reward = reward_of_few<KT>(step, drawn, drawn.of(mean), l);
    if (followed != nullptr) reward.store(followed + l);
    const Fraction<kStrip> gain = baseline.advantage(reward, w, total, mean, l);
    Strip theta[KT];
    COMMITTAL_PARTS(k, KT) theta[k] = Strip::load(s_theta + k * W + l);
    if constexpr (kNatural) {
      Strip over = alpha * gain.over;
      Strip under = larger(q_drawn, Strip(1e-290));
      if (!(B::kOverTotal && plain)) {
        over *= q_total;
        under = gain.under * drawn_weight(q_drawn, q_total, implicit);
      }
      const Strip moved = drawn.of(theta) + over / under;
      (moved - Strip::load(s_shift + l)).store(fresh + l);
      drawn.put(theta, moved);
      COMMITTAL_PARTS(k, KT - 1) kept[k][l / kStrip] = drawn.beyond[k];
    } else {
      Strip along = alpha * gain.over;  // e_a
      Strip share;                      // over the total: pi
      if (plain) {
        const Strip inverse = Strip(1.0) / total;
        along = B::kOverTotal ? along * inverse : along / gain.under;
        share = along * inverse;
      } else {
        const Strip rho_under = total * drawn_weight(q_drawn, q_total, implicit);
        along = along * drawn.of(w) * q_total / (gain.under * rho_under);
        share = along / total;
      }
      COMMITTAL_PARTS(k, KT) {
        const Strip without_arm = theta[k] - share * w[k];
        theta[k] = select(drawn.is(k), without_arm + along, without_arm);
      }
    }
    COMMITTAL_PARTS(k, KT) theta[k].store(s_theta + k * W + l);
  }
  if constexpr (kNatural) {
    COMMITTAL_STRIPS(l, W) exp_of(Strip::load(fresh + l)).store(fresh + l);
  } else {
    COMMITTAL_STRIPS(l, W) {
      const Strip shift = Strip::load(s_shift + l);
      COMMITTAL_PARTS(k, KT) {
        exp_of(Strip::load(s_theta + k * W + l) - shift).store(s_weight + k * W + l);
      }
    }
  }
  Strip least(kTotalMax);
  Strip most(kTotalMin);
  COMMITTAL_STRIPS(l, W) {
    Strip w[KT];
    COMMITTAL_PARTS(k, KT) w[k] = Strip::load(s_weight + k * W + l);
    if constexpr (kNatural) {
      FewDrawn<KT, kStrip> drawn;
      COMMITTAL_PARTS(k, KT - 1) drawn.beyond[k] = kept[k][l / kStrip];
      drawn.put(w, Strip::load(fresh + l));
      COMMITTAL_PARTS(k, KT) w[k].store(s_weight + k * W + l);
    }
    Strip sum = w[0];
    COMMITTAL_PARTS(k, KT - 1) sum += w[k + 1];
    least = smaller(least, sum);
    most = larger(most, sum);
    sum.store(s_total + l);
  }
  return leaves_range(least, most);
}

// The same, with the baseline of the plan. `given` is computed here when the plan has no single
// baseline with a formula for so few arms.
template <bool kNatural, int KT, int W>
bool step_few(Block<KT, W>& s, const FewStep& step) {
  const BanditView& plan = step.plan;
  if (plan.behaviour == kOnPolicy && plan.baseline_terms.count == 1) {
    bool known = false;
    bool outside = false;
    with_part(Baselines{}, static_cast<int>(plan.baseline_terms[0].kind), [&]<typename Part>() {
      if constexpr (kOfFew<Part, KT>) {
        known = true;
        outside = step_few<kNatural, true>(s, step, PlainBaseline<Part>(plan));
      }
    });
    if (known) return outside;
  }
  compute_baseline(s, plan);
  const GivenBaseline<W> given{s.baseline};
  return plan.behaviour == kOnPolicy ? step_few<kNatural, true>(s, step, given)
                                     : step_few<kNatural, false>(s, step, given);
}

}  // namespace committal::COMMITTAL_ISA
