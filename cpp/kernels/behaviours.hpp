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
    constexpr int N = kStripOf<W>;
    const Lanes<N> kept(1.0 - options.epsilon);
    const Lanes<N> share(options.epsilon / static_cast<double>(arms.count));
    for (int l = 0; l < W; l += N) {
      const Lanes<N> each = share * Lanes<N>::load(arms.total + l);
      for (std::int64_t k = 0; k < arms.count; ++k) {
        (kept * Lanes<N>::load(arms.weight + k * W + l) + each).store(mixture + k * W + l);
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
    constexpr int N = kStripOf<W>;
    const Lanes<N> greedy(1.0 - options.epsilon);
    const Lanes<N> share(options.epsilon / static_cast<double>(arms.count));
    for (int l = 0; l < W; l += N) {
      const Leader<N> first = leader_of<N>(arms, l);
      for (std::int64_t k = 0; k < arms.count; ++k) {
        const Truth<N> leads = first.number == Lanes<N>(static_cast<double>(k));
        (where(leads, greedy) + share).store(mixture + k * W + l);
      }
    }
  }
};

// pi as it was when the exploration was last more than 0: the rows are left as they are else.
struct Snapshot {
  static constexpr BehaviourRow kRow{"snapshot", /*needs_law=*/false, /*remembers=*/true};

  template <int W>
  static COMMITTAL_INLINE void mix(const ArmRows<W>& arms, BehaviourOptions options,
                                   double* mixture) {
    if (!(options.epsilon > 0.0)) return;
    constexpr int N = kStripOf<W>;
    for (int l = 0; l < W; l += N) {
      for (std::int64_t k = 0; k < arms.count; ++k) {
        Lanes<N>::load(arms.weight + k * W + l).store(mixture + k * W + l);
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

using Behaviours = List<OnPolicy, UniformMixture, Snapshot, EpsilonGreedy, FixedLaw>;

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

// Which of few arms is drawn: the first whose cumulative weight exceeds u * total. As u * total <
// total, an arm of weight exactly 0 is never taken.
template <int KT, int N>
struct FewDrawn {
  Truth<N> beyond[KT - 1];  // whether a later arm is drawn

  FewDrawn() = default;
  COMMITTAL_INLINE FewDrawn(const Lanes<N> (&q)[KT], const Lanes<N>& total, const Lanes<N>& u) {
    const Lanes<N> x = u * total;
    Lanes<N> cumulative = q[0];
    COMMITTAL_PARTS(k, KT - 1) {
      beyond[k] = x >= cumulative;
      if (k < KT - 2) cumulative += q[k + 1];
    }
  }
  // The drawn arm's number among these.
  COMMITTAL_INLINE Lanes<N> of(const Lanes<N> (&x)[KT]) const {
    Lanes<N> chosen = x[0];
    COMMITTAL_PARTS(k, KT - 1) chosen = select(beyond[k], x[k + 1], chosen);
    return chosen;
  }
  // Whether arm k is drawn, but for the first: see put().
  COMMITTAL_INLINE Truth<N> is(int k) const {
    return k == 0 ? !beyond[0] : k < KT - 1 ? without(beyond[k - 1], beyond[k]) : beyond[KT - 2];
  }
  // x of the drawn arm is replaced.
  COMMITTAL_INLINE void put(Lanes<N> (&x)[KT], const Lanes<N>& by) const {
    x[0] = select(beyond[0], x[0], by);
    COMMITTAL_PARTS(k, KT - 1) x[k + 1] = select(is(k + 1), by, x[k + 1]);
  }
};

// The number that a drawn arm's weight and the total give to divide by: mu(a) + implicit, times the
// total, and never 0, even for an arm that is drawn though it can hardly be.
template <typename T>
COMMITTAL_INLINE T drawn_weight(const T& chosen, const T& total, const T& implicit) {
  return larger(chosen + implicit * total, T(1e-290));
}

// action ~ q and importance = 1 / (mu(a) + implicit).
template <int KT, int W>
COMMITTAL_INLINE void draw_actions(std::int64_t count, BehaviourRows rows, const double* u,
                                   double implicit, std::int64_t* action, double* importance) {
  const double* q = rows.q;
  const double* total = rows.total;
  if constexpr (KT > 0) {
    constexpr int N = kStripOf<W>;
    for (int l = 0; l < W; l += N) {
      Lanes<N> weight[KT];
      Lanes<N> number[KT];
      COMMITTAL_PARTS(k, KT) {
        weight[k] = Lanes<N>::load(q + k * W + l);
        number[k] = Lanes<N>(static_cast<double>(k));
      }
      const Lanes<N> sum = Lanes<N>::load(total + l);
      const FewDrawn<KT, N> drawn(weight, sum, Lanes<N>::load(u + l));
      store_integers(drawn.of(number), action + l);
      (sum / drawn_weight(drawn.of(weight), sum, Lanes<N>(implicit))).store(importance + l);
    }
  } else {
    constexpr int N = kSummedTogether<W>;
    for (int l = 0; l < W; l += N) {
      const Lanes<N> x = Lanes<N>::load(u + l) * Lanes<N>::load(total + l);
      Lanes<N> cumulative(0.0);
      Lanes<N> passed(0.0);
      for (std::int64_t k = 0; k < count - 1; ++k) {
        cumulative += Lanes<N>::load(q + k * W + l);
        passed = add_where(x >= cumulative, passed, Lanes<N>(1.0));
      }
      store_integers(passed, action + l);
    }
    for (int l = 0; l < W; ++l) importance[l] = q[action[l] * W + l];
    constexpr int M = kStripOf<W>;
    for (int l = 0; l < W; l += M) {
      const Lanes<M> sum = Lanes<M>::load(total + l);
      (sum / drawn_weight(Lanes<M>::load(importance + l), sum, Lanes<M>(implicit)))
          .store(importance + l);
    }
  }
}

}  // namespace committal::COMMITTAL_ISA
