// Baselines: numbers b(pi, r) that may depend on the policy but not on the action drawn.
//
// Each is a weighted mean of the mean rewards, sum w_i r_i / sum w_i. To add one: write a struct
// like those below, name it in BaselineKind and in plan.cpp, and call it in add_baseline_term().
//
// A struct offers lane<KT>(weights, total, r, parameter) for a constant number of arms, and
// rows(...) for any number of arms. Both work on unnormalised weights (pi_i = weight_i / total).
#pragma once

#include "policies.hpp"

namespace committal::COMMITTAL_ISA {

// Probabilities below this are taken for it where 1/pi appears: nothing visible depends on it.
inline constexpr double kFloor = 1e-150;

// V = sum pi_i r_i.
struct ValueBaseline {
  template <int KT>
  static COMMITTAL_INLINE double lane(const double* w, double total, const double* r, double) {
    double sum = w[0] * r[0];
    COMMITTAL_ARMS(k, 1, KT) sum += w[k] * r[k];
    return sum / total;
  }

  template <int KT, int W>
  static void rows(Block<KT, W>& s, const double* r, double, double* out) {
    COMMITTAL_LANES(l, W) out[l] = s.weight[l] * r[0];
    for (std::int64_t k = 1; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) out[l] += s.weight[k * W + l] * r[k];
    }
    COMMITTAL_LANES(l, W) out[l] /= s.total[l];
  }
};

// The paper's b*: w_i = pi_i [(sum_{j != i} pi_j)^2 + sum_{j != i} pi_j^2]. The sums leave i out
// instead of subtracting it: 1 - pi_i would cancel to 0/0 near the corners of the simplex. When
// every other arm has underflowed all w_i are 0 and b* is V.
struct MinVarianceGradientBaseline {
  template <int KT>
  static COMMITTAL_INLINE double lane(const double* w, double total, const double* r, double) {
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

  template <int KT, int W>
  static void rows(Block<KT, W>& s, const double* r, double, double* out) {
    OthersSums<W> sums;
    sum_others(s, sums);
    double value[W];
    double denominator[W];
    fill<W>(value, 0.0);
    fill<W>(denominator, 0.0);
    fill<W>(out, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        const double w = s.weight[k * W + l];
        const bool leads = s.leader[l] == k;
        const double rest = sums.sum_without(w, leads, l);
        const double x = w * (rest * rest + sums.squares_without(w, leads, l));
        out[l] += x * r[k];
        denominator[l] += x;
        value[l] += w * r[k];
      }
    }
    COMMITTAL_LANES(l, W) {
      const bool defined = denominator[l] > 0.0;
      out[l] = (defined ? out[l] : value[l]) / (defined ? denominator[l] : s.total[l]);
    }
  }
};

// Natural metric, minimum-norm lambda: w_i = 1 / pi_i.
struct MinVarianceNaturalBaseline {
  template <int KT>
  static COMMITTAL_INLINE double lane(const double* w, double, const double* r, double) {
    // Products of the others instead of quotients: one division for all arms.
    double floored[KT];
    COMMITTAL_ARMS(k, 0, KT) floored[k] = larger(w[k], kFloor);
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

  template <int KT, int W>
  static void rows(Block<KT, W>& s, const double* r, double, double* out) {
    double denominator[W];
    fill<W>(out, 0.0);
    fill<W>(denominator, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        const double x = 1.0 / larger(s.weight[k * W + l], kFloor);
        out[l] += x * r[k];
        denominator[l] += x;
      }
    }
    COMMITTAL_LANES(l, W) out[l] /= denominator[l];
  }
};

// Natural metric, fixed lambda: w_i = pi_i [(K-1) lambda^2 + (lambda + 1/pi_i)^2]
//                                  = K lambda^2 pi_i + 2 lambda + 1/pi_i.
struct MinVarianceFixedLambdaBaseline {
  template <int KT, int W>
  static void rows(Block<KT, W>& s, const double* r, double lambda, double* out) {
    double denominator[W];
    double value[W];
    fill<W>(out, 0.0);
    fill<W>(denominator, 0.0);
    fill<W>(value, 0.0);
    const double scale = static_cast<double>(s.K()) * lambda * lambda;
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        const double pi = s.weight[k * W + l] / s.total[l];
        const double x = (scale * pi + 2.0 * lambda) + 1.0 / larger(pi, kFloor);
        out[l] += x * r[k];
        denominator[l] += x;
        value[l] += pi * r[k];
      }
    }
    COMMITTAL_LANES(l, W) {
      const double best = out[l] / denominator[l];
      out[l] = denominator[l] > 0.0 ? best : value[l];
    }
  }
};

// A baseline on every lane, by the constant-arm formula where there is one.
template <typename Baseline, int KT, int W>
COMMITTAL_INLINE void evaluate(Block<KT, W>& s, const double* r, double parameter, double* out) {
  if constexpr (KT > 0 && requires(const double* w) { Baseline::template lane<2>(w, 1.0, w, 1.0); }) {
    COMMITTAL_LANES(l, W) {
      double w[KT];
      COMMITTAL_ARMS(k, 0, KT) w[k] = s.weight[k * W + l];
      out[l] = Baseline::template lane<KT>(w, s.total[l], r, parameter);
    }
  } else {
    Baseline::rows(s, r, parameter, out);
  }
}

// baseline += coefficient * B
template <int KT, int W>
void add_baseline_term(Block<KT, W>& s, const BanditView& plan, const BaselineTerm& term) {
  double* out = s.spare;
  switch (term.kind) {
    case BaselineKind::kValue:
      evaluate<ValueBaseline>(s, plan.means, term.parameter, out);
      break;
    case BaselineKind::kMinVarianceGradient:
      evaluate<MinVarianceGradientBaseline>(s, plan.means, term.parameter, out);
      break;
    case BaselineKind::kMinVarianceNatural:
      evaluate<MinVarianceNaturalBaseline>(s, plan.means, term.parameter, out);
      break;
    case BaselineKind::kMinVarianceFixedLambda:
      evaluate<MinVarianceFixedLambdaBaseline>(s, plan.means, term.parameter, out);
      break;
    case BaselineKind::kMaximum:
      fill<W>(out, plan.best_mean);
      break;
    case BaselineKind::kRunningMean:
      COMMITTAL_LANES(l, W) out[l] = s.running_mean[l];
      break;
  }
  COMMITTAL_LANES(l, W) s.baseline[l] += term.coefficient * out[l];
}

template <int KT, int W>
COMMITTAL_INLINE void compute_baseline(Block<KT, W>& s, const BanditView& plan) {
  fill<W>(s.baseline, plan.baseline_offset);
  for (std::int64_t i = 0; i < plan.term_count; ++i) add_baseline_term(s, plan, plan.terms[i]);
}

}  // namespace committal::COMMITTAL_ISA
