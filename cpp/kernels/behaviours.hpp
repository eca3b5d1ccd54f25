// Behaviours: the law mu that actions are drawn from, and the draw itself.
#pragma once

#include "kernels/bandit/policies.hpp"

namespace committal::COMMITTAL_ISA {

// Unnormalised behaviour probabilities: rows q and their totals Q.
struct BehaviourRows {
  const double* q;
  const double* total;
};

// mu for the arms of a bandit or the actions of a state. `mixture` and `mixture_total` receive it
// unless it is the policy itself.
template <int KT, int W>
COMMITTAL_INLINE BehaviourRows behaviour_rows(Behaviour behaviour, double epsilon,
                                              const double* fixed, const ArmRows<W>& arms,
                                              double* mixture, double* mixture_total) {
  const double share = epsilon / static_cast<double>(arms.count);
  switch (behaviour) {
    case Behaviour::kOnPolicy:
      return {arms.weight, arms.total};
    case Behaviour::kUniformMixture:
      for (std::int64_t k = 0; k < arms.count; ++k) {
        COMMITTAL_LANES(l, W) {
          mixture[k * W + l] = (1.0 - epsilon) * arms.weight[k * W + l] + share * arms.total[l];
        }
      }
      break;
    case Behaviour::kEpsilonGreedy: {
      OthersSums<W> sums;
      sum_others(arms, sums);
      for (std::int64_t k = 0; k < arms.count; ++k) {
        COMMITTAL_LANES(l, W) {
          mixture[k * W + l] =
              (sums.leader[l] == static_cast<double>(k) ? 1.0 - epsilon : 0.0) + share;
        }
      }
      break;
    }
    case Behaviour::kFixed:
      for (std::int64_t k = 0; k < arms.count; ++k) fill<W>(mixture + k * W, fixed[k]);
      break;
  }
  sum_rows<KT, W>(arms.count, mixture, mixture_total);
  return {mixture, mixture_total};
}

template <int KT, int W>
COMMITTAL_INLINE BehaviourRows behaviour_rows(Block<KT, W>& s, const BanditView& plan,
                                              std::int64_t t) {
  return behaviour_rows<KT, W>(plan.behaviour, plan.exploration.at(t), plan.behaviour_probabilities,
                               s.arm_rows(), s.mixture, s.mixture_total);
}

// The first arm whose cumulative weight exceeds u * total, for a constant number of arms. As
// u * total < total, an arm of weight exactly 0 is never taken.
template <int KT>
COMMITTAL_INLINE std::int64_t select_lane(const double* q, double total, double u, double& chosen) {
  const double x = u * total;
  double cumulative = q[0];
  std::int64_t action = 0;
  chosen = q[0];
  COMMITTAL_ARMS(k, 1, KT) {
    const bool beyond = x >= cumulative;
    action = beyond ? k : action;
    chosen = beyond ? q[k] : chosen;
    cumulative += q[k];
  }
  return action;
}

// 1 / (mu(a) + implicit), finite even for an arm that is drawn though it can hardly be.
COMMITTAL_INLINE double importance_weight(double chosen, double total, double implicit) {
  return total / larger(chosen + implicit * total, 1e-290);
}

// action ~ q and importance = 1 / (mu(a) + implicit).
template <int KT, int W>
COMMITTAL_INLINE void draw_actions(std::int64_t count, BehaviourRows rows, const double* u,
                                   double implicit, std::int64_t* action, double* importance) {
  const double* q = rows.q;
  const double* total = rows.total;
  if constexpr (KT > 0) {
    COMMITTAL_LANES(l, W) {
      double weights[KT];
      COMMITTAL_ARMS(k, 0, KT) weights[k] = q[k * W + l];
      double chosen;
      action[l] = select_lane<KT>(weights, total[l], u[l], chosen);
      importance[l] = importance_weight(chosen, total[l], implicit);
    }
  } else {
    constexpr int N = kPacksTogether<W>;
    for (int l = 0; l < W; l += N * kPack) {
      Pack target[N];
      Pack cumulative[N];
      PackMask beyond[N];  // minus the number of arms passed
      COMMITTAL_ARMS(i, 0, N) {
        target[i] = pack(u + l + i * kPack) * pack(total + l + i * kPack);
        cumulative[i] = Pack{};
        beyond[i] = PackMask{};
      }
      for (std::int64_t k = 0; k < count - 1; ++k) {
        COMMITTAL_ARMS(i, 0, N) {
          cumulative[i] += pack(q + k * W + l + i * kPack);
          beyond[i] += target[i] >= cumulative[i];
        }
      }
      COMMITTAL_ARMS(i, 0, N) { *reinterpret_cast<PackMask*>(action + l + i * kPack) = -beyond[i]; }
    }
    COMMITTAL_LANES(l, W) {
      const double chosen = q[action[l] * W + l];
      importance[l] = importance_weight(chosen, total[l], implicit);
    }
  }
}

}  // namespace committal::COMMITTAL_ISA
