// Exact policy evaluation on the lanes of a block: one policy per lane, one sparsity for all.
//
//   (I - gamma P_pi) V = R_pi        by the model's elimination program, without pivoting: the
//                                    matrix is a diagonally dominant M-matrix, so none is needed
//   (I - gamma P_pi)^T d = rho       the discounted state distribution, from the transpose
#pragma once

#include "kernels/arms.hpp"
#include "kernels/mdp/view.hpp"

namespace committal::COMMITTAL_ISA {

// The slots of an elimination, see EliminationView.
template <int W>
struct Slots {
  double* inverse;
  double* right;
  double* upper;
  double* rest;
  Slots(const MdpModelView& m, double* slots)
      : inverse(slots),
        right(slots + m.acting * W),
        upper(right + m.acting * W),
        rest(upper + m.elimination.upper_offsets[m.acting] * W) {}
};

// Reads the terms of one target after the other.
template <int W>
class Assembler {
 public:
  COMMITTAL_INLINE Assembler(const AssemblyView& assembly, const double* policy)
      : row_(assembly.rows), weight_(assembly.weight), policy_(policy) {}

  // `from`, and what the policy adds to the next target.
  COMMITTAL_INLINE Lanes<W> next(double from) {
    Lanes<W> sum(from);
    const std::uint32_t* end = row_ + 1 + *row_;
    for (++row_; row_ != end; ++row_, ++weight_) {
      sum = fused(Lanes<W>(*weight_), Lanes<W>::load(policy_ + std::uint64_t{*row_} * W), sum);
    }
    return sum;
  }

 private:
  const std::uint32_t* row_;
  const double* weight_;
  const double* policy_;
};

// Eliminates below the diagonal, target by target.
template <int W>
COMMITTAL_INLINE void eliminate_by_targets(const MdpModelView& m, const AssemblyView& assembly,
                                           const double* policy, const double* start,
                                           double* slots) {
  const EliminationView& p = m.elimination;
  const Slots<W> s(m, slots);
  Assembler<W> assembler(assembly, policy);
  const std::uint32_t* product = p.products;
  const auto next = [&](double from) COMMITTAL_INLINE_LAMBDA {
    Lanes<W> sum = assembler.next(from);
    const std::uint32_t* end = product + 1 + 2 * *product;
    for (++product; product != end; product += 2) {
      const Lanes<W> left = Lanes<W>::load(slots + product[0] / (kMdpWide / W));
      sum = fused(left, Lanes<W>::load(slots + product[1] / (kMdpWide / W)), sum);
    }
    return sum;
  };
  const std::int64_t* lower = p.lower_offsets;
  const std::int64_t* upper = p.upper_offsets;
  const std::int32_t* column = p.lower_columns;
  double* inverse = s.inverse;
  double* right = s.right;
  double* to = s.upper;
  for (std::int64_t i = 0; i < m.acting; ++i, inverse += W, right += W) {
    double* entry = s.rest;
    for (std::int64_t count = lower[i + 1] - lower[i]; count > 0; --count, ++column, entry += W) {
      const double* pivot = s.inverse + static_cast<std::int64_t>(*column) * W;
      (next(0.0) * Lanes<W>::load(pivot)).store(entry);
    }
    (Lanes<W>(-1.0) / next(-1.0)).store(inverse);
    next(start == nullptr ? 0.0 : start[i]).store(right);
    for (std::int64_t count = upper[i + 1] - upper[i]; count > 0; --count, to += W) {
      next(0.0).store(to);
    }
  }
}

// Adds R rows above, k and those that follow it in its chain, to the row that is spread out in
// `row`. Their entries beyond the chain are in the same columns.
template <int W, int R>
COMMITTAL_INLINE void add_rows(const EliminationView& p, const Slots<W>& s, std::int64_t k,
                               Lanes<W>& right) {
  double* row = s.rest;
  Lanes<W> multiplier[R];
  const double* upper[R];
  for (int r = 0; r < R; ++r) {
    Lanes<W> entry = Lanes<W>::load(row + (k + r) * W);
    for (int q = 0; q < r; ++q) {
      entry = fused(multiplier[q], Lanes<W>::load(upper[q]), entry);
      upper[q] += W;
    }
    multiplier[r] = entry * Lanes<W>::load(s.inverse + (k + r) * W);
    upper[r] = s.upper + p.upper_offsets[k + r] * W;
    right = fused(multiplier[r], Lanes<W>::load(s.right + (k + r) * W), right);
  }
  const std::int64_t end = p.upper_offsets[k + R];
  for (std::int64_t u = p.upper_offsets[k + R - 1], at = 0; u < end; ++u, at += W) {
    double* to = row + static_cast<std::int64_t>(p.upper_columns[u]) * W;
    Lanes<W> sum = Lanes<W>::load(to);
    for (int r = 0; r < R; ++r) sum = fused(multiplier[r], Lanes<W>::load(upper[r] + at), sum);
    sum.store(to);
  }
}

// The same sums in the same order, row by row: the row being made is spread out over all columns,
// and rows above are added to it as a whole.
template <int W>
COMMITTAL_INLINE void eliminate_by_rows(const MdpModelView& m, const AssemblyView& assembly,
                                        const double* policy, const double* start, double* slots,
                                        Patience& patience) {
  const EliminationView& p = m.elimination;
  const Slots<W> s(m, slots);
  Assembler<W> assembler(assembly, policy);
  const auto assembled = [&](double from) { return assembler.next(from); };
  const auto place = [&](std::int64_t column) { return s.rest + column * W; };
  for (std::int64_t i = 0; i < m.acting; ++i) {
    const std::int64_t lower_end = p.lower_offsets[i + 1];
    for (std::int64_t e = p.lower_offsets[i]; e < lower_end; ++e) {
      assembled(0.0).store(place(p.lower_columns[e]));
    }
    assembled(-1.0).store(place(i));
    Lanes<W> right = assembled(start == nullptr ? 0.0 : start[i]);
    for (std::int64_t u = p.upper_offsets[i]; u < p.upper_offsets[i + 1]; ++u) {
      assembled(0.0).store(place(p.upper_columns[u]));
    }
    std::int64_t added = 0;
    for (std::int64_t e = p.lower_offsets[i]; e < lower_end;) {
      const std::int64_t k = p.lower_columns[e];
      added += p.upper_offsets[k + 1] - p.upper_offsets[k];
      // A row that has an entry in column k has one in all columns of k's chain left of it.
      const std::int64_t chained = k + p.chain[k] < i ? p.chain[k] : i - k;
      if (chained >= 4) {
        add_rows<W, 4>(p, s, k, right);
        e += 4;
      } else if (chained >= 2) {
        add_rows<W, 2>(p, s, k, right);
        e += 2;
      } else {
        add_rows<W, 1>(p, s, k, right);
        e += 1;
      }
    }
    (Lanes<W>(-1.0) / Lanes<W>::load(place(i))).store(s.inverse + i * W);
    right.store(s.right + i * W);
    for (std::int64_t u = p.upper_offsets[i]; u < p.upper_offsets[i + 1]; ++u) {
      Lanes<W>::load(place(p.upper_columns[u])).store(s.upper + u * W);
    }
    patience.spend(added);
  }
}

// Eliminates and substitutes back: x[acting]. What y starts from is given, or 0.
template <int W>
void eliminate(const MdpModelView& m, const AssemblyView& assembly, const double* policy,
               const double* start, double* slots, double* x, Patience& patience) {
  const EliminationView& p = m.elimination;
  if (p.by_targets) {
    eliminate_by_targets<W>(m, assembly, policy, start, slots);
  } else {
    eliminate_by_rows<W>(m, assembly, policy, start, slots, patience);
  }
  const Slots<W> s(m, slots);
  for (std::int64_t i = m.acting - 1; i >= 0; --i) {
    Lanes<W> sum = Lanes<W>::load(s.right + i * W);
    for (std::int64_t u = p.upper_offsets[i]; u < p.upper_offsets[i + 1]; ++u) {
      const double* known = x + static_cast<std::int64_t>(p.upper_columns[u]) * W;
      sum = fused(Lanes<W>::load(s.upper + u * W), Lanes<W>::load(known), sum);
    }
    (sum * Lanes<W>::load(s.inverse + i * W)).store(x + i * W);
  }
}

// values[acting + goals]: V of every state, 0 for terminal ones.
template <int W>
void solve_values(const MdpModelView& m, const double* policy, double* slots, double* values,
                  Patience& patience) {
  eliminate<W>(m, m.elimination.values, policy, nullptr, slots, values, patience);
  for (std::int64_t g = 0; g < m.goals; ++g) fill<W>(values + (m.acting + g) * W, 0.0);
}

// distribution[acting] = sum_t gamma^t P(s_t = s).
template <int W>
void solve_distribution(const MdpModelView& m, const double* policy, const double* start,
                        double* slots, double* distribution, Patience& patience) {
  eliminate<W>(m, m.elimination.transposed, policy, start, slots, distribution, patience);
}

// Gauss-Seidel sweeps from `values` on, until no value changes by `tolerance` or more. A lane that
// is done keeps its values, so lanes do not depend on each other.
template <int W>
void sweep_values(const MdpModelView& m, const double* policy, double tolerance,
                  std::int64_t max_sweeps, double* values, double* sweeps, Patience& patience) {
  constexpr int N = kStripOf<W>;
  for (int l = 0; l < W; l += N) {
    Truth<N> moving = Truth<N>::everywhere();
    Lanes<N> count(0.0);
    for (std::int64_t sweep = 0; sweep < max_sweeps && any(moving); ++sweep) {
      Lanes<N> change(0.0);
      for (std::int64_t i = 0; i < m.acting; ++i) {
        Lanes<N> next_value(0.0);
        for (std::int64_t row = i * m.actions; row < (i + 1) * m.actions; ++row) {
          Lanes<N> outcome(m.expected_reward[row]);
          for (std::int64_t at = m.row_offsets[row]; at < m.row_offsets[row + 1]; ++at) {
            const double* value = values + static_cast<std::int64_t>(m.next[at]) * W + l;
            outcome += Lanes<N>(m.weight[at]) * Lanes<N>::load(value);
          }
          next_value += Lanes<N>::load(policy + row * W + l) * outcome;
        }
        const Lanes<N> before = Lanes<N>::load(values + i * W + l);
        const Lanes<N> kept = select(moving, next_value, before);
        change = larger(change, larger(kept - before, before - kept));
        kept.store(values + i * W + l);
      }
      count = add_where(moving, count, Lanes<N>(1.0));
      moving = without(moving, change < Lanes<N>(tolerance));
      patience.spend(m.row_offsets[m.acting * m.actions]);
    }
    count.store(sweeps + l);
  }
}

// q[acting][actions] = R + gamma P V.
template <int W>
void q_values(const MdpModelView& m, const double* values, double* q) {
  for (std::int64_t row = 0; row < m.acting * m.actions; ++row) {
    Lanes<W> sum(m.expected_reward[row]);
    for (std::int64_t at = m.row_offsets[row]; at < m.row_offsets[row + 1]; ++at) {
      const double* value = values + static_cast<std::int64_t>(m.next[at]) * W;
      sum = sum + Lanes<W>(m.weight[at]) * Lanes<W>::load(value);
    }
    sum.store(q + row * W);
  }
}

// out[goals]: the probability of having reached each terminal state within `limit` moves. Two
// scratch rows per state.
template <int W>
void goal_probability(const MdpModelView& m, const double* policy, const double* start,
                      std::int64_t limit, double* scratch, double* out, Patience& patience) {
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
        (Lanes<W>::load(target) + Lanes<W>::load(here) * Lanes<W>::load(pi) * Lanes<W>(p))
            .store(target);
      }
    }
    patience.spend(m.row_offsets[m.acting * m.actions]);
    double* swap = now;
    now = later;
    later = swap;
  }
}

}  // namespace committal::COMMITTAL_ISA
