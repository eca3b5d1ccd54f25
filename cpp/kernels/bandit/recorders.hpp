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
      COMMITTAL_STRIPS(l, W) {
        (Strip::load(s.weight + k * W + l) / Strip::load(s.total + l)).store(s.record + k * W + l);
      }
    }
    return s.record;
  }
};

struct ThetaRecorder {
  static constexpr BanditQuantity kRow{"theta", Element::kFloat64, {&BanditView::parameters}};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    if (now.plan.contrast) {
      COMMITTAL_STRIPS(l, W) {
        (Strip::load(s.theta + l) - Strip::load(s.theta + W + l)).store(s.record + l);
      }
      return s.record;
    }
    return s.theta;
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
    COMMITTAL_STRIPS(l, W) {
      const Strip total = Strip::load(s.total + l);
      Strip sum(0.0);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const Strip w = Strip::load(s.weight + k * W + l);
        if (plan.policy == Policy::kSoftmax) {
          sum += w * (Strip::load(s.theta + k * W + l) - Strip::load(s.shift + l));
        } else {
          sum += where(w > Strip(1e-300), w * log_of(larger(w, Strip(1e-300))));
        }
      }
      larger(log_of(total) - sum / total, Strip(0.0)).store(s.record + l);
    }
    return s.record;
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
      for (int l = 0; l < W; ++l) out[l] = Read::of(s, l);
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
    COMMITTAL_STRIPS(l, W) {
      Strip sum(0.0);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        sum += Strip::load(s.weight + k * W + l) * Strip(plan.best_mean - plan.means[k]);
      }
      (Strip::load(s.regret + l) + sum / Strip::load(s.total + l)).store(s.regret + l);
    }
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
    const double contrast = plan.contrast ? (kAlongScore ? 0.5 : 2.0) : 1.0;
    const Strip factor(contrast / static_cast<double>(plan.samples));
    const Strip implicit(plan.implicit.at(now.t));
    const Strip arms(static_cast<double>(s.K()));
    COMMITTAL_STRIPS(l, W) {
      const Strip total = Strip::load(s.total + l);
      const Strip inverse_total = Strip(1.0) / total;
      const Strip behaviour_total = Strip::load(rows.total + l);
      const Strip baseline = Strip::load(s.baseline + l);
      const OthersSums<kStrip> sums = sum_others<kStrip>(s.arm_rows(), l);
      // c_k is the mean of the coefficient of arm k; the sums over the other arms leave out the
      // leader of pi where it would cancel.
      const auto coefficient = [&](std::int64_t k, const Strip& pi, Strip& second)
                                   COMMITTAL_INLINE_LAMBDA {
        const Strip q = Strip::load(rows.q + k * W + l);
        const Strip mu = q / behaviour_total;
        const Strip w = Strip(1.0) / larger(mu + implicit, Strip(1e-290));
        const Strip advantage = Strip(plan.means[k]) - baseline;
        const Strip scale = kAlongScore ? pi * w : w;
        const StripTruth drawn = q > Strip(0.0);  // an arm of probability 0 adds nothing to the law
        const Strip squared = advantage * advantage + Strip(plan.reward_variance[k]);
        second = where(drawn, mu * scale * scale * squared);
        return where(drawn, mu * scale * advantage);
      };
      Strip mean_sum(0.0);     // sum of c_k
      Strip mean_others(0.0);  // sum of c_k but the leader's
      for (std::int64_t k = 0; k < s.K(); ++k) {
        Strip second;
        const Strip mean = coefficient(k, Strip::load(s.weight + k * W + l) / total, second);
        mean_sum += mean;
        mean_others += where(!sums.leads(k), mean);
      }
      Strip seen(0.0);  // |E g|^2
      Strip moment(0.0);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const Strip weight = Strip::load(s.weight + k * W + l);
        const Strip pi = weight / total;
        const Strip rest = sums.sum_without(k, weight) * inverse_total;
        const Strip rest2 = sums.squares_without(k, weight) * inverse_total * inverse_total;
        Strip second;
        const Strip mean = coefficient(k, pi, second);
        const Strip mean_rest = select(sums.leads(k), mean_others, mean_sum - mean);
        // along the score: g_k = c_k (1 - pi_k) - pi_k sum_{j != k} c_j and |e_k - pi|^2; else
        // centred c.
        const Strip direction =
            kAlongScore ? mean * rest - pi * mean_rest : mean - mean_sum / arms;
        seen += direction * direction;
        moment += second * (kAlongScore ? rest * rest + rest2 : Strip(1.0) - Strip(1.0) / arms);
      }
      (factor * larger(moment - seen, Strip(0.0))).store(out + l);
    }
    return out;
  }
};

// Euclidean distance of pi to the vertex of the best arm.
struct DistanceRecorder {
  static constexpr BanditQuantity kRow{"distance", Element::kFloat64};

  template <int KT, int W>
  static const double* record(Block<KT, W>& s, const Moment& now) {
    const BanditView& plan = now.plan;
    COMMITTAL_STRIPS(l, W) {
      Strip others(0.0);
      Strip squares(0.0);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        if (k == plan.best_arm) continue;
        const Strip pi = Strip::load(s.weight + k * W + l) / Strip::load(s.total + l);
        others += pi;
        squares += pi * pi;
      }
      root(others * others + squares).store(s.record + l);
    }
    return s.record;
  }
};

using Recorders =
    List<ValueRecorder, PolicyRecorder, ThetaRecorder, BaselineRecorder, EntropyRecorder,
         ActionRecorder, RewardRecorder, RegretRecorder, VarianceRecorder, DistanceRecorder>;
inline constexpr Array<BanditQuantity> kBanditQuantities = kRows<BanditQuantity, Recorders>;
static_assert(kBanditQuantities.count <= kMostQuantities);

}  // namespace committal::COMMITTAL_ISA
