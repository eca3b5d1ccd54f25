// Many arms of which one moves at a time: sums over leaves, so that a step looks at a few dozen
// numbers instead of at all arms.
//
// A leaf is a stretch of arms. Its sums are added up anew whenever one of its arms moves, and the
// total anew from them, so nothing drifts. Every lane has a copy of its weights of its own, padded
// with zeros to whole leaves: a leaf is then a few cache lines.
#pragma once

#include "kernels/bandit/policies.hpp"
#include "kernels/baselines.hpp"
#include "kernels/behaviours.hpp"

namespace committal::COMMITTAL_ISA {

// Decides for leaves, if there are many arms; the weights may follow later.
template <int KT, int W>
void keep_leaves(Block<KT, W>& s, const BanditView& plan) {
  if (KT > 0 || plan.policy != Policy::kSoftmax) return;
  const LeafLayout layout = leaf_layout(s.arms);
  s.leaves = layout.count;
  if (s.leaves == 0) return;
  s.leaf_arms = layout.arms;
  s.leaf_shift = 0;
  while (std::int64_t{1} << s.leaf_shift < layout.arms) ++s.leaf_shift;
  s.leaf_values_kept = false;
  for (const BaselineTerm& term : plan.baseline_terms) {
    s.leaf_values_kept = s.leaf_values_kept || term.kind == kBaseline<ValueBaseline>;
  }
  s.own_arms = layout.padded_arms;
  for (std::int64_t k = 0; k < s.own_arms; ++k) s.leaf_means[k] = k < s.arms ? plan.means[k] : 0.0;
  for (std::int64_t i = 0; i < s.own_arms * W; ++i) s.own_weight[i] = 0.0;
}

// The drawn leaf of every lane as rows of lanes: each lane has a leaf of its own, read four lanes
// and four arms at a time.
template <int KT, int W>
COMMITTAL_INLINE void open_leaves(Block<KT, W>& s, const std::int64_t* leaf) {
  for (int l = 0; l < W; l += 4) {
    const double* weight[4];
    const double* mean[4];
    for (int i = 0; i < 4; ++i) {
      const std::int64_t arm = leaf[l + i] << s.leaf_shift;
      weight[i] = s.own_weight + (l + i) * s.own_arms + arm;
      mean[i] = s.leaf_means + arm;
    }
    for (std::int64_t k = 0; k < s.leaf_arms; k += 4) {
      const auto carry = [&](const double* const(&from)[4], double* tile) COMMITTAL_INLINE_LAMBDA {
        double* to = tile + k * W + l;
        transpose4({from[0] + k, from[1] + k, from[2] + k, from[3] + k},
                   {to, to + W, to + 2 * W, to + 3 * W});
      };
      carry(weight, s.open_weight);
      if (s.leaf_values_kept) carry(mean, s.open_means);
    }
  }
}

// Adds up the open leaf of every lane: always in the order of its arms.
template <int KT, int W>
COMMITTAL_INLINE void sum_open_leaves(Block<KT, W>& s, const std::int64_t* leaf) {
  double sum[W];
  double product[W];
  COMMITTAL_STRIPS(l, W) {
    Strip total(0.0);
    Strip value(0.0);
    for (std::int64_t k = 0; k < s.leaf_arms; ++k) {
      const Strip weight = Strip::load(s.open_weight + k * W + l);
      total += weight;
      if (s.leaf_values_kept) value += weight * Strip::load(s.open_means + k * W + l);
    }
    total.store(sum + l);
    value.store(product + l);
  }
  for (int l = 0; l < W; ++l) {
    s.leaf_total[leaf[l] * W + l] = sum[l];
    s.leaf_value[leaf[l] * W + l] = product[l];
  }
}

// All leaves of one lane, from its weights: at the start, and when the lane has been rebased.
template <int KT, int W>
void sum_leaves_of(Block<KT, W>& s, int l) {
  double* own = s.own_weight + l * s.own_arms;
  for (std::int64_t k = 0; k < s.arms; ++k) own[k] = s.weight[k * W + l];
  for (std::int64_t j = 0; j < s.leaves; ++j) {
    double total = 0.0;
    double value = 0.0;
    for (std::int64_t k = j * s.leaf_arms; k < (j + 1) * s.leaf_arms; ++k) {
      total += own[k];
      value += own[k] * s.leaf_means[k];
    }
    s.leaf_total[j * W + l] = total;
    s.leaf_value[j * W + l] = value;
  }
}

// At the start, when all lanes are alike.
template <int KT, int W>
void start_leaves(Block<KT, W>& s) {
  sum_leaves_of(s, 0);
  for (std::int64_t j = 0; j < s.leaves; ++j) {
    fill<W>(s.leaf_total + j * W, s.leaf_total[j * W]);
    fill<W>(s.leaf_value + j * W, s.leaf_value[j * W]);
  }
  for (int l = 1; l < W; ++l) {
    double* own = s.own_weight + l * s.own_arms;
    for (std::int64_t k = 0; k < s.own_arms; ++k) own[k] = s.own_weight[k];
  }
  sum_rows<0, W>(s.leaves, s.leaf_total, s.total);
}

template <int KT, int W>
void rebase_leaves_where_needed(Block<KT, W>& s) {
  for (int l = 0; l < W; ++l) {
    if (in_range(s.total[l])) continue;
    rebase_lane(s, l);
    sum_leaves_of(s, l);
  }
  sum_rows<0, W>(s.leaves, s.leaf_total, s.total);
}

// total from the leaves, after the arm `action` of each lane has moved.
template <int KT, int W>
COMMITTAL_INLINE void settle_leaves(Block<KT, W>& s) {
  std::int64_t leaf[W];
  for (int l = 0; l < W; ++l) {
    leaf[l] = s.action[l] >> s.leaf_shift;
    const double weight = s.weight[s.action[l] * W + l];
    s.own_weight[l * s.own_arms + s.action[l]] = weight;
    s.open_weight[(s.action[l] & (s.leaf_arms - 1)) * W + l] = weight;
  }
  sum_open_leaves(s, leaf);
  sum_rows<0, W>(s.leaves, s.leaf_total, s.total);
  if (outside_range(s)) rebase_leaves_where_needed(s);
}

// V = sum of the leaves' values / total.
template <int KT, int W>
COMMITTAL_INLINE void value_from_leaves(const Block<KT, W>& s, double* out) {
  sum_rows<0, W>(s.leaves, s.leaf_value, out);
  COMMITTAL_STRIPS(l, W)(Strip::load(out + l) / Strip::load(s.total + l)).store(out + l);
}

// As draw_actions(): the first leaf whose cumulative total exceeds u * total, then the first arm
// whose cumulative weight exceeds what is left. Leaves and arms of weight 0 are never taken.
template <int KT, int W>
COMMITTAL_INLINE void draw_from_leaves(Block<KT, W>& s, const double* u, double implicit) {
  std::int64_t leaf[W];
  double left[W];
  double chosen[W];
  COMMITTAL_STRIPS(l, W) {
    const Strip x = Strip::load(u + l) * Strip::load(s.total + l);
    Strip cumulative(0.0);
    Strip before(0.0);
    Strip passed(0.0);
    for (std::int64_t j = 0; j < s.leaves - 1; ++j) {
      cumulative += Strip::load(s.leaf_total + j * W + l);
      const StripTruth beyond = x >= cumulative;
      passed = add_where(beyond, passed, Strip(1.0));
      before = select(beyond, cumulative, before);
    }
    store_integers(passed, leaf + l);
    (x - before).store(left + l);
  }
  open_leaves(s, leaf);
  // Below the leaf's total, whatever the rounding of the difference.
  for (int l = 0; l < W; ++l) {
    left[l] = smaller(left[l], s.leaf_total[leaf[l] * W + l] * (1.0 - 0x1p-53));
  }
  COMMITTAL_STRIPS(l, W) {
    const Strip target = Strip::load(left + l);
    Strip cumulative(0.0);
    Strip passed(0.0);
    for (std::int64_t k = 0; k < s.leaf_arms - 1; ++k) {
      cumulative += Strip::load(s.open_weight + k * W + l);
      passed = add_where(target >= cumulative, passed, Strip(1.0));
    }
    store_integers(passed, s.action + l);
  }
  for (int l = 0; l < W; ++l) {
    chosen[l] = s.open_weight[s.action[l] * W + l];
    s.action[l] += leaf[l] << s.leaf_shift;
  }
  COMMITTAL_STRIPS(l, W) {
    const Strip total = Strip::load(s.total + l);
    (total / drawn_weight(Strip::load(chosen + l), total, Strip(implicit))).store(s.importance + l);
  }
}

}  // namespace committal::COMMITTAL_ISA
