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
//   move_all(s, alpha)              a whole step of one sample in one pass, which knows the total
#pragma once

#include "kernels/bandit/draws.hpp"

namespace committal::COMMITTAL_ISA {

// row[action] of each lane += amount
template <int KT, int W>
COMMITTAL_INLINE void add_at_action(Block<KT, W>& s, double* rows, const double* amount) {
  for (int l = 0; l < W; ++l) rows[s.action[l] * W + l] += amount[l];
}

// Updates that follow the estimate A w e_a itself: natural and projected before any metric.
struct AlongArm {
  template <int KT, int W>
  static COMMITTAL_INLINE void add_sample(Block<KT, W>& s, double inverse_samples) {
    COMMITTAL_STRIPS(l, W) {
      ((Strip::load(s.reward + l) - Strip::load(s.baseline + l)) * Strip::load(s.importance + l) *
       Strip(inverse_samples))
          .store(s.spare + l);
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
    COMMITTAL_STRIPS(l, W) {
      const Strip shift = Strip::load(s.shift + l);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const std::int64_t at = k * W + l;
        const Strip theta =
            Strip::load(s.theta + at) + Strip(alpha) * Strip::load(s.direction + at);
        theta.store(s.theta + at);
        exp_of(theta - shift).store(s.weight + at);
      }
    }
  }

  // log pi_k + log_total = theta_k
  template <int KT, int W>
  static COMMITTAL_INLINE Strip log_total(const Block<KT, W>& s, int l) {
    return log_of(Strip::load(s.total + l)) + Strip::load(s.shift + l);
  }
};

struct VanillaUpdate : MovesTheta {
  static constexpr UpdateRow kRow{"vanilla", Policy::kSoftmax, /*along_score=*/true};

  template <int KT, int W>
  static COMMITTAL_INLINE void add_sample(Block<KT, W>& s, double inverse_samples) {
    // coefficient = A pi(a) w / samples; direction += coefficient (e_a - pi)
    for (int l = 0; l < W; ++l) s.spare[l] = s.weight[s.action[l] * W + l];
    COMMITTAL_STRIPS(l, W) {
      const Strip inverse_total = Strip(1.0) / Strip::load(s.total + l);
      const Strip ratio = Strip::load(s.spare + l) * inverse_total * Strip::load(s.importance + l);
      const Strip coefficient = (Strip::load(s.reward + l) - Strip::load(s.baseline + l)) * ratio *
                                Strip(inverse_samples);
      coefficient.store(s.spare + l);
      const Strip share = coefficient * inverse_total;
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const std::int64_t at = k * W + l;
        (Strip::load(s.direction + at) - share * Strip::load(s.weight + at))
            .store(s.direction + at);
      }
    }
    add_at_action(s, s.direction, s.spare);
  }

  // A whole step of one sample in one pass over the arms, with the new total. The drawn arm, which
  // may go far, has its weight by an exponential; those of the others follow by short_growth(), and
  // every so often from their parameters, so that roundings do not add up.
  template <int KT, int W>
  static COMMITTAL_INLINE void move_all(Block<KT, W>& s, double alpha) {
    constexpr std::int64_t kMovesBetweenExponentials = 32;
    const bool anew = ++s.moves % kMovesBetweenExponentials == 0;
    double* const chosen = s.spare;      // its weight
    double* const parameter = s.spare2;  // its theta
    for (int l = 0; l < W; ++l) {
      chosen[l] = s.weight[s.action[l] * W + l];
      parameter[l] = s.theta[s.action[l] * W + l];
    }
    COMMITTAL_STRIPS(l, W) {
      const Strip weight = Strip::load(chosen + l);
      const Strip inverse_total = Strip(1.0) / Strip::load(s.total + l);
      const Strip ratio = weight * inverse_total * Strip::load(s.importance + l);
      const Strip advantage = Strip::load(s.reward + l) - Strip::load(s.baseline + l);
      const Strip along = Strip(alpha) * advantage * ratio;
      const Strip share = along * inverse_total;
      const Strip theta = (Strip::load(parameter + l) + along) - share * weight;
      theta.store(parameter + l);
      exp_of(theta - Strip::load(s.shift + l)).store(chosen + l);
      share.store(s.total + l);  // what it was is not needed any more
    }
    for (int l = 0; l < W; ++l) {
      s.theta[s.action[l] * W + l] = parameter[l];
      s.weight[s.action[l] * W + l] = 0.0;  // so that the pass leaves it alone
    }
    COMMITTAL_STRIPS(l, W) {
      const Strip share = Strip::load(s.total + l);
      const Strip shift = Strip::load(s.shift + l);
      Strip total = Strip::load(chosen + l);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const std::int64_t at = k * W + l;
        const Strip before = Strip::load(s.weight + at);
        const Strip change = share * before;
        const Strip theta = Strip::load(s.theta + at) - change;
        theta.store(s.theta + at);
        Strip weight = short_growth(before, -change);
        const StripTruth far = larger(change, -change) > Strip(kShortest);
        if (anew || any(far)) {
          const Strip exact = where(before > Strip(0.0), exp_of(theta - shift));
          weight = anew ? exact : select(far, exact, weight);
        }
        weight.store(s.weight + at);
        total += weight;
      }
      total.store(s.total + l);
    }
    for (int l = 0; l < W; ++l) s.weight[s.action[l] * W + l] = chosen[l];
  }

  template <int KT, int W>
  static COMMITTAL_INLINE void expected(Block<KT, W>& s, const BanditView& plan) {
    evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{plan.means.data}, 0.0, s.spare);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        (Strip::load(s.weight + k * W + l) / Strip::load(s.total + l) *
         (Strip(plan.means[k]) - Strip::load(s.spare + l)))
            .store(s.direction + k * W + l);
      }
    }
  }

  template <int KT, int W>
  static COMMITTAL_INLINE void add_entropy(Block<KT, W>& s, double tau) {
    COMMITTAL_STRIPS(l, W) {
      const Strip log_total = MovesTheta::log_total(s, l);
      const Strip total = Strip::load(s.total + l);
      Strip entropy(0.0);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const Strip pi = Strip::load(s.weight + k * W + l) / total;
        entropy -= pi * (Strip::load(s.theta + k * W + l) - log_total);
      }
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const std::int64_t at = k * W + l;
        const Strip pi = Strip::load(s.weight + at) / total;
        (Strip::load(s.direction + at) -
         Strip(tau) * pi * ((Strip::load(s.theta + at) - log_total) + entropy))
            .store(s.direction + at);
      }
    }
  }
};

struct NaturalUpdate : AlongArm, MovesTheta {
  static constexpr UpdateRow kRow{"natural", Policy::kSoftmax, /*along_score=*/false};

  template <int KT, int W>
  static COMMITTAL_INLINE void add_entropy(Block<KT, W>& s, double tau) {
    COMMITTAL_STRIPS(l, W) {
      const Strip log_total = MovesTheta::log_total(s, l);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const std::int64_t at = k * W + l;
        (Strip::load(s.direction + at) - Strip(tau) * (Strip::load(s.theta + at) - log_total))
            .store(s.direction + at);
      }
    }
  }

  // One theta moves, one weight is recomputed; the caller sums up the weights.
  template <int KT, int W>
  static COMMITTAL_INLINE void move_one(Block<KT, W>& s, double alpha) {
    for (int l = 0; l < W; ++l) s.spare[l] = s.theta[s.action[l] * W + l];
    COMMITTAL_STRIPS(l, W) {
      const Strip advantage = Strip::load(s.reward + l) - Strip::load(s.baseline + l);
      const Strip theta =
          Strip::load(s.spare + l) + Strip(alpha) * advantage * Strip::load(s.importance + l);
      theta.store(s.spare + l);
      exp_of(theta - Strip::load(s.shift + l)).store(s.spare2 + l);
    }
    for (int l = 0; l < W; ++l) {
      s.theta[s.action[l] * W + l] = s.spare[l];
      s.weight[s.action[l] * W + l] = s.spare2[l];
    }
  }
};

struct ProjectedUpdate : AlongArm {
  static constexpr UpdateRow kRow{"projected", Policy::kDirect, /*along_score=*/false};

  template <int KT, int W>
  static COMMITTAL_INLINE void apply(Block<KT, W>& s, double alpha) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        const std::int64_t at = k * W + l;
        (Strip::load(s.theta + at) + Strip(alpha) * Strip::load(s.direction + at))
            .store(s.direction + at);
      }
    }
    project(s, s.direction);  // weight is theta: nothing to refresh
  }
};

using Updates = List<VanillaUpdate, NaturalUpdate, ProjectedUpdate>;

template <typename Part>
inline constexpr Update kUpdate{kPlace<Part, Updates>};

// f<Part>() of the update of a plan.
template <typename F>
COMMITTAL_INLINE void with_update(const BanditView& plan, F&& f) {
  with_part(Updates{}, static_cast<int>(plan.update), f);
}

template <typename Part, int KT, int W>
inline constexpr bool kMovesOneArm = requires(Block<KT, W>& s) { Part::move_one(s, 1.0); };
template <typename Part, int KT, int W>
inline constexpr bool kMovesAllAtOnce = requires(Block<KT, W>& s) { Part::move_all(s, 1.0); };

}  // namespace committal::COMMITTAL_ISA
