// The state of a block of bandit runs: rows of W lanes, one lane per run.
//
// KT is the number of arms when it is small enough to be a constant (2 to 4), else 0: constant arm
// loops unroll and keep every arm of a lane in registers.
#pragma once

#include "core/arena.hpp"
#include "core/task.hpp"
#include "kernels/arms.hpp"
#include "kernels/bandit/view.hpp"
#include "kernels/philox.hpp"

namespace committal::COMMITTAL_ISA {

// Many arms are summed by leaves (leaves.hpp): about as many arms per leaf as leaves.
inline constexpr std::int64_t kArmsWithoutLeaves = 48;
struct LeafLayout {
  std::int64_t arms;         // per leaf, a power of two
  std::int64_t count;        // 0 for few arms
  std::int64_t padded_arms;  // in whole leaves
};
COMMITTAL_INLINE LeafLayout leaf_layout(std::int64_t arms) {
  if (arms <= kArmsWithoutLeaves) return {0, 0, 0};
  std::int64_t size = 16;
  while (size * size < arms) size *= 2;
  const std::int64_t count = (arms + size - 1) / size;
  return {size, count, count * size};
}

template <int KT, int W>
struct Block {
  std::int64_t arms = 0;
  double* theta = nullptr;    // [arms][W] parameters (direct: probabilities)
  double* weight = nullptr;   // [arms][W] unnormalised pi: exp(theta - shift), direct: theta itself
  double* mixture = nullptr;  // [arms][W] unnormalised mu when off-policy
  double* direction = nullptr;      // [arms][W] the update being summed; scratch for the projection
  double* shift = nullptr;          // [W] the reference subtracted from theta
  double* total = nullptr;          // [W] sum of weight
  double* mixture_total = nullptr;  // [W] sum of mixture
  double* baseline = nullptr;       // [W] b
  double* spare = nullptr;          // [W]
  double* spare2 = nullptr;         // [W]
  double* importance = nullptr;     // [W] 1 / (mu(a) + implicit)
  double* reward = nullptr;         // [W] R
  double* running_mean = nullptr;   // [W]
  double* regret = nullptr;         // [W]
  double* action_uniforms = nullptr;         // [kDraws][W]
  double* reward_uniforms = nullptr;         // [kDraws][W]
  double* record = nullptr;                  // [as wide as the widest quantity][W]
  const double* formula_baseline = nullptr;  // [W] what a formula adds to b, if there is one
  std::int64_t* action = nullptr;            // [W] a
  std::uint64_t* run = nullptr;              // [W]
  // With many arms of which one moves at a time (leaves.hpp); leaves is 0 otherwise.
  std::int64_t leaves = 0;
  std::int64_t leaf_arms = 0;  // a power of two
  int leaf_shift = 0;          // its logarithm
  bool leaf_values_kept = false;
  std::int64_t own_arms = 0;                 // leaves * leaf_arms
  double* own_weight = nullptr;              // [W][own_arms] the weights once more, lane by lane
  double* leaf_total = nullptr;              // [leaves][W]
  double* leaf_value = nullptr;              // [leaves][W] sum of weight times mean reward
  double* leaf_means = nullptr;              // [own_arms]
  double* open_weight = nullptr;             // [leaf_arms][W] the drawn leaf of each lane
  double* open_means = nullptr;              // [leaf_arms][W] the mean rewards of its arms
  std::int64_t moves = 0;                    // of all arms at once, so far
  std::uint64_t filled = ~std::uint64_t{0};  // which stretch of kDraws draws the uniforms hold

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

// Takes the rows of a block from an arena, as many of them to record in.
template <int KT, int W>
inline void lay_out(Block<KT, W>& s, const BanditView& plan, std::int64_t recorded, Arena& arena) {
  const std::int64_t arms = plan.arms;
  const LeafLayout leaves = leaf_layout(arms);
  s.arms = arms;
  s.theta = arena.take<double>(arms, W);
  s.weight = arena.take<double>(arms, W);
  s.mixture = arena.take<double>(arms, W);
  s.direction = arena.take<double>(arms, W);
  s.shift = arena.take<double>(W);
  s.total = arena.take<double>(W);
  s.mixture_total = arena.take<double>(W);
  s.baseline = arena.take<double>(W);
  s.spare = arena.take<double>(W);
  s.spare2 = arena.take<double>(W);
  s.importance = arena.take<double>(W);
  s.reward = arena.take<double>(W);
  s.running_mean = arena.take<double>(W);
  s.regret = arena.take<double>(W);
  s.action = arena.take<std::int64_t>(W);
  s.run = arena.take<std::uint64_t>(W);
  s.action_uniforms = arena.take<double>(kDraws, W);
  s.reward_uniforms = arena.take<double>(kDraws, W);
  s.record = arena.take<double>(recorded, W);
  s.leaf_total = arena.take<double>(leaves.count, W);
  s.leaf_value = arena.take<double>(leaves.count, W);
  s.own_weight = arena.take<double>(leaves.padded_arms, W);
  s.leaf_means = arena.take<double>(leaves.padded_arms);
  s.open_weight = arena.take<double>(leaves.arms, W);
  s.open_means = arena.take<double>(leaves.arms, W);
}

}  // namespace committal::COMMITTAL_ISA
