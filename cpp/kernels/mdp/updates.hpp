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

namespace committal::COMMITTAL_ISA {

struct MdpVanilla {
  static constexpr Named kRow{"vanilla"};
  static constexpr bool kAlongScore = true;
  static constexpr bool kByDistribution = true;

  template <typename T>
  static COMMITTAL_INLINE T weight(const T&) {
    return T(1.0);
  }
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

  template <typename T>
  static COMMITTAL_INLINE T weight(const T& importance) {
    return importance;
  }
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

// pi of the action of a move
template <int KT, int W>
COMMITTAL_INLINE double drawn_pi(const MdpBlock<KT, W>& s, std::int64_t l, std::uint32_t pair) {
  return s.pi_at(l * s.own_pairs)[s.first_pair(pair) + pair];
}

// path_weight: from the importance of every move of lane l to what multiplies its direction, before
// the advantage or the return.
template <typename Part, int KT, int W>
inline void weigh_off_policy(MdpBlock<KT, W>& s, int l) {
  const std::int64_t path = l * s.path_stride;
  const bool scaled = s.plan.discounted && s.plan.estimator == MdpEstimator::kExactQ;
  double prefix = 1.0;  // the ratios so far
  for (std::int64_t move = 0; move < s.made[l]; ++move) {
    const double importance = s.path_weight[path + move];
    const double through = prefix * (drawn_pi(s, l, s.path[path + move]) * importance);
    const double weight = Part::weight(importance, prefix, through);
    s.path_ratio[path + move] = through;
    s.path_weight[path + move] = (scaled ? s.discounts[move] : 1.0) * weight;
    prefix = through;
  }
}

// b of REINFORCE: one number, or one per state where a formula looks at the state.
struct SameBaseline {
  double b;
  COMMITTAL_INLINE double at(std::uint32_t) const { return b; }
  // A of a strip of moves of an episode, from its return.
  COMMITTAL_INLINE Places less(double earned, const std::uint32_t*) const {
    return Places(earned) - Places(b);
  }
};
struct StateBaseline {
  const double* b;  // of a lane, by the first pair of a state
  std::uint32_t actions;
  COMMITTAL_INLINE double at(std::uint32_t pair) const { return b[pair - pair % actions]; }
  COMMITTAL_INLINE Places less(double earned, const std::uint32_t* path) const {
    return Places(earned) -
           collect<kPlaces>([&](int i) COMMITTAL_INLINE_LAMBDA { return at(path[i]); });
  }
};
// Not b but A itself, of an episode among others.
struct GroupAdvantage {
  double advantage;
  COMMITTAL_INLINE Places less(double, const std::uint32_t*) const { return Places(advantage); }
};

// The same for REINFORCE, where reward k carries the ratios up to max(i, k):
//   rho_{0:i} (C_i - b) + sum_{k >= i} gamma^k r_k rho_{0:k},   C_i = sum_{k < i} gamma^k r_k.
template <typename Part, typename B, int KT, int W>
inline void weigh_by_returns(MdpBlock<KT, W>& s, int l, const B& b) {
  const std::int64_t path = l * s.path_stride;
  double earned = s.episode_return[l];  // C_i, walking backwards
  double pending = 0.0;                 // the sum over k >= i
  for (std::int64_t move = s.made[l] - 1; move >= 0; --move) {
    const double reward = s.path_reward[path + move];
    const double ratio = s.path_ratio[path + move];
    earned -= reward;
    pending += reward * ratio;
    const std::uint32_t pair = s.path[path + move];
    const double signal = ratio * (earned - b.at(pair)) + pending;
    double& weight = s.path_weight[path + move];
    weight = (weight != 0.0 ? 1.0 : 0.0) * Part::of_return(signal, drawn_pi(s, l, pair));
  }
}

// alpha times what multiplies the directions of a strip of moves of lane l. `b`: of REINFORCE.
template <typename Part, typename B, int KT, int W>
COMMITTAL_INLINE Places move_coefficients(const MdpBlock<KT, W>& s, int l, std::int64_t first,
                                          double alpha, const B& b) {
  const std::uint32_t* path = s.path_of(l) + first;
  const bool exact = s.plan.estimator == MdpEstimator::kExactQ;
  Places weight;
  if (s.plan.behaviour == kOnPolicy) {
    const double* totals = s.law_at(l * s.own_pairs) + s.A() - 1;
    const double* policy = s.pi_at(l * s.own_pairs);
    std::uint32_t at_total[kPlaces];
    std::uint32_t at_pi[kPlaces];
    for (int i = 0; i < kPlaces; ++i) {
      const std::uint32_t first_pair = s.first_pair(path[i]);
      at_total[i] = 2 * first_pair;
      at_pi[i] = path[i] + first_pair;
    }
    const Places total =
        collect<kPlaces>([&](int i) COMMITTAL_INLINE_LAMBDA { return totals[at_total[i]]; });
    const Places pi =
        collect<kPlaces>([&](int i) COMMITTAL_INLINE_LAMBDA { return policy[at_pi[i]]; });
    weight = Part::weight(total / drawn_weight(pi, total, Places(0.0)));
    if (exact && s.plan.discounted) weight = Places::load(s.discounts + first) * weight;
    if (!exact) weight *= b.less(s.episode_return[l], path);
  } else {
    weight = Places::load(s.path_weight + l * s.path_stride + first);
  }
  const Places by = Places(alpha) * weight;
  if (!exact) return by;
  const double* advantage = s.advantage + l * s.own_pairs;
  return by * collect<kPlaces>([&](int i) COMMITTAL_INLINE_LAMBDA { return advantage[path[i]]; });
}

// row += by * (e_a - pi)
template <int KT>
COMMITTAL_INLINE void add_along_score(std::int64_t actions, double by, const double* pi,
                                      std::uint32_t action, double* row) {
  if constexpr (KT == 4) {
    // Read and written as a whole: a part that was just written would have to be waited for.
    constexpr QuadIndex kNumbers{0, 1, 2, 3};
    const Quad less = *reinterpret_cast<Quad*>(row) - by * *reinterpret_cast<const Quad*>(pi);
    const QuadIndex drawn = kNumbers == static_cast<std::int64_t>(action);
    *reinterpret_cast<Quad*>(row) =
        reinterpret_cast<Quad>((drawn & reinterpret_cast<QuadIndex>(less + by)) |
                               (~drawn & reinterpret_cast<QuadIndex>(less)));
  } else {
    for (std::int64_t k = 0; k < actions; ++k) row[k] -= by * pi[k];
    row[action] += by;
  }
}

// What multiplies the moves of lane l, where that is not worked out strip by strip.
template <typename Part, typename B, int KT, int W>
inline void weigh_episode(MdpBlock<KT, W>& s, int l, const B& b) {
  if (s.plan.behaviour == kOnPolicy) return;
  weigh_off_policy<Part>(s, l);
  if (s.plan.estimator == MdpEstimator::kReinforce) weigh_by_returns<Part>(s, l, b);
}

// theta[s_i] += alpha * coefficient * (e_a - pi, or e_a) along the episode of lane l. The policy is
// still the old one.
template <typename Part, int KT, int W>
inline void apply_episode(MdpBlock<KT, W>& s, int l, double alpha, const SameBaseline& b) {
  weigh_episode<Part>(s, l, b);
  double* theta = s.theta + l * s.own_pairs;
  const double* policy = s.pi_at(l * s.own_pairs);
  for (std::int64_t first = 0; first < s.made[l]; first += kPlaces) {
    double by[kPlaces];
    move_coefficients<Part>(s, l, first, alpha, b).store(by);
    const std::uint32_t* path = s.path_of(l) + first;
    // Moves past the last one move the state that means nothing.
    COMMITTAL_PARTS(i, kPlaces) {
      if constexpr (Part::kAlongScore) {
        const std::uint64_t pair = s.first_pair(path[i]);
        add_along_score<KT>(s.A(), by[i], policy + 2 * pair, path[i] - s.first_pair(path[i]),
                            theta + pair);
      } else {
        theta[path[i]] += by[i];
      }
    }
    s.patience.spend(s.A());
  }
}

// b of the return of lane l, but for a formula: only a running mean is allowed for REINFORCE.
template <int KT, int W>
COMMITTAL_INLINE double return_baseline(const MdpBlock<KT, W>& s, std::int64_t l) {
  double b = s.plan.baseline_offset;
  for (const BaselineTerm& term : s.plan.baseline_terms) b += term.coefficient * s.running_mean[l];
  return b;
}
template <int KT, int W>
inline void follow_returns(MdpBlock<KT, W>& s, std::int64_t episode) {
  if (s.plan.estimator != MdpEstimator::kReinforce || !s.plan.uses_running_mean) return;
  follow_rewards<W>(s.running_mean, s.episode_return, s.plan.running_mean_rate,
                    static_cast<double>(episode + 1));
}

// The places where the lanes were in this episode: every state once per lane.
template <int KT, int W>
inline std::int64_t find_places(MdpBlock<KT, W>& s) {
  std::int64_t count = 0;
  const auto actions = static_cast<std::uint32_t>(s.A());
  for (int l = 0; l < s.task.valid; ++l) {
    const std::uint32_t* path = s.path_of(l);
    const std::int64_t made = s.made[l];
    std::uint32_t* found = s.found;
    std::uint8_t* marks = s.marks;
    std::int64_t fresh = 0;
    for (std::int64_t move = 0; move < made; ++move) {
      const std::uint32_t state = path[move] / actions;
      // Written where the next one goes, which it becomes if it is new.
      found[fresh] = state;
      fresh += marks[state] == 0 ? 1 : 0;
      marks[state] = 1;
    }
    for (std::int64_t i = 0; i < fresh; ++i) {
      marks[found[i]] = 0;
      s.places[count + i] = s.place(l, found[i]);
      s.stale[found[i]] = 1;
    }
    count += fresh;
  }
  fill_up(s, s.places, count);
  return count;
}

// theta moves along all episodes, and the policy follows wherever a lane has been.
template <int KT, int W>
inline void apply_episodes(MdpBlock<KT, W>& s, std::int64_t t, double alpha) {
  const std::int64_t places = find_places(s);
  if (s.plan.estimator == MdpEstimator::kExactQ) find_advantages(s, s.places, places);
  with_update(s.plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
    for (int l = 0; l < s.task.valid; ++l) {
      apply_episode<Part>(s, l, alpha, SameBaseline{return_baseline(s, l)});
    }
  });
  refresh_places(s, s.places, places);
  follow_returns(s, t);
}

// vanilla: alpha d(s) pi (Q - V); natural: alpha (Q - V) wherever the start can lead.
template <int KT, int W>
inline void follow_expectation(MdpBlock<KT, W>& s, double alpha, double* table) {
  const std::int64_t places = s.reachable_places;
  find_advantages(s, s.places, places);
  with_update(s.plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
    double* distribution = s.spare_values;
    if constexpr (Part::kByDistribution) {
      solve_distribution<W>(s.m, s.policy, s.plan.start, s.slots, distribution, s.patience);
    }
    for (std::int64_t p = 0; p < places; ++p) {
      const Place& place = s.places[p];
      const double d =
          Part::kByDistribution ? distribution[place.pair / s.A() * W + place.lane] : 1.0;
      // Through a link f' / F takes the place of pi.
      const bool linked = s.plan.programs.link != nullptr;
      const double* pi = linked ? s.programs->rise + place.own : s.pi_at(place.own);
      const double* advantage = s.advantage + place.own;
      double* theta = table + place.own;
      if constexpr (KT == 4) {
        const Quad scale{Part::expected(d, pi[0]), Part::expected(d, pi[1]),
                         Part::expected(d, pi[2]), Part::expected(d, pi[3])};
        *reinterpret_cast<Quad*>(theta) +=
            alpha * scale * *reinterpret_cast<const Quad*>(advantage);
      } else {
        for (std::int64_t k = 0; k < s.A(); ++k) {
          theta[k] += alpha * Part::expected(d, pi[k]) * advantage[k];
        }
      }
    }
  });
  for (std::int64_t i = 0; i < s.n; ++i) s.stale[i] = s.plan.reachable[i];
}

// The update number t, from the episode just drawn or from its expectation.
template <int KT, int W>
inline void apply_update(MdpBlock<KT, W>& s, std::int64_t t) {
  const double alpha = s.plan.step_size.at(t);
  if (s.plan.estimator == MdpEstimator::kExpected) {
    follow_expectation(s, alpha, s.theta);
    refresh_places(s, s.places, s.reachable_places);
  } else {
    apply_episodes(s, t, alpha);
  }
}

}  // namespace committal::COMMITTAL_ISA
