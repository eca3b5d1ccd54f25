// Bandits with formulas: where programs stand in an update, and the rows that they read.
//
//   b = native terms + baseline         w replaces rho in w A psi         theta moves along
//   the update's own direction, through the optimiser, and the link makes weights of theta
//
// A baseline that depends on theta alone only adds a row to b, and the native steps go on with it.
// With anything else all samples of an update are drawn first: a program may look at the batch.
#pragma once

#include "kernels/bandit/programmed_link.hpp"
#include "kernels/bandit/programmed_move.hpp"
#include "kernels/bandit/programmed_samples.hpp"
#include "kernels/bandit/recorders.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W>
class BanditPrograms : BanditProgramSamples<KT, W> {
  using Rows = BanditProgramSamples<KT, W>;
  using Rows::action_;
  using Rows::advantage_;
  using Rows::bad_;
  using Rows::bare_baseline;
  using Rows::baseline_;
  using Rows::baseline_of;
  using Rows::baselines_;
  using Rows::batch_;
  using Rows::draw_batch;
  using Rows::draw_few_samples;
  using Rows::few_;
  using Rows::few_sample;
  using Rows::importance_;
  using Rows::inverse_;
  using Rows::link_;
  using Rows::mean_baseline_;
  using Rows::number_;
  using Rows::ones_;
  using Rows::operations_;
  using Rows::optimiser_;
  using Rows::ratio_;
  using Rows::reward_;
  using Rows::sampled_baseline_;
  using Rows::sampled_baselines;
  using Rows::see;
  using Rows::slope;
  using Rows::update_;
  using Rows::uses;
  using Rows::watch;
  using Rows::weighs_arms;
  using Rows::weight_;

 public:
  using State = Block<KT, W>;
  static constexpr bool kAny = true;
  using Rows::add_lost;
  using Rows::lay_out;
  using Rows::quantity;

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

  // Whether step() makes the updates; else they are native, but for a row added to the baseline.
  bool steps() const { return KT == 0 && (batch_ || optimiser_); }
  // About how many times as much work there is per arm and sample.
  std::int64_t cost() const { return 1 + operations_ / 16; }

  // Before a native update: the row that is added to its baseline.
  COMMITTAL_INLINE void add_baseline(State& s, const BanditView& plan, std::int64_t t) {
    if (!baseline_) return;
    see(s, plan, t);
    baseline_.run(t);
    s.formula_baseline = baseline_.output(0).row;
    watch(baseline_.output(0), 1);
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
    find_baselines</*kLooks=*/true>(s, plan, t);
    find_weights</*kLooks=*/true>(plan, t);
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

 private:
  void step_any(State& s, const BanditView& plan, const BlockTask& task, std::int64_t t) {
    const double alpha = plan.step_size.at(t);
    see(s, plan, t);
    if (plan.estimator == Estimator::kExpected) {
      with_update(plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA { Part::expected(s, plan); });
    } else if (batch_) {
      draw_batch(s, plan, task, t);
      find_baselines</*kLooks=*/false>(s, plan, t);
      find_weights</*kLooks=*/false>(plan, t);
      if (baseline_) watch(baseline_.output(0), sampled_baseline_ ? plan.samples : 1);
      if (weight_) watch(weight_.output(0), weight_.output(0).sample == 0 ? 1 : plan.samples);
      const bool one = moves_one(plan);
      if (update_) {
        follow_update(s, plan, t);
      } else if (makes_rows(plan)) {
        find_gradient(s, plan, action_, importance_, reward_);
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
        baseline_.run(t);
        s.formula_baseline = baseline_.output(0).row;
        watch(baseline_.output(0), 1);
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
  // Whether theta follows the optimiser some rows at a time ...
  bool follows_rows(const BanditView& plan) const {
    return optimiser_ && !link_ &&
           (plan.update == kUpdate<VanillaUpdate> || plan.update == kUpdate<NaturalUpdate>);
  }
  // ... and the gradient of its one sample is made in the same go.
  bool makes_rows(const BanditView& plan) const {
    return follows_rows(plan) && !update_ && plan.samples == 1 && !plan.regularised &&
           plan.estimator != Estimator::kExpected && optimiser_.ends_with_rows() &&
           !optimiser_.begins_with(ProgramInput::kGradient);
  }

  // w of the samples, along the score.
  COMMITTAL_INLINE BoundRows scale() const {
    return weight_ ? weight_.output(0) : BoundRows{ratio_, W, 0};
  }
  // The part of the sample that was drawn last, without a batch.
  COMMITTAL_INLINE void add_one_of_few(State& s, const BanditView& plan, std::int64_t i) {
    const FewSample sample = few_sample(0);
    const bool along_arm = weighs_arms(plan);
    add_sample_few(s, sample, s.baseline, along_arm ? sample.importance : scale().row, i == 0);
    if (i + 1 < plan.samples) return;
    along_arm ? finish_few<false>(s, plan.samples) : finish_few<true>(s, plan.samples);
  }

  template <bool kLooks>
  static COMMITTAL_INLINE void run_or_look(LaneProgram<W>& program, std::int64_t t) {
    if constexpr (kLooks) {
      program.look();
    } else {
      program.run(t);
    }
  }

  // b of every sample, and A where somebody reads it.
  template <bool kLooks>
  void find_baselines(State& s, const BanditView& plan, std::int64_t t) {
    s.formula_baseline = nullptr;
    if (baseline_) run_or_look<kLooks>(baseline_, t);
    if (baseline_ && !sampled_baseline_) s.formula_baseline = baseline_.output(0).row;
    compute_baseline(s, plan);
    if (bare_baseline(plan) && !uses(ProgramInput::kAdvantage)) return;
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      if (sampled_baseline_ && !bare_baseline(plan)) {
        const BoundRows& value = baseline_.output(0);
        COMMITTAL_STRIPS(l, W) {
          (Strip::load(s.baseline + l) + Strip::load(value.row + i * value.sample + l))
              .store(baselines_ + i * W + l);
        }
      }
      if (uses(ProgramInput::kAdvantage)) {
        const double* b = baseline_of(s, plan, i);
        COMMITTAL_STRIPS(l, W) {
          (Strip::load(reward_ + i * W + l) - Strip::load(b + l)).store(advantage_ + i * W + l);
        }
      }
    }
  }

  // The importance weights become w / pi(a): what updates take them for gives w A psi then.
  template <bool kLooks>
  void find_weights(const BanditView& plan, std::int64_t t) {
    if (!weight_) return;
    run_or_look<kLooks>(weight_, t);
    if (few_ && !weighs_arms(plan)) return;
    const BoundRows& w = weight_.output(0);
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      COMMITTAL_STRIPS(l, W) {
        (Strip::load(w.row + i * w.sample + l) * Strip::load(inverse_ + i * W + l))
            .store(importance_ + i * W + l);
      }
    }
  }

  // Optimisers may blow up what is left of a gradient next to a corner: it needs all its digits.
  template <typename Part>
  COMMITTAL_INLINE void add_sample(State& s, double inverse_samples) const {
    if (Part::kRow.along_score && optimiser_) return add_linked(s, s.weight, inverse_samples);
    Part::add_sample(s, inverse_samples);
  }

  // direction = the mean estimate of the samples; if one arm moves at a time, it has moved.
  void add_samples(State& s, const BanditView& plan, bool one, double alpha) {
    if (few_) {
      if (one) return move_one_few(s, few_sample(0), baseline_of(s, plan, 0), alpha);
      const SampleRows baseline{baseline_of(s, plan, 0),
                                sampled_baseline_ ? sampled_baselines(plan).sample : 0};
      if (weighs_arms(plan)) {
        return add_few<false>(s, few_sample(0), baseline, {importance_, W}, plan.samples);
      }
      const BoundRows w = scale();
      const bool ones = !weight_ && ones_ >= plan.samples;
      return add_few<true>(s, few_sample(0), baseline, {ones ? nullptr : w.row, w.sample},
                           plan.samples);
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
      s.baseline = baseline_of(s, plan, i);
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
          add_sample<Part>(s, inverse_samples);
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
    Patience patience(task.proceed, task.proceed_context);
    for (std::int64_t i = 0; few_ && i < plan.samples; ++i) {
      // On the policy itself the weight of a vanilla step is 1.
      const bool bare = plainly_on_policy && plan.update == kUpdate<VanillaUpdate>;
      if (makes_rows(plan) && bare) {
        draw_few<Wanted::kDrawn>(s, plan, task, behaviour, t, i, i + 1, few_sample(0), patience);
        find_gradient</*kBare=*/true>(s, plan, s.action, s.importance, s.reward);
      } else {
        draw_few_samples(s, plan, task, behaviour, t, {i, i + 1}, plainly_on_policy, patience);
        if (makes_rows(plan)) {
          find_gradient(s, plan, s.action, s.importance, s.reward);
        } else {
          add_one_of_few(s, plan, i);
        }
      }
      if (plan.uses_running_mean) {
        follow_rewards<W>(s.running_mean, reward_, plan.running_mean_rate,
                          static_cast<double>(t * plan.samples + i + 1));
      }
    }
    if (few_) return;
    const bool by_rows = makes_rows(plan);
    if (!by_rows) clear(s);
    for (std::int64_t i = 0; i < plan.samples; ++i) {
      draw(s, plan, task, behaviour, t, i);
      if (by_rows) {
        find_gradient(s, plan, s.action, s.importance, s.reward);
      } else {
        with_update(plan, [&]<typename Part>()
                              COMMITTAL_INLINE_LAMBDA { add_sample<Part>(s, inverse_samples); });
      }
      if (plan.uses_running_mean) {
        follow_rewards<W>(s.running_mean, s.reward, plan.running_mean_rate,
                          static_cast<double>(t * plan.samples + i + 1));
      }
      patience.spend(s.K());
    }
  }

  // The gradient of the one sample, as its rows are made of it: the same numbers as add_samples().
  template <bool kBare = false>
  void find_gradient(State& s, const BanditView& plan, const std::int64_t* action,
                     const double* importance, const double* reward) {
    const bool along_score = plan.update == kUpdate<VanillaUpdate>;
    const double* baseline = baseline_of(s, plan, 0);
    gradient_ = {number_, s.spare, s.spare2};
    if (few_) {
      const FewSample sample = few_sample(0);
      const double* scale = !along_score ? sample.importance
                            : weight_    ? weight_.output(0).row
                                         : ratio_;
      COMMITTAL_STRIPS(l, W) {
        Strip along = Strip::load(sample.reward + l) - Strip::load(baseline + l);
        if constexpr (!kBare) along *= Strip::load(scale + l);
        along.store(s.spare + l);
        if (!along_score) continue;
        const Strip share = along / Strip::load(s.total + l);
        (share * sum_of_others(s, Strip::load(number_ + l), l)).store(s.spare + l);
        (-share).store(s.spare2 + l);
      }
      return;
    }
    for (int l = 0; l < W; ++l) {
      number_[l] = static_cast<double>(action[l]);
      s.spare[l] = s.weight[action[l] * W + l];
    }
    COMMITTAL_STRIPS(l, W) {
      const Strip advantage = Strip::load(reward + l) - Strip::load(baseline + l);
      const Strip weight = Strip::load(importance + l);
      if (!along_score) {
        (advantage * weight).store(s.spare + l);
        continue;
      }
      const Strip inverse_total = Strip(1.0) / Strip::load(s.total + l);
      const Strip drawn = Strip::load(s.spare + l);
      const Strip share = advantage * (drawn * inverse_total * weight) * inverse_total;
      (share * weight_of_others(s, Strip::load(number_ + l), drawn, l)).store(s.spare + l);
      (-share).store(s.spare2 + l);
    }
  }

  // The optimiser's step and what follows from it, some rows at a time.
  void move_by_rows(State& s, const BanditView& plan, std::int64_t t, double alpha) {
    const bool made = !makes_rows(plan);
    const bool along_score = plan.update == kUpdate<VanillaUpdate>;
    const BoundRows& step = optimiser_.output(0);
    optimiser_.begin(t);
    if (follows_moments(s)) {
      const MomentRows<W> moments(optimiser_.moments());
      follow_moments(s, moments, made ? nullptr : &gradient_, along_score, t, alpha);
      optimiser_.advance();
      if (outside_range(s)) rebase_where_needed(s);
      return;
    }
    for (std::int64_t k = 0; k < s.K(); k += kRowsTogether<W>) {
      const std::int64_t end = k + kRowsTogether<W> < s.K() ? k + kRowsTogether<W> : s.K();
      const RowRange rows{k, end};
      if (!made && along_score) gradient_rows<true>(s, gradient_, rows);
      if (!made && !along_score) gradient_rows<false>(s, gradient_, rows);
      optimiser_.run_rows(rows);
      follow_rows(s, step, alpha, rows);
    }
    optimiser_.advance();
    if (outside_range(s)) rebase_where_needed(s);
  }

  // Whether the optimiser is two moments of the gradient and their quotient.
  bool follows_moments(const State& s) const {
    const ProgramStep* steps = optimiser_.moments();
    return steps != nullptr && steps[0].from[3].row == s.direction &&
           steps[1].from[3].row == s.direction && steps[2].to.row == optimiser_.output(0).row;
  }
  static COMMITTAL_INLINE void clear(State& s) {
    for (std::int64_t k = 0; k < s.K(); ++k) fill<W>(s.direction + k * W, 0.0);
  }

  // direction = what the update's program gives, the mean of it over the samples.
  void follow_update(State& s, const BanditView& plan, std::int64_t t) {
    update_.run(t);
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
        (Strip::load(bad_ + l) + (sum - sum)).store(bad_ + l);
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
    if (follows_rows(plan)) return move_by_rows(s, plan, t, alpha);
    if (optimiser_) {
      optimiser_.run(t);
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
    } else if (few_ && plan.policy == Policy::kSoftmax) {
      follow_rows(s, {s.direction, 0, W}, alpha, {0, s.K()});
      if (outside_range(s)) rebase_where_needed(s);
    } else {
      with_update(plan, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA { Part::apply(s, alpha); });
      settle(s, plan);
    }
    s.direction = direction;
  }

  // The optimiser's step becomes the direction: in its own rows, since a projection writes there.
  COMMITTAL_INLINE void take_step(State& s) {
    const ProgramView& view = optimiser_.view();
    const BoundRows& value = optimiser_.output(0);
    if (view.registers[view.outputs[0]].kind == ProgramRegister::Kind::kComputed &&
        !optimiser_.is_state(value.row)) {
      s.direction = value.row;
      return;
    }
    for (std::int64_t k = 0; k < s.K(); ++k) {
      COMMITTAL_STRIPS(l, W) {
        Strip::load(value.row + k * value.arm + l).store(s.direction + k * W + l);
      }
    }
  }

  SampleGradient gradient_{};
};

}  // namespace committal::COMMITTAL_ISA
