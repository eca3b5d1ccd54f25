// The life of a block of bandit runs: start, update, record, until the last step.
#pragma once

#include "kernels/bandit/few.hpp"
#include "kernels/bandit/recorders.hpp"

namespace committal::COMMITTAL_ISA {

// What a block without formulas has of them; BanditPrograms has the same for those with.
struct NoPrograms {
  static COMMITTAL_INLINE void lay_out(const BanditView&, Arena&) {}
  static constexpr bool kAny = false;
};

template <int KT, int W, typename Programs = NoPrograms>
class BanditBlock {
 public:
  BanditBlock(const BanditView& plan, const BlockTask& task) : plan_(plan), task_(task) {
    Arena arena(task.workspace);
    lay_out(s_, plan, widest(kBanditQuantities, plan), arena);
    programs_.lay_out(plan, arena);
    if (plan.policy == Policy::kDirect) s_.weight = s_.theta;
    for (int l = 0; l < W; ++l) s_.run[l] = task.first_run + static_cast<std::uint64_t>(l);
    for (std::int64_t k = 0; k < s_.K(); ++k) fill<W>(s_.theta + k * W, plan.theta0[k]);
    if (plan.policy == Policy::kSoftmax) {
      rebase_lane(s_, 0);  // all lanes start alike
      fill<W>(s_.shift, s_.shift[0]);
      for (std::int64_t k = 0; k < s_.K(); ++k) fill<W>(s_.weight + k * W, s_.weight[k * W]);
    } else {
      fill<W>(s_.shift, 0.0);
    }
    fill<W>(s_.running_mean, plan.running_mean_initial);
    fill<W>(s_.regret, 0.0);
    with_update(plan, [&]<typename Part>() {
      const bool plain =
          plan.samples == 1 && !plan.regularised && plan.estimator != Estimator::kExpected;
      moves_one_arm_ = kMovesOneArm<Part, KT, W> && plain;
      moves_at_once_ = kMovesAllAtOnce<Part, KT, W> && plain;
    });
    if (moves_one_arm_ && plan.behaviour == kOnPolicy && !made_by_programs()) {
      keep_leaves(s_, plan);
    }
    few_ = KT > 0 && plan.samples == 1 && !plan.regularised &&
           plan.estimator != Estimator::kExpected &&
           (plan.update == kUpdate<NaturalUpdate> || plan.update == kUpdate<VanillaUpdate>);
    for_each_part(Recorders{}, [&]<typename Part>() {
      accumulates_ = accumulates_ || (kAccumulates<Part> && wants<Part>());
    });
    alike_ = few_ && !Programs::kAny && !accumulates_ && !plan.uses_running_mean &&
             plan.behaviour == kOnPolicy && plan.step_size.count <= 1 && plan.implicit.count <= 1;
  }

  void run() {
    std::int64_t t = 0;
    std::int64_t next_record = 0;
    const std::int64_t stretch = stretch_length();
    settle_start();
    for (;;) {
      if (next_record < plan_.times.count && plan_.times[next_record] == t) {
        if (!record(next_record++, t)) return;
      }
      const std::int64_t stop =
          next_record < plan_.times.count ? plan_.times[next_record] : t;  // nothing left to see
      if (stop == t) return;
      while (t < stop) {
        const std::int64_t until = t + stretch < stop ? t + stretch : stop;
        for (std::int64_t i = t; i < until;) i += steps(i, until);
        const std::int64_t done = until - t;
        t = until;
        if (wild_lane() >= 0) return find_divergence(t);
        if (!task_.proceed(task_.proceed_context, done)) return;
      }
    }
  }

 private:
  // Updates between two questions whether to go on: some milliseconds for any number of arms.
  std::int64_t stretch_length() const {
    const std::int64_t affordable = (std::int64_t{1} << 20) / (plan_.arms * plan_.samples) / cost();
    return affordable > 256 ? 256 : (affordable < 1 ? 1 : affordable);
  }

  // A lane whose parameters are not numbers any more, or -1. What is not finite stays so: looking
  // once per stretch is enough, and every record is made at the end of one.
  int wild_lane() const {
    double sum[W];  // x - x is 0 for numbers and NaN for all else
    COMMITTAL_STRIPS(l, W) {
      Strip lost(0.0);
      for (std::int64_t k = 0; k < s_.K(); ++k) {
        const Strip theta = Strip::load(s_.theta + k * W + l);
        lost += theta - theta;
      }
      if (plan_.policy == Policy::kDirect) {
        // A projection of what is not finite may be finite, but it is no law.
        const Strip total = Strip::load(s_.total + l);
        lost += where(!((total > Strip(0.999)) & (total < Strip(1.001))), Strip(1.0));
      }
      lost.store(sum + l);
    }
    if constexpr (Programs::kAny) programs_.add_lost(sum);
    for (int l = 0; l < task_.valid; ++l) {
      if (sum[l] != 0.0) return l;
    }
    return -1;
  }

  // Makes the same runs again, without recording, to tell which update it was.
  void find_divergence(std::int64_t until) {
    BlockTask quiet = task_;
    quiet.sink.wanted = 0;
    BanditBlock again(plan_, quiet);
    again.settle_start();
    for (std::int64_t t = 0; t < until; ++t) {
      again.step(t);
      const int lane = again.wild_lane();
      if (lane >= 0) {
        *task_.divergence = {t + 1, task_.first_run + static_cast<std::uint64_t>(lane)};
        return;
      }
      if (t % 256 == 255 && !task_.proceed(task_.proceed_context, 0)) return;
    }
  }

  template <typename Part>
  static constexpr bool kAccumulates =
      requires(Block<KT, W>& s, const BanditView& plan) { Part::accumulate(s, plan); };

  template <typename Part>
  bool wants() const {
    return task_.sink.wants(kPlace<Part, Recorders>);
  }

  // For the recorders that sum over the updates.
  void accumulate() {
    for_each_part(Recorders{}, [&]<typename Part>() {
      if constexpr (kAccumulates<Part>) {
        if (wants<Part>()) Part::accumulate(s_, plan_);
      }
    });
  }

  // Updates t to until - 1 of every lane, or fewer: how many.
  std::int64_t steps(std::int64_t t, std::int64_t until) {
    if constexpr (KT > 0) {
      if (alike_) return step_few_arms(t, until);
    }
    step(t);
    return 1;
  }

  // One update of every lane. On entry and exit weight and total describe theta.
  void step(std::int64_t t) {
    const double alpha = plan_.step_size.at(t);
    if (accumulates_) accumulate();
    if constexpr (Programs::kAny) {
      if (programs_.steps()) return programs_.step(s_, plan_, task_, t);
      programs_.add_baseline(s_, plan_, t);
    }
    if constexpr (KT > 0) {
      if (few_) {
        step_few_arms(t, t + 1);
        return;
      }
    }
    if (plan_.estimator == Estimator::kExpected) {
      with_update(plan_,
                  [&]<typename Part>() COMMITTAL_INLINE_LAMBDA { Part::expected(s_, plan_); });
    } else {
      compute_baseline(s_, plan_);
      add_samples(t, alpha);
      if (moves_one_arm_) return s_.has_leaves() ? settle_leaves(s_) : settle(s_, plan_);
      if (moves_at_once_) {
        if (outside_range(s_)) rebase_where_needed(s_);
        return;
      }
    }
    with_update(plan_, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
      if constexpr (requires { Part::add_entropy(s_, 1.0); }) {
        if (plan_.regularised) Part::add_entropy(s_, plan_.entropy.at(t));
      }
      Part::apply(s_, alpha);
    });
    settle(s_, plan_);
  }

  // A whole update in registers.
  // Updates t to until - 1, or fewer: how many.
  std::int64_t step_few_arms(std::int64_t t, std::int64_t until) {
    const auto draw = static_cast<std::uint64_t>(t);
    const auto place = static_cast<std::int64_t>(draw % kDraws);
    const std::int64_t count =
        alike_ ? (until - t < kDraws - place ? until - t : kDraws - place) : 1;
    const BehaviourRows rows = behaviour_rows(s_, plan_, t);
    reach_draw(s_, plan_, task_, draw);
    const FewSteps now{plan_,
                       rows,
                       count,
                       s_.action_uniforms + place * W,
                       s_.reward_uniforms + place * W,
                       plan_.step_size.at(t),
                       plan_.implicit.at(t),
                       0.0};
    const FewMade made =
        plan_.update == kUpdate<NaturalUpdate> ? step_few<true>(s_, now) : step_few<false>(s_, now);
    if (plan_.uses_running_mean) {
      follow_rewards<W>(s_.running_mean, s_.reward, plan_.running_mean_rate,
                        static_cast<double>(t + 1));
    }
    if (made.outside) rebase_where_needed(s_);
    return made.count;
  }

  // direction = the mean estimate of the samples; if one arm moves at a time, it has moved.
  COMMITTAL_INLINE void add_samples(std::int64_t t, double alpha) {
    const BehaviourRows rows = behaviour_rows(s_, plan_, t);
    if (!moves_one_arm_ && !moves_at_once_) {
      for (std::int64_t k = 0; k < s_.K(); ++k) fill<W>(s_.direction + k * W, 0.0);
    }
    const double inverse_samples = 1.0 / static_cast<double>(plan_.samples);
    Patience patience(task_.proceed, task_.proceed_context);
    for (std::int64_t sample = 0; sample < plan_.samples; ++sample) {
      draw(s_, plan_, task_, rows, t, sample);
      if (moves_one_arm_) {
        with_update(plan_, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
          if constexpr (kMovesOneArm<Part, KT, W>) Part::move_one(s_, alpha);
        });
      } else if (moves_at_once_) {
        with_update(plan_, [&]<typename Part>() COMMITTAL_INLINE_LAMBDA {
          if constexpr (kMovesAllAtOnce<Part, KT, W>) Part::move_all(s_, alpha);
        });
      } else {
        with_update(plan_, [&]<typename Part>()
                               COMMITTAL_INLINE_LAMBDA { Part::add_sample(s_, inverse_samples); });
      }
      if (plan_.uses_running_mean) {
        follow_rewards<W>(s_.running_mean, s_.reward, plan_.running_mean_rate,
                          static_cast<double>(t * plan_.samples + sample + 1));
      }
      patience.spend(s_.K());
    }
  }

  void settle_start() {
    if constexpr (Programs::kAny) {
      programs_.prepare(s_, plan_);
      if (plan_.programs.link != nullptr) return;
    }
    if (!s_.has_leaves()) return settle(s_, plan_);
    start_leaves(s_);
  }

  // False if something that is recorded is no number.
  bool record(std::int64_t index, std::int64_t t) {
    if constexpr (Programs::kAny) programs_.look(s_, plan_, task_, t);
    for_each_part(Recorders{}, [&]<typename Part>() {
      if (!wants<Part>()) return;
      const double* rows = Part::record(s_, Moment{plan_, task_, t});
      task_.sink.emit(task_.sink.context, kPlace<Part, Recorders>, index, rows,
                      Part::kRow.width(plan_), W);
    });
    if constexpr (Programs::kAny) {
      const bool fine = record_formulas(index, t);
      programs_.look_away(s_);
      return fine;
    }
    return true;
  }

  bool made_by_programs() const {
    if constexpr (Programs::kAny) return programs_.steps();
    return false;
  }
  std::int64_t cost() const {
    if constexpr (Programs::kAny) return programs_.cost();
    return 1;
  }

  bool record_formulas(std::int64_t index, std::int64_t t) {
    const auto& all = plan_.programs.quantities;
    for (std::int64_t i = 0; i < all.count; ++i) {
      const int number = static_cast<int>(kBanditQuantities.count + i);
      if (!task_.sink.wants(number)) continue;
      const std::int64_t width = all[i]->output_shape(0) == RowShape::kArm ? plan_.arms : 1;
      int wild = -1;
      const double* rows = programs_.quantity(i, task_.valid, width, wild);
      if (wild >= 0) {
        *task_.divergence = {t, task_.first_run + static_cast<std::uint64_t>(wild), number};
        return false;
      }
      task_.sink.emit(task_.sink.context, number, index, rows, width, W);
    }
    return true;
  }

  const BanditView& plan_;
  const BlockTask& task_;
  Block<KT, W> s_;
  [[no_unique_address]] Programs programs_;
  bool moves_one_arm_ = false;
  bool moves_at_once_ = false;
  bool few_ = false;    // whole updates in registers (few.hpp)
  bool alike_ = false;  // several of them at once: nothing else happens in between
  bool accumulates_ = false;
};

// Blocks with formulas; compiled by themselves (programmed.cpp).
template <int W>
void run_programmed_bandit(const BanditView& plan, const BlockTask& task);
template <int W>
std::size_t programmed_bandit_bytes(const BanditView& plan);

template <int W>
void run_bandit_block(const BanditView& plan, const BlockTask& task) {
  if (plan.programs.any()) return run_programmed_bandit<W>(plan, task);
  if constexpr (W == kBanditWide) {  // few arms have no narrow blocks: they would be slow
    if (plan.arms == 2) return BanditBlock<2, W>(plan, task).run();
    if (plan.arms == 3) return BanditBlock<3, W>(plan, task).run();
    if (plan.arms == 4) return BanditBlock<4, W>(plan, task).run();
  }
  BanditBlock<0, W>(plan, task).run();
}

template <int W>
std::size_t bandit_block_bytes(const BanditView& plan) {
  if (plan.programs.any()) return programmed_bandit_bytes<W>(plan);
  Block<0, W> rows;
  Arena counting;
  lay_out(rows, plan, widest(kBanditQuantities, plan), counting);
  return counting.bytes();
}

}  // namespace committal::COMMITTAL_ISA
