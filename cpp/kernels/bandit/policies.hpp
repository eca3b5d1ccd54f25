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

// Gives one lane the shift max(theta) and its weights again. Cold.
template <int KT, int W>
void rebase_lane(Block<KT, W>& s, int l) {
  double highest = s.theta[l];
  for (std::int64_t k = 1; k < s.K(); ++k) highest = larger(highest, s.theta[k * W + l]);
  s.shift[l] = highest;
  double total = 0.0;
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const double weight = lane_exp(s.theta[k * W + l] - highest);
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
  std::int64_t outside = 0;
  COMMITTAL_LANES(l, W) {
    outside |= static_cast<std::int64_t>(s.total[l] < kTotalMin) |
               static_cast<std::int64_t>(s.total[l] > kTotalMax);
  }
  return outside != 0;
}

// Makes weight and total describe the current parameters.
template <int KT, int W>
COMMITTAL_INLINE void settle(Block<KT, W>& s, const BanditView& plan) {
  sum_rows<KT, W>(s.K(), s.weight, s.total);
  if (plan.policy == Policy::kSoftmax && outside_range(s)) rebase_where_needed(s);
}

// All weights from all parameters, for updates that move every theta.
template <int KT, int W>
COMMITTAL_INLINE void refresh_weights(Block<KT, W>& s) {
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const double* theta = s.theta + k * W;
    double* weight = s.weight + k * W;
    COMMITTAL_LANES(l, W) weight[l] = lane_exp(theta[l] - s.shift[l]);
  }
}

// Takes what rounding has left of coordinates that are 0, and only that, out of a projection. A
// tau is off by some K ulps; an arm that it lifts to 1e-16 is no arm of small probability: 1/pi of
// it would outweigh all others in a baseline. Lanes without such arms keep their bits.
template <int KT, int W>
void drop_residues(Block<KT, W>& s, const double* point, double residue) {
  double sum[W];
  double count[W];
  fill<W>(sum, -1.0);
  fill<W>(count, 0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      const bool kept = s.theta[k * W + l] > residue;
      sum[l] += kept ? point[k * W + l] : 0.0;
      count[l] += kept ? 1.0 : 0.0;
    }
  }
  COMMITTAL_LANES(l, W) sum[l] /= count[l];
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      const double moved = larger(point[k * W + l] - sum[l], 0.0);
      s.theta[k * W + l] = s.theta[k * W + l] > residue ? moved : 0.0;
    }
  }
}

// theta = Euclidean projection of `point` on the simplex: max(point - tau, 0) with the tau that
// makes it sum to 1, by Michelot's shrinking active set. Lanes that are done do not move.
template <int KT, int W>
void project(Block<KT, W>& s, double* point) {
  double* tau = s.spare;
  double* highest = s.spare2;
  COMMITTAL_LANES(l, W) highest[l] = point[l];
  for (std::int64_t k = 1; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) highest[l] = larger(highest[l], point[k * W + l]);
  }
  // Shifting by the largest coordinate keeps it active whatever the rounding.
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) point[k * W + l] -= highest[l];
  }
  COMMITTAL_LANES(l, W) tau[l] = -1e300;
  double sum[W];
  double count[W];
  for (std::int64_t pass = 0; pass <= s.K(); ++pass) {
    COMMITTAL_LANES(l, W) sum[l] = -1.0;
    COMMITTAL_LANES(l, W) count[l] = 0.0;
    for (std::int64_t k = 0; k < s.K(); ++k) {
      const double* row = point + k * W;
      COMMITTAL_LANES(l, W) {
        const bool active = row[l] > tau[l];
        sum[l] += active ? row[l] : 0.0;
        count[l] += active ? 1.0 : 0.0;
      }
    }
    std::int64_t moved = 0;
    COMMITTAL_LANES(l, W) {
      const double next = sum[l] / count[l];
      moved |= static_cast<std::int64_t>(next != tau[l]);
      tau[l] = next;
    }
    if (moved == 0) break;
  }
  const auto arms = static_cast<double>(s.K());
  const double residue = arms * 0x1p-50 < 0.5 / arms ? arms * 0x1p-50 : 0.5 / arms;
  std::int64_t residues = 0;
  for (std::int64_t k = 0; k < s.K(); ++k) {
    COMMITTAL_LANES(l, W) {
      const double theta = larger(point[k * W + l] - tau[l], 0.0);
      residues |=
          static_cast<std::int64_t>(theta > 0.0) & static_cast<std::int64_t>(theta <= residue);
      s.theta[k * W + l] = theta;
    }
  }
  if (residues != 0) drop_residues(s, point, residue);
}

}  // namespace committal::COMMITTAL_ISA
