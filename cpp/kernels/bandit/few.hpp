// Whole updates of few arms from one sample: a strip of lanes stays in registers from the draw to
// the new weights, every row is loaded once and stored once, and a natural step divides once.
//
//   natural   theta_a += alpha A Q / (q_a + implicit Q)
//   vanilla   theta   += alpha A rho (e_a - pi)
//
// where q / Q is the behaviour, rho = pi(a) / (mu(a) + implicit), and A = R - b has b as a
// fraction. What has no place here (several samples, entropy, expectations) goes through
// updates.hpp.
#pragma once

#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

// Everything that is multiplied by the step size is so before a block is entered: rewards and
// baselines of few arms are constants there.
//
// alpha (R - b) as a fraction on a strip, where b = offset + coefficient * B for one baseline B ...
template <typename Part, int KT>
struct PlainBaseline {
  double of_baseline[KT];                                         // alpha coefficient r_k
  static constexpr bool kOverTotal = kSame<Part, ValueBaseline>;  // it divides by the total
  static constexpr bool kNone = false;

  COMMITTAL_INLINE PlainBaseline(const BanditView& plan, double alpha) {
    const double scale = alpha * plan.baseline_terms[0].coefficient;
    for (int k = 0; k < KT; ++k) of_baseline[k] = scale * plan.means[k];
  }
  // Of a reward from which the offset is taken already.
  COMMITTAL_INLINE Fraction<kStrip> gain(const Strip& reward, const Strip (&w)[KT],
                                         const Strip& total, int) const {
    Strip r[KT];
    COMMITTAL_PARTS(k, KT) r[k] = Strip(of_baseline[k]);
    const Fraction<kStrip> b = Part::template few<KT>(w, total, r);
    return {reward * b.under - b.over, b.under};
  }
};

// ... or b is an offset only ...
template <int KT>
struct NoBaseline {
  static constexpr bool kOverTotal = false;
  static constexpr bool kNone = true;

  COMMITTAL_INLINE Fraction<kStrip> gain(const Strip& reward, const Strip (&)[KT], const Strip&,
                                         int) const {
    return {reward, Strip(1.0)};
  }
};

// ... or a number of each lane, already there: alpha times it.
template <int KT>
struct GivenBaseline {
  const double* rows;
  Strip alpha;
  static constexpr bool kOverTotal = false;
  static constexpr bool kNone = true;

  COMMITTAL_INLINE Fraction<kStrip> gain(const Strip& reward, const Strip (&)[KT], const Strip&,
                                         int l) const {
    return {reward - alpha * Strip::load(rows + l), Strip(1.0)};
  }
};

// The sum of the weights, in the order of the arms.
template <int KT, int N>
COMMITTAL_INLINE Lanes<N> sum_of(const Lanes<N> (&w)[KT]) {
  Lanes<N> sum = w[0];
  COMMITTAL_PARTS(k, KT - 1) sum += w[k + 1];
  return sum;
}

// What one update of a block needs to know.
struct FewStep {
  const BanditView& plan;
  BehaviourRows behaviour;
  const double* u;  // [W] uniforms of the action
  const double* z;  // [W] of the reward
  double alpha;
  double implicit;
  double offset;  // of the baseline
};

// alpha (R - offset) of the drawn arms, for rewards that are not their means. R itself goes to
// `followed`, if there is somebody who wants it.
template <int KT>
COMMITTAL_INLINE Strip noisy_reward(const FewStep& step, const FewDrawn<KT, kStrip>& drawn,
                                    double* followed, int l) {
  const BanditView& plan = step.plan;
  Strip mean[KT];
  COMMITTAL_PARTS(k, KT) mean[k] = Strip(plan.means[k]);
  Strip reward = drawn.of(mean);
  if (plan.noise == Noise::kBernoulli) {
    reward = where(Strip::load(step.z + l) < reward, Strip(1.0));
  } else if (plan.noise == Noise::kTable) {
    Strip number[KT];
    COMMITTAL_PARTS(k, KT) number[k] = Strip(static_cast<double>(k));
    std::int64_t action[kStrip];
    store_integers(drawn.of(number), action);
    double given[kStrip];
    for (int i = 0; i < kStrip; ++i) given[i] = reward_of_table(plan, action[i], step.z[l + i]);
    reward = Strip::load(given);
  } else if (plan.noise != Noise::kDeterministic) {
    Strip spread[KT];
    COMMITTAL_PARTS(k, KT) spread[k] = Strip(plan.spread[k]);
    reward += drawn.of(spread) * Strip::load(step.z + l);
  }
  if (followed != nullptr) reward.store(followed + l);
  return Strip(step.alpha) * (reward - Strip(step.offset));
}

// One update of every lane. Returns whether a total has left its range.
//
// Three short passes over the block instead of one long one: from the draw to the new parameters
// (the division waits), the exponentials, and the weights. The chain of one lane is longer than
// what a processor looks ahead; in a short pass many strips are in flight at once.
template <bool kNatural, bool kOnPolicy, int KT, int W, typename B>
bool step_few(Block<KT, W>& s, const FewStep& step, const B& baseline) {
  const Strip implicit(step.implicit);
  const bool plain = kOnPolicy && step.implicit == 0.0;  // rho = 1
  // Copies: the compiler cannot know that what is stored below is none of these.
  double* const s_theta = s.theta;
  double* const s_weight = s.weight;
  double* const s_total = s.total;
  const double* const s_shift = s.shift;
  double* const fresh = s.spare;
  double* const followed = step.plan.uses_running_mean ? s.reward : nullptr;
  // alpha (R - offset) where rewards are what their arm always pays.
  double sure[KT];
  for (int k = 0; k < KT; ++k) sure[k] = step.alpha * (step.plan.means[k] - step.offset);
  const bool noisy = step.plan.noise != Noise::kDeterministic || followed != nullptr;
  const double* const u = step.u;
  const BehaviourRows behaviour = step.behaviour;

  COMMITTAL_STRIPS(l, W) {
    Strip w[KT];
    COMMITTAL_PARTS(k, KT) w[k] = Strip::load(s_weight + k * W + l);
    const Strip total = Strip::load(s_total + l);
    Strip q[KT];
    COMMITTAL_PARTS(k, KT) q[k] = kOnPolicy ? w[k] : Strip::load(behaviour.q + k * W + l);
    const Strip q_total = kOnPolicy ? total : Strip::load(behaviour.total + l);
    const FewDrawn<KT, kStrip> drawn(q, q_total, Strip::load(u + l));
    const Strip q_drawn = drawn.of(q);

    Strip paid[KT];
    COMMITTAL_PARTS(k, KT) paid[k] = Strip(sure[k]);
    Strip reward = drawn.of(paid);
    if (noisy) reward = noisy_reward<KT>(step, drawn, followed, l);
    const Fraction<kStrip> gain = baseline.gain(reward, w, total, l);
    Strip theta[KT];
    COMMITTAL_PARTS(k, KT) theta[k] = Strip::load(s_theta + k * W + l);
    if constexpr (kNatural) {
      Strip over = gain.over;
      Strip under =
          plain ? larger(q_drawn, Strip(1e-290)) : drawn_weight(q_drawn, q_total, implicit);
      if (!(B::kOverTotal && plain)) {
        over *= q_total;
        if constexpr (!B::kNone) under *= gain.under;
      }
      const Strip moved = drawn.of(theta) + over / under;
      (moved - Strip::load(s_shift + l)).store(fresh + l);
      drawn.put(theta, moved);
    } else {
      Strip along = gain.over;  // e_a
      Strip share;              // over the total: pi
      if (plain) {
        const Strip inverse = Strip(1.0) / total;
        if constexpr (B::kOverTotal) {
          along *= inverse;
        } else if constexpr (!B::kNone) {
          along = along / gain.under;
        }
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
    COMMITTAL_PARTS(k, KT) {
      COMMITTAL_STRIPS(l, W) {
        exp_of(Strip::load(s_theta + k * W + l) - Strip::load(s_shift + l))
            .store(s_weight + k * W + l);
      }
    }
  }
  Strip least(kTotalMax);
  Strip most(kTotalMin);
  COMMITTAL_STRIPS(l, W) {
    Strip w[KT];
    COMMITTAL_PARTS(k, KT) w[k] = Strip::load(s_weight + k * W + l);
    if constexpr (kNatural) {
      // Drawn once more: less work than to keep the answers of the comparisons.
      Strip q[KT];
      COMMITTAL_PARTS(k, KT) q[k] = kOnPolicy ? w[k] : Strip::load(behaviour.q + k * W + l);
      const Strip q_total = kOnPolicy ? Strip::load(s_total + l) : Strip::load(behaviour.total + l);
      const FewDrawn<KT, kStrip> drawn(q, q_total, Strip::load(u + l));
      drawn.put(w, Strip::load(fresh + l));
      COMMITTAL_PARTS(k, KT) w[k].store(s_weight + k * W + l);
    }
    const Strip sum = sum_of(w);
    sum.store(s_total + l);
    least = smaller(least, sum);
    most = larger(most, sum);
  }
  return leaves_range(least, most);
}

// The same, with the baseline of the plan: computed here when it is not a single one with a formula
// for so few arms.
template <bool kNatural, int KT, int W>
bool step_few(Block<KT, W>& s, FewStep step) {
  const BanditView& plan = step.plan;
  step.offset = plan.baseline_offset;
  if (plan.behaviour == kOnPolicy && s.formula_baseline == nullptr) {
    if (plan.baseline_terms.count == 0) {
      return step_few<kNatural, true>(s, step, NoBaseline<KT>{});
    }
    if (plan.baseline_terms.count == 1) {
      bool known = false;
      bool outside = false;
      with_part(Baselines{}, static_cast<int>(plan.baseline_terms[0].kind), [&]<typename Part>() {
        if constexpr (kOfFew<Part, KT>) {
          known = true;
          outside = step_few<kNatural, true>(s, step, PlainBaseline<Part, KT>(plan, step.alpha));
        }
      });
      if (known) return outside;
    }
  }
  compute_baseline(s, plan);
  step.offset = 0.0;
  const GivenBaseline<KT> given{s.baseline, Strip(step.alpha)};
  return plan.behaviour == kOnPolicy ? step_few<kNatural, true>(s, step, given)
                                     : step_few<kNatural, false>(s, step, given);
}

// kernels.cpp has them; blocks with formulas, which are compiled apart, take them from there.
#define COMMITTAL_FEW_ARMS(declare, KT, W)                      \
  declare template bool step_few<true>(Block<KT, W>&, FewStep); \
  declare template bool step_few<false>(Block<KT, W>&, FewStep);
#define COMMITTAL_ALL_FEW_ARMS(declare)       \
  COMMITTAL_FEW_ARMS(declare, 2, kBanditWide) \
  COMMITTAL_FEW_ARMS(declare, 3, kBanditWide) \
  COMMITTAL_FEW_ARMS(declare, 4, kBanditWide)

}  // namespace committal::COMMITTAL_ISA
