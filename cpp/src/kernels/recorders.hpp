// Recorders: what can be read off a block at time t. Everything describes theta_t.
#pragma once

#include "updates.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
void record_value(Block<KT, W>& s, const BanditView& plan) {
  evaluate<ValueBaseline>(s, plan.means, 0.0, s.record);
}

template <int KT, int W>
void record_policy(Block<KT, W>& s) {
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) s.record[k * W + l] = s.weight[k * W + l] / s.total[l];
  }
}

template <int KT, int W>
void record_theta(Block<KT, W>& s, const BanditView& plan) {
  if (plan.contrast) {
    COMMITTAL_LANES(l, W) s.record[l] = s.theta[l] - s.theta[W + l];
    return;
  }
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) s.record[k * W + l] = s.theta[k * W + l];
  }
}

// H = - sum pi log pi, in nats. softmax: log total - sum pi (theta - shift), one log in all.
template <int KT, int W>
void record_entropy(Block<KT, W>& s, const BanditView& plan) {
  double* sum = s.record;
  fill<W>(sum, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    if (plan.policy == Policy::kSoftmax) {
      COMMITTAL_LANES(l, W) {
        sum[l] += s.weight[k * W + l] * (s.theta[k * W + l] - s.shift[l]);
      }
    } else {
      COMMITTAL_LANES(l, W) {
        const double p = s.weight[k * W + l];
        sum[l] += p > 1e-300 ? p * lane_log(larger(p, 1e-300)) : 0.0;
      }
    }
  }
  COMMITTAL_LANES(l, W) {
    sum[l] = larger(lane_log(s.total[l]) - sum[l] / s.total[l], 0.0);
  }
}

// The instantaneous regret r_max - V = sum pi_i (r_max - r_i): no cancellation near the optimum.
template <int KT, int W>
COMMITTAL_INLINE void accumulate_regret(Block<KT, W>& s, const BanditView& plan) {
  fill<W>(s.spare, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const double gap = plan.best_mean - plan.means[k];
    COMMITTAL_LANES(l, W) s.spare[l] += s.weight[k * W + l] * gap;
  }
  COMMITTAL_LANES(l, W) s.regret[l] += s.spare[l] / s.total[l];
}

// Euclidean distance of pi to the vertex of the best arm.
template <int KT, int W>
void record_distance(Block<KT, W>& s, const BanditView& plan) {
  double* others = s.spare;
  double* squares = s.spare2;
  fill<W>(others, 0.0);
  fill<W>(squares, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    if (k == plan.best_arm) continue;
    COMMITTAL_LANES(l, W) {
      const double pi = s.weight[k * W + l] / s.total[l];
      others[l] += pi;
      squares[l] += pi * pi;
    }
  }
  COMMITTAL_LANES(l, W) s.record[l] = root(others[l] * others[l] + squares[l]);
}

// The trace of the covariance of the update direction g, by enumerating the actions:
//   E|g|^2 - |E g|^2, with E (R - b)^2 = (r - b)^2 + Var R,
// in the directions that the policy can see: natural and projected steps along (1, ..., 1) change
// nothing, so g is measured orthogonally to it (its minimum-norm representative). One number for
// two arms (contrast): twice, resp. half, of the two-component trace.
template <int KT, int W>
void record_variance(Block<KT, W>& s, const BanditView& plan, std::int64_t t) {
  double* out = s.record;
  fill<W>(out, 0.0);
  if (plan.estimator == Estimator::kExpected) return;
  const BehaviourRows rows = behaviour_rows(s, plan, t);
  const double implicit = plan.implicit.at(t);
  const bool vanilla = plan.update == Update::kVanilla;
  OthersSums<W> sums;
  sum_others(s, sums);
  double mean_sum[W];      // sum of the means of the coefficients c_i
  double mean_squares[W];  // sum of their squares
  double cross[W];         // sum of c_i pi_i
  double pi_squares[W];
  fill<W>(mean_sum, 0.0);
  fill<W>(mean_squares, 0.0);
  fill<W>(cross, 0.0);
  fill<W>(pi_squares, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const double r = plan.means[k];
    const double noise = plan.reward_variance[k];
    COMMITTAL_LANES(l, W) {
      const double inverse_total = 1.0 / s.total[l];
      const double weight = s.weight[k * W + l];
      const double pi = weight * inverse_total;
      const double q = rows.q[k * W + l];
      const double mu = q / rows.total[l];
      const double w = 1.0 / (mu + implicit);
      const double advantage = r - s.baseline[l];
      const bool leads = s.leader[l] == k;
      const double rest = sums.sum_without(weight, leads, l) * inverse_total;
      const double rest2 =
          sums.squares_without(weight, leads, l) * inverse_total * inverse_total;
      const double scale = vanilla ? pi * w : w;
      const double norm = vanilla ? rest * rest + rest2 : 1.0;  // |e_k - pi|^2, or |e_k|^2
      const double second = mu * scale * scale * (advantage * advantage + noise) * norm;
      const double mean = mu * scale * advantage;
      const bool drawn = q > 0.0;  // an arm of probability 0 adds nothing to the law
      out[l] += drawn ? second : 0.0;
      mean_sum[l] += drawn ? mean : 0.0;
      mean_squares[l] += drawn ? mean * mean : 0.0;
      cross[l] += drawn ? mean * pi : 0.0;
      pi_squares[l] += pi * pi;
    }
  }
  const double arms = static_cast<double>(s.K());
  const double contrast = plan.contrast ? (vanilla ? 0.5 : 2.0) : 1.0;
  const double factor = contrast / static_cast<double>(plan.samples);
  COMMITTAL_LANES(l, W) {
    // vanilla: |c - pi sum c|^2 = |c|^2 - 2 (c . pi) sum c + |pi|^2 (sum c)^2, c_i the means.
    const double seen_vanilla =
        (mean_squares[l] - 2.0 * cross[l] * mean_sum[l]) + pi_squares[l] * mean_sum[l] * mean_sum[l];
    const double seen_other = mean_squares[l] - mean_sum[l] * mean_sum[l] / arms;
    const double second = vanilla ? out[l] : out[l] * (1.0 - 1.0 / arms);
    out[l] = factor * larger(second - (vanilla ? seen_vanilla : seen_other), 0.0);
  }
}

}  // namespace committal::COMMITTAL_ISA
