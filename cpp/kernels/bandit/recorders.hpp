// Recorders: what can be read off a block at time t. Everything describes theta_t.
//
// To add one, write a struct like those below and append it to `Recorders`: its row says how the
// quantity is called, its type and its axes (lengths in the view); record() returns its rows. One
// that sums over the updates has accumulate(), called before each of them.
#pragma once

#include "core/quantity.hpp"
#include "kernels/bandit/updates.hpp"

namespace committal::COMMITTAL_ISA {

using BanditQuantity = Quantity<BanditView>;

// What is recorded, and when.
struct Moment {
  const BanditView& plan;
  const BlockTask& task;
  std::int64_t t;
};

struct ValueRecorder {
  static constexpr BanditQuantity kRow{"value", Element::kFloat64};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{now.plan.means.data}, 0.0, s.record);
    return s.record;
  }
};

struct PolicyRecorder {
  static constexpr BanditQuantity kRow{"policy", Element::kFloat64, {&BanditView::arms}};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment&) {
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) s.record[k * W + l] = s.weight[k * W + l] / s.total[l];
    }
    return s.record;
  }
};

struct ThetaRecorder {
  static constexpr BanditQuantity kRow{"theta", Element::kFloat64, {&BanditView::parameters}};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    if (now.plan.contrast) {
      COMMITTAL_LANES(l, W) s.record[l] = s.theta[l] - s.theta[W + l];
      return s.record;
    }
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) s.record[k * W + l] = s.theta[k * W + l];
    }
    return s.record;
  }
};

struct BaselineRecorder {
  static constexpr BanditQuantity kRow{"baseline", Element::kFloat64};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    compute_baseline(s, now.plan);
    return s.baseline;
  }
};

// H = - sum pi log pi, in nats. softmax: log total - sum pi (theta - shift), one log in all.
struct EntropyRecorder {
  static constexpr BanditQuantity kRow{"entropy", Element::kFloat64};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    const BanditView& plan = now.plan;
    double* sum = s.record;
    fill<W>(sum, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      if (plan.policy == Policy::kSoftmax) {
        COMMITTAL_LANES(l, W) { sum[l] += s.weight[k * W + l] * (s.theta[k * W + l] - s.shift[l]); }
      } else {
        COMMITTAL_LANES(l, W) {
          const double p = s.weight[k * W + l];
          sum[l] += p > 1e-300 ? p * lane_log(larger(p, 1e-300)) : 0.0;
        }
      }
    }
    COMMITTAL_LANES(l, W) { sum[l] = larger(lane_log(s.total[l]) - sum[l] / s.total[l], 0.0); }
    return sum;
  }
};

// The draws that update t + 1 will use; streams are counters, so looking ahead is free.
template <typename Read>
struct DrawRecorder {
  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    const BehaviourRows rows = behaviour_rows(s, now.plan, now.t);
    Patience patience(now.task.proceed, now.task.proceed_context);
    for (std::int64_t sample = 0; sample < now.plan.samples; ++sample) {
      patience.spend(s.K());
      draw(s, now.plan, now.task, rows, now.t, sample);
      double* out = s.record + sample * W;
      COMMITTAL_LANES(l, W) out[l] = Read::of(s, l);
    }
    return s.record;
  }
};

struct ActionRecorder : DrawRecorder<ActionRecorder> {
  static constexpr BanditQuantity kRow{"action", Element::kInt32, {&BanditView::samples}};

  template <int KT, int W>
  static COMMITTAL_INLINE double of(const Block<KT, W>& s, int l) {
    return static_cast<double>(s.action[l]);
  }
};

struct RewardRecorder : DrawRecorder<RewardRecorder> {
  static constexpr BanditQuantity kRow{"reward", Element::kFloat64, {&BanditView::samples}};

  template <int KT, int W>
  static COMMITTAL_INLINE double of(const Block<KT, W>& s, int l) {
    return s.reward[l];
  }
};

// The sum over the updates of r_max - V = sum pi_i (r_max - r_i): no cancellation near the optimum.
struct RegretRecorder {
  static constexpr BanditQuantity kRow{"regret", Element::kFloat64};

  template <int KT, int W>
  static COMMITTAL_INLINE void accumulate(Block<KT, W>& s, const BanditView& plan) {
    fill<W>(s.spare, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const double gap = plan.best_mean - plan.means[k];
      COMMITTAL_LANES(l, W) s.spare[l] += s.weight[k * W + l] * gap;
    }
    COMMITTAL_LANES(l, W) s.regret[l] += s.spare[l] / s.total[l];
  }

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment&) {
    return s.regret;
  }
};

// The trace of the covariance of the update direction g, by enumerating the actions:
//   E|g|^2 - |E g|^2, with E (R - b)^2 = (r - b)^2 + Var R,
// in the directions that the policy can see: natural and projected steps along (1, ..., 1) change
// nothing, so g is measured orthogonally to it (its minimum-norm representative). One number for
// two arms (contrast): twice, resp. half, of the two-component trace.
struct VarianceRecorder {
  static constexpr BanditQuantity kRow{"variance", Element::kFloat64};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    compute_baseline(s, now.plan);
    const UpdateRow& update = kRows<UpdateRow, Updates>[static_cast<int>(now.plan.update)];
    return update.along_score ? measure<true>(s, now) : measure<false>(s, now);
  }

 private:
  template <bool kAlongScore, int KT, int W>
  static const double* measure(Block<KT, W>& s, const Moment& now) {
    const BanditView& plan = now.plan;
    double* out = s.record;
    fill<W>(out, 0.0);
    if (plan.estimator == Estimator::kExpected) return out;
    const BehaviourRows rows = behaviour_rows(s, plan, now.t);
    const double implicit = plan.implicit.at(now.t);
    OthersSums<W> sums;
    sum_others(s.arm_rows(), sums);
    // c_k is the mean of the coefficient of arm k; the sums over the other arms leave out the
    // leader of pi where it would cancel.
    const auto coefficient = [&](std::int64_t k, int l, double pi, double& second) {
      const double q = rows.q[k * W + l];
      const double mu = q / rows.total[l];
      const double w = 1.0 / larger(mu + implicit, 1e-290);
      const double advantage = plan.means[k] - s.baseline[l];
      const double scale = kAlongScore ? pi * w : w;
      const bool drawn = q > 0.0;  // an arm of probability 0 adds nothing to the law
      const double squared = advantage * advantage + plan.reward_variance[k];
      second = drawn ? mu * scale * scale * squared : 0.0;
      return drawn ? mu * scale * advantage : 0.0;
    };
    double mean_sum[W];     // sum of c_k
    double mean_others[W];  // sum of c_k but the leader's
    fill<W>(mean_sum, 0.0);
    fill<W>(mean_others, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        double second;
        const double pi = s.weight[k * W + l] / s.total[l];
        const double mean = coefficient(k, l, pi, second);
        mean_sum[l] += mean;
        mean_others[l] += sums.leader[l] == k ? 0.0 : mean;
      }
    }
    const double arms = static_cast<double>(s.K());
    double seen[W];  // |E g|^2
    fill<W>(seen, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_LANES(l, W) {
        const double inverse_total = 1.0 / s.total[l];
        const double weight = s.weight[k * W + l];
        const double pi = weight / s.total[l];
        const double rest = sums.sum_without(k, weight, l) * inverse_total;
        const double rest2 = sums.squares_without(k, weight, l) * inverse_total * inverse_total;
        double second;
        const double mean = coefficient(k, l, pi, second);
        const double mean_rest = sums.leader[l] == k ? mean_others[l] : mean_sum[l] - mean;
        // along the score: g_k = c_k (1 - pi_k) - pi_k sum_{j != k} c_j and |e_k - pi|^2; else
        // centred c.
        const double direction =
            kAlongScore ? mean * rest - pi * mean_rest : mean - mean_sum[l] / arms;
        seen[l] += direction * direction;
        out[l] += second * (kAlongScore ? rest * rest + rest2 : 1.0 - 1.0 / arms);
      }
    }
    const double contrast = plan.contrast ? (kAlongScore ? 0.5 : 2.0) : 1.0;
    const double factor = contrast / static_cast<double>(plan.samples);
    COMMITTAL_LANES(l, W) out[l] = factor * larger(out[l] - seen[l], 0.0);
    return out;
  }
};

// Euclidean distance of pi to the vertex of the best arm.
struct DistanceRecorder {
  static constexpr BanditQuantity kRow{"distance", Element::kFloat64};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    const BanditView& plan = now.plan;
    double* others = s.spare;
    double* squares = s.spare2;
    fill<W>(others, 0.0);
    fill<W>(squares, 0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      if (k == plan.best_arm) continue;
      COMMITTAL_LANES(l, W) {
        const double pi = s.weight[k * W + l] / s.total[l];
        others[l] += pi;
        squares[l] += pi * pi;
      }
    }
    COMMITTAL_LANES(l, W) s.record[l] = root(others[l] * others[l] + squares[l]);
    return s.record;
  }
};

using Recorders =
    List<ValueRecorder, PolicyRecorder, ThetaRecorder, BaselineRecorder, EntropyRecorder,
         ActionRecorder, RewardRecorder, RegretRecorder, VarianceRecorder, DistanceRecorder>;
inline constexpr Array<BanditQuantity> kBanditQuantities = kRows<BanditQuantity, Recorders>;
static_assert(kBanditQuantities.count <= kMostQuantities);

}  // namespace committal::COMMITTAL_ISA
