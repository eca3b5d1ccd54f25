// Baselines: numbers b(pi, r) that may depend on the policy but not on the action drawn.
//
// Each is a weighted mean of rewards, sum w_i r_i / sum w_i, where r holds the mean rewards of a
// bandit's arms or the Q(s, .) of a state. To add one, write a struct like those below and append
// it to `Baselines`; nothing else in C++ needs to know.
//
// A struct offers lane<KT>(weights, total, r) for a constant number of arms, or rows(arms, r, ...)
// for any number, or both; they work on unnormalised weights (pi_i = weight_i / total).
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
  COMMITTAL_INLINE double at(std::int64_t k, int) const { return r[k]; }
  template <int N>
  COMMITTAL_INLINE Lanes<N> row(std::int64_t k, int) const {
    return Lanes<N>(r[k]);
  }
  // sum += weight * r_k
  COMMITTAL_INLINE void add(Pack& sum, const Pack& weight, std::int64_t k, int) const {
    sum += weight * r[k];
  }
};
template <int W>
struct LaneRewards {
  const double* rows;
  COMMITTAL_INLINE double at(std::int64_t k, int l) const { return rows[k * W + l]; }
  template <int N>
  COMMITTAL_INLINE Lanes<N> row(std::int64_t k, int l) const {
    return Lanes<N>::load(rows + k * W + l);
  }
  COMMITTAL_INLINE void add(Pack& sum, const Pack& weight, std::int64_t k, int l) const {
    sum += weight * pack(rows + k * W + l);
  }
};

// V = sum pi_i r_i.
struct ValueBaseline {
  static constexpr BaselineRow kRow{"value"};

  template <int KT>
  static COMMITTAL_INLINE double lane(const double* w, double total, const double* r) {
    double sum = w[0] * r[0];
    COMMITTAL_ARMS(k, 1, KT) sum += w[k] * r[k];
    return sum / total;
  }

  template <int W, typename Rewards>
  static void rows(const ArmRows<W>& arms, Rewards r, double, double* out) {
    constexpr int N = kPacksTogether<W>;
    for (int l = 0; l < W; l += N * kPack) {
      Pack sum[N];
      COMMITTAL_ARMS(i, 0, N) sum[i] = Pack{};
      for (std::int64_t k = 0; k < arms.count; ++k) {
        COMMITTAL_ARMS(i, 0, N) {
          const int at = l + i * kPack;
          r.add(sum[i], pack(arms.weight + k * W + at), k, at);
        }
      }
      COMMITTAL_ARMS(i, 0, N) {
        const int at = l + i * kPack;
        pack(out + at) = sum[i] / pack(arms.total + at);
      }
    }
  }
};

// The paper's b*: w_i = pi_i [(sum_{j != i} pi_j)^2 + sum_{j != i} pi_j^2]. The sums leave i out
// instead of subtracting it: 1 - pi_i would cancel to 0/0 near the corners of the simplex. When
// every other arm has underflowed all w_i are 0 and b* is V.
struct MinVarianceGradientBaseline {
  static constexpr BaselineRow kRow{"min_variance_gradient"};

  template <int KT>
  static COMMITTAL_INLINE double lane(const double* w, double total, const double* r) {
    double numerator = 0.0;
    double denominator = 0.0;
    COMMITTAL_ARMS(i, 0, KT) {
      double others = 0.0;
      double squares = 0.0;
      COMMITTAL_ARMS(j, 0, KT) {
        if (j == i) continue;
        others += w[j];
        squares += w[j] * w[j];
      }
      const double x = w[i] * (others * others + squares);
      numerator += x * r[i];
      denominator += x;
    }
    double value = w[0] * r[0];
    COMMITTAL_ARMS(k, 1, KT) value += w[k] * r[k];
    const bool defined = denominator > 0.0;
    return (defined ? numerator : value) / (defined ? denominator : total);
  }

  template <int W, typename Rewards>
  static void rows(const ArmRows<W>& arms, Rewards r, double, double* out) {
    OthersSums<W> sums;
    sum_others(arms, sums);
    constexpr int N = kSummedTogether<W>;
    using Row = Lanes<N>;
    for (int l = 0; l < W; l += N) {
      const Row highest = Row::load(sums.highest + l);
      const Row leader = Row::load(sums.leader + l);
      const Row others = Row::load(sums.others + l);
      const Row squares = Row::load(sums.squares + l);
      const Row highest2 = highest * highest;
      Row numerator(0.0);
      Row denominator(0.0);
      Row value(0.0);
      for (std::int64_t k = 0; k < arms.count; ++k) {
        const Row weight = Row::load(arms.weight + k * W + l);
        const Row reward = r.template row<N>(k, l);
        const auto leads = leader == Row(static_cast<double>(k));
        const Row rest = select(leads, others, (others - weight) + highest);
        const Row rest2 = select(leads, squares, (squares - weight * weight) + highest2);
        const Row x = weight * (rest * rest + rest2);
        numerator = numerator + x * reward;
        denominator = denominator + x;
        value = value + weight * reward;
      }
      const auto defined = denominator > Row(0.0);
      (select(defined, numerator, value) / select(defined, denominator, Row::load(arms.total + l)))
          .store(out + l);
    }
  }
};

// Natural metric, minimum-norm lambda: w_i = 1 / pi_i.
struct MinVarianceNaturalBaseline {
  static constexpr BaselineRow kRow{"min_variance_natural"};

  // Products of the others instead of quotients: one division for all arms.
  template <int KT>
    requires(KT <= 3)  // a product of more could underflow where the quotients do not
  static COMMITTAL_INLINE double lane(const double* w, double total, const double* r) {
    const double least = kFloor * total;
    double floored[KT];
    COMMITTAL_ARMS(k, 0, KT) floored[k] = larger(w[k], least);
    double numerator = 0.0;
    double denominator = 0.0;
    COMMITTAL_ARMS(i, 0, KT) {
      double product = 1.0;
      COMMITTAL_ARMS(j, 0, KT) product = j == i ? product : product * floored[j];
      numerator += product * r[i];
      denominator += product;
    }
    return numerator / denominator;
  }

  template <int W, typename Rewards>
  static void rows(const ArmRows<W>& arms, Rewards r, double, double* out) {
    constexpr int N = kSummedTogether<W>;
    using Row = Lanes<N>;
    for (int l = 0; l < W; l += N) {
      const Row least = Row(kFloor) * Row::load(arms.total + l);
      Row numerator(0.0);
      Row denominator(0.0);
      for (std::int64_t k = 0; k < arms.count; ++k) {
        const Row weight = Row::load(arms.weight + k * W + l);
        const Row x = Row(1.0) / select(weight > least, weight, least);
        numerator = numerator + x * r.template row<N>(k, l);
        denominator = denominator + x;
      }
      (numerator / denominator).store(out + l);
    }
  }
};

// Natural metric, fixed lambda: w_i = pi_i [(K-1) lambda^2 + (lambda + 1/pi_i)^2]
//                                  = K lambda^2 pi_i + 2 lambda + 1/pi_i.
struct MinVarianceFixedLambdaBaseline {
  static constexpr BaselineRow kRow{"min_variance_fixed_lambda"};

  template <int W, typename Rewards>
  static void rows(const ArmRows<W>& arms, Rewards r, double lambda, double* out) {
    double denominator[W];
    double value[W];
    fill<W>(out, 0.0);
    fill<W>(denominator, 0.0);
    fill<W>(value, 0.0);
    const double scale = static_cast<double>(arms.count) * lambda * lambda;
    for (std::int64_t k = 0; k < arms.count; ++k) {
      COMMITTAL_LANES(l, W) {
        const double pi = arms.weight[k * W + l] / arms.total[l];
        const double x = (scale * pi + 2.0 * lambda) + 1.0 / larger(pi, kFloor);
        out[l] += x * r.at(k, l);
        denominator[l] += x;
        value[l] += pi * r.at(k, l);
      }
    }
    COMMITTAL_LANES(l, W) {
      const double best = out[l] / denominator[l];
      out[l] = denominator[l] > 0.0 ? best : value[l];
    }
  }
};

// max_i r_i: what relative perturbations b + c (max r - b) are made of.
struct MaximumBaseline {
  static constexpr BaselineRow kRow{"maximum"};

  template <int W, typename Rewards>
  static void rows(const ArmRows<W>& arms, Rewards r, double, double* out) {
    COMMITTAL_LANES(l, W) out[l] = r.at(0, l);
    for (std::int64_t k = 1; k < arms.count; ++k) {
      COMMITTAL_LANES(l, W) out[l] = larger(out[l], r.at(k, l));
    }
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

// A baseline on every lane, by the constant-arm formula where there is one.
template <typename Part, int KT, int W, typename Rewards>
COMMITTAL_INLINE void evaluate(const ArmRows<W>& arms, Rewards rewards, double parameter,
                               double* out) {
  if constexpr (KT > 0 && requires(const double* w) { Part::template lane<KT>(w, 1.0, w); }) {
    COMMITTAL_LANES(l, W) {
      double w[KT];
      double r[KT];
      COMMITTAL_ARMS(k, 0, KT) w[k] = arms.weight[k * W + l];
      COMMITTAL_ARMS(k, 0, KT) r[k] = rewards.at(k, l);
      out[l] = Part::template lane<KT>(w, arms.total[l], r);
    }
  } else {
    Part::template rows<W>(arms, rewards, parameter, out);
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
  if (!(rate > 0.0) && seen == 1.0) {
    COMMITTAL_LANES(l, W) running_mean[l] = reward[l];
    return;
  }
  const double step = rate > 0.0 ? rate : 1.0 / seen;
  COMMITTAL_LANES(l, W) running_mean[l] += step * (reward[l] - running_mean[l]);
}

}  // namespace committal::COMMITTAL_ISA
