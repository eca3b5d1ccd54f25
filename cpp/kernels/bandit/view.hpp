// A bandit experiment as kernels see it: plain numbers and pointers into the plan.
#pragma once

#include "core/limits.hpp"
#include "kernels/fields.hpp"
#include "kernels/parts.hpp"

namespace committal {

inline constexpr int kBanditWide = 64;    // lanes; few arms: everything stays in the nearest cache
inline constexpr int kBanditNarrow = 16;  // many arms
static_assert(kBanditWide <= kMostLanes);

inline constexpr Named kPolicies[] = {{"softmax"}, {"direct"}};
COMMITTAL_FORCE_INLINE constexpr Array<Named> rows_of(Policy) { return array_of(kPolicies); }
static_assert(names_end_with(Policy::kDirect));

enum class Estimator : int { kSampled, kExpected };
inline constexpr Named kEstimators[] = {{"sampled"}, {"expected"}};
COMMITTAL_FORCE_INLINE constexpr Array<Named> rows_of(Estimator) { return array_of(kEstimators); }
static_assert(names_end_with(Estimator::kExpected));

enum class Noise : int { kDeterministic, kBernoulli, kGaussian, kUniform, kTable };
inline constexpr Named kNoises[] = {
    {"deterministic"}, {"bernoulli"}, {"gaussian"}, {"uniform"}, {"table"}};
COMMITTAL_FORCE_INLINE constexpr Array<Named> rows_of(Noise) { return array_of(kNoises); }
static_assert(names_end_with(Noise::kTable));

// Every field of a bandit plan; visit() in bandit/plan.hpp says what each may be.
template <typename Kind>
struct BanditFields {
  std::int64_t arms;
  std::int64_t steps;
  std::int64_t samples;
  ChoiceOf<Kind, Policy> policy;
  bool contrast;  // two arms described by one number: theta[0] - theta[1]
  ChoiceOf<Kind, Update> update;
  ChoiceOf<Kind, Estimator> estimator;
  ChoiceOf<Kind, Behaviour> behaviour;
  ChoiceOf<Kind, Noise> noise;
  ListOf<Kind, double> theta0;
  ScheduleOf<Kind> step_size;
  ScheduleOf<Kind> entropy;
  ScheduleOf<Kind> implicit;
  ScheduleOf<Kind> exploration;
  ListOf<Kind, BaselineTerm> baseline_terms;
  double baseline_offset;
  double running_mean_initial;
  ListOf<Kind, double> behaviour_probabilities;
  ListOf<Kind, double> means;
  ListOf<Kind, double> spread;
  ListOf<Kind, double> reward_variance;
  ListOf<Kind, std::int64_t> table_offsets;
  ListOf<Kind, double> table_values;
  ListOf<Kind, double> table_cumulative;
  ListOf<Kind, std::int64_t> times;
  ProgramsOf<Kind> programs;
};

// The fields, and what follows from them.
struct BanditView : BanditFields<Seen> {
  std::int64_t parameters;  // theta as it is recorded: one number per arm, or the contrast
  bool regularised;         // entropy is not identically 0
  bool uses_running_mean;
  double running_mean_rate;
  double best_mean;
  std::int64_t best_arm;
};

}  // namespace committal
