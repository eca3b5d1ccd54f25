// Bandits with formulas: where programs stand in an update, and the rows that they read.
//
//   b = native terms + baseline         w replaces rho in w A psi         theta moves along
//   the update's own direction, through the optimiser, and the link makes weights of theta
//
// A baseline that depends on theta alone only adds a row to b, and the native steps go on with it.
// With anything else all samples of an update are drawn first: a program may look at the batch.
#pragma once

#include "kernels/bandit/programmed_link.hpp"
#include "kernels/bandit/programmed_rows.hpp"
#include "kernels/bandit/recorders.hpp"

namespace committal::COMMITTAL_ISA {

// Probabilities as programs see them are never 0: their logarithms are numbers.
inline constexpr double kLeastSeen = kFloor;

template <int KT, int W>
class BanditPrograms : BanditProgramRows<KT, W> {
  using Rows = BanditProgramRows<KT, W>;
  using Rows::action_;
  using Rows::advantage_;
  using Rows::bad_;
  using Rows::baseline_;
  using Rows::baselines_;
  using Rows::batch_;
  using Rows::few_;
  using Rows::importance_;
  using Rows::inverse_;
  using Rows::link_;
  using Rows::mean_baseline_;
  using Rows::mu_;
  using Rows::natural_;
  using Rows::number_;
  using Rows::operations_;
  using Rows::optimiser_;
  using Rows::pi_;
  using Rows::quantities_;
  using Rows::ratio_;
  using Rows::reward_;
  using Rows::sampled_baseline_;
  using Rows::score_;
  using Rows::time_;
  using Rows::update_;
  using Rows::uses;
  using Rows::weight_;

 public:
  using State = Block<KT, W>;
  static constexpr bool kAny = true;
  using Rows::lay_out;

  // After the rows of the block have their start.
  void prepare(State& s, const BanditView& plan) {
    Rows::bind(s, plan);
    if (link_) {
      link_.run();
      s.weight = link_.output(0).row;
      sum_rows<KT, W>(s.K(), s.weight, s.total);
      check_link(s, bad_);
    }
  }

  // Whether step() makes the updates, for any number of arms; else they are the native ones, but
  // for a row that is added to the baseline.
  bool steps() const { return KT == 0 && (batch_ || optimiser_); }
  // About how many times as much work there is per arm and sample.
  std::int64_t cost() const { return 1 + operations_ / 16; }

  // Before a native update: the row that is added to its baseline.
  COMMITTAL_INLINE void add_baseline(State& s, const BanditView& plan, std::int64_t t) {
    if (!baseline_) return;
    see(s, plan, t);
    baseline_.run();
    s.formula_baseline = baseline_.output(0).row;
    baseline_.advance();
  }

  // One update of every lane.
  void step(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    if constexpr (KT == 0) step_any(s, plan, task, t);
  }

  // Rows for what is recorded at time t. States stay as they are.
  void look(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    see(s, plan, t);
    if constexpr (KT == 0) {
      if (batch_) return look_at_batch(s, plan, task, t);
    }
    if (baseline_) {
      baseline_.look();
      s.formula_baseline = baseline_.output(0).row;
    }
  }
  void look_at_batch(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    if (plan.estimator == Estimator::kExpected) return;
    draw_batch(s, plan, task, t);
    find_baselines</*kLooks=*/true>(s, plan);
    find_weights</*kLooks=*/true>(plan);
    if (!sampled_baseline_) return;
    // Recorders read one row: the mean of the program's part.
    const BoundRows& value = baseline_.output(0);
    COMMITTAL_STRIPS(l, W) {
      Strip sum = Strip::load(value.row + l);
      for (std::int64_t i = 1; i < plan.samples; ++i) {
        sum += Strip::load(value.row + i * value.sample + l);
      }
      (sum / Strip(static_cast<double>(plan.samples))).store(mean_baseline_ + l);
    }
    s.formula_baseline = mean_baseline_;
  }
  void look_away(State& s) {
    if (sampled_baseline_) s.formula_baseline = nullptr;
  }

  // The rows of a quantity, and the first lane of `valid` in which it is no number, or -1.
  const double* quantity(std::int64_t i, int valid, std::int64_t count, int& wild) {
    quantities_[i].run();
    const double* rows = quantities_[i].output(0).row;
    wild = -1;
    double lost[W];
    COMMITTAL_STRIPS(l, W) {
      Strip sum(0.0);
      for (std::int64_t k = 0; k < count; ++k) {
        const Strip x = Strip::load(rows + k * W + l);
        sum += x - x;
      }
      sum.store(lost + l);
    }
    for (int l = valid - 1; l >= 0; --l) {
      if (lost[l] != 0.0) wild = l;
    }
    return rows;
  }

  // sum += 0 where everything that programs keep is a number, else NaN.
  void add_lost(double* sum) const {
    const auto add = [&](const LaneProgram<W>& program) {
      if (!program) return;
      for (std::int64_t i = 0; i < program.view().states.count; ++i) {
        const double* rows = program.state(i).row;
        for (std::int64_t k = 0; k < program.state_rows(i); ++k) {
          COMMITTAL_STRIPS(l, W) {
            const Strip x = Strip::load(rows + k * W + l);
            (Strip::load(sum + l) + (x - x)).store(sum + l);
          }
        }
      }
    };
    add(baseline_);
    add(weight_);
    add(update_);
    add(optimiser_);
    COMMITTAL_STRIPS(l, W) { (Strip::load(sum + l) + Strip::load(bad_ + l)).store(sum + l); }
  }

 private:
  void step_any(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    const double alpha = plan.step_size.at(t);
    see(s, plan, t);
    if (plan.estimator == Estimator::kExpected) {
      with_update(plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA { Part::expected(s, plan); });
    } else if (batch_) {
      draw_batch(s, plan, task, t);
      find_baselines</*kLooks=*/false>(s, plan);
      find_weights</*kLooks=*/false>(plan);
      const bool one = moves_one(plan);
      if (update_) {
        follow_update(s, plan);
      } else {
        add_samples(s, plan, one, alpha);
      }
      if (plan.uses_running_mean) {
        for (std::int64_t i = 0; i < plan.samples; ++i) {
          follow_rewards<W>(s.running_mean, reward_ + i * W, plan.running_mean_rate,
                            static_cast<double>(t * plan.samples + i + 1));
        }
      }
      if (baseline_) baseline_.advance();
      if (weight_) weight_.advance();
      if (update_) update_.advance();
      if (one && !few_) return settle(s, plan);
      if (one || moves_at_once(plan)) {
        if (outside_range(s)) rebase_where_needed(s);
        return;
      }
    } else {
      if (baseline_) {
        baseline_.run();
        s.formula_baseline = baseline_.output(0).row;
        baseline_.advance();
      }
      compute_baseline(s, plan);
      draw_and_add(s, plan, task, t);
    }
    move(s, plan, t, alpha);
  }

  // Whether the update is one of the native whole steps from one sample.
  bool plain_step(const BanditView& plan, bool along_score) const {
    const UpdateRow& row = kRows<UpdateRow, Updates>[static_cast<int>(plan.update)];
    return !update_ && !optimiser_ && !link_ && plan.samples == 1 && !plan.regularised &&
           row.policy == Policy::kSoftmax && row.along_score == along_score;
  }
  bool moves_one(const BanditView& plan) const { return plain_step(plan, false); }
  bool moves_at_once(const BanditView& plan) const { return !few_ && plain_step(plan, true); }

  // Everything that depends on theta and t.
  COMMITTAL_INLINE void see(State& s, const BanditView& plan, std::int64_t t) {
    if (uses(ProgramInput::kTime)) fill<W>(time_, static_cast<double>(t));
    const bool off_policy = plan.behaviour != kOnPolicy;
    if (uses(ProgramInput::kPolicy) || uses(ProgramInput::kScore) || uses(ProgramInput::kNatural) ||
        (uses(ProgramInput::kBehaviour) && !off_policy)) {
      normalise(s.K(), s.weight, s.total, pi_);
    }
    if (uses(ProgramInput::kBehaviour) && off_policy) {
      const BehaviourRows behaviour = behaviour_rows(s, plan, t);
      normalise(s.K(), behaviour.q, behaviour.total, mu_);
    }
  }

  static COMMITTAL_INLINE void normalise(std::int64_t count, const double* weight,
                                         const double* total, double* out) {
    COMMITTAL_STRIPS(l, W) {
      const Strip inverse = Strip(1.0) / Strip::load(total + l);
      for (std::int64_t k = 0; k < count; ++k) {
        larger(Strip::load(weight + k * W + l) * inverse, Strip(kLeastSeen)).store(out + k * W + l);
      }
    }
  }

  // All samples of update t: actions, rewards, importance weights, and what follows from them.
  void draw_batch(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    const BehaviourRows behaviour = behaviour_rows(s, plan, t);
    std::int64_t* const action = s.action;
    double* const importance = s.importance;
    double* const reward = s.reward;
    const bool plainly_on_policy = plan.behaviour == kOnPolicy && !(plan.implicit.at(t) > 0.0);
    for (std::int64_t i = 0; few_ && i < plan.samples; ++i) {
      draw_one_of_few(s, plan, task, behaviour, t, i, plainly_on_policy);
    }
    if (few_) return;
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      s.action = action_ + i * W;
      s.importance = importance_ + i * W;
      s.reward = reward_ + i * W;
      draw(s, plan, task, behaviour, t, i);
      if (uses(ProgramInput::kAction)) {
        for (int l = 0; l < W; ++l) number_[i * W + l] = static_cast<double>(s.action[l]);
      }
      find_inverse(s, i, plainly_on_policy);
      if (ratio_ != nullptr && (uses(ProgramInput::kRatio) || uses(ProgramInput::kWeight))) {
        find_ratio(i, plainly_on_policy);
      }
      if (uses(ProgramInput::kScore) || uses(ProgramInput::kNatural)) find_scores(s, i);
    }
    s.action = action;
    s.importance = importance;
    s.reward = reward;
  }

  COMMITTAL_INLINE FewSample few_sample(std::int64_t i) const {
    return {number_ + i * W, importance_ + i * W, inverse_ + i * W, reward_ + i * W};
  }
  void draw_one_of_few(State& s, const BanditView& plan, const BlockTask& task,
                       BehaviourRows behaviour, std::int64_t t, std::int64_t sample,
                       bool plainly_on_policy) {
    const std::int64_t i = batch_ ? sample : 0;
    draw_few(s, plan, task, behaviour, t, sample, plainly_on_policy, few_sample(i));
    find_ratio(i, plainly_on_policy);
    if (uses(ProgramInput::kScore) || uses(ProgramInput::kNatural)) {
      score_few<W>(s.K(), few_sample(i), pi_,
                   uses(ProgramInput::kScore) ? score_ + i * s.K() * W : nullptr,
                   uses(ProgramInput::kNatural) ? natural_ + i * s.K() * W : nullptr);
    }
  }
  // The estimate of one sample; the weight's program gives w itself, along the score.
  COMMITTAL_INLINE void add_one_of_few(State& s, const BanditView& plan, std::int64_t i,
                                       bool first) {
    const FewSample sample = few_sample(i);
    const double share = 1.0 / static_cast<double>(plan.samples);
    if (kRows<UpdateRow, Updates>[static_cast<int>(plan.update)].along_score) {
      const BoundRows w = weight_ ? weight_.output(0) : BoundRows{ratio_, W, 0};
      add_sample_few<true>(s, sample, baseline_of(s, i), w.row + i * w.sample, share, first);
    } else {
      add_sample_few<false>(s, sample, baseline_of(s, i), sample.importance, share, first);
    }
  }

  // 1 / pi(a): on the policy it is there already.
  COMMITTAL_INLINE void find_inverse(const State& s, std::int64_t i, bool plainly_on_policy) {
    double* inverse = inverse_ + i * W;
    if (plainly_on_policy) {
      COMMITTAL_STRIPS(l, W) Strip::load(importance_ + i * W + l).store(inverse + l);
      return;
    }
    for (int l = 0; l < W; ++l) inverse[l] = s.weight[s.action[l] * W + l];
    COMMITTAL_STRIPS(l, W) {
      (Strip::load(s.total + l) / larger(Strip::load(inverse + l), Strip(1e-290)))
          .store(inverse + l);
    }
  }

  // rho = pi(a) / (mu(a) + implicit)
  COMMITTAL_INLINE void find_ratio(std::int64_t i, bool plainly_on_policy) {
    if (plainly_on_policy) return fill<W>(ratio_ + i * W, 1.0);
    COMMITTAL_STRIPS(l, W) {
      (Strip::load(importance_ + i * W + l) / Strip::load(inverse_ + i * W + l))
          .store(ratio_ + i * W + l);
    }
  }

  // e_a - pi, or what the link makes of it, and e_a / pi_a.
  void find_scores(const State& s, std::int64_t i) {
    const std::int64_t* action = action_ + i * W;
    if (uses(ProgramInput::kScore)) {
      double* score = score_ + i * s.K() * W;
      for (std::int64_t k = 0; k < s.K(); ++k) {
        COMMITTAL_STRIPS(l, W) {
          if (link_) {
            (-(Strip::load(slope() + k * W + l) / Strip::load(s.total + l)))
                .store(score + k * W + l);
          } else {
            (-Strip::load(pi_ + k * W + l)).store(score + k * W + l);
          }
        }
      }
      for (int l = 0; l < W; ++l) {
        const std::int64_t at = action[l] * W + l;
        score[at] += link_ ? slope()[at] / s.weight[at] : 1.0;
      }
    }
    if (uses(ProgramInput::kNatural)) {
      double* natural = natural_ + i * s.K() * W;
      for (std::int64_t k = 0; k < s.K(); ++k) fill<W>(natural + k * W, 0.0);
      for (int l = 0; l < W; ++l) natural[action[l] * W + l] = inverse_[i * W + l];
    }
  }

  template <bool kLooks>
  static COMMITTAL_INLINE void run_or_look(const LaneProgram<W>& program) {
    if constexpr (kLooks) {
      program.look();
    } else {
      program.run();
    }
  }

  // b of every sample, and A where somebody reads it.
  template <bool kLooks>
  void find_baselines(State& s, const BanditView& plan) {
    s.formula_baseline = nullptr;
    if (baseline_) run_or_look<kLooks>(baseline_);
    if (baseline_ && !sampled_baseline_) s.formula_baseline = baseline_.output(0).row;
    compute_baseline(s, plan);
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      if (sampled_baseline_) {
        const BoundRows& value = baseline_.output(0);
        COMMITTAL_STRIPS(l, W) {
          (Strip::load(s.baseline + l) + Strip::load(value.row + i * value.sample + l))
              .store(baselines_ + i * W + l);
        }
      }
      if (uses(ProgramInput::kAdvantage)) {
        const double* b = baseline_of(s, i);
        COMMITTAL_STRIPS(l, W) {
          (Strip::load(reward_ + i * W + l) - Strip::load(b + l)).store(advantage_ + i * W + l);
        }
      }
    }
  }
  COMMITTAL_INLINE double* baseline_of(const State& s, std::int64_t i) const {
    return sampled_baseline_ ? baselines_ + i * W : s.baseline;
  }

  // The importance weights become w / pi(a): what updates take them for gives w A psi then.
  template <bool kLooks>
  void find_weights(const BanditView& plan) {
    if (!weight_) return;
    run_or_look<kLooks>(weight_);
    const BoundRows& w = weight_.output(0);
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      COMMITTAL_STRIPS(l, W) {
        (Strip::load(w.row + i * w.sample + l) * Strip::load(inverse_ + i * W + l))
            .store(importance_ + i * W + l);
      }
    }
  }

  // direction = the mean estimate of the samples; if one arm moves at a time, it has moved.
  void add_samples(State& s, const BanditView& plan, bool one, double alpha) {
    if (few_) {
      if (one) return move_one_few(s, few_sample(0), baseline_of(s, 0), alpha);
      for (std::int64_t i = 0; i < plan.samples; ++i) add_one_of_few(s, plan, i, i == 0);
      return;
    }
    std::int64_t* const action = s.action;
    double* const importance = s.importance;
    double* const reward = s.reward;
    double* const baseline = s.baseline;
    const bool at_once = moves_at_once(plan);
    if (!one && !at_once) clear(s);
    const double inverse_samples = 1.0 / static_cast<double>(plan.samples);
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      s.action = action_ + i * W;
      s.importance = importance_ + i * W;
      s.reward = reward_ + i * W;
      s.baseline = baseline_of(s, i);
      if (link_) {
        add_linked(s, slope(), inverse_samples);
      } else {
        with_update(plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
          if constexpr (kMovesOneArm<Part, KT, W>) {
            if (one) return Part::move_one(s, alpha);
          }
          if constexpr (kMovesAllAtOnce<Part, KT, W>) {
            if (at_once) return Part::move_all(s, alpha);
          }
          Part::add_sample(s, inverse_samples);
        });
      }
      s.baseline = baseline;
    }
    s.action = action;
    s.importance = importance;
    s.reward = reward;
  }

  // Without a batch: as the native update, which the optimiser then takes.
  void draw_and_add(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    const BehaviourRows behaviour = behaviour_rows(s, plan, t);
    const double inverse_samples = 1.0 / static_cast<double>(plan.samples);
    const bool plainly_on_policy = plan.behaviour == kOnPolicy && !(plan.implicit.at(t) > 0.0);
    for (std::int64_t i = 0; few_ && i < plan.samples; ++i) {
      draw_one_of_few(s, plan, task, behaviour, t, i, plainly_on_policy);
      add_one_of_few(s, plan, 0, i == 0);
      if (plan.uses_running_mean) {
        follow_rewards<W>(s.running_mean, reward_, plan.running_mean_rate,
                          static_cast<double>(t * plan.samples + i + 1));
      }
    }
    if (few_) return;
    clear(s);
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      draw(s, plan, task, behaviour, t, i);
      with_update(plan, [&]<typename Part>()
                            COMMITTAL_INLINE_LAMBDA { Part::add_sample(s, inverse_samples); });
      if (plan.uses_running_mean) {
        follow_rewards<W>(s.running_mean, s.reward, plan.running_mean_rate,
                          static_cast<double>(t * plan.samples + i + 1));
      }
    }
  }

  static COMMITTAL_INLINE void clear(State& s) {
    for (std::int64_t k = 0; k < s.K(); ++k) fill<W>(s.direction + k * W, 0.0);
  }

  COMMITTAL_INLINE const double* slope() const { return link_.output(1).row; }

  // direction = what the update's program gives, the mean of it over the samples.
  void follow_update(State& s, const BanditView& plan) {
    update_.run();
    const BoundRows& value = update_.output(0);
    const bool each = has_samples(plan.programs.update->output_shape(0));
    const std::int64_t samples = each ? plan.samples : 1;
    const Strip share(1.0 / static_cast<double>(samples));
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        const double* from = value.row + k * value.arm + l;
        Strip sum = Strip::load(from);
        for (std::int64_t i = 1; i < samples; ++i) sum += Strip::load(from + i * value.sample);
        (each ? sum * share : sum).store(s.direction + k * W + l);
      }
    }
  }

  // theta follows the direction, through the optimiser.
  void move(State& s, const BanditView& plan, std::int64_t t, double alpha) {
    double* const direction = s.direction;
    if (link_ && plan.estimator == Estimator::kExpected) expect_linked(s, plan, slope());
    if (plan.regularised) {
      with_update(plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
        if constexpr (requires { Part::add_entropy(s, 1.0); }) {
          Part::add_entropy(s, plan.entropy.at(t));
        }
      });
    }
    if (optimiser_) {
      optimiser_.run();
      take_step(s);
      optimiser_.advance();
    }
    if (link_) {
      for (std::int64_t k = 0; k < s.K(); ++k) {
        COMMITTAL_STRIPS(l, W) {
          const std::int64_t at = k * W + l;
          (Strip::load(s.theta + at) + Strip(alpha) * Strip::load(s.direction + at))
              .store(s.theta + at);
        }
      }
      link_.run();
      sum_rows<KT, W>(s.K(), s.weight, s.total);
      check_link(s, bad_);
    } else {
      with_update(plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA { Part::apply(s, alpha); });
      settle(s, plan);
    }
    s.direction = direction;
  }

  // The optimiser's step becomes the direction. Its rows serve as they are if they are its own:
  // a projection writes into them.
  COMMITTAL_INLINE void take_step(State& s) {
    const ProgramView& view = optimiser_.view();
    const BoundRows& value = optimiser_.output(0);
    if (view.registers[view.outputs[0]].kind == ProgramRegister::Kind::kComputed &&
        !is_state_row(value.row)) {
      s.direction = value.row;
      return;
    }
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        Strip::load(value.row + k * value.arm + l).store(s.direction + k * W + l);
      }
    }
  }
  bool is_state_row(const double* row) const {
    for (std::int64_t i = 0; i < optimiser_.view().states.count; ++i) {
      if (optimiser_.state(i).row == row) return true;
    }
    return false;
  }
};

}  // namespace committal::COMMITTAL_ISA
