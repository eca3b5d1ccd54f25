// Exact policy evaluation on the lanes of a block: one policy per lane, one sparsity for all.
//
//   (I - gamma P_pi) V = R_pi        by elimination in the model's order, without pivoting: the
//                                    matrix is a diagonally dominant M-matrix, so none is needed
//   (I - gamma P_pi)^T d = rho       the discounted state distribution, from the transpose
#pragma once

#include "policies.hpp"

namespace committal::COMMITTAL_ISA {

// Scratch rows of the elimination.
template <int W>
struct Elimination {
  double* row;      // [acting] the row being eliminated
  double* right;    // [acting] right-hand side
  double* inverse;  // [acting] 1 / pivot
  double* upper;    // [fill]
};

template <int W>
COMMITTAL_INLINE Elimination<W> elimination_rows(const MdpModelView& m, double* memory) {
  const std::int64_t n = m.acting;
  return {memory, memory + n * W, memory + 2 * n * W, memory + 3 * n * W};
}

// Eliminates row i, whose entries and right-hand side are in e.row and e.right.
template <int W>
COMMITTAL_INLINE void eliminate_row(const MdpModelView& m, const Elimination<W>& e,
                                    std::int64_t i) {
  double* right = e.right + i * W;
  for (std::int64_t at = m.lower_offsets[i]; at < m.lower_offsets[i + 1]; ++at) {
    const std::int64_t k = m.lower_columns[at];
    double factor[W];
    const double* entry = e.row + k * W;
    const double* inverse = e.inverse + k * W;
    const double* right_k = e.right + k * W;
    COMMITTAL_LANES(l, W) factor[l] = entry[l] * inverse[l];
    COMMITTAL_LANES(l, W) right[l] -= factor[l] * right_k[l];
    for (std::int64_t u = m.upper_offsets[k]; u < m.upper_offsets[k + 1]; ++u) {
      double* target = e.row + static_cast<std::int64_t>(m.upper_columns[u]) * W;
      const double* upper = e.upper + u * W;
      COMMITTAL_LANES(l, W) target[l] -= factor[l] * upper[l];
    }
  }
  double* inverse = e.inverse + i * W;
  const double* pivot = e.row + i * W;
  COMMITTAL_LANES(l, W) inverse[l] = 1.0 / pivot[l];
  for (std::int64_t u = m.upper_offsets[i]; u < m.upper_offsets[i + 1]; ++u) {
    const double* entry = e.row + static_cast<std::int64_t>(m.upper_columns[u]) * W;
    double* upper = e.upper + u * W;
    COMMITTAL_LANES(l, W) upper[l] = entry[l];
  }
}

// Clears the structural entries of row i and puts 1 on the diagonal.
template <int W>
COMMITTAL_INLINE void begin_row(const MdpModelView& m, const Elimination<W>& e, std::int64_t i) {
  for (std::int64_t at = m.lower_offsets[i]; at < m.lower_offsets[i + 1]; ++at) {
    fill<W>(e.row + static_cast<std::int64_t>(m.lower_columns[at]) * W, 0.0);
  }
  for (std::int64_t at = m.upper_offsets[i]; at < m.upper_offsets[i + 1]; ++at) {
    fill<W>(e.row + static_cast<std::int64_t>(m.upper_columns[at]) * W, 0.0);
  }
  fill<W>(e.row + i * W, 1.0);
}

template <int W>
COMMITTAL_INLINE void back_substitute(const MdpModelView& m, const Elimination<W>& e, double* x) {
  for (std::int64_t i = m.acting - 1; i >= 0; --i) {
    double sum[W];
    COMMITTAL_LANES(l, W) sum[l] = e.right[i * W + l];
    for (std::int64_t u = m.upper_offsets[i]; u < m.upper_offsets[i + 1]; ++u) {
      const double* upper = e.upper + u * W;
      const double* known = x + static_cast<std::int64_t>(m.upper_columns[u]) * W;
      COMMITTAL_LANES(l, W) sum[l] -= upper[l] * known[l];
    }
    COMMITTAL_LANES(l, W) x[i * W + l] = sum[l] * e.inverse[i * W + l];
  }
}

// values[acting + goals]: V of every state, 0 for terminal ones.
template <int W>
void solve_values(const MdpModelView& m, const double* policy, const Elimination<W>& e,
                  double* values) {
  for (std::int64_t i = 0; i < m.acting; ++i) {
    begin_row(m, e, i);
    double* right = e.right + i * W;
    fill<W>(right, 0.0);
    for (std::int64_t k = 0; k < m.actions; ++k) {
      const std::int64_t row = i * m.actions + k;
      const double* pi = policy + row * W;
      const double reward = m.expected_reward[row];
      COMMITTAL_LANES(l, W) right[l] += pi[l] * reward;
      for (std::int64_t at = m.row_offsets[row]; at < m.row_offsets[row + 1]; ++at) {
        const std::int64_t next = m.next[at];
        if (next >= m.acting) continue;
        const double weight = m.gamma * m.probability[at];
        double* entry = e.row + next * W;
        COMMITTAL_LANES(l, W) entry[l] -= weight * pi[l];
      }
    }
    eliminate_row(m, e, i);
  }
  back_substitute(m, e, values);
  for (std::int64_t g = 0; g < m.goals; ++g) fill<W>(values + (m.acting + g) * W, 0.0);
}

// distribution[acting] = sum_t gamma^t P(s_t = s).
template <int W>
void solve_distribution(const MdpModelView& m, const double* policy, const double* start,
                        const Elimination<W>& e, double* distribution) {
  for (std::int64_t i = 0; i < m.acting; ++i) {
    begin_row(m, e, i);
    fill<W>(e.right + i * W, start[i]);
    for (std::int64_t at = m.in_offsets[i]; at < m.in_offsets[i + 1]; ++at) {
      const std::int64_t row = m.in_row[at];
      const double weight = m.gamma * m.in_probability[at];
      const double* pi = policy + row * W;
      double* entry = e.row + row / m.actions * W;
      COMMITTAL_LANES(l, W) entry[l] -= weight * pi[l];
    }
    eliminate_row(m, e, i);
  }
  back_substitute(m, e, distribution);
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

// The entry point of evaluate_policies().
template <int W>
void solve_mdp(const MdpModelView& m, const MdpSolve& task) {
  auto* memory = static_cast<double*>(task.workspace);
  const Elimination<W> e = elimination_rows<W>(m, memory);
  switch (task.what) {
    case MdpSolve::What::kValues:
      solve_values(m, task.policy, e, task.values);
      q_values<W>(m, task.values, task.q);
      break;
    case MdpSolve::What::kValuesIterative:
      for (std::int64_t i = 0; i < m.acting + m.goals; ++i) fill<W>(task.values + i * W, 0.0);
      sweep_values<W>(m, task.policy, task.tolerance, task.max_sweeps, task.values, task.sweeps);
      q_values<W>(m, task.values, task.q);
      break;
    case MdpSolve::What::kDistribution:
      solve_distribution(m, task.policy, task.start, e, task.out);
      break;
    case MdpSolve::What::kGoalProbability:
      goal_probability<W>(m, task.policy, task.start, task.limit, memory, task.out);
      break;
  }
}

}  // namespace committal::COMMITTAL_ISA
