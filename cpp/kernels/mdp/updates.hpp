// Updates of MDPs: how an episode, or the expectation over episodes, moves theta.
//
//   vanilla   along the score e_a - pi of every move
//   natural   along e_a, over pi(a): the score through the inverse Fisher matrix
//
// To add one, write a struct like those below and append it to `MdpUpdates`. It offers
//
//   kRow                    its name, that of the bandit's update
//   kAlongScore             whether a move goes along e_a - pi, else along e_a
//   weight(...)             what multiplies a move drawn from pi, resp. from another law
//   of_return(signal, pi)   the same for REINFORCE off the policy, where the signal holds the
//   ratios kByDistribution         whether the expectation weighs a state by the discounted visits
//   to it expected(d, pi)         its scale there
#pragma once

#include "kernels/behaviours.hpp"
#include "kernels/mdp/advantages.hpp"
#include "kernels/mdp/policies.hpp"

namespace committal::COMMITTAL_ISA {

struct MdpVanilla {
  static constexpr Named kRow{"vanilla"};
  static constexpr bool kAlongScore = true;
  static constexpr bool kByDistribution = true;

  static COMMITTAL_INLINE double weight(double) { return 1.0; }
  // `before`: the importance ratios of the moves so far; `through`: with this one.
  static COMMITTAL_INLINE double weight(double, double /*before*/, double through) {
    return through;
  }
  static COMMITTAL_INLINE double of_return(double signal, double) { return signal; }
  static COMMITTAL_INLINE double expected(double d, double pi) { return d * pi; }
};

struct MdpNatural {
  static constexpr Named kRow{"natural"};
  static constexpr bool kAlongScore = false;
  static constexpr bool kByDistribution = false;

  static COMMITTAL_INLINE double weight(double importance) { return importance; }
  static COMMITTAL_INLINE double weight(double importance, double before, double) {
    return before * importance;
  }
  static COMMITTAL_INLINE double of_return(double signal, double pi) {
    return signal / larger(pi, kFloor);
  }
  static COMMITTAL_INLINE double expected(double, double) { return 1.0; }
};

using MdpUpdates = List<MdpVanilla, MdpNatural>;

// f<Part>() of the update of a plan.
template <typename F>
COMMITTAL_INLINE void with_update(const MdpView& plan, F&& f) {
  with_part(MdpUpdates{}, static_cast<int>(plan.update), f);
}

// What multiplies the direction of this move, before the advantage or the return.
template <int KT, int W>
inline void weigh_move(MdpBlock<KT, W>& s, double discount) {
  double* weight = s.path_weight + s.moves * W;
  double* ratio = s.path_ratio + s.moves * W;
  const double scale =
      s.plan.discounted && s.plan.estimator == MdpEstimator::kExactQ ? discount : 1.0;
  with_update(s.plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
    if (s.plan.behaviour == kOnPolicy) {
      COMMITTAL_LANES(l, W) weight[l] = s.alive[l] * scale * Part::weight(s.importance[l]);
      return;
    }
    COMMITTAL_LANES(l, W) {
      const double pi = s.policy[(s.state[l] * s.A() + s.action[l]) * W + l];
      const double rho = pi * s.importance[l];
      const double through = s.prefix[l] * rho;  // the ratios up to and including this move
      ratio[l] = through;
      weight[l] = s.alive[l] * scale * Part::weight(s.importance[l], s.prefix[l], through);
      s.prefix[l] = through;
    }
  });
}

// theta[s_i] += alpha * coefficient * (e_a - pi, or e_a). The policy is still the old one.
template <int KT, int W>
inline void apply_move(MdpBlock<KT, W>& s, std::int64_t move, double alpha) {
  const std::int64_t* state = s.path_state + move * W;
  const std::int64_t* action = s.path_action + move * W;
  const double* weight = s.path_weight + move * W;
  const bool exact = s.plan.estimator == MdpEstimator::kExactQ;
  COMMITTAL_LANES(l, W) {
    const double signal = exact ? s.advantage[(state[l] * s.A() + action[l]) * W + l] : 1.0;
    s.spare[l] = alpha * weight[l] * signal;
  }
  with_update(s.plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
    if constexpr (Part::kAlongScore) {
      for (std::int64_t k = 0; k < s.A(); ++k) {
        COMMITTAL_LANES(l, W) {
          const std::int64_t at = (state[l] * s.A() + k) * W + l;
          s.theta[at] -= s.spare[l] * s.policy[at];
        }
      }
    }
  });
  COMMITTAL_LANES(l, W) s.theta[(state[l] * s.A() + action[l]) * W + l] += s.spare[l];
}

// REINFORCE: path_weight becomes the multiplier of each move's direction. On-policy that is
// G - b; off-policy reward k carries the ratios up to max(i, k):
//   rho_{0:i} (C_i - b) + sum_{k >= i} gamma^k r_k rho_{0:k},   C_i = sum_{k < i} gamma^k r_k.
template <int KT, int W>
inline void weigh_by_returns(MdpBlock<KT, W>& s, std::int64_t t) {
  double* b = s.spare;
  fill<W>(b, s.plan.baseline_offset);
  for (const BaselineTerm& term : s.plan.baseline_terms) {  // only a running mean is allowed here
    COMMITTAL_LANES(l, W) b[l] += term.coefficient * s.running_mean[l];
  }
  if (s.plan.behaviour == kOnPolicy) {
    for (std::int64_t move = 0; move < s.moves; ++move) {
      COMMITTAL_LANES(l, W) s.path_weight[move * W + l] *= s.episode_return[l] - b[l];
    }
  } else {
    double earned[W];   // C_i, walking backwards
    double pending[W];  // the sum over k >= i
    COMMITTAL_LANES(l, W) {
      earned[l] = s.episode_return[l];
      pending[l] = 0.0;
    }
    for (std::int64_t move = s.moves - 1; move >= 0; --move) {
      const double* reward = s.path_reward + move * W;
      const double* ratio = s.path_ratio + move * W;
      const std::int64_t* state = s.path_state + move * W;
      const std::int64_t* action = s.path_action + move * W;
      double* weight = s.path_weight + move * W;
      s.patience.spend(1);
      with_update(s.plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
        COMMITTAL_LANES(l, W) {
          earned[l] -= reward[l];
          pending[l] += reward[l] * ratio[l];
          const double signal = ratio[l] * (earned[l] - b[l]) + pending[l];
          const double alive = weight[l] != 0.0 ? 1.0 : 0.0;
          const double pi = s.policy[(state[l] * s.A() + action[l]) * W + l];
          weight[l] = alive * Part::of_return(signal, pi);
        }
      });
    }
  }
  if (s.plan.uses_running_mean) {
    follow_rewards<W>(s.running_mean, s.episode_return, s.plan.running_mean_rate,
                      static_cast<double>(t + 1));
  }
}

// vanilla: alpha d(s) pi (Q - V); natural: alpha (Q - V) wherever the start can lead.
template <int KT, int W>
inline void apply_expected(MdpBlock<KT, W>& s, double alpha) {
  with_update(s.plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
    double* distribution = s.spare_values;
    if constexpr (Part::kByDistribution) {
      solve_distribution<W>(s.m, s.policy, s.plan.start, s.slots, distribution, s.patience);
    }
    for (std::int64_t i = 0; i < s.n; ++i) {
      if (s.plan.reachable[i] == 0) continue;
      for (std::int64_t k = 0; k < s.A(); ++k) {
        const std::int64_t row = (i * s.A() + k) * W;
        COMMITTAL_LANES(l, W) {
          const double d = Part::kByDistribution ? distribution[i * W + l] : 1.0;
          const double scale = Part::expected(d, s.policy[row + l]);
          s.theta[row + l] += alpha * scale * s.advantage[row + l];
        }
      }
      refresh_state(s, i);
    }
  });
}

// The update number t, from the episode just drawn or from its expectation.
template <int KT, int W>
inline void apply_update(MdpBlock<KT, W>& s, std::int64_t t) {
  const double alpha = s.plan.step_size.at(t);
  if (s.plan.estimator == MdpEstimator::kExpected) return apply_expected(s, alpha);
  if (s.plan.estimator == MdpEstimator::kReinforce) weigh_by_returns(s, t);
  for (std::int64_t move = 0; move < s.moves; ++move) {
    apply_move(s, move, alpha);
    s.patience.spend(s.A());
  }
  refresh_touched(s);
}

}  // namespace committal::COMMITTAL_ISA
