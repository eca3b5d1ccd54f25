// What programs of MDPs look at together: some places or visits, of whatever lanes, as rows.
#pragma once

#include "kernels/behaviours.hpp"
#include "kernels/mdp/block.hpp"

namespace committal::COMMITTAL_ISA {

using Input = ProgramInput;

inline constexpr double kLeastSeen = 1e-150;
inline constexpr int kSeen = kMdpSeen;

inline bool has(std::uint32_t inputs, Input input) {
  return (inputs >> static_cast<int>(input) & 1u) != 0;
}

// What programs look at together: where each of them is, the first `count` of kSeen.
template <int W>
struct Window {
  MdpRows<W>& s;
  const MdpView& plan;
  MdpPrograms<W>& p;
  const std::int64_t A;
  const std::int64_t states;  // of one lane
  const bool exact;
  const bool on_policy;
  int count = 0;
  std::int32_t lane[kSeen];
  std::int64_t move[kSeen];  // of the lane's path
  std::int64_t own[kSeen];   // as in a Place
  std::int64_t pair[kSeen];  // own and the action

  Window(MdpRows<W>& rows, const MdpView& view)
      : s(rows),
        plan(view),
        p(*rows.programs),
        A(view.model.actions),
        states(own_states(view.model.acting)),
        exact(view.estimator == MdpEstimator::kExactQ),
        on_policy(view.behaviour == kOnPolicy) {}

  const double* pi_at(int j) const { return s.law + 2 * own[j] + A; }
  const double* drawn_at(int j) const { return s.drawn + 2 * own[j] + A; }

  // rows[k][j] = from(j)[k]
  template <typename F>
  void gather(double* rows, F&& from) {
    int j = 0;
    for (; A == 4 && j + 4 <= count; j += 4) {
      transpose4({from(j), from(j + 1), from(j + 2), from(j + 3)},
                 {rows + j, rows + kSeen + j, rows + 2 * kSeen + j, rows + 3 * kSeen + j});
    }
    for (; j < count; ++j) {
      for (std::int64_t k = 0; k < A; ++k) rows[k * kSeen + j] = from(j)[k];
    }
  }

  // The rows of the states that are asked for.
  void gather_states(std::uint32_t inputs, const double* q) {
    if (has(inputs, Input::kPolicy) || has(inputs, Input::kBehaviour)) {
      gather(p.pi, [&](int j) { return pi_at(j); });
      for (std::int64_t at = 0; at < A * kSeen; at += kStrip) {
        larger(Strip::load(p.pi + at), Strip(kLeastSeen)).store(p.pi + at);
      }
    }
    if (has(inputs, Input::kTheta)) gather(p.theta, [&](int j) { return s.theta + own[j]; });
    if (has(inputs, Input::kRewards)) gather(p.r, [&](int j) { return q + own[j]; });
    if (has(inputs, Input::kStart)) {
      gather(p.start, [&](int j) { return plan.acting_theta0 + own[j] - lane[j] * states * A; });
    }
    if (has(inputs, Input::kBehaviour)) find_behaviour();
  }

  // mu of the states that are in p.pi.
  void find_behaviour() {
    if (s.drawn != nullptr) {
      gather(p.mu, [&](int j) { return drawn_at(j); });
      for (std::int64_t at = 0; at < A * kSeen; at += kStrip) {
        larger(Strip::load(p.mu + at), Strip(kLeastSeen)).store(p.mu + at);
      }
      return;
    }
    sum_rows<0, kSeen>(A, p.pi, p.total);
    const auto t = static_cast<std::int64_t>(p.time[0]);
    const BehaviourRows rows = behaviour_rows<0, kSeen>(
        plan.behaviour, {plan.exploration.at(t), plan.behaviour_probabilities.data},
        ArmRows<kSeen>{A, p.pi, p.total}, p.mu, p.total);
    for (std::int64_t k = 0; k < A; ++k) {
      COMMITTAL_STRIPS(j, kSeen) {
        const Strip mu = Strip::load(rows.q + k * kSeen + j) / Strip::load(rows.total + j);
        larger(mu, Strip(kLeastSeen)).store(p.mu + k * kSeen + j);
      }
    }
  }

  // f() for some places, kSeen of them at a time.
  template <typename F>
  void for_each(const Place* places, std::int64_t all, F&& f) {
    for (std::int64_t first = 0; first < all; first += kSeen) {
      count = all - first < kSeen ? static_cast<int>(all - first) : kSeen;
      for (int j = 0; j < count; ++j) {
        own[j] = places[first + j].own;
        lane[j] = places[first + j].lane;
      }
      f();
    }
  }

  // place_b += what a program gives in some places, after look() has run it.
  template <typename F>
  void add_to_baseline(const LaneProgram<kSeen>& program, const Place* places, std::int64_t all,
                       Patience& patience, F&& look) {
    for_each(places, all, [&] {
      look();
      const BoundRows& value = program.output(0);
      for (int j = 0; j < count; ++j) p.place_b[own[j]] += value.row[j];
      look_at(value, 1, p.one);
      patience.spend((program.view().code.count + 4) * A);
    });
  }

  // Everything that programs are asked to see of the visits, and what multiplies them from outside.
  void gather_visits(bool inverses) {
    gather_states(p.of_visit, p.place_q);
    for (int j = 0; j < count; ++j) p.b[j] = p.place_b[own[j]];
    for (int j = 0; j < count; ++j) {
      p.advantage[j] = exact                 ? s.advantage[pair[j]]
                       : p.signal != nullptr ? p.signal[lane[j]]
                                             : s.episode_return[lane[j]] - p.b[j];
    }
    if (has(p.of_visit, Input::kReward)) {
      for (int j = 0; j < count; ++j) {
        p.reward[j] = exact ? p.place_q[pair[j]] : s.episode_return[lane[j]];
      }
    }
    // Where nothing is written there is 1.
    const bool discounted = plan.discounted && exact;
    for (int j = 0; j < count && discounted; ++j) p.factor[j] = s.discounts[move[j]];
    for (int j = 0; j < count && !on_policy; ++j) {
      const std::int64_t at = lane[j] * path_moves(plan.limit) + move[j];
      p.ratio[j] = s.path_weight[at];
      p.factor[j] = s.path_ratio[at] * (discounted ? p.factor[j] : 1.0);
    }
    if (s.drawn != nullptr) find_ratios();
    if (has(p.of_visit, Input::kScore)) find_scores();
    if (inverses || has(p.of_visit, Input::kNatural)) find_inverses();
  }

  // pi / mu of the actions alone, mu being the copy of the law that drew them: 1 where it is pi.
  void find_ratios() {
    const auto seen = [](double x) { return x > kLeastSeen ? x : kLeastSeen; };
    for (int j = 0; j < count; ++j) {
      const std::int64_t action = pair[j] - own[j];
      p.ratio[j] = seen(pi_at(j)[action]) / seen(drawn_at(j)[action]);
    }
  }

  // e_a - pi. What is left of 1 is the sum of the others: next to a corner the difference would
  // have no digits.
  void find_scores() {
    if (p.link) return find_linked_scores();
    gather(p.score, [&](int j) { return pi_at(j); });
    COMMITTAL_STRIPS(j, kSeen) {
      const Strip action = Strip::load(p.action + j);
      Strip others(0.0);
      for (std::int64_t k = 0; k < A; ++k) {
        const StripTruth other = !(action == Strip(static_cast<double>(k)));
        others += where(other, Strip::load(p.score + k * kSeen + j));
      }
      for (std::int64_t k = 0; k < A; ++k) {
        double* score = p.score + k * kSeen + j;
        const StripTruth drawn = action == Strip(static_cast<double>(k));
        select(drawn, others, -Strip::load(score)).store(score);
      }
    }
  }

  // The same through a link: f'_a / f_a - f'_a / F at the action drawn, - f' / F elsewhere.
  void find_linked_scores() {
    for (int j = 0; j < count; ++j) {
      const double* pi = pi_at(j);
      const double* rise = p.rise + own[j];
      const std::int64_t drawn = pair[j] - own[j];
      double others = 0.0;
      for (std::int64_t k = 0; k < A; ++k) {
        others += k == drawn ? 0.0 : pi[k];
        p.score[k * kSeen + j] = -rise[k];
      }
      p.score[drawn * kSeen + j] = rise[drawn] * (others / pi[drawn]);
    }
  }

  // 1 / pi(a), and e_a / pi(a)
  void find_inverses() {
    for (int j = 0; j < count; ++j) p.inverse[j] = pi_at(j)[pair[j] - own[j]];
    COMMITTAL_STRIPS(j, kSeen) {
      const Strip inverse = Strip(1.0) / larger(Strip::load(p.inverse + j), Strip(1e-290));
      inverse.store(p.inverse + j);
      for (std::int64_t k = 0; k < A; ++k) {
        const StripTruth drawn = Strip::load(p.action + j) == Strip(static_cast<double>(k));
        where(drawn, inverse).store(p.natural + k * kSeen + j);
      }
    }
  }

  // Notes what a program gave in some rows, wherever it counts.
  void look_at(const BoundRows& value, std::int64_t rows, const double* counts) {
    Strip differences(0.0);  // x - x is 0 for numbers and NaN for all else
    for (std::int64_t k = 0; k < rows; ++k) {
      COMMITTAL_STRIPS(j, kSeen) {
        const Strip x = Strip::load(value.row + k * value.arm + j);
        differences += x - x;
      }
    }
    if (all(differences == Strip(0.0))) return;
    for (std::int64_t k = 0; k < rows; ++k) {
      for (int j = 0; j < count; ++j) {
        const double x = value.row[k * value.arm + j];
        if (counts[j] != 0.0) p.lost[lane[j]] += x - x;
      }
    }
  }
};

}  // namespace committal::COMMITTAL_ISA
