// A bandit experiment as numbers: what the Python side lowers an Experiment to.
//
// Names become enumerators once, when the plan is built; kernels then see only `BanditView`, a flat
// structure of plain numbers and pointers into the plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/attributes.hpp"

namespace committal {

enum class Policy : int { kSoftmax, kDirect };
enum class Update : int { kVanilla, kNatural, kProjected };
enum class Estimator : int { kSampled, kExpected };
enum class Behaviour : int { kOnPolicy, kUniformMixture, kEpsilonGreedy, kFixed };
enum class Noise : int { kDeterministic, kBernoulli, kGaussian, kUniform, kTable };
enum class BaselineKind : int {
  kValue,
  kMinVarianceGradient,
  kMinVarianceNatural,
  kMinVarianceFixedLambda,
  kMaximum,
  kRunningMean,
};
enum class Quantity : int {
  kValue,
  kPolicy,
  kTheta,
  kBaseline,
  kEntropy,
  kAction,
  kReward,
  kRegret,
  kVariance,
  kDistance,
};
inline constexpr int kQuantities = 10;

// The names of an enumeration, in the order of its enumerators.
template <typename Enum>
const std::vector<std::string>& names();

// One term of a baseline: coefficient * B(pi, r). `parameter` is lambda, or the rate of a running
// mean (0: the plain average).
struct BaselineTerm {
  BaselineKind kind;
  double coefficient;
  double parameter;
};

// A constant, or one number per update.
struct Schedule {
  const double* values;
  std::int64_t count;
  COMMITTAL_FORCE_INLINE double at(std::int64_t t) const {
    return values[t < count ? t : count - 1];
  }
};

// What the kernels read. Arrays belong to the BanditPlan that made the view.
struct BanditView {
  std::int64_t arms;
  std::int64_t steps;
  std::int64_t samples;
  Policy policy;
  bool contrast;  // two arms described by one number: theta[0] - theta[1]
  Update update;
  Estimator estimator;
  Behaviour behaviour;
  Noise noise;
  const double* theta0;
  Schedule step_size;
  Schedule entropy;
  Schedule implicit;
  Schedule exploration;
  bool regularised;  // entropy is not identically 0
  const BaselineTerm* terms;
  std::int64_t term_count;
  double baseline_offset;
  bool uses_running_mean;
  double running_mean_initial;
  double running_mean_rate;
  const double* behaviour_probabilities;
  const double* means;
  const double* spread;
  const double* reward_variance;
  const std::int64_t* table_offsets;
  const double* table_values;
  const double* table_cumulative;
  double best_mean;
  std::int64_t best_arm;
  const std::int64_t* times;
  std::int64_t time_count;
};

// Owns the arrays. The fields are filled by name; validate() must pass before view() is used.
struct BanditPlan {
  std::int64_t arms = 0;
  std::int64_t steps = 0;
  std::int64_t samples = 1;
  std::string policy = "softmax";
  bool contrast = false;
  std::string update = "natural";
  std::string estimator = "sampled";
  std::string behaviour = "on_policy";
  std::string noise = "deterministic";
  std::vector<double> theta0;
  std::vector<double> step_size;
  std::vector<double> entropy{0.0};
  std::vector<double> implicit{0.0};
  std::vector<double> exploration{0.0};
  std::vector<BaselineTerm> terms;
  double baseline_offset = 0.0;
  double running_mean_initial = 0.0;
  std::vector<double> behaviour_probabilities;
  std::vector<double> means;
  std::vector<double> spread;
  std::vector<double> reward_variance;
  std::vector<std::int64_t> table_offsets;
  std::vector<double> table_values;
  std::vector<double> table_cumulative;
  std::vector<std::int64_t> times;

  // Throws std::invalid_argument naming the field, its value and what is allowed.
  void validate() const;
  BanditView view() const;
  // How many numbers a quantity has per run and time (arms, samples or 1).
  std::int64_t width(Quantity quantity) const;
};

BaselineKind baseline_kind(std::string_view name);
Quantity quantity(std::string_view name);

}  // namespace committal
