// The state of a block of bandit runs: rows of W lanes, one lane per run.
//
// KT is the number of arms when it is small enough to be a constant (2 to 4), else 0: constant arm
// loops unroll and keep every arm of a lane in registers.
#pragma once

#include "kernels/philox.hpp"
#include "kernels/table.hpp"

namespace committal::COMMITTAL_ISA {

// Unnormalised probabilities of some arms: pi_k = weight[k] / total, on every lane. What baselines
// read, for the arms of a bandit as for the actions of one state.
template <int W>
struct ArmRows {
  std::int64_t count;
  const double* weight;  // [count][W]
  const double* total;   // [W]
};

template <int KT, int W>
struct Block {
  std::int64_t arms;
  double* theta;            // [arms][W] parameters (direct: probabilities)
  double* weight;           // [arms][W] unnormalised pi: exp(theta - shift), direct: theta itself
  double* mixture;          // [arms][W] unnormalised mu when off-policy
  double* direction;        // [arms][W] the update being summed; scratch for the projection
  double* shift;            // [W] the reference subtracted from theta
  double* total;            // [W] sum of weight
  double* mixture_total;    // [W] sum of mixture
  double* baseline;         // [W] b
  double* spare;            // [W]
  double* spare2;           // [W]
  double* importance;       // [W] 1 / (mu(a) + implicit)
  double* reward;           // [W] R
  double* running_mean;     // [W]
  double* regret;           // [W]
  double* action_uniforms;  // [kDraws][W]
  double* reward_uniforms;  // [kDraws][W]
  double* record;           // [max(arms, samples)][W]
  std::int64_t* action;     // [W] a
  std::uint64_t* run;       // [W]
  // With many arms of which one moves at a time (leaves.hpp); leaves is 0 otherwise.
  std::int64_t leaves;
  std::int64_t leaf_arms;  // a power of two
  int leaf_shift;          // its logarithm
  bool leaf_values_kept;
  std::int64_t own_arms;  // leaves * leaf_arms
  double* own_weight;     // [W][own_arms] the weights once more, lane by lane
  double* leaf_total;     // [leaves][W]
  double* leaf_value;     // [leaves][W] sum of weight times mean reward
  double* leaf_means;     // [own_arms]
  std::uint64_t filled;   // which stretch of kDraws draws the uniforms hold

  COMMITTAL_INLINE std::int64_t K() const {
    if constexpr (KT > 0) {
      return KT;
    } else {
      return arms;
    }
  }
  COMMITTAL_INLINE bool has_leaves() const { return KT == 0 && leaves > 0; }
  COMMITTAL_INLINE ArmRows<W> arm_rows() const { return {K(), weight, total}; }
};

// Carves the rows of a block out of task.workspace; BanditSimulator::workspace_bytes() mirrors it.
template <int KT, int W>
inline void lay_out(Block<KT, W>& s, const BanditView& plan, const BlockTask& task) {
  double* next = static_cast<double*>(task.workspace);
  const auto take = [&next](std::int64_t rows) {
    double* rows_begin = next;
    next += rows * W;
    return rows_begin;
  };
  const std::int64_t arms = plan.arms;
  const LeafLayout leaves = leaf_layout(arms);
  s.arms = arms;
  s.theta = take(arms);
  s.weight = take(arms);
  s.mixture = take(arms);
  s.direction = take(arms);
  s.shift = take(1);
  s.total = take(1);
  s.mixture_total = take(1);
  s.baseline = take(1);
  s.spare = take(1);
  s.spare2 = take(1);
  s.importance = take(1);
  s.reward = take(1);
  s.running_mean = take(1);
  s.regret = take(1);
  s.action = reinterpret_cast<std::int64_t*>(take(1));
  s.run = reinterpret_cast<std::uint64_t*>(take(1));
  s.action_uniforms = take(kDraws);
  s.reward_uniforms = take(kDraws);
  s.record = take(arms > plan.samples ? arms : plan.samples);
  s.leaf_total = take(leaves.count);
  s.leaf_value = take(leaves.count);
  s.own_weight = take(leaves.count > 0 ? leaves.padded_arms : 0);
  s.leaf_means = take((leaves.padded_arms + W - 1) / W);
  s.leaves = 0;
  s.filled = ~std::uint64_t{0};
}

template <int W>
COMMITTAL_INLINE void fill(double* row, double value) {
  COMMITTAL_LANES(l, W) row[l] = value;
}

// Makes the rows of uniforms hold draw d.
template <int KT, int W>
COMMITTAL_INLINE void reach_draw(Block<KT, W>& s, const BanditView& plan, const BlockTask& task,
                                 std::uint64_t draw) {
  const std::uint64_t stretch = draw / kDraws;
  if (stretch == s.filled) return;
  s.filled = stretch;
  fill_uniforms<W>(task.key, s.run, static_cast<std::uint32_t>(Slot::kAction), stretch * kDraws,
                   s.action_uniforms);
  if (plan.noise != Noise::kDeterministic) {
    fill_uniforms<W>(task.key, s.run, static_cast<std::uint32_t>(Slot::kReward), stretch * kDraws,
                     s.reward_uniforms);
  }
}

}  // namespace committal::COMMITTAL_ISA
