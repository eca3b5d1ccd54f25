// Operations of programs that divide: by numbers that are the same on every lane, and by roots.
//
// Included by program.cpp alone, as program_loops.hpp.
#pragma once

#include "kernels/program_loops.hpp"
#include "kernels/program_moments.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

// What divides goes through strips: they need more registers.
#define COMMITTAL_DIVIDED(l, W) for (int l = 0; l < (W); l += kStripOf<W>)
template <int W>
using Divided = Lanes<kStripOf<W>>;

// x / z of a z that is the same on every lane.
template <int W, bool kSame>
void quotient(const ProgramStep& s, RowRange rows) {
  using T = Divided<W>;
  const bool usual = kSame && Divisor<kStripOf<W>>::is_usual(s.from[1].row[0]);
  along_rows<0>(s, rows, [&](double* to, const double* from) COMMITTAL_INLINE_LAMBDA {
    COMMITTAL_DIVIDED(l, W) {
      const T x = T::load(from + l);
      const auto z =
          Divisor<kStripOf<W>>::load(s.from[1].row + l, s.from[2].row + l, s.from[3].row + l);
      const T size = magnitude(x);
      if (usual && !any(is_unusual(size))) {
        z.near(x).store(to + l);
      } else if (usual && !any(is_unusual_or_zero(size))) {
        z.near_or_zero(x).store(to + l);
      } else {
        (x / z.z).store(to + l);
      }
    }
  });
}

// (x / c) / (root(y / d) + e)
template <int W, bool kSame>
void quotient_over_root(const ProgramStep& s, RowRange rows) {
  using T = Divided<W>;
  const bool moderate = kSame && both_moderate(s);
  const double* const c = s.from[moderate ? 2 : 1].row;
  const double* const d = s.from[moderate ? 5 : 4].row;
  along_rows<0, 3, 6>(s, rows,
                      [&](double* to, const double* x, const double* y, const double* e)
                          COMMITTAL_INLINE_LAMBDA {
                            COMMITTAL_DIVIDED(l, W) {
                              quotient_over_root(moderate, T::load(x + l), T::load(c + l),
                                                 T::load(y + l), T::load(d + l), T::load(e + l))
                                  .store(to + l);
                            }
                          });
}

// Three steps over the arms in one loop.
template <int W>
void moments_over_root(const ProgramStep& s, RowRange rows) {
  using T = Divided<W>;
  const ProgramStep* const steps = &s;
  const MomentRows<W> moments(steps);
  const double* const added = steps[0].from[3].row;
  const double* const squared = steps[1].from[3].row;
  double* const to = steps[2].to.row;
  for (std::int64_t k = rows.first; k < rows.end; ++k) {
    COMMITTAL_DIVIDED(l, W) {
      const std::int64_t at = k * W + l;
      moments.follow(k, l, T::load(added + at), T::load(squared + at)).store(to + at);
    }
  }
}

}  // namespace
}  // namespace committal::COMMITTAL_ISA
