// Exact policy evaluation on the lanes of a block: one policy per lane, one sparsity for all.
//
//   (I - gamma P_pi) V = R_pi        by the model's elimination program, without pivoting: the
//                                    matrix is a diagonally dominant M-matrix, so none is needed
//   (I - gamma P_pi)^T d = rho       the discounted state distribution, from the transpose
#pragma once

#include "policies.hpp"

namespace committal::COMMITTAL_ISA {

// The rows that the elimination works on: its slots, then 1 / D.
template <int W>
struct Elimination {
  double* slot;
  double* inverse;
};

template <int W>
COMMITTAL_INLINE Elimination<W> elimination_rows(const MdpModelView& m, double* memory) {
  return {memory, memory + m.elimination.slots * W};
}

// Sets the matrix to I and the right-hand side to 0.
template <int W>
COMMITTAL_INLINE void begin_elimination(const MdpModelView& m, const Elimination<W>& e) {
  for (std::int64_t i = 0; i < m.acting; ++i) fill<W>(e.slot + i * W, -1.0);
  for (std::int64_t i = m.acting; i < m.elimination.slots; ++i) fill<W>(e.slot + i * W, 0.0);
}

template <int W>
COMMITTAL_INLINE void assemble(const Elimination<W>& e, std::int64_t count,
                               const std::int32_t* slots, const std::int32_t* rows,
                               const double* weights, const double* policy) {
  for (std::int64_t i = 0; i < count; ++i) {
    double* slot = e.slot + static_cast<std::int64_t>(slots[i]) * W;
    const double* pi = policy + static_cast<std::int64_t>(rows[i]) * W;
    const double weight = weights[i];
    COMMITTAL_LANES(l, W) slot[l] = fused(weight, pi[l], slot[l]);
  }
}

// Eliminates below the diagonal and substitutes back: x[acting].
template <int W>
COMMITTAL_INLINE void eliminate(const MdpModelView& m, const Elimination<W>& e, double* x) {
  const EliminationView& p = m.elimination;
  for (std::int64_t i = 0; i < m.acting; ++i) {
    for (std::int64_t entry = p.row_entries[i]; entry < p.row_entries[i + 1]; ++entry) {
      const double* entry_slot = e.slot + static_cast<std::int64_t>(p.multiplier_slot[entry]) * W;
      const double* inverse = e.inverse + static_cast<std::int64_t>(p.pivot[entry]) * W;
      double multiplier[W];
      COMMITTAL_LANES(l, W) multiplier[l] = entry_slot[l] * inverse[l];
      for (std::int64_t u = p.entry_updates[entry]; u < p.entry_updates[entry + 1]; ++u) {
        double* target = e.slot + static_cast<std::int64_t>(p.target[u]) * W;
        const double* source = e.slot + static_cast<std::int64_t>(p.source[u]) * W;
        COMMITTAL_LANES(l, W) target[l] = fused(multiplier[l], source[l], target[l]);
      }
    }
    COMMITTAL_LANES(l, W) e.inverse[i * W + l] = -1.0 / e.slot[i * W + l];
  }
  const double* right = e.slot + m.acting * W;
  const double* upper = e.slot + 2 * m.acting * W;
  for (std::int64_t i = m.acting - 1; i >= 0; --i) {
    double sum[W];
    COMMITTAL_LANES(l, W) sum[l] = right[i * W + l];
    for (std::int64_t u = p.upper_offsets[i]; u < p.upper_offsets[i + 1]; ++u) {
      const double* known = x + static_cast<std::int64_t>(p.upper_columns[u]) * W;
      COMMITTAL_LANES(l, W) sum[l] = fused(upper[u * W + l], known[l], sum[l]);
    }
    COMMITTAL_LANES(l, W) x[i * W + l] = sum[l] * e.inverse[i * W + l];
  }
}

// values[acting + goals]: V of every state, 0 for terminal ones.
template <int W>
void solve_values(const MdpModelView& m, const double* policy, const Elimination<W>& e,
                  double* values) {
  const EliminationView& p = m.elimination;
  begin_elimination(m, e);
  assemble(e, p.assembly_count, p.assembly_slot, p.assembly_row, p.assembly_weight, policy);
  eliminate(m, e, values);
  for (std::int64_t g = 0; g < m.goals; ++g) fill<W>(values + (m.acting + g) * W, 0.0);
}

// distribution[acting] = sum_t gamma^t P(s_t = s).
template <int W>
void solve_distribution(const MdpModelView& m, const double* policy, const double* start,
                        const Elimination<W>& e, double* distribution) {
  const EliminationView& p = m.elimination;
  begin_elimination(m, e);
  for (std::int64_t i = 0; i < m.acting; ++i) fill<W>(e.slot + (m.acting + i) * W, start[i]);
  assemble(e, p.transposed_count, p.transposed_slot, p.transposed_row, p.transposed_weight, policy);
  eliminate(m, e, distribution);
}

// Gauss-Seidel sweeps from `values` on, until no value changes by `tolerance` or more. A lane that
// is done keeps its values, so lanes do not depend on each other.
template <int W>
void sweep_values(const MdpModelView& m, const double* policy, double tolerance,
                  std::int64_t max_sweeps, double* values, double* sweeps) {
  double moving[W];  // 1 while the lane is being swept
  fill<W>(moving, 1.0);
  fill<W>(sweeps, 0.0);
  for (std::int64_t sweep = 0; sweep < max_sweeps; ++sweep) {
    double change[W];
    fill<W>(change, 0.0);
    for (std::int64_t i = 0; i < m.acting; ++i) {
      double next_value[W];
      fill<W>(next_value, 0.0);
      for (std::int64_t k = 0; k < m.actions; ++k) {
        const std::int64_t row = i * m.actions + k;
        const double* pi = policy + row * W;
        double outcome[W];
        fill<W>(outcome, m.expected_reward[row]);
        for (std::int64_t at = m.row_offsets[row]; at < m.row_offsets[row + 1]; ++at) {
          const double weight = m.gamma * m.probability[at];
          const double* value = values + static_cast<std::int64_t>(m.next[at]) * W;
          COMMITTAL_LANES(l, W) outcome[l] += weight * value[l];
        }
        COMMITTAL_LANES(l, W) next_value[l] += pi[l] * outcome[l];
      }
      double* value = values + i * W;
      COMMITTAL_LANES(l, W) {
        const double kept = moving[l] > 0.0 ? next_value[l] : value[l];
        const double difference = kept > value[l] ? kept - value[l] : value[l] - kept;
        change[l] = larger(change[l], difference);
        value[l] = kept;
      }
    }
    std::int64_t unfinished = 0;
    COMMITTAL_LANES(l, W) {
      sweeps[l] += moving[l];
      moving[l] = change[l] < tolerance ? 0.0 : moving[l];
      unfinished |= static_cast<std::int64_t>(moving[l] > 0.0);
    }
    if (unfinished == 0) return;
  }
}

// q[acting][actions] = R + gamma P V.
template <int W>
void q_values(const MdpModelView& m, const double* values, double* q) {
  for (std::int64_t row = 0; row < m.acting * m.actions; ++row) {
    double* out = q + row * W;
    fill<W>(out, m.expected_reward[row]);
    for (std::int64_t at = m.row_offsets[row]; at < m.row_offsets[row + 1]; ++at) {
      const double weight = m.gamma * m.probability[at];
      const double* value = values + static_cast<std::int64_t>(m.next[at]) * W;
      COMMITTAL_LANES(l, W) out[l] += weight * value[l];
    }
  }
}

// out[goals]: the probability of having reached each terminal state within `limit` moves. Two
// scratch rows per state.
template <int W>
void goal_probability(const MdpModelView& m, const double* policy, const double* start,
                      std::int64_t limit, double* scratch, double* out) {
  double* now = scratch;
  double* later = scratch + m.acting * W;
  for (std::int64_t i = 0; i < m.acting; ++i) fill<W>(now + i * W, start[i]);
  for (std::int64_t g = 0; g < m.goals; ++g) fill<W>(out + g * W, 0.0);
  for (std::int64_t move = 0; move < limit; ++move) {
    for (std::int64_t i = 0; i < m.acting; ++i) fill<W>(later + i * W, 0.0);
    for (std::int64_t row = 0; row < m.acting * m.actions; ++row) {
      const double* here = now + row / m.actions * W;
      const double* pi = policy + row * W;
      for (std::int64_t at = m.row_offsets[row]; at < m.row_offsets[row + 1]; ++at) {
        const std::int64_t next = m.next[at];
        const double p = m.probability[at];
        double* target = next < m.acting ? later + next * W : out + (next - m.acting) * W;
        COMMITTAL_LANES(l, W) target[l] += here[l] * pi[l] * p;
      }
    }
    double* swap = now;
    now = later;
    later = swap;
  }
}

// Lays the policies of a block out as rows of lanes.
template <int W>
COMMITTAL_INLINE void load_policies(const MdpModelView& m, const MdpSolve& task) {
  const double* given = task.given;
  const std::int64_t* offset = task.offset;
  for (std::int64_t i = 0; i < m.acting; ++i) {
    const std::int64_t law = static_cast<std::int64_t>(task.original[i]) * m.actions;
    for (std::int64_t k = 0; k < m.actions; ++k) {
      double* row = task.pairs + (i * m.actions + k) * W;
      COMMITTAL_LANES(l, W) row[l] = given[offset[l] + law + k];
    }
  }
}

// The entry point of evaluate_policies().
template <int W>
void solve_mdp(const MdpModelView& m, const MdpSolve& task) {
  static_assert(W == 8, "MdpSolve holds the offsets of eight lanes");
  if (task.what != MdpSolve::What::kQ) load_policies<W>(m, task);
  auto* memory = static_cast<double*>(task.workspace);
  const Elimination<W> e = elimination_rows<W>(m, memory);
  switch (task.what) {
    case MdpSolve::What::kLoad:
      break;
    case MdpSolve::What::kValues:
      solve_values(m, task.pairs, e, task.values);
      break;
    case MdpSolve::What::kValuesIterative:
      for (std::int64_t i = 0; i < m.acting + m.goals; ++i) fill<W>(task.values + i * W, 0.0);
      sweep_values<W>(m, task.pairs, task.tolerance, task.max_sweeps, task.values, task.sweeps);
      break;
    case MdpSolve::What::kQ:
      q_values<W>(m, task.values, task.pairs);
      break;
    case MdpSolve::What::kDistribution:
      solve_distribution(m, task.pairs, task.start, e, task.out);
      break;
    case MdpSolve::What::kGoalProbability:
      goal_probability<W>(m, task.pairs, task.start, task.limit, memory, task.out);
      break;
  }
}

}  // namespace committal::COMMITTAL_ISA
