// Batches of policies, one per lane: from the caller's arrays to rows of lanes, and back.
#pragma once

#include "core/arena.hpp"
#include "core/limits.hpp"
#include "kernels/mdp/solve.hpp"

namespace committal::COMMITTAL_ISA {

// Carries numbers between the caller's arrays, one per lane and `width` numbers per state, and rows
// of lanes: four lanes and four numbers at a time. Terminal states use the row `terminal`.
template <int W, bool kIn>
void carry(const MdpSolve& task, std::int64_t width, double* rows, double* terminal) {
  double* row[4];
  std::int64_t column = 0;
  // Four columns, whose rows are known.
  const auto move = [&]() COMMITTAL_INLINE_LAMBDA {
    for (int l = 0; l < W; l += 4) {
      if constexpr (kIn) {
        const double* const* given = task.given + l;
        transpose4({given[0] + column, given[1] + column, given[2] + column, given[3] + column},
                   {row[0] + l, row[1] + l, row[2] + l, row[3] + l});
      } else {
        double* const* out = task.out + l;
        transpose4({row[0] + l, row[1] + l, row[2] + l, row[3] + l},
                   {out[0] + column, out[1] + column, out[2] + column, out[3] + column});
      }
    }
    if constexpr (kIn) {
      if (column % 8 == 0) {
        for (int l = 0; l < W; ++l) __builtin_prefetch(task.given[l] + column + task.next, 0, 2);
      }
    }
    column += 4;
  };
  const auto row_of = [&](std::int64_t s) COMMITTAL_INLINE_LAMBDA {
    const std::int64_t i = task.inner[s];
    return i < 0 ? terminal : rows + i * width * W;
  };
  if (width == 4) {
    for (std::int64_t s = 0; s < task.states; ++s) {
      const std::int64_t step = task.inner[s] < 0 ? 0 : W;
      row[0] = row_of(s);
      for (int k = 1; k < 4; ++k) row[k] = row[k - 1] + step;
      move();
    }
    return;
  }
  int held = 0;
  for (std::int64_t s = 0; s < task.states; ++s) {
    const std::int64_t step = task.inner[s] < 0 ? 0 : W;
    for (std::int64_t k = 0; k < width; ++k) {
      row[held++] = row_of(s) + k * step;
      if (held < 4) continue;
      move();
      held = 0;
    }
  }
  for (int h = 0; h < held; ++h) {
    for (int l = 0; l < W; ++l) {
      if constexpr (kIn) {
        row[h][l] = task.given[l][column + h];
      } else {
        task.out[l][column + h] = row[h][l];
      }
    }
  }
}

// Whether every policy is a law in every state that is acted in.
template <int W>
bool lawful(const MdpModelView& m, const double* policy) {
  constexpr int N = kStripOf<W>;
  for (int l = 0; l < W; l += N) {
    Truth<N> good = Truth<N>::everywhere();
    Lanes<N> least(0.0);  // what is no number is seen in the sums
    const double* row = policy + l;
    for (std::int64_t i = 0; i < m.acting; ++i) {
      Lanes<N> sum(0.0);
      for (std::int64_t k = 0; k < m.actions; ++k, row += W) {
        const Lanes<N> pi = Lanes<N>::load(row);
        least = smaller(least, pi);
        sum += pi;
      }
      good = good & (sum <= Lanes<N>(1.0 + kSumTolerance)) & (Lanes<N>(1.0 - kSumTolerance) <= sum);
    }
    if (!all(good & (Lanes<N>(0.0) <= least))) return false;
  }
  return true;
}

template <int W>
struct SolveRows {
  double* pairs = nullptr;   // [acting][actions]
  double* values = nullptr;  // [acting + goals]
  double* unread = nullptr;
  double* zero = nullptr;
  double* sweeps = nullptr;
  double* slots = nullptr;  // of the elimination
};

// Takes the rows of an evaluation from an arena.
template <int W>
inline void lay_out(SolveRows<W>& s, const MdpModelView& m, Arena& arena) {
  s.pairs = arena.take<double>(m.acting * m.actions, W);
  s.values = arena.take<double>(m.acting + m.goals, W);
  s.unread = arena.take<double>(W);
  s.zero = arena.take<double>(W);
  s.sweeps = arena.take<double>(W);
  s.slots = arena.take<double>(m.elimination.slots, W);
}

template <int W>
std::size_t solve_bytes(const MdpModelView& m) {
  SolveRows<W> rows;
  Arena counting;
  lay_out(rows, m, counting);
  return counting.bytes();
}

// The entry point of evaluate_policies().
template <int W>
bool solve_mdp(const MdpModelView& m, const MdpSolve& task) {
  static_assert(W <= kMdpWide, "MdpSolve names so many lanes");
  SolveRows<W> s;
  Arena arena(task.workspace);
  lay_out(s, m, arena);
  fill<W>(s.zero, 0.0);
  Patience patience = task.patience;
  if (task.what == MdpSolve::What::kQ) {
    for (std::int64_t g = 0; g < m.goals; ++g) fill<W>(s.values + (m.acting + g) * W, 0.0);
    carry<W, true>(task, 1, s.values, s.unread);
    q_values<W>(m, s.values, s.pairs);
    carry<W, false>(task, m.actions, s.pairs, s.zero);
    return true;
  }
  carry<W, true>(task, m.actions, s.pairs, s.unread);
  if (!lawful<W>(m, s.pairs)) return false;
  switch (task.what) {
    case MdpSolve::What::kQ:
      break;
    case MdpSolve::What::kValues:
      solve_values<W>(m, s.pairs, s.slots, s.values, patience);
      break;
    case MdpSolve::What::kValuesIterative:
      for (std::int64_t i = 0; i < m.acting + m.goals; ++i) fill<W>(s.values + i * W, 0.0);
      sweep_values<W>(m, s.pairs, task.tolerance, task.max_sweeps, s.values, s.sweeps, patience);
      for (int l = 0; l < W; ++l) *task.sweeps[l] = static_cast<std::int64_t>(s.sweeps[l]);
      break;
    case MdpSolve::What::kDistribution:
      solve_distribution<W>(m, s.pairs, task.start, s.slots, s.values, patience);
      break;
    case MdpSolve::What::kGoalProbability:
      goal_probability<W>(m, s.pairs, task.start, task.limit, s.slots, s.values, patience);
      for (std::int64_t g = 0; g < m.goals; ++g) {
        for (int l = 0; l < W; ++l) task.out[l][g] = s.values[g * W + l];
      }
      return true;
  }
  carry<W, false>(task, 1, s.values, s.zero);
  return true;
}

}  // namespace committal::COMMITTAL_ISA
