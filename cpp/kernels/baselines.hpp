// Baselines: numbers b(pi, r) that may depend on the policy but not on the action drawn.
//
// Each is a weighted mean of rewards, sum w_i r_i / sum w_i, where r holds the mean rewards of a
// bandit's arms or the Q(s, .) of a state. It is given as a fraction: a step divides once, by all
// that it has to divide by. To add one, write a struct like those below and append it to
// `Baselines`; nothing else in C++ needs to know.
//
// A struct offers few<KT>(weights, total, r) for a constant number of arms, whose weights are in
// registers, or many(arms, r, ...) for any number, or both; they work on unnormalised weights
// (pi_i = weight_i / total).
#pragma once

#include "kernels/arms.hpp"
#include "kernels/list.hpp"
#include "kernels/parts.hpp"

namespace committal::COMMITTAL_ISA {

// Probabilities below this are taken for it where 1/pi appears: nothing visible depends on it.
inline constexpr double kFloor = 1e-150;

// The same rewards on every lane (a bandit), or each lane its own (the Q values of a state).
struct SharedRewards {
  const double* r;
  template <int N>
  COMMITTAL_INLINE Lanes<N> row(std::int64_t k, int) const {
    return Lanes<N>(r[k]);
  }
};
template <int W>
struct LaneRewards {
  const double* rows;
  template <int N>
  COMMITTAL_INLINE Lanes<N> row(std::int64_t k, int l) const {
    return Lanes<N>::load(rows + k * W + l);
  }
};

template <int N>
struct Fraction {
  Lanes<N> over;
  Lanes<N> under;
};

// V = sum pi_i r_i.
struct ValueBaseline {
  static constexpr BaselineRow kRow{"value"};

  template <int KT, int N>
  static COMMITTAL_INLINE Fraction<N> few(const Lanes<N> (&w)[KT], const Lanes<N>& total,
                                          const Lanes<N> (&r)[KT]) {
    Lanes<N> sum = w[0] * r[0];
    COMMITTAL_PARTS(k, KT - 1) sum = fused(w[k + 1], r[k + 1], sum);
    return {sum, total};
  }

  template <int N, int W, typename Rewards>
  static COMMITTAL_INLINE Fraction<N> many(const ArmRows<W>& arms, Rewards r, double, int l) {
    Lanes<N> sum(0.0);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      sum = fused(Lanes<N>::load(arms.weight + k * W + l), r.template row<N>(k, l), sum);
    }
    return {sum, Lanes<N>::load(arms.total + l)};
  }
};

// The paper's b*: w_i = pi_i [(sum_{j != i} pi_j)^2 + sum_{j != i} pi_j^2]. The sums leave i out
// instead of subtracting it: 1 - pi_i would cancel to 0/0 near the corners of the simplex. When
// every other arm has all but underflowed, and the w_i with them, b* is V.
struct MinVarianceGradientBaseline {
  static constexpr BaselineRow kRow{"min_variance_gradient"};
  static constexpr double kLeast = 1e-280;  // of the sum: its terms have all their digits

  template <int KT, int N>
  static COMMITTAL_INLINE Fraction<N> few(const Lanes<N> (&w)[KT], const Lanes<N>& total,
                                          const Lanes<N> (&r)[KT]) {
    Lanes<N> square[KT];
    COMMITTAL_PARTS(k, KT) square[k] = w[k] * w[k];
    Lanes<N> numerator;
    Lanes<N> denominator;
    COMMITTAL_PARTS(i, KT) {
      const int j = i == 0 ? 1 : 0;
      Lanes<N> others = w[j];
      Lanes<N> squares = square[j];
      COMMITTAL_PARTS(o, KT) {
        if (o == i || o == j) continue;
        others += w[o];
        squares += square[o];
      }
      const Lanes<N> x = w[i] * (others * others + squares);
      numerator = i == 0 ? x * r[i] : numerator + x * r[i];
      denominator = i == 0 ? x : denominator + x;
    }
    const Fraction<N> value = ValueBaseline::few(w, total, r);
    const Truth<N> defined = denominator > Lanes<N>(kLeast);
    return {select(defined, numerator, value.over), select(defined, denominator, value.under)};
  }

  template <int N, int W, typename Rewards>
  static COMMITTAL_INLINE Fraction<N> many(const ArmRows<W>& arms, Rewards r, double, int l) {
    const OthersSums<N> sums = sum_others<N>(arms, l);
    Lanes<N> numerator(0.0);
    Lanes<N> denominator(0.0);
    Lanes<N> value(0.0);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      const Lanes<N> weight = Lanes<N>::load(arms.weight + k * W + l);
      const Lanes<N> reward = r.template row<N>(k, l);
      const Lanes<N> rest = sums.sum_without(k, weight);
      const Lanes<N> x = weight * (rest * rest + sums.squares_without(k, weight));
      numerator += x * reward;
      denominator += x;
      value += weight * reward;
    }
    const Truth<N> defined = denominator > Lanes<N>(kLeast);
    return {select(defined, numerator, value),
            select(defined, denominator, Lanes<N>::load(arms.total + l))};
  }
};

// Natural metric, minimum-norm lambda: w_i = 1 / pi_i.
struct MinVarianceNaturalBaseline {
  static constexpr BaselineRow kRow{"min_variance_natural"};

  // Products of the others instead of quotients: no division.
  template <int KT, int N>
    requires(KT <= 3)  // a product of more could underflow where the quotients do not
  static COMMITTAL_INLINE Fraction<N> few(const Lanes<N> (&w)[KT], const Lanes<N>& total,
                                          const Lanes<N> (&r)[KT]) {
    const Lanes<N> least = Lanes<N>(kFloor) * total;
    Lanes<N> floored[KT];
    COMMITTAL_PARTS(k, KT) floored[k] = larger(w[k], least);
    Fraction<N> sum;
    COMMITTAL_PARTS(i, KT) {
      const int j = i == 0 ? 1 : 0;
      Lanes<N> product = floored[j];
      COMMITTAL_PARTS(o, KT) {
        if (o != i && o != j) product *= floored[o];
      }
      sum.over = i == 0 ? product * r[i] : sum.over + product * r[i];
      sum.under = i == 0 ? product : sum.under + product;
    }
    return sum;
  }

  template <int N, int W, typename Rewards>
  static COMMITTAL_INLINE Fraction<N> many(const ArmRows<W>& arms, Rewards r, double, int l) {
    const Lanes<N> least = Lanes<N>(kFloor) * Lanes<N>::load(arms.total + l);
    Lanes<N> numerator(0.0);
    Lanes<N> denominator(0.0);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      const Lanes<N> weight = Lanes<N>::load(arms.weight + k * W + l);
      const Lanes<N> x = Lanes<N>(1.0) / larger(weight, least);
      numerator += x * r.template row<N>(k, l);
      denominator += x;
    }
    return {numerator, denominator};
  }
};

// Natural metric, fixed lambda: w_i = pi_i [(K-1) lambda^2 + (lambda + 1/pi_i)^2]
//                                  = K lambda^2 pi_i + 2 lambda + 1/pi_i.
struct MinVarianceFixedLambdaBaseline {
  static constexpr BaselineRow kRow{"min_variance_fixed_lambda"};

  template <int N, int W, typename Rewards>
  static COMMITTAL_INLINE Fraction<N> many(const ArmRows<W>& arms, Rewards r, double lambda,
                                           int l) {
    const Lanes<N> total = Lanes<N>::load(arms.total + l);
    const Lanes<N> scale(static_cast<double>(arms.count) * lambda * lambda);
    const Lanes<N> twice(2.0 * lambda);
    Lanes<N> numerator(0.0);
    Lanes<N> denominator(0.0);
    Lanes<N> value(0.0);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      const Lanes<N> pi = Lanes<N>::load(arms.weight + k * W + l) / total;
      const Lanes<N> x = (scale * pi + twice) + Lanes<N>(1.0) / larger(pi, Lanes<N>(kFloor));
      const Lanes<N> reward = r.template row<N>(k, l);
      numerator += x * reward;
      denominator += x;
      value += pi * reward;
    }
    const Truth<N> defined = denominator > Lanes<N>(0.0);
    return {select(defined, numerator, value), select(defined, denominator, Lanes<N>(1.0))};
  }
};

// max_i r_i: what relative perturbations b + c (max r - b) are made of.
struct MaximumBaseline {
  static constexpr BaselineRow kRow{"maximum"};

  template <int N, int W, typename Rewards>
  static COMMITTAL_INLINE Fraction<N> many(const ArmRows<W>& arms, Rewards r, double, int l) {
    Lanes<N> highest = r.template row<N>(0, l);
    for (std::int64_t k = 1; k < arms.count; ++k) {
      highest = larger(highest, r.template row<N>(k, l));
    }
    return {highest, Lanes<N>(1.0)};
  }
};

// The mean of the rewards so far: the caller keeps it, there is nothing to compute from pi and r.
struct RunningMeanBaseline {
  static constexpr BaselineRow kRow{"running_mean", /*follows_rewards=*/true};
};

using Baselines = List<ValueBaseline, MinVarianceGradientBaseline, MinVarianceNaturalBaseline,
                       MinVarianceFixedLambdaBaseline, MaximumBaseline, RunningMeanBaseline>;

template <typename Part>
inline constexpr Baseline kBaseline{kPlace<Part, Baselines>};

// Whether a baseline has a formula for this constant number of arms.
template <typename Part, int KT>
inline constexpr bool kOfFew = false;
template <typename Part, int KT>
  requires(KT > 0)
inline constexpr bool kOfFew<Part, KT> =
    requires(const Strip (&w)[KT]) { Part::template few<KT>(w, w[0], w); };

// A baseline on every lane, by the constant-arm formula where there is one.
template <typename Part, int KT, int W, typename Rewards>
COMMITTAL_INLINE void evaluate(const ArmRows<W>& arms, Rewards rewards, double parameter,
                               double* out) {
  // Sums over many arms are chains of additions: as many of them at once as there is room for.
  constexpr int N = kOfFew<Part, KT> ? kStripOf<W> : kSummedTogether<W>;
  for (int l = 0; l < W; l += N) {
    Fraction<N> b;
    if constexpr (kOfFew<Part, KT>) {
      Lanes<N> w[KT];
      Lanes<N> r[KT];
      COMMITTAL_PARTS(k, KT) {
        w[k] = Lanes<N>::load(arms.weight + k * W + l);
        r[k] = rewards.template row<N>(k, l);
      }
      b = Part::template few<KT>(w, Lanes<N>::load(arms.total + l), r);
    } else {
      b = Part::template many<N>(arms, rewards, parameter, l);
    }
    (b.over / b.under).store(out + l);
  }
}

// out = B of this kind, for those that depend on the policy and the rewards alone.
template <int KT, int W, typename Rewards>
COMMITTAL_INLINE void evaluate_kind(Baseline kind, const ArmRows<W>& arms, Rewards r,
                                    double parameter, double* out) {
  with_part(Baselines{}, static_cast<int>(kind), [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
    if constexpr (!Part::kRow.follows_rewards) {
      evaluate<Part, KT>(arms, r, parameter, out);
    }
  });
}

// A running mean after the reward number `seen` (1, 2, ...). The plain average forgets its initial
// value at the first reward, whatever its size.
template <int W>
COMMITTAL_INLINE void follow_rewards(double* running_mean, const double* reward, double rate,
                                     double seen) {
  constexpr int N = kStripOf<W>;
  const bool first = !(rate > 0.0) && seen == 1.0;
  const Lanes<N> step(rate > 0.0 ? rate : 1.0 / seen);
  for (int l = 0; l < W; l += N) {
    const Lanes<N> r = Lanes<N>::load(reward + l);
    const Lanes<N> mean = Lanes<N>::load(running_mean + l);
    (first ? r : mean + step * (r - mean)).store(running_mean + l);
  }
}

}  // namespace committal::COMMITTAL_ISA
