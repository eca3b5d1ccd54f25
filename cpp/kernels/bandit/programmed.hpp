// Bandits with formulas: where programs stand in an update, and the rows that they read.
//
//   b = native terms + baseline         w replaces rho in w A psi         theta moves along
//   the update's own direction, through the optimiser, and the link makes weights of theta
//
// A baseline that depends on theta alone only adds a row to b, and the native steps go on with it.
// With anything else all samples of an update are drawn first: a program may look at the batch.
#pragma once

#include "kernels/bandit/recorders.hpp"
#include "kernels/program.hpp"

namespace committal::COMMITTAL_ISA {

// Probabilities as programs see them are never 0: their logarithms are numbers.
inline constexpr double kLeastSeen = kFloor;

template <int KT, int W>
class BanditPrograms {
 public:
  using State = Block<KT, W>;
  static constexpr bool kAny = true;

  // Takes the rows that some program reads.
  void lay_out(const BanditView& plan, Arena& arena) {
    const ProgramSetView& set = plan.programs;
    const std::int64_t arms = plan.arms;
    const std::int64_t samples = plan.samples;
    const ProgramExtent extent{arms, samples};
    used_ = 0;
    const auto add = [&](LaneProgram<W>& program, const ProgramView* view) {
      program.lay_out(view, extent, arena);
      used_ |= view == nullptr ? 0u : view->used;
      operations_ += view == nullptr ? 0 : view->code.count;
    };
    add(baseline_, set.baseline);
    add(weight_, set.weight);
    add(update_, set.update);
    add(link_, set.link);
    add(optimiser_, set.optimiser);
    quantities_ = arena.take<LaneProgram<W>>(set.quantities.count);
    for (std::int64_t i = 0; i < set.quantities.count; ++i) {
      LaneProgram<W> program;
      add(program, set.quantities[i]);
      if (quantities_ != nullptr) quantities_[i] = program;
    }
    sampled_baseline_ = baseline_ && has_samples(set.baseline->output_shape(0));
    batch_ = (used_ & kBatchInputs) != 0 || set.weight != nullptr || set.update != nullptr ||
             set.link != nullptr || sampled_baseline_;
    time_ = rows(arena, ProgramInput::kTime, 1);
    arms_ = rows(arena, ProgramInput::kArms, 1);
    samples_ = rows(arena, ProgramInput::kSamples, 1);
    pi_ = arena.take<double>(uses(ProgramInput::kPolicy) || uses(ProgramInput::kBehaviour) ||
                                     uses(ProgramInput::kScore) || uses(ProgramInput::kNatural)
                                 ? arms
                                 : 0,
                             W);
    mu_ = rows(arena, ProgramInput::kBehaviour, plan.behaviour == kOnPolicy ? 0 : arms);
    rewards_ = rows(arena, ProgramInput::kRewards, arms);
    start_ = rows(arena, ProgramInput::kStart, arms);
    bad_ = arena.take<double>(W);
    mean_baseline_ = arena.take<double>(W);
    const std::int64_t drawn = batch_ ? samples : 0;
    action_ = arena.take<std::int64_t>(drawn, W);
    importance_ = arena.take<double>(drawn, W);
    reward_ = arena.take<double>(drawn, W);
    inverse_ = arena.take<double>(drawn, W);
    baselines_ = arena.take<double>(sampled_baseline_ ? samples : 0, W);
    number_ = rows(arena, ProgramInput::kAction, samples);
    ratio_ = arena.take<double>(
        uses(ProgramInput::kRatio) || uses(ProgramInput::kWeight) ? samples : 0, W);
    advantage_ = rows(arena, ProgramInput::kAdvantage, samples);
    const std::int64_t pairs = samples * arms;
    score_ = rows(arena, ProgramInput::kScore, pairs);
    natural_ = rows(arena, ProgramInput::kNatural, pairs);
  }

  // After the rows of the block have their start.
  void prepare(State& s, const BanditView& plan) {
    const auto when = [&](ProgramInput input, double* row, double value) {
      if (uses(input)) fill<W>(row, value);
    };
    when(ProgramInput::kArms, arms_, static_cast<double>(plan.arms));
    when(ProgramInput::kSamples, samples_, static_cast<double>(plan.samples));
    for (std::int64_t k = 0; k < plan.arms; ++k) {
      when(ProgramInput::kRewards, rewards_ + k * W, plan.means[k]);
      when(ProgramInput::kStart, start_ + k * W, plan.theta0[k]);
    }
    fill<W>(bad_, 0.0);
    BoundRows known[rows_of(ProgramInput{}).count];
    const auto bind = [&](ProgramInput input, double* row) {
      const RowShape shape = kProgramInputs[static_cast<int>(input)].shape;
      known[static_cast<int>(input)] = contiguous<W>(row, shape, {plan.arms, plan.samples});
    };
    bind(ProgramInput::kTime, time_);
    bind(ProgramInput::kArms, arms_);
    bind(ProgramInput::kSamples, samples_);
    bind(ProgramInput::kPolicy, pi_);
    bind(ProgramInput::kRewards, rewards_);
    bind(ProgramInput::kTheta, s.theta);
    bind(ProgramInput::kStart, start_);
    bind(ProgramInput::kBehaviour, plan.behaviour == kOnPolicy ? pi_ : mu_);
    bind(ProgramInput::kGradient, s.direction);
    bind(ProgramInput::kAction, number_);
    bind(ProgramInput::kReward, reward_);
    bind(ProgramInput::kRatio, ratio_);
    bind(ProgramInput::kAdvantage, advantage_);
    bind(ProgramInput::kScore, score_);
    bind(ProgramInput::kNatural, natural_);
    // One row for all samples where they have the same.
    known[static_cast<int>(ProgramInput::kBaseline)] =
        sampled_baseline_ ? BoundRows{baselines_, W, 0} : BoundRows{s.baseline, 0, 0};
    if (baseline_) baseline_.bind(known);
    if (weight_) weight_.bind(known);
    known[static_cast<int>(ProgramInput::kWeight)] =
        weight_ ? weight_.output(0) : BoundRows{ratio_, W, 0};
    if (update_) update_.bind(known);
    if (link_) link_.bind(known);
    if (optimiser_) optimiser_.bind(known);
    for (std::int64_t i = 0; i < plan.programs.quantities.count; ++i) quantities_[i].bind(known);
    if (link_) {
      link_.run();
      s.weight = link_.output(0).row;
      sum_rows<KT, W>(s.K(), s.weight, s.total);
      check_link(s);
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
      if (one) return settle(s, plan);
      if (moves_at_once(plan)) {
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

  COMMITTAL_INLINE bool uses(ProgramInput input) const {
    return (used_ >> static_cast<int>(input) & 1u) != 0;
  }
  double* rows(Arena& arena, ProgramInput input, std::int64_t count) const {
    return arena.take<double>(uses(input) ? count : 0, W);
  }
  // Whether the update is one of the native whole steps from one sample.
  bool plain_step(const BanditView& plan, bool along_score) const {
    const UpdateRow& row = kRows<UpdateRow, Updates>[static_cast<int>(plan.update)];
    return !update_ && !optimiser_ && !link_ && plan.samples == 1 && !plan.regularised &&
           row.policy == Policy::kSoftmax && row.along_score == along_score;
  }
  bool moves_one(const BanditView& plan) const { return plain_step(plan, false); }
  bool moves_at_once(const BanditView& plan) const { return plain_step(plan, true); }

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
        add_linked(s, inverse_samples);
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
    clear(s);
    const double inverse_samples = 1.0 / static_cast<double>(plan.samples);
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

  // Along the score of the link: f'_a / f_a at the arm drawn, less f' / F everywhere.
  void add_linked(State& s, double inverse_samples) {
    const double* rise = slope();
    for (int l = 0; l < W; ++l) s.spare2[l] = s.weight[s.action[l] * W + l];
    COMMITTAL_STRIPS(l, W) {
      const Strip inverse_total = Strip(1.0) / Strip::load(s.total + l);
      const Strip ratio = Strip::load(s.spare2 + l) * inverse_total * Strip::load(s.importance + l);
      const Strip coefficient = (Strip::load(s.reward + l) - Strip::load(s.baseline + l)) * ratio *
                                Strip(inverse_samples);
      coefficient.store(s.spare + l);
      const Strip share = coefficient * inverse_total;
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const std::int64_t at = k * W + l;
        (Strip::load(s.direction + at) - share * Strip::load(rise + at)).store(s.direction + at);
      }
    }
    for (int l = 0; l < W; ++l) {
      const std::int64_t at = s.action[l] * W + l;
      s.direction[at] += s.spare[l] * (rise[at] / s.spare2[l]);
    }
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
    if (link_ && plan.estimator == Estimator::kExpected) expect_linked(s, plan);
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
      check_link(s);
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

  // E g = f' / F (r - J)
  void expect_linked(State& s, const BanditView& plan) {
    evaluate<ValueBaseline, KT>(s.arm_rows(), SharedRewards{plan.means.data}, 0.0, s.spare);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        (Strip::load(slope() + k * W + l) / Strip::load(s.total + l) *
         (Strip(plan.means[k]) - Strip::load(s.spare + l)))
            .store(s.direction + k * W + l);
      }
    }
  }

  // Weights must be numbers from 0 and their total positive: remembered, as it may pass.
  void check_link(const State& s) {
    COMMITTAL_STRIPS(l, W) {
      const Strip total = Strip::load(s.total + l);
      Strip least = Strip::load(s.weight + l);
      for (std::int64_t k = 1; k < s.K(); ++k) {
        least = smaller(least, Strip::load(s.weight + k * W + l));
      }
      const StripTruth good =
          (least >= Strip(0.0)) & (total > Strip(0.0)) & (total <= Strip(1.7976931348623157e308));
      (Strip::load(bad_ + l) + where(!good, Strip(1.0))).store(bad_ + l);
    }
  }

  bool batch_ = false;
  bool sampled_baseline_ = false;
  std::uint32_t used_ = 0;
  std::int64_t operations_ = 0;
  LaneProgram<W> baseline_;
  LaneProgram<W> weight_;
  LaneProgram<W> update_;
  LaneProgram<W> link_;
  LaneProgram<W> optimiser_;
  LaneProgram<W>* quantities_ = nullptr;
  double* time_ = nullptr;
  double* arms_ = nullptr;
  double* samples_ = nullptr;
  double* pi_ = nullptr;
  double* mu_ = nullptr;
  double* rewards_ = nullptr;
  double* start_ = nullptr;
  double* bad_ = nullptr;            // [W] 0, or more once a link gave no law
  double* mean_baseline_ = nullptr;  // [W]
  std::int64_t* action_ = nullptr;   // [samples][W], as those below
  double* importance_ = nullptr;
  double* reward_ = nullptr;
  double* inverse_ = nullptr;    // 1 / pi(a)
  double* baselines_ = nullptr;  // b of each sample, if they differ
  double* number_ = nullptr;     // the action as a number
  double* ratio_ = nullptr;
  double* advantage_ = nullptr;
  double* score_ = nullptr;    // [samples][arms][W]
  double* natural_ = nullptr;  // [samples][arms][W]
};

}  // namespace committal::COMMITTAL_ISA
