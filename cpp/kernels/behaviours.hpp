// Behaviours: the law mu that actions are drawn from, and the draw itself.
//
// To add one, write a struct with a row and mix(), and append it to `Behaviours`.
#pragma once

#include "kernels/arms.hpp"
#include "kernels/list.hpp"
#include "kernels/parts.hpp"

namespace committal::COMMITTAL_ISA {

// What a behaviour may depend on besides the policy.
struct BehaviourOptions {
  double epsilon;     // exploration of this update
  const double* law;  // of the plan, for those that need one
};

// mu = pi: nothing to mix.
struct OnPolicy {
  static constexpr BehaviourRow kRow{"on_policy"};
};

// (1 - epsilon) pi + epsilon / K.
struct UniformMixture {
  static constexpr BehaviourRow kRow{"uniform_mixture"};

  template <int W>
  static COMMITTAL_INLINE void mix(const ArmRows<W>& arms, BehaviourOptions options,
                                   double* mixture) {
    const double share = options.epsilon / static_cast<double>(arms.count);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      COMMITTAL_LANES(l, W) {
        mixture[k * W + l] =
            (1.0 - options.epsilon) * arms.weight[k * W + l] + share * arms.total[l];
      }
    }
  }
};

// The arm of the largest pi with 1 - epsilon, else any.
struct EpsilonGreedy {
  static constexpr BehaviourRow kRow{"epsilon_greedy"};

  template <int W>
  static COMMITTAL_INLINE void mix(const ArmRows<W>& arms, BehaviourOptions options,
                                   double* mixture) {
    const double share = options.epsilon / static_cast<double>(arms.count);
    OthersSums<W> sums;
    sum_others(arms, sums);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      COMMITTAL_LANES(l, W) {
        mixture[k * W + l] =
            (sums.leader[l] == static_cast<double>(k) ? 1.0 - options.epsilon : 0.0) + share;
      }
    }
  }
};

struct FixedLaw {
  static constexpr BehaviourRow kRow{"fixed", /*needs_law=*/true};

  template <int W>
  static COMMITTAL_INLINE void mix(const ArmRows<W>& arms, BehaviourOptions options,
                                   double* mixture) {
    for (std::int64_t k = 0; k < arms.count; ++k) fill<W>(mixture + k * W, options.law[k]);
  }
};

using Behaviours = List<OnPolicy, UniformMixture, EpsilonGreedy, FixedLaw>;

inline constexpr Behaviour kOnPolicy{kPlace<OnPolicy, Behaviours>};

// Unnormalised behaviour probabilities: rows q and their totals Q.
struct BehaviourRows {
  const double* q;
  const double* total;
};

// mu for the arms of a bandit or the actions of a state. `mixture` and `mixture_total` receive it
// unless it is the policy itself.
template <int KT, int W>
COMMITTAL_INLINE BehaviourRows behaviour_rows(Behaviour behaviour, BehaviourOptions options,
                                              const ArmRows<W>& arms, double* mixture,
                                              double* mixture_total) {
  if (behaviour == kOnPolicy) return {arms.weight, arms.total};
  with_part(Behaviours{}, static_cast<int>(behaviour),
            [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
              if constexpr (!kSame<Part, OnPolicy>) Part::mix(arms, options, mixture);
            });
  sum_rows<KT, W>(arms.count, mixture, mixture_total);
  return {mixture, mixture_total};
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
