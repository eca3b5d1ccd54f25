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

// What updates of a block need to know: as many of them as there are rows of uniforms here.
struct FewSteps {
  const BanditView& plan;
  BehaviourRows behaviour;
  std::int64_t count;  // of updates: more than one only if nothing else changes between them
  const double* u;     // [count][W] uniforms of the actions
  const double* z;     // [count][W] of the rewards
  double alpha;
  double implicit;
  double offset;  // of the baseline
};

// How many updates were made, and whether the last one took a total out of its range. Such a block
// must be rebased before it goes on.
struct FewMade {
  std::int64_t count;
  bool outside;
};

// alpha (R - offset) of the drawn arms, for rewards that are not their means. R itself goes to
// `followed`, if there is somebody who wants it.
template <int KT>
COMMITTAL_INLINE Strip noisy_reward(const FewSteps& step, const FewDrawn<KT, kStrip>& drawn,
                                    const double* z, double* followed, int l) {
  const BanditView& plan = step.plan;
  Strip mean[KT];
  COMMITTAL_PARTS(k, KT) mean[k] = Strip(plan.means[k]);
  Strip reward = drawn.of(mean);
  if (plan.noise == Noise::kBernoulli) {
    reward = where(Strip::load(z + l) < reward, Strip(1.0));
  } else if (plan.noise == Noise::kTable) {
    Strip number[KT];
    COMMITTAL_PARTS(k, KT) number[k] = Strip(static_cast<double>(k));
    std::int64_t action[kStrip];
    store_integers(drawn.of(number), action);
    double given[kStrip];
    for (int i = 0; i < kStrip; ++i) given[i] = reward_of_table(plan, action[i], z[l + i]);
    reward = Strip::load(given);
  } else if (plan.noise != Noise::kDeterministic) {
    Strip spread[KT];
    COMMITTAL_PARTS(k, KT) spread[k] = Strip(plan.spread[k]);
    reward += drawn.of(spread) * Strip::load(z + l);
  }
  if (followed != nullptr) reward.store(followed + l);
  return Strip(step.alpha) * (reward - Strip(step.offset));
}

// The arms that are drawn in a block, and what they pay: one strip at a time.
//
// kSure: drawn from the policy itself (rho = 1), and every arm always pays the same.
template <bool kOnPolicy, bool kSure, int KT, int W>
struct FewDraws {
  const FewSteps& step;
  double* followed;  // where rewards go, if there is somebody who wants them
  double sure[KT];   // alpha (R - offset) where rewards are what their arm always pays

  COMMITTAL_INLINE FewDraws(Block<KT, W>& s, const FewSteps& steps)
      : step(steps), followed(steps.plan.uses_running_mean ? s.reward : nullptr) {
    for (int k = 0; k < KT; ++k) sure[k] = step.alpha * (step.plan.means[k] - step.offset);
  }
  COMMITTAL_INLINE void behaviour(const Strip (&w)[KT], const Strip& total, int l, Strip (&q)[KT],
                                  Strip& q_total) const {
    if constexpr (kOnPolicy) {
      COMMITTAL_PARTS(k, KT) q[k] = w[k];
      q_total = total;
    } else {
      COMMITTAL_PARTS(k, KT) q[k] = Strip::load(step.behaviour.q + k * W + l);
      q_total = Strip::load(step.behaviour.total + l);
    }
  }
  // alpha (R - offset)
  COMMITTAL_INLINE Strip reward(const FewDrawn<KT, kStrip>& drawn, const double* z, int l) const {
    if constexpr (!kSure) {
      if (step.plan.noise != Noise::kDeterministic || followed != nullptr) {
        return noisy_reward<KT>(step, drawn, z, followed, l);
      }
    }
    Strip paid[KT];
    COMMITTAL_PARTS(k, KT) paid[k] = Strip(sure[k]);
    return drawn.of(paid);
  }
};

// Natural updates of every lane.
//
// Two short passes over the block for each: one from the weights to the new parameter of the drawn
// arm, and the exponentials. The chain of one lane is longer than what a processor looks ahead; in
// a short pass many strips are in flight at once. The first pass begins by putting in their places
// what the update before has left, so that rows are loaded and stored once per update. Which arm
// that was is drawn once more: less work than to keep the answers of the comparisons.
template <bool kOnPolicy, bool kSure, int KT, int W, typename B>
FewMade natural_few(Block<KT, W>& s, const FewSteps& steps, const B& baseline) {
  // Copies: the compiler cannot know that what is stored below is none of these.
  double* const theta_rows = s.theta;
  double* const weight_rows = s.weight;
  const double* const shift = s.shift;
  double* const moved = s.spare;   // [W] the new parameter of the drawn arm
  double* const fresh = s.spare2;  // [W] its weight
  const Strip implicit(steps.implicit);
  const bool plain = kSure || (kOnPolicy && steps.implicit == 0.0);  // rho = 1
  const FewDraws<kOnPolicy, kSure, KT, W> draws(s, steps);
  const double* u = steps.u;
  const double* z = steps.z;
  struct Arms {
    Strip w[KT];
    Strip theta[KT];
  };
  const auto load = [&](Arms& x, int l) COMMITTAL_INLINE_LAMBDA {
    COMMITTAL_PARTS(k, KT) x.w[k] = Strip::load(weight_rows + k * W + l);
    COMMITTAL_PARTS(k, KT) x.theta[k] = Strip::load(theta_rows + k * W + l);
  };
  const auto begin = [&](const Arms& x, const Strip& total, int l) COMMITTAL_INLINE_LAMBDA {
    Strip q[KT];
    Strip q_total;
    draws.behaviour(x.w, total, l, q, q_total);
    const FewDrawn<KT, kStrip> drawn(q, q_total, Strip::load(u + l));
    const Strip q_drawn = drawn.of(q);
    const Fraction<kStrip> gain = baseline.gain(draws.reward(drawn, z, l), x.w, total, l);
    Strip over = gain.over;
    Strip under = plain ? larger(q_drawn, Strip(1e-290)) : drawn_weight(q_drawn, q_total, implicit);
    if (!(B::kOverTotal && plain)) {
      over *= q_total;
      if constexpr (!B::kNone) under *= gain.under;
    }
    (drawn.of(x.theta) + over / under).store(moved + l);
  };
  Strip least(kTotalMax);
  Strip most(kTotalMin);
  // What the update has left is put in its place; the new total.
  const auto settle = [&](Arms& x, const double* drawn_by, int l) COMMITTAL_INLINE_LAMBDA {
    Strip q[KT];
    Strip q_total;
    draws.behaviour(x.w, sum_of(x.w), l, q, q_total);
    const FewDrawn<KT, kStrip> drawn(q, q_total, Strip::load(drawn_by + l));
    drawn.put(x.w, Strip::load(fresh + l));
    drawn.put(x.theta, Strip::load(moved + l));
    COMMITTAL_PARTS(k, KT) x.w[k].store(weight_rows + k * W + l);
    COMMITTAL_PARTS(k, KT) x.theta[k].store(theta_rows + k * W + l);
    const Strip sum = sum_of(x.w);
    least = smaller(least, sum);
    most = larger(most, sum);
    return sum;
  };
  std::int64_t made = 0;
  COMMITTAL_STRIPS(l, W) {
    Arms x;
    load(x, l);
    begin(x, sum_of(x.w), l);
  }
  for (;;) {
    COMMITTAL_STRIPS(l, W) {
      exp_of(Strip::load(moved + l) - Strip::load(shift + l)).store(fresh + l);
    }
    if (++made == steps.count) break;
    const double* const before = u;
    u += W;
    z += W;
    COMMITTAL_STRIPS(l, W) {
      Arms x;
      load(x, l);
      const Strip total = settle(x, before, l);
      begin(x, total, l);
    }
    if (leaves_range(least, most)) {
      // What was begun after it is forgotten.
      COMMITTAL_STRIPS(l, W) {
        Strip w[KT];
        COMMITTAL_PARTS(k, KT) w[k] = Strip::load(weight_rows + k * W + l);
        sum_of(w).store(s.total + l);
      }
      return {made, true};
    }
  }
  COMMITTAL_STRIPS(l, W) {
    Arms x;
    load(x, l);
    settle(x, u, l).store(s.total + l);
  }
  return {made, leaves_range(least, most)};
}

// Vanilla updates of every lane: from the draw to the new parameters, and then the exponentials,
// which are most of the work.
template <bool kOnPolicy, bool kSure, int KT, int W, typename B>
FewMade vanilla_few(Block<KT, W>& s, const FewSteps& steps, const B& baseline) {
  double* const theta_rows = s.theta;
  double* const weight_rows = s.weight;
  double* const totals = s.total;
  const double* const shift = s.shift;
  const Strip implicit(steps.implicit);
  const bool plain = kSure || (kOnPolicy && steps.implicit == 0.0);  // rho = 1
  const FewDraws<kOnPolicy, kSure, KT, W> draws(s, steps);
  for (std::int64_t made = 1;; ++made) {
    const double* const u = steps.u + (made - 1) * W;
    const double* const z = steps.z + (made - 1) * W;
    COMMITTAL_STRIPS(l, W) {
      Strip w[KT];
      COMMITTAL_PARTS(k, KT) w[k] = Strip::load(weight_rows + k * W + l);
      const Strip total = Strip::load(totals + l);
      Strip q[KT];
      Strip q_total;
      draws.behaviour(w, total, l, q, q_total);
      const FewDrawn<KT, kStrip> drawn(q, q_total, Strip::load(u + l));
      const Fraction<kStrip> gain = baseline.gain(draws.reward(drawn, z, l), w, total, l);
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
        const Strip rho_under = total * drawn_weight(drawn.of(q), q_total, implicit);
        along = along * drawn.of(w) * q_total / (gain.under * rho_under);
        share = along / total;
      }
      COMMITTAL_PARTS(k, KT) {
        const Strip without_arm = Strip::load(theta_rows + k * W + l) - share * w[k];
        select(drawn.is(k), without_arm + along, without_arm).store(theta_rows + k * W + l);
      }
    }
    COMMITTAL_PARTS(k, KT) {
      COMMITTAL_STRIPS(l, W) {
        exp_of(Strip::load(theta_rows + k * W + l) - Strip::load(shift + l))
            .store(weight_rows + k * W + l);
      }
    }
    Strip least(kTotalMax);
    Strip most(kTotalMin);
    COMMITTAL_STRIPS(l, W) {
      Strip w[KT];
      COMMITTAL_PARTS(k, KT) w[k] = Strip::load(weight_rows + k * W + l);
      const Strip sum = sum_of(w);
      sum.store(totals + l);
      least = smaller(least, sum);
      most = larger(most, sum);
    }
    const bool outside = leaves_range(least, most);
    if (outside || made == steps.count) return {made, outside};
  }
}

template <bool kNatural, bool kOnPolicy, bool kSure, int KT, int W, typename B>
COMMITTAL_INLINE FewMade step_few(Block<KT, W>& s, const FewSteps& steps, const B& baseline) {
  if constexpr (kNatural) {
    return natural_few<kOnPolicy, kSure>(s, steps, baseline);
  } else {
    return vanilla_few<kOnPolicy, kSure>(s, steps, baseline);
  }
}

// The same, with the baseline of the plan: computed here, for one update, when it is not a single
// one with a formula for so few arms.
template <bool kNatural, int KT, int W>
FewMade step_few(Block<KT, W>& s, FewSteps steps) {
  const BanditView& plan = steps.plan;
  steps.offset = plan.baseline_offset;
  const bool sure = steps.implicit == 0.0 && plan.noise == Noise::kDeterministic &&
                    !plan.uses_running_mean;  // that follows rewards, which are not made then
  const auto go = [&](const auto& baseline) COMMITTAL_INLINE_LAMBDA {
    return sure ? step_few<kNatural, true, true>(s, steps, baseline)
                : step_few<kNatural, true, false>(s, steps, baseline);
  };
  if (plan.behaviour == kOnPolicy && s.formula_baseline == nullptr) {
    if (plan.baseline_terms.count == 0) return go(NoBaseline<KT>{});
    if (plan.baseline_terms.count == 1) {
      FewMade made{0, false};
      with_part(Baselines{}, static_cast<int>(plan.baseline_terms[0].kind), [&]<typename Part>() {
        if constexpr (kOfFew<Part, KT>) made = go(PlainBaseline<Part, KT>(plan, steps.alpha));
      });
      if (made.count > 0) return made;
    }
  }
  compute_baseline(s, plan);
  steps.offset = 0.0;
  steps.count = 1;
  const GivenBaseline<KT> given{s.baseline, Strip(steps.alpha)};
  return plan.behaviour == kOnPolicy ? go(given)
                                     : step_few<kNatural, false, false>(s, steps, given);
}

// kernels.cpp has them; blocks with formulas, which are compiled apart, take them from there.
#define COMMITTAL_FEW_ARMS(declare, KT, W)                          \
  declare template FewMade step_few<true>(Block<KT, W>&, FewSteps); \
  declare template FewMade step_few<false>(Block<KT, W>&, FewSteps);
#define COMMITTAL_ALL_FEW_ARMS(declare)       \
  COMMITTAL_FEW_ARMS(declare, 2, kBanditWide) \
  COMMITTAL_FEW_ARMS(declare, 3, kBanditWide) \
  COMMITTAL_FEW_ARMS(declare, 4, kBanditWide)

}  // namespace committal::COMMITTAL_ISA
