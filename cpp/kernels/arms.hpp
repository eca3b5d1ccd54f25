// Rows of lanes, one per arm of a bandit or action of a state: what is summed over them.
#pragma once

#include "kernels/vmath.hpp"

namespace committal::COMMITTAL_ISA {

template <int W>
COMMITTAL_INLINE void fill(double* row, double value) {
  constexpr int N = kStripOf<W>;
  for (int l = 0; l < W; l += N) Lanes<N>(value).store(row + l);
}

// Lanes whose sums over many arms stay in registers together.
template <int W>
inline constexpr int kSummedTogether = W < 4 * kNativeLanes ? W : 4 * kNativeLanes;

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
    constexpr int N = kStripOf<W>;
    for (int l = 0; l < W; l += N) {
      Lanes<N> sum = Lanes<N>::load(rows + l);
      COMMITTAL_PARTS(k, KT - 1) sum += Lanes<N>::load(rows + (k + 1) * W + l);
      sum.store(total + l);
    }
  } else {
    constexpr int N = kSummedTogether<W>;
    for (int l = 0; l < W; l += N) {
      Lanes<N> sum = Lanes<N>::load(rows + l);
      for (std::int64_t k = 1; k < count; ++k) sum += Lanes<N>::load(rows + k * W + l);
      sum.store(total + l);
    }
  }
}

// The sums over all arms but one, for every arm, without subtracting nearly equal numbers: only the
// leading arm can hold more than half of the total, so only its sums are added up without it.
template <int N>
struct OthersSums {
  Lanes<N> highest;   // the leader's weight
  Lanes<N> highest2;  // its square
  Lanes<N> others;    // sum of the weights but the leader's
  Lanes<N> squares;   // sum of their squares
  Lanes<N> leader;    // its number

  COMMITTAL_INLINE Truth<N> leads(std::int64_t k) const {
    return leader == Lanes<N>(static_cast<double>(k));
  }
  COMMITTAL_INLINE Lanes<N> sum_without(std::int64_t k, const Lanes<N>& w) const {
    return select(leads(k), others, (others - w) + highest);
  }
  COMMITTAL_INLINE Lanes<N> squares_without(std::int64_t k, const Lanes<N>& w) const {
    return select(leads(k), squares, (squares - w * w) + highest2);
  }
};

template <int N>
struct Leader {
  Lanes<N> weight;
  Lanes<N> number;
};

// Ties: the lowest index leads.
template <int N, int W>
COMMITTAL_INLINE Leader<N> leader_of(const ArmRows<W>& arms, int l) {
  Leader<N> first{Lanes<N>::load(arms.weight + l), Lanes<N>(0.0)};
  for (std::int64_t k = 1; k < arms.count; ++k) {
    const Lanes<N> weight = Lanes<N>::load(arms.weight + k * W + l);
    first.number = select(weight > first.weight, Lanes<N>(static_cast<double>(k)), first.number);
    first.weight = larger(weight, first.weight);
  }
  return first;
}

template <int N, int W>
COMMITTAL_INLINE OthersSums<N> sum_others(const ArmRows<W>& arms, int l) {
  const Leader<N> first = leader_of<N>(arms, l);
  OthersSums<N> sums{first.weight, first.weight * first.weight, 0.0, 0.0, first.number};
  for (std::int64_t k = 0; k < arms.count; ++k) {
    const Lanes<N> weight = Lanes<N>::load(arms.weight + k * W + l);
    const Lanes<N> counted = where(!sums.leads(k), weight);
    sums.others += counted;
    sums.squares += counted * counted;
  }
  return sums;
}

}  // namespace committal::COMMITTAL_ISA
