// Updates: how one step moves the parameters.
//
//   natural     theta_a += alpha A w                 w = 1 / (mu(a) + implicit), A = R - b
//   vanilla     theta   += alpha A (pi(a) w) (e_a - pi)
//   projected   theta    = Proj[theta + alpha A w e_a]
//   expected    the exact mean of the rule: natural alpha r, vanilla alpha pi (r - V),
//               projected along r
//   entropy     natural - alpha tau log pi, vanilla - alpha tau pi (log pi + H)
#pragma once

#include "kernels/bandit/rewards.hpp"
#include "kernels/baselines.hpp"
#include "kernels/behaviours.hpp"

namespace committal::COMMITTAL_ISA {

// row[action] of each lane += amount
template <int KT, int W>
COMMITTAL_INLINE void add_at_action(Block<KT, W>& s, double* rows, const double* amount) {
  if constexpr (KT > 0) {
    COMMITTAL_ARMS(k, 0, KT) {
      COMMITTAL_LANES(l, W) { rows[k * W + l] += s.action[l] == k ? amount[l] : 0.0; }
    }
  } else {
    for (int l = 0; l < W; ++l) rows[s.action[l] * W + l] += amount[l];
  }
}

// The natural step of one sample: one theta moves, one weight is recomputed.
template <int KT, int W>
COMMITTAL_INLINE void natural_single(Block<KT, W>& s, double alpha) {
  if constexpr (KT > 0) {
    COMMITTAL_LANES(l, W) {
      const std::int64_t a = s.action[l];
      double theta = s.theta[l];
      COMMITTAL_ARMS(k, 1, KT) theta = a == k ? s.theta[k * W + l] : theta;
      theta += alpha * (s.reward[l] - s.baseline[l]) * s.importance[l];
      const double weight = lane_exp(theta - s.shift[l]);
      COMMITTAL_ARMS(k, 0, KT) {
        s.theta[k * W + l] = a == k ? theta : s.theta[k * W + l];
        s.weight[k * W + l] = a == k ? weight : s.weight[k * W + l];
      }
    }
  } else {
    for (int l = 0; l < W; ++l) s.spare[l] = s.theta[s.action[l] * W + l];
    COMMITTAL_LANES(l, W) {
      s.spare[l] += alpha * (s.reward[l] - s.baseline[l]) * s.importance[l];
      s.spare2[l] = lane_exp(s.spare[l] - s.shift[l]);
    }
    for (int l = 0; l < W; ++l) {
      s.theta[s.action[l] * W + l] = s.spare[l];
      s.weight[s.action[l] * W + l] = s.spare2[l];
    }
  }
}

// direction += this sample's estimate / samples; natural and projected before any metric.
template <int KT, int W>
COMMITTAL_INLINE void add_importance_sample(Block<KT, W>& s, double inverse_samples) {
  COMMITTAL_LANES(l, W) {
    s.spare[l] = (s.reward[l] - s.baseline[l]) * s.importance[l] * inverse_samples;
  }
  add_at_action(s, s.direction, s.spare);
}

template <int KT, int W>
COMMITTAL_INLINE void add_score_sample(Block<KT, W>& s, double inverse_samples) {
  // coefficient = A pi(a) w / samples; direction += coefficient (e_a - pi)
  COMMITTAL_LANES(l, W) {
    double weight;
    if constexpr (KT > 0) {
      weight = s.weight[l];
      COMMITTAL_ARMS(k, 1, KT) weight = s.action[l] == k ? s.weight[k * W + l] : weight;
    } else {
      weight = s.weight[s.action[l] * W + l];
    }
    const double inverse_total = 1.0 / s.total[l];
    const double ratio = weight * inverse_total * s.importance[l];
    s.spare[l] = (s.reward[l] - s.baseline[l]) * ratio * inverse_samples;
    s.spare2[l] = s.spare[l] * inverse_total;
  }
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) s.direction[k * W + l] -= s.spare2[l] * s.weight[k * W + l];
  }
  add_at_action(s, s.direction, s.spare);
}

// direction = the exact expectation of the estimate.
template <int KT, int W>
COMMITTAL_INLINE void expected_direction(Block<KT, W>& s, const BanditView& plan) {
  const bool vanilla = plan.update == Update::kVanilla;
  if (vanilla) evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{plan.means}, 0.0, s.spare);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const double r = plan.means[k];
    if (vanilla) {
      COMMITTAL_LANES(l, W) {
        s.direction[k * W + l] = s.weight[k * W + l] / s.total[l] * (r - s.spare[l]);
      }
    } else {
      fill<W>(s.direction + k * W, r);
    }
  }
}

// direction += tau * gradient of the entropy, in the geometry of the update.
template <int KT, int W>
COMMITTAL_INLINE void add_entropy_gradient(Block<KT, W>& s, const BanditView& plan, double tau) {
  double* log_total = s.spare;
  double* entropy = s.spare2;
  COMMITTAL_LANES(l, W) {
    log_total[l] = lane_log(s.total[l]) + s.shift[l];
    entropy[l] = 0.0;
  }
  if (plan.update == Update::kNatural) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) { s.direction[k * W + l] -= tau * (s.theta[k * W + l] - log_total[l]); }
    }
    return;
  }
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      const double pi = s.weight[k * W + l] / s.total[l];
      entropy[l] -= pi * (s.theta[k * W + l] - log_total[l]);
    }
  }
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      const double pi = s.weight[k * W + l] / s.total[l];
      s.direction[k * W + l] -= tau * pi * ((s.theta[k * W + l] - log_total[l]) + entropy[l]);
    }
  }
}

// theta moves by alpha * direction.
template <int KT, int W>
COMMITTAL_INLINE void apply_direction(Block<KT, W>& s, const BanditView& plan, double alpha) {
  if (plan.update == Update::kProjected) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        s.direction[k * W + l] = s.theta[k * W + l] + alpha * s.direction[k * W + l];
      }
    }
    project(s, s.direction);  // weight is theta: nothing to refresh
    return;
  }
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) s.theta[k * W + l] += alpha * s.direction[k * W + l];
  }
  refresh_weights(s);
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
