// Rows of lanes, one per arm of a bandit or action of a state: what is summed over them.
#pragma once

#include "kernels/registers.hpp"

namespace committal::COMMITTAL_ISA {

template <int W>
COMMITTAL_INLINE void fill(double* row, double value) {
  COMMITTAL_LANES(l, W) row[l] = value;
}

// Unnormalised probabilities of some arms: pi_k = weight[k] / total, on every lane. What baselines
// read, for the arms of a bandit as for the actions of one state.
template <int W>
struct ArmRows {
  std::int64_t count;
  const double* weight;  // [count][W]
  const double* total;   // [W]
};

// total = sum of the weights, always added in the order of the arms: selection relies on it.
template <int KT, int W>
COMMITTAL_INLINE void sum_rows(std::int64_t count, const double* rows, double* total) {
  if constexpr (KT > 0) {
    (void)count;
    COMMITTAL_LANES(l, W) {
      double sum = rows[l];
      COMMITTAL_ARMS(k, 1, KT) sum += rows[k * W + l];
      total[l] = sum;
    }
  } else {
    constexpr int N = kPacksTogether<W>;
    for (int l = 0; l < W; l += N * kPack) {
      Pack sum[N];
      COMMITTAL_ARMS(i, 0, N) sum[i] = pack(rows + l + i * kPack);
      for (std::int64_t k = 1; k < count; ++k) {
        COMMITTAL_ARMS(i, 0, N) sum[i] += pack(rows + k * W + l + i * kPack);
      }
      COMMITTAL_ARMS(i, 0, N) pack(total + l + i * kPack) = sum[i];
    }
  }
}

// The sums over all arms but one, for every arm, without subtracting nearly equal numbers: only the
// leading arm can hold more than half of the total, so only its sums are added up without it.
template <int W>
struct OthersSums {
  double highest[W];  // the leader's weight
  double others[W];   // sum of the weights but the leader's
  double squares[W];  // sum of their squares
  double leader[W];   // its number

  COMMITTAL_INLINE double sum_without(std::int64_t k, double w, int l) const {
    return leader[l] == static_cast<double>(k) ? others[l] : (others[l] - w) + highest[l];
  }
  COMMITTAL_INLINE double squares_without(std::int64_t k, double w, int l) const {
    return leader[l] == static_cast<double>(k) ? squares[l]
                                               : (squares[l] - w * w) + highest[l] * highest[l];
  }
};

// Lanes whose sums over many arms stay in registers together.
template <int W>
inline constexpr int kSummedTogether = W < 16 ? W : 16;

template <int W>
void sum_others(const ArmRows<W>& arms, OthersSums<W>& sums) {
  constexpr int N = kSummedTogether<W>;
  using Row = Lanes<N>;
  for (int l = 0; l < W; l += N) {
    Row highest = Row::load(arms.weight + l);
    Row leader(0.0);
    for (std::int64_t k = 1; k < arms.count; ++k) {  // ties: the lowest index leads
      const Row weight = Row::load(arms.weight + k * W + l);
      const auto above = weight > highest;
      highest = select(above, weight, highest);
      leader = select(above, Row(static_cast<double>(k)), leader);
    }
    Row others(0.0);
    Row squares(0.0);
    for (std::int64_t k = 0; k < arms.count; ++k) {
      const Row weight = Row::load(arms.weight + k * W + l);
      const Row counted = select(leader == Row(static_cast<double>(k)), Row(0.0), weight);
      others = others + counted;
      squares = squares + counted * counted;
    }
    highest.store(sums.highest + l);
    others.store(sums.others + l);
    squares.store(sums.squares + l);
    leader.store(sums.leader + l);
  }
}

}  // namespace committal::COMMITTAL_ISA
