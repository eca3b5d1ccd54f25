// Recorders: what can be read off a block at time t. Everything describes theta_t.
#pragma once

#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
void record_value(Block<KT, W>& s, const BanditView& plan) {
  evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{plan.means}, 0.0, s.record);
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
      COMMITTAL_LANES(l, W) { sum[l] += s.weight[k * W + l] * (s.theta[k * W + l] - s.shift[l]); }
    } else {
      COMMITTAL_LANES(l, W) {
        const double p = s.weight[k * W + l];
        sum[l] += p > 1e-300 ? p * lane_log(larger(p, 1e-300)) : 0.0;
      }
    }
  }
  COMMITTAL_LANES(l, W) { sum[l] = larger(lane_log(s.total[l]) - sum[l] / s.total[l], 0.0); }
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
  sum_others(s.arm_rows(), sums);
  // c_k is the mean of the coefficient of arm k; the sums over the other arms leave out the leader
  // of pi where it would cancel.
  const auto coefficient = [&](std::int64_t k, int l, double pi, double& second) {
    const double q = rows.q[k * W + l];
    const double mu = q / rows.total[l];
    const double w = 1.0 / larger(mu + implicit, 1e-290);
    const double advantage = plan.means[k] - s.baseline[l];
    const double scale = vanilla ? pi * w : w;
    const bool drawn = q > 0.0;  // an arm of probability 0 adds nothing to the law
    const double squared = advantage * advantage + plan.reward_variance[k];
    second = drawn ? mu * scale * scale * squared : 0.0;
    return drawn ? mu * scale * advantage : 0.0;
  };
  double mean_sum[W];     // sum of c_k
  double mean_others[W];  // sum of c_k but the leader's
  fill<W>(mean_sum, 0.0);
  fill<W>(mean_others, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      double second;
      const double pi = s.weight[k * W + l] / s.total[l];
      const double mean = coefficient(k, l, pi, second);
      mean_sum[l] += mean;
      mean_others[l] += sums.leader[l] == k ? 0.0 : mean;
    }
  }
  const double arms = static_cast<double>(s.K());
  double seen[W];  // |E g|^2
  fill<W>(seen, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      const double inverse_total = 1.0 / s.total[l];
      const double weight = s.weight[k * W + l];
      const double pi = weight / s.total[l];
      const double rest = sums.sum_without(k, weight, l) * inverse_total;
      const double rest2 = sums.squares_without(k, weight, l) * inverse_total * inverse_total;
      double second;
      const double mean = coefficient(k, l, pi, second);
      const double mean_rest = sums.leader[l] == k ? mean_others[l] : mean_sum[l] - mean;
      // vanilla: g_k = c_k (1 - pi_k) - pi_k sum_{j != k} c_j and |e_k - pi|^2; else centred c.
      const double direction = vanilla ? mean * rest - pi * mean_rest : mean - mean_sum[l] / arms;
      seen[l] += direction * direction;
      out[l] += second * (vanilla ? rest * rest + rest2 : 1.0 - 1.0 / arms);
    }
  }
  const double contrast = plan.contrast ? (vanilla ? 0.5 : 2.0) : 1.0;
  const double factor = contrast / static_cast<double>(plan.samples);
  COMMITTAL_LANES(l, W) out[l] = factor * larger(out[l] - seen[l], 0.0);
}

}  // namespace committal::COMMITTAL_ISA
