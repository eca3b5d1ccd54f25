// Recorders: what can be read off a block of MDP runs at time t. Everything describes theta_t and
// the episode drawn from it.
//
// To add one, write a struct like those below and append it to `MdpRecorders`: its row says how the
// quantity is called, its type and its axes (lengths in the view), kKept what must be kept, if
// anything, while an episode is drawn; record() returns its rows.
#pragma once

#include "core/quantity.hpp"
#include "kernels/mdp/episodes.hpp"

namespace committal::COMMITTAL_ISA {

using MdpQuantity = Quantity<MdpView>;

inline constexpr Kept kEpisodes{.episodes = true};
inline constexpr Kept kVisits{.episodes = true, .visits = true};
inline constexpr Kept kActionEntropy{.episodes = true, .action_entropy = true};

// Puts `width` rows per acting state at the place of its original number in `record`, number(state,
// k, lane) in row k.
template <int KT, int W, typename F>
inline void scatter_states(MdpBlock<KT, W>& s, std::int64_t width, F&& number) {
  for (std::int64_t i = 0; i < s.n; ++i) {
    double* to = s.record + s.plan.original[i] * width * W;
    for (std::int64_t k = 0; k < width; ++k) {
      for (int l = 0; l < W; ++l) to[k * W + l] = number(i, k, l);
    }
  }
}

struct ReturnRecorder {
  static constexpr MdpQuantity kRow{"return", Element::kFloat64};
  static constexpr Kept kKept = kEpisodes;

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    return s.episode_return;
  }
};

struct LengthRecorder {
  static constexpr MdpQuantity kRow{"length", Element::kInt32};
  static constexpr Kept kKept = kEpisodes;

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    return s.length;
  }
};

struct GoalRecorder {
  static constexpr MdpQuantity kRow{"goal", Element::kInt32};
  static constexpr Kept kKept = kEpisodes;

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    return s.goal;
  }
};

struct ActionEntropyRecorder {
  static constexpr MdpQuantity kRow{"action_entropy", Element::kFloat64};
  static constexpr Kept kKept = kActionEntropy;

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    for (int l = 0; l < W; ++l) s.record[l] = larger(s.entropy_sum[l] / s.length[l], 0.0);
    return s.record;
  }
};

// H of the visit counts c: log N - sum c log c / N.
struct StateEntropyRecorder {
  static constexpr MdpQuantity kRow{"state_entropy", Element::kFloat64};
  static constexpr Kept kKept = kVisits;

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    constexpr int N = kStripOf<W>;
    const Lanes<N> one(1.0);
    for (int l = 0; l < W; l += N) {
      Lanes<N> total(0.0);
      Lanes<N> sum(0.0);
      for (std::int64_t i = 0; i < s.n; ++i) {
        const Lanes<N> c = Lanes<N>::load(s.visits + i * W + l);
        total += c;
        sum += c * log_of(larger(c, one));
      }
      const Lanes<N> most = larger(total, one);
      larger(log_of(most) - sum / most, Lanes<N>(0.0)).store(s.record + l);
    }
    return s.record;
  }
};

// J = sum_s rho(s) V(s)
struct MdpValueRecorder {
  static constexpr MdpQuantity kRow{"value", Element::kFloat64};

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool evaluated) {
    const double* values = exact_values(s, evaluated);
    constexpr int N = kStripOf<W>;
    for (int l = 0; l < W; l += N) {
      Lanes<N> sum(0.0);
      for (std::int64_t i = 0; i < s.n; ++i) {
        sum += Lanes<N>(s.plan.start[i]) * Lanes<N>::load(values + i * W + l);
      }
      sum.store(s.record + l);
    }
    return s.record;
  }
};

struct GoalProbabilityRecorder {
  static constexpr MdpQuantity kRow{"goal_probability", Element::kFloat64, {&MdpView::goals}};

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    spread_policy(s);
    // The slots of the elimination are the two scratch rows per state that this needs.
    goal_probability<W>(s.m, s.policy, s.plan.start, s.plan.limit, s.slots, s.record, s.patience);
    return s.record;
  }
};

struct MdpPolicyRecorder {
  static constexpr MdpQuantity kRow{
      "policy", Element::kFloat64, {&MdpView::states, &MdpView::actions}};

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    const double uniform = 1.0 / static_cast<double>(s.A());  // in terminal states
    for (std::int64_t row = 0; row < s.plan.states * s.A(); ++row) {
      fill<W>(s.record + row * W, uniform);
    }
    scatter_states(s, s.A(), [&](std::int64_t i, std::int64_t k, int l) {
      return s.pi_at(s.place(l, i).own)[k];
    });
    return s.record;
  }
};

struct MdpThetaRecorder {
  static constexpr MdpQuantity kRow{
      "theta", Element::kFloat64, {&MdpView::states, &MdpView::actions}};

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    for (std::int64_t row = 0; row < s.plan.states * s.A(); ++row) {
      fill<W>(s.record + row * W, s.plan.theta0[row]);  // stays in terminal states
    }
    scatter_states(s, s.A(), [&](std::int64_t i, std::int64_t k, int l) {
      return s.theta[s.place(l, i).own + k];
    });
    return s.record;
  }
};

struct VisitsRecorder {
  static constexpr MdpQuantity kRow{"visits", Element::kInt64, {&MdpView::states}};
  static constexpr Kept kKept = kVisits;

  template <int KT, int W>
  static const double* record(MdpBlock<KT, W>& s, bool) {
    for (std::int64_t i = 0; i < s.plan.states; ++i) fill<W>(s.record + i * W, 0.0);
    scatter_states(s, 1, [&](std::int64_t i, std::int64_t, int l) { return s.visits[i * W + l]; });
    return s.record;
  }
};

using MdpRecorders = List<ReturnRecorder, LengthRecorder, GoalRecorder, ActionEntropyRecorder,
                          StateEntropyRecorder, MdpValueRecorder, GoalProbabilityRecorder,
                          MdpPolicyRecorder, MdpThetaRecorder, VisitsRecorder>;
inline constexpr Array<MdpQuantity> kMdpQuantities = kRows<MdpQuantity, MdpRecorders>;
static_assert(kMdpQuantities.count <= kMostQuantities);

// What all that is wanted needs.
inline Kept kept_for(const Sink& sink) {
  Kept all;
  for_each_part(MdpRecorders{}, [&]<typename Part>() {
    if constexpr (requires { Part::kKept; }) {
      if (!sink.wants(kPlace<Part, MdpRecorders>)) return;
      all.episodes = all.episodes || Part::kKept.episodes;
      all.visits = all.visits || Part::kKept.visits;
      all.action_entropy = all.action_entropy || Part::kKept.action_entropy;
    }
  });
  return all;
}

// The formulas that are recorded. Returns false if one is not finite, and where.
template <int KT, int W>
inline bool record_formulas(MdpBlock<KT, W>& s, std::int64_t t, std::int64_t index,
                            bool evaluated) {
  const Sink& sink = s.task.sink;
  for (std::int64_t i = 0; i < s.plan.programs.quantities.count; ++i) {
    const int number = static_cast<int>(kMdpQuantities.count + i);
    if (!sink.wants(number)) continue;
    if (s.plan.programs.quantities[i]->uses(ProgramInput::kRewards)) {
      // The rows of advantages mean nothing between updates.
      const double* values = exact_values(s, evaluated);
      for (int l = 0; l < W; ++l) {
        for (std::int64_t state = 0; state < s.n; ++state) {
          const Place place = s.place(l, state);
          q_values_of(s, place, values, s.advantage + place.own);
        }
      }
    }
    const double* visits = nullptr;
    if (s.plan.over_states(i) == OverStates::kOccupancy) {
      spread_policy(s);
      solve_distribution<W>(s.m, s.policy, s.plan.start, s.slots, s.spare_values, s.patience);
      visits = s.spare_values;
    }
    look_at_states<W>(s, s.plan, i, visits, s.patience);
    const bool each = s.plan.over_states(i) == OverStates::kEach;
    const std::int64_t width =
        (each ? s.plan.states : 1) * (s.plan.has_actions(i) ? s.plan.actions : 1);
    for (int l = 0; l < s.task.valid; ++l) {
      for (std::int64_t row = 0; row < width; ++row) {
        const double x = s.record[row * W + l];
        if (x - x == 0.0) continue;
        *s.task.divergence = {t, s.task.first_run + static_cast<std::uint64_t>(l), number};
        return false;
      }
    }
    sink.emit(sink.context, number, index, s.record, width, W);
  }
  return true;
}

// `evaluated`: `values` belongs to the current policy.
template <int KT, int W>
inline void record_all(MdpBlock<KT, W>& s, std::int64_t index, bool evaluated) {
  const Sink& sink = s.task.sink;
  for_each_part(MdpRecorders{}, [&]<typename Part>() {
    constexpr int kNumber = kPlace<Part, MdpRecorders>;
    if (!sink.wants(kNumber)) return;
    const double* rows = Part::record(s, evaluated);
    sink.emit(sink.context, kNumber, index, rows, Part::kRow.width(s.plan), W);
  });
}

}  // namespace committal::COMMITTAL_ISA
