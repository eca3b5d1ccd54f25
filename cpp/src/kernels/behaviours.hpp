// Behaviours: the law mu that actions are drawn from, and the draw itself.
#pragma once

#include "policies.hpp"

namespace committal::COMMITTAL_ISA {

// Unnormalised behaviour probabilities of the current step: rows q and their totals Q.
struct BehaviourRows {
  const double* q;
  const double* total;
};

template <int KT, int W>
COMMITTAL_INLINE BehaviourRows behaviour_rows(Block<KT, W>& s, const BanditView& plan,
                                              std::int64_t t) {
  const double epsilon = plan.exploration.at(t);
  const double share = epsilon / static_cast<double>(s.K());
  switch (plan.behaviour) {
    case Behaviour::kOnPolicy:
      return {s.weight, s.total};
    case Behaviour::kUniformMixture:
      for (std::int64_t k = 0; k < s.K(); ++k) {
        COMMITTAL_LANES(l, W) {
          s.mixture[k * W + l] = (1.0 - epsilon) * s.weight[k * W + l] + share * s.total[l];
        }
      }
      break;
    case Behaviour::kEpsilonGreedy:
      COMMITTAL_LANES(l, W) {
        s.spare[l] = s.weight[l];
        s.leader[l] = 0;
      }
      for (std::int64_t k = 1; k < s.K(); ++k) {  // ties: the lowest index leads
        COMMITTAL_LANES(l, W) {
          const bool above = s.weight[k * W + l] > s.spare[l];
          s.spare[l] = above ? s.weight[k * W + l] : s.spare[l];
          s.leader[l] = above ? k : s.leader[l];
        }
      }
      for (std::int64_t k = 0; k < s.K(); ++k) {
        COMMITTAL_LANES(l, W) {
          s.mixture[k * W + l] = (s.leader[l] == k ? 1.0 - epsilon : 0.0) + share;
        }
      }
      break;
    case Behaviour::kFixed:
      for (std::int64_t k = 0; k < s.K(); ++k) {
        fill<W>(s.mixture + k * W, plan.behaviour_probabilities[k]);
      }
      break;
  }
  sum_rows(s, s.mixture, s.mixture_total);
  return {s.mixture, s.mixture_total};
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

// action ~ q and importance = 1 / (mu(a) + implicit).
template <int KT, int W>
COMMITTAL_INLINE void draw_actions(Block<KT, W>& s, BehaviourRows rows, const double* u,
                                   double implicit) {
  const double* q = rows.q;
  const double* total = rows.total;
  if constexpr (KT > 0) {
    COMMITTAL_LANES(l, W) {
      double weights[KT];
      COMMITTAL_ARMS(k, 0, KT) weights[k] = q[k * W + l];
      double chosen;
      s.action[l] = select_lane<KT>(weights, total[l], u[l], chosen);
      s.importance[l] = total[l] / (chosen + implicit * total[l]);
    }
  } else {
    COMMITTAL_LANES(l, W) {
      s.spare[l] = u[l] * total[l];
      s.spare2[l] = 0.0;
      s.action[l] = 0;
    }
    for (std::int64_t k = 0; k < s.K() - 1; ++k) {
      const double* row = q + k * W;
      COMMITTAL_LANES(l, W) {
        s.spare2[l] += row[l];
        s.action[l] += s.spare[l] >= s.spare2[l] ? 1 : 0;
      }
    }
    COMMITTAL_LANES(l, W) {
      const double chosen = q[s.action[l] * W + l];
      s.importance[l] = total[l] / (chosen + implicit * total[l]);
    }
  }
}

}  // namespace committal::COMMITTAL_ISA
