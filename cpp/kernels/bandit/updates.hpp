// Updates: how one step moves the parameters.
//
//   natural     theta_a += alpha A w                 w = 1 / (mu(a) + implicit), A = R - b
//   vanilla     theta   += alpha A (pi(a) w) (e_a - pi)
//   projected   theta    = Proj[theta + alpha A w e_a]
//   expected    the exact mean of the rule: natural alpha r, vanilla alpha pi (r - V),
//               projected along r
//   entropy     natural - alpha tau log pi, vanilla - alpha tau pi (log pi + H)
//
// To add one, write a struct like those below and append it to `Updates` (for MDPs, also in
// kernels/mdp/updates.hpp). It offers
//
//   kRow                            name, policy, and whether a sample goes along e_a - pi or e_a
//   add_sample(s, 1 / samples)      direction += this sample's estimate / samples
//   expected(s, plan)               direction = the exact expectation of the estimate
//   apply(s, alpha)                 theta moves by alpha * direction, weights follow
//   add_entropy(s, tau)             direction += tau * gradient of the entropy, for softmax
//   move_one(s, alpha)              a whole step of one sample, if that moves one arm only
#pragma once

#include "kernels/bandit/draws.hpp"

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

// Updates that follow the estimate A w e_a itself: natural and projected before any metric.
struct AlongArm {
  template <int KT, int W>
  static COMMITTAL_INLINE void add_sample(Block<KT, W>& s, double inverse_samples) {
    COMMITTAL_LANES(l, W) {
      s.spare[l] = (s.reward[l] - s.baseline[l]) * s.importance[l] * inverse_samples;
    }
    add_at_action(s, s.direction, s.spare);
  }

  template <int KT, int W>
  static COMMITTAL_INLINE void expected(Block<KT, W>& s, const BanditView& plan) {
    for (std::int64_t k = 0; k < s.K(); ++k) fill<W>(s.direction + k * W, plan.means[k]);
  }
};

// Updates of the parameters of a softmax.
struct MovesTheta {
  template <int KT, int W>
  static COMMITTAL_INLINE void apply(Block<KT, W>& s, double alpha) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) s.theta[k * W + l] += alpha * s.direction[k * W + l];
    }
    refresh_weights(s);
  }

  // log pi_k + log_total = theta_k
  template <int KT, int W>
  static COMMITTAL_INLINE void log_total(Block<KT, W>& s, double* out) {
    COMMITTAL_LANES(l, W) out[l] = lane_log(s.total[l]) + s.shift[l];
  }
};

struct VanillaUpdate : MovesTheta {
  static constexpr UpdateRow kRow{"vanilla", Policy::kSoftmax, /*along_score=*/true};

  template <int KT, int W>
  static COMMITTAL_INLINE void add_sample(Block<KT, W>& s, double inverse_samples) {
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

  template <int KT, int W>
  static COMMITTAL_INLINE void expected(Block<KT, W>& s, const BanditView& plan) {
    evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{plan.means.data}, 0.0, s.spare);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const double r = plan.means[k];
      COMMITTAL_LANES(l, W) {
        s.direction[k * W + l] = s.weight[k * W + l] / s.total[l] * (r - s.spare[l]);
      }
    }
  }

  template <int KT, int W>
  static COMMITTAL_INLINE void add_entropy(Block<KT, W>& s, double tau) {
    double* log_total = s.spare;
    double* entropy = s.spare2;
    MovesTheta::log_total(s, log_total);
    fill<W>(entropy, 0.0);
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
};

struct NaturalUpdate : AlongArm, MovesTheta {
  static constexpr UpdateRow kRow{"natural", Policy::kSoftmax, /*along_score=*/false};

  template <int KT, int W>
  static COMMITTAL_INLINE void add_entropy(Block<KT, W>& s, double tau) {
    double* log_total = s.spare;
    MovesTheta::log_total(s, log_total);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) { s.direction[k * W + l] -= tau * (s.theta[k * W + l] - log_total[l]); }
    }
  }

  // One theta moves, one weight is recomputed; the caller sums up the weights.
  template <int KT, int W>
  static COMMITTAL_INLINE void move_one(Block<KT, W>& s, double alpha) {
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
};

struct ProjectedUpdate : AlongArm {
  static constexpr UpdateRow kRow{"projected", Policy::kDirect, /*along_score=*/false};

  template <int KT, int W>
  static COMMITTAL_INLINE void apply(Block<KT, W>& s, double alpha) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        s.direction[k * W + l] = s.theta[k * W + l] + alpha * s.direction[k * W + l];
      }
    }
    project(s, s.direction);  // weight is theta: nothing to refresh
  }
};

using Updates = List<VanillaUpdate, NaturalUpdate, ProjectedUpdate>;

// f<Part>() of the update of a plan.
template <typename F>
COMMITTAL_INLINE void with_update(const BanditView& plan, F&& f) {
  with_part(Updates{}, static_cast<int>(plan.update), f);
}

template <typename Part, int KT, int W>
inline constexpr bool kMovesOneArm = requires(Block<KT, W>& s) { Part::move_one(s, 1.0); };

}  // namespace committal::COMMITTAL_ISA
