// One sample of few arms, for updates with formulas: the action is a row of numbers, compared with
// every arm in turn, so that nothing is gathered or scattered lane by lane.
#pragma once

#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

inline constexpr std::int64_t kComparedArms = 8;  // with more, reading by index is faster

// Where a sample of few arms goes: rows of W lanes.
struct FewSample {
  double* number;      // a
  double* importance;  // 1 / (mu(a) + implicit)
  double* inverse;     // 1 / pi(a)
  double* reward;
};

// What is wanted of a sample.
enum class Wanted {
  kDrawn,   // action and reward
  kWeight,  // and their weight, where the policy itself is followed
  kAll,
};

// Actions and rewards of `count` samples, whose uniforms and results are rows one after another. KC
// is the number of arms, if it is a constant.
template <int KC, Wanted kWanted, int KT, int W>
inline void draw_few_of(Block<KT, W>& s, const BanditView& plan, BehaviourRows rows,
                        const double* u, const double* z, double least, std::int64_t count,
                        const FewSample& to) {
  const std::int64_t arms = KC > 0 ? KC : s.K();
  const Strip implicit(least);
  const bool spreads = plan.noise == Noise::kGaussian || plan.noise == Noise::kUniform;
  COMMITTAL_STRIPS(l, W) {
    const Strip total = Strip::load(rows.total + l);
    Strip until[KC > 0 ? KC : kComparedArms];  // the weights up to an arm
    until[0] = Strip::load(rows.q + l);
    for (std::int64_t k = 1; k < arms - 1; ++k) {
      until[k] = until[k - 1] + Strip::load(rows.q + k * W + l);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = i * W + l;
      const Strip x = Strip::load(u + at) * total;
      Strip number(0.0);
      Strip chosen = Strip::load(rows.q + l);
      Strip weight = Strip::load(s.weight + l);
      Strip mean(plan.means[0]);
      Strip spread(plan.spread[0]);
      for (std::int64_t k = 0; k < arms - 1; ++k) {
        const StripTruth beyond = x >= until[k];
        number = add_where(beyond, number, Strip(1.0));
        if constexpr (kWanted != Wanted::kDrawn) {
          chosen = select(beyond, Strip::load(rows.q + (k + 1) * W + l), chosen);
        }
        if constexpr (kWanted == Wanted::kAll) {
          weight = select(beyond, Strip::load(s.weight + (k + 1) * W + l), weight);
        }
        mean = select(beyond, Strip(plan.means[k + 1]), mean);
      }
      if (spreads) {
        for (std::int64_t k = 1; k < arms; ++k) {
          const StripTruth here = number == Strip(static_cast<double>(k));
          spread = select(here, Strip(plan.spread[k]), spread);
        }
      }
      number.store(to.number + at);
      if constexpr (kWanted != Wanted::kDrawn) {
        const Strip importance = total / drawn_weight(chosen, total, implicit);
        importance.store(to.importance + at);
        if constexpr (kWanted == Wanted::kWeight) {
          importance.store(to.inverse + at);
        } else {
          (Strip::load(s.total + l) / larger(weight, Strip(1e-290))).store(to.inverse + at);
        }
      }
      if (plan.noise != Noise::kTable) {
        reward_of(plan.noise, mean, spread, z + at).store(to.reward + at);
      }
    }
  }
  if (plan.noise != Noise::kTable) return;
  for (std::int64_t at = 0; at < count * W; ++at) {
    to.reward[at] = reward_of_table(plan, static_cast<std::int64_t>(to.number[at]), z[at]);
  }
}

// Draws actions and rewards number `first` to `end` of update t: the same ones as draw().
template <Wanted kWanted, int KT, int W>
inline void draw_few(Block<KT, W>& s, const BanditView& plan, const BlockTask& task,
                     BehaviourRows rows, std::int64_t t, std::int64_t first, std::int64_t end,
                     FewSample to, Patience& patience) {
  const double least = plan.implicit.at(t);
  while (first < end) {
    const auto draw = static_cast<std::uint64_t>(t) * static_cast<std::uint64_t>(plan.samples) +
                      static_cast<std::uint64_t>(first);
    reach_draw(s, plan, task, draw);
    const auto row = static_cast<std::int64_t>(draw % kDraws);
    const std::int64_t count = end - first < kDraws - row ? end - first : kDraws - row;
    const double* u = s.action_uniforms + row * W;
    const double* z = s.reward_uniforms + row * W;
    if (s.K() == 3) {
      draw_few_of<3, kWanted>(s, plan, rows, u, z, least, count, to);
    } else {
      draw_few_of<0, kWanted>(s, plan, rows, u, z, least, count, to);
    }
    patience.spend(s.K() * count);
    first += count;
    const std::int64_t past = count * W;
    to = {to.number + past, to.importance + past, to.inverse + past, to.reward + past};
  }
}

// theta_a += alpha A w and its weight again, as NaturalUpdate::move_one(); the totals come along.
template <int KT, int W>
inline void move_one_few(Block<KT, W>& s, const FewSample& from, const double* baseline,
                         double alpha) {
  COMMITTAL_STRIPS(l, W) {
    const Strip a = Strip::load(from.number + l);
    Strip theta = Strip::load(s.theta + l);
    for (std::int64_t k = 1; k < s.K(); ++k) {
      theta = select(a == Strip(static_cast<double>(k)), Strip::load(s.theta + k * W + l), theta);
    }
    const Strip advantage = Strip::load(from.reward + l) - Strip::load(baseline + l);
    theta += Strip(alpha) * advantage * Strip::load(from.importance + l);
    theta.store(s.spare + l);
  }
  COMMITTAL_STRIPS(l, W) {
    exp_of(Strip::load(s.spare + l) - Strip::load(s.shift + l)).store(s.spare2 + l);
  }
  COMMITTAL_STRIPS(l, W) {
    const Strip a = Strip::load(from.number + l);
    const Strip theta = Strip::load(s.spare + l);
    const Strip fresh = Strip::load(s.spare2 + l);
    Strip total(0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const std::int64_t at = k * W + l;
      const StripTruth here = a == Strip(static_cast<double>(k));
      select(here, theta, Strip::load(s.theta + at)).store(s.theta + at);
      const Strip weight = select(here, fresh, Strip::load(s.weight + at));
      weight.store(s.weight + at);
      total += weight;
    }
    total.store(s.total + l);
  }
}

// What each sample of an update has one of: a row for every sample, or `step` 0 and one for all.
struct SampleRows {
  const double* row;
  std::int64_t step;
};

// direction = the mean over the samples of what goes along e_a - pi, or along e_a, from the sums of
// each arm's. Along the score of arm k that is its own sum times what the other arms weigh, less
// its weight times their sums: next to a corner the difference of two whole sums would have no
// digits left. KC is the number of arms, if it is a constant.
template <bool kAlongScore, int KC, int KT, int W>
COMMITTAL_INLINE void finish_few_of(Block<KT, W>& s, const Strip* sums, const Strip& samples,
                                    int l) {
  const std::int64_t arms = KC > 0 ? KC : s.K();
  if constexpr (!kAlongScore) {
    const Strip scale = Strip(1.0) / samples;
    for (std::int64_t k = 0; k < arms; ++k) (sums[k] * scale).store(s.direction + k * W + l);
    return;
  }
  const Strip scale = Strip(1.0) / (samples * Strip::load(s.total + l));
  constexpr int kMost = KC > 0 ? KC : kComparedArms;
  Strip weight[kMost];
  Strip weight_after[kMost];
  Strip sum_after[kMost];
  weight_after[arms - 1] = Strip(0.0);
  sum_after[arms - 1] = Strip(0.0);
  for (std::int64_t k = 0; k < arms; ++k) weight[k] = Strip::load(s.weight + k * W + l);
  for (std::int64_t k = arms - 1; k > 0; --k) {
    weight_after[k - 1] = weight[k] + weight_after[k];
    sum_after[k - 1] = sums[k] + sum_after[k];
  }
  Strip weight_before(0.0);
  Strip sum_before(0.0);
  for (std::int64_t k = 0; k < arms; ++k) {
    const Strip along = sums[k] * (weight_before + weight_after[k]);
    const Strip away = weight[k] * (sum_before + sum_after[k]);
    ((along - away) * scale).store(s.direction + k * W + l);
    weight_before += weight[k];
    sum_before += sums[k];
  }
}

// The mean of A times `scale`, if there is one, of samples that are all there.
template <bool kAlongScore, bool kScaled, int KC, int KT, int W>
inline void add_few_of(Block<KT, W>& s, const FewSample& from, SampleRows baseline,
                       SampleRows scale, std::int64_t samples) {
  const std::int64_t arms = KC > 0 ? KC : s.K();
  COMMITTAL_STRIPS(l, W) {
    Strip sums[KC > 0 ? KC : kComparedArms];
    for (std::int64_t k = 0; k < arms; ++k) sums[k] = Strip(0.0);
    for (std::int64_t i = 0; i < samples; ++i) {
      const Strip a = Strip::load(from.number + i * W + l);
      Strip along =
          Strip::load(from.reward + i * W + l) - Strip::load(baseline.row + i * baseline.step + l);
      if constexpr (kScaled) along *= Strip::load(scale.row + i * scale.step + l);
      for (std::int64_t k = 0; k < arms; ++k) {
        sums[k] = add_where(a == Strip(static_cast<double>(k)), sums[k], along);
      }
    }
    finish_few_of<kAlongScore, KC>(s, sums, Strip(static_cast<double>(samples)), l);
  }
}
template <bool kAlongScore, int KT, int W>
inline void add_few(Block<KT, W>& s, const FewSample& from, SampleRows baseline, SampleRows scale,
                    std::int64_t samples) {
  const auto add = [&]<bool kScaled>() COMMITTAL_INLINE_LAMBDA {
    if (s.K() == 3) return add_few_of<kAlongScore, kScaled, 3>(s, from, baseline, scale, samples);
    add_few_of<kAlongScore, kScaled, 0>(s, from, baseline, scale, samples);
  };
  if (scale.row == nullptr) return add.template operator()<false>();
  add.template operator()<true>();
}

// The same of samples that come one by one, with the same bits: `direction` holds the sums until
// the last has come.
template <int KT, int W>
inline void add_sample_few(Block<KT, W>& s, const FewSample& from, const double* baseline,
                           const double* scale, bool first) {
  COMMITTAL_STRIPS(l, W) {
    const Strip a = Strip::load(from.number + l);
    const Strip along =
        (Strip::load(from.reward + l) - Strip::load(baseline + l)) * Strip::load(scale + l);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const std::int64_t at = k * W + l;
      const Strip sum = first ? Strip(0.0) : Strip::load(s.direction + at);
      add_where(a == Strip(static_cast<double>(k)), sum, along).store(s.direction + at);
    }
  }
}
template <bool kAlongScore, int KT, int W>
inline void finish_few(Block<KT, W>& s, std::int64_t samples) {
  COMMITTAL_STRIPS(l, W) {
    Strip sums[kComparedArms];
    for (std::int64_t k = 0; k < s.K(); ++k) sums[k] = Strip::load(s.direction + k * W + l);
    finish_few_of<kAlongScore, 0>(s, sums, Strip(static_cast<double>(samples)), l);
  }
}

// e_a - pi of the arms `number`. 1 - pi_a is the sum of the others, in their order: next to a
// corner the difference would have no digits left.
template <int W>
inline void scores(std::int64_t arms, const double* number, const double* pi, double* score) {
  COMMITTAL_STRIPS(l, W) {
    const Strip a = Strip::load(number + l);
    Strip others(0.0);
    for (std::int64_t k = 0; k < arms; ++k) {
      const StripTruth here = a == Strip(static_cast<double>(k));
      others += where(!here, Strip::load(pi + k * W + l));
    }
    for (std::int64_t k = 0; k < arms; ++k) {
      const StripTruth here = a == Strip(static_cast<double>(k));
      select(here, others, -Strip::load(pi + k * W + l)).store(score + k * W + l);
    }
  }
}

// e_a - pi and e_a / pi_a of a sample, as far as there are rows for them.
template <int W>
inline void score_few(std::int64_t arms, const FewSample& from, const double* pi, double* score,
                      double* natural) {
  if (score != nullptr) scores<W>(arms, from.number, pi, score);
  if (natural == nullptr) return;
  for (std::int64_t k = 0; k < arms; ++k) {
    COMMITTAL_STRIPS(l, W) {
      const StripTruth here = Strip::load(from.number + l) == Strip(static_cast<double>(k));
      where(here, Strip::load(from.inverse + l)).store(natural + k * W + l);
    }
  }
}

}  // namespace committal::COMMITTAL_ISA
