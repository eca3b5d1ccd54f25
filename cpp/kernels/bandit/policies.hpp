// Policies: from parameters to unnormalised probabilities, without overflow.
//
// softmax: weight_i = exp(theta_i - shift). The shift is moved only when the total leaves a wide
// range, one lane at a time, so that a natural step costs one exp. direct: the weights are the
// parameters.
#pragma once

#include "kernels/bandit/block.hpp"

namespace committal::COMMITTAL_ISA {

// The total of the weights stays in this range; outside it the shift follows the largest theta.
inline constexpr double kTotalMin = 0x1p-40;
inline constexpr double kTotalMax = 0x1p+40;

COMMITTAL_INLINE bool in_range(double total) { return total >= kTotalMin && total <= kTotalMax; }
// The same of the least and the most of many.
COMMITTAL_INLINE bool leaves_range(const Strip& least, const Strip& most) {
  return any((least < Strip(kTotalMin)) | (most > Strip(kTotalMax)));
}

// Gives one lane the shift max(theta) and its weights again. Cold.
template <int KT, int W>
void rebase_lane(Block<KT, W>& s, int l) {
  double highest = s.theta[l];
  for (std::int64_t k = 1; k < s.K(); ++k) highest = larger(highest, s.theta[k * W + l]);
  s.shift[l] = highest;
  double total = 0.0;
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const double weight = exp_of(s.theta[k * W + l] - highest);
    s.weight[k * W + l] = weight;
    total += weight;
  }
  s.total[l] = total;
}

template <int KT, int W>
void rebase_where_needed(Block<KT, W>& s) {
  for (int l = 0; l < W; ++l) {
    if (!in_range(s.total[l])) rebase_lane(s, l);
  }
}

// Whether the total of some lane has left its range.
template <int KT, int W>
COMMITTAL_INLINE bool outside_range(const Block<KT, W>& s) {
  Strip least = Strip::load(s.total);
  Strip most = least;
  for (int l = kStrip; l < W; l += kStrip) {
    least = smaller(least, Strip::load(s.total + l));
    most = larger(most, Strip::load(s.total + l));
  }
  return leaves_range(least, most);
}

// Makes weight and total describe the current parameters.
template <int KT, int W>
COMMITTAL_INLINE void settle(Block<KT, W>& s, const BanditView& plan) {
  sum_rows<KT, W>(s.K(), s.weight, s.total);
  if (plan.policy == Policy::kSoftmax && outside_range(s)) rebase_where_needed(s);
}

// What rounding has left of coordinates that are 0. A tau is off by some K ulps; an arm that it
// lifts to 1e-16 is no arm of small probability: 1/pi of it would outweigh all others in a
// baseline.
COMMITTAL_INLINE double residue_of(std::int64_t count) {
  const auto arms = static_cast<double>(count);
  return smaller(arms * 0x1p-50, 0.5 / arms);
}

// theta = Euclidean projection of `point` on the simplex: max(point - tau, 0) with the tau that
// makes it sum to 1, by Michelot's shrinking active set. Lanes that are done do not move.
template <int KT, int W>
void project(Block<KT, W>& s, double* point) {
  const Strip residue(residue_of(s.K()));
  COMMITTAL_STRIPS(l, W) {
    Strip highest = Strip::load(point + l);
    for (std::int64_t k = 1; k < s.K(); ++k) {
      highest = larger(highest, Strip::load(point + k * W + l));
    }
    // Shifting by the largest coordinate keeps it active whatever the rounding.
    for (std::int64_t k = 0; k < s.K(); ++k) {
      (Strip::load(point + k * W + l) - highest).store(point + k * W + l);
    }
    Strip tau(-1e300);
    for (std::int64_t pass = 0; pass <= s.K(); ++pass) {
      Strip sum(-1.0);
      Strip count(0.0);
      for (std::int64_t k = 0; k < s.K(); ++k) {
        const Strip x = Strip::load(point + k * W + l);
        const StripTruth active = x > tau;
        sum += where(active, x);
        count = add_where(active, count, Strip(1.0));
      }
      const Strip next = sum / count;
      const StripTruth stays = next == tau;
      tau = next;
      if (all(stays)) break;
    }
    StripTruth residues = !StripTruth::everywhere();
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const Strip theta = larger(Strip::load(point + k * W + l) - tau, Strip(0.0));
      residues = residues | ((theta > Strip(0.0)) & (theta <= residue));
      theta.store(s.theta + k * W + l);
    }
    if (!any(residues)) continue;
    // Once more without them, on the lanes that have some.
    Strip sum(-1.0);
    Strip count(0.0);
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const StripTruth kept = Strip::load(s.theta + k * W + l) > residue;
      sum += where(kept, Strip::load(point + k * W + l));
      count = add_where(kept, count, Strip(1.0));
    }
    const Strip cleaner = sum / count;
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const Strip theta = Strip::load(s.theta + k * W + l);
      const Strip moved = larger(Strip::load(point + k * W + l) - cleaner, Strip(0.0));
      select(residues, where(theta > residue, moved), theta).store(s.theta + k * W + l);
    }
  }
}

}  // namespace committal::COMMITTAL_ISA
