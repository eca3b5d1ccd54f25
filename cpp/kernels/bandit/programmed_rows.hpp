// The programs of a bandit's block and the rows that they read.
#pragma once

#include "kernels/bandit/programmed_few.hpp"
#include "kernels/program.hpp"

namespace committal::COMMITTAL_ISA {

// Probabilities as programs see them are never 0: their logarithms are numbers.
inline constexpr double kLeastSeen = kFloor;

template <int KT, int W>
struct BanditProgramRows {
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
    few_ = KT == 0 && arms <= kComparedArms && set.link == nullptr;
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
    const std::int64_t drawn = batch_ ? samples : (few_ ? 1 : 0);
    action_ = arena.take<std::int64_t>(drawn, W);
    importance_ = arena.take<double>(drawn, W);
    reward_ = arena.take<double>(drawn, W);
    inverse_ = arena.take<double>(drawn, W);
    baselines_ = arena.take<double>(sampled_baseline_ ? samples : 0, W);
    const std::int64_t numbers = uses(ProgramInput::kAction) ? samples : (optimiser_ ? 1 : 0);
    number_ = arena.take<double>(few_ ? drawn : numbers, W);
    ratio_ = arena.take<double>(
        few_ ? drawn : (uses(ProgramInput::kRatio) || uses(ProgramInput::kWeight) ? samples : 0),
        W);
    advantage_ = rows(arena, ProgramInput::kAdvantage, samples);
    const std::int64_t pairs = samples * arms;
    score_ = rows(arena, ProgramInput::kScore, pairs);
    natural_ = rows(arena, ProgramInput::kNatural, pairs);
  }

  // After the rows of the block have their start.
  void bind(Block<KT, W>& s, const BanditView& plan) {
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
    ones_ = 0;
    BoundRows known[rows_of(ProgramInput{}).count];
    const auto give = [&](ProgramInput input, double* row) {
      const RowShape shape = kProgramInputs[static_cast<int>(input)].shape;
      known[static_cast<int>(input)] = contiguous<W>(row, shape, {plan.arms, plan.samples});
    };
    give(ProgramInput::kTime, time_);
    give(ProgramInput::kArms, arms_);
    give(ProgramInput::kSamples, samples_);
    give(ProgramInput::kPolicy, pi_);
    give(ProgramInput::kRewards, rewards_);
    give(ProgramInput::kTheta, s.theta);
    give(ProgramInput::kStart, start_);
    give(ProgramInput::kBehaviour, plan.behaviour == kOnPolicy ? pi_ : mu_);
    give(ProgramInput::kGradient, s.direction);
    give(ProgramInput::kAction, number_);
    give(ProgramInput::kReward, reward_);
    give(ProgramInput::kRatio, ratio_);
    give(ProgramInput::kAdvantage, advantage_);
    give(ProgramInput::kScore, score_);
    give(ProgramInput::kNatural, natural_);
    // One row for all samples where they have the same.
    if (baseline_) baseline_.bind(known);
    known[static_cast<int>(ProgramInput::kBaseline)] =
        sampled_baseline_ ? sampled_baselines(plan) : BoundRows{s.baseline, 0, 0};
    if (weight_) weight_.bind(known);
    known[static_cast<int>(ProgramInput::kWeight)] =
        weight_ ? weight_.output(0) : BoundRows{ratio_, W, 0};
    if (update_) update_.bind(known);
    if (link_) link_.bind(known);
    if (optimiser_) optimiser_.bind(known);
    for (std::int64_t i = 0; i < plan.programs.quantities.count; ++i) quantities_[i].bind(known);
  }

  // b of each sample: the program's rows as they are, if b has no other terms.
  COMMITTAL_INLINE bool bare_baseline(const BanditView& plan) const {
    return sampled_baseline_ && plan.baseline_terms.count == 0 && plan.baseline_offset == 0.0;
  }
  COMMITTAL_INLINE BoundRows sampled_baselines(const BanditView& plan) const {
    return bare_baseline(plan) ? baseline_.output(0) : BoundRows{baselines_, W, 0};
  }

  COMMITTAL_INLINE double* baseline_of(const Block<KT, W>& s, const BanditView& plan,
                                       std::int64_t i) const {
    if (!sampled_baseline_) return s.baseline;
    const BoundRows rows = sampled_baselines(plan);
    return rows.row + i * rows.sample;
  }

  COMMITTAL_INLINE bool uses(ProgramInput input) const {
    return (used_ >> static_cast<int>(input) & 1u) != 0;
  }
  double* rows(Arena& arena, ProgramInput input, std::int64_t count) const {
    return arena.take<double>(uses(input) ? count : 0, W);
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

  // Remembers on which lanes a result of a program is no number: what comes after may hide it.
  COMMITTAL_INLINE void watch(const BoundRows& rows, std::int64_t count) {
    COMMITTAL_STRIPS(l, W) {
      Strip sum = Strip::load(bad_ + l);
      for (std::int64_t i = 0; i < count; ++i) {
        const Strip x = Strip::load(rows.row + i * rows.sample + l);
        sum += x - x;
      }
      sum.store(bad_ + l);
    }
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

  bool batch_ = false;
  bool few_ = false;  // few arms: actions are compared, not looked up
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
  double* bad_ = nullptr;  // [W] 0; more, or NaN, once a link gave no law or a program no number
  double* mean_baseline_ = nullptr;  // [W]
  std::int64_t* action_ = nullptr;   // [samples][W], as those below
  double* importance_ = nullptr;
  double* reward_ = nullptr;
  double* inverse_ = nullptr;    // 1 / pi(a)
  double* baselines_ = nullptr;  // b of each sample, if they differ
  double* number_ = nullptr;     // the action as a number
  double* ratio_ = nullptr;
  std::int64_t ones_ = 0;  // how many of these are 1 from earlier updates
  double* advantage_ = nullptr;
  double* score_ = nullptr;    // [samples][arms][W]
  double* natural_ = nullptr;  // [samples][arms][W]
};

}  // namespace committal::COMMITTAL_ISA
