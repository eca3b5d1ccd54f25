// Operations of programs that divide: by numbers that are the same on every lane, and by roots.
//
// Included by program.cpp alone, as program_loops.hpp.
#pragma once

#include "kernels/program_loops.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

// What divides goes through strips: they need more registers.
#define COMMITTAL_DIVIDED(l, W) for (int l = 0; l < (W); l += kStripOf<W>)
template <int W>
using Divided = Lanes<kStripOf<W>>;
template <int W>
COMMITTAL_INLINE Divisor<kStripOf<W>> divisor(const StepRows* from, int l) {
  return Divisor<kStripOf<W>>::load(from[0].row + l, from[1].row + l, from[2].row + l);
}
// Whether quotients by that divisor, the same on every lane, need no division.
template <int W>
COMMITTAL_INLINE bool is_usual(const StepRows* from) {
  return Divisor<kStripOf<W>>::is_usual(from[0].row[0]);
}

// x / z of a z that is the same on every lane.
template <int W, bool kSame>
void quotient(const ProgramStep& s, RowRange rows) {
  using T = Divided<W>;
  const bool usual = kSame && is_usual<W>(s.from + 1);
  along_rows<0>(s, rows, [&](double* to, const double* from) COMMITTAL_INLINE_LAMBDA {
    COMMITTAL_DIVIDED(l, W) {
      const T x = T::load(from + l);
      const auto z = divisor<W>(s.from + 1, l);
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
template <int W>
COMMITTAL_INLINE Divided<W> quotient_over_root(const ProgramStep& s, bool usual, int l,
                                               const Divided<W>& x, const Divided<W>& y,
                                               const double* e) {
  using T = Divided<W>;
  const auto c = divisor<W>(s.from + 1, l);
  const auto d = divisor<W>(s.from + 5, l);
  const T first = magnitude(x);
  const T second = magnitude(y);
  // NaN may pass: it stays NaN.
  if (usual && !any(!((smaller(first, second) >= T(kLeastDivided)) &
                      (larger(first, second) <= T(kMostDivided))))) {
    return c.near(x) / (root(d.near(y)) + T::load(e + l));
  }
  return (x / c.z) / (root(y / d.z) + T::load(e + l));
}
template <int W>
COMMITTAL_INLINE bool both_usual(const ProgramStep& s) {
  return is_usual<W>(s.from + 1) && is_usual<W>(s.from + 5);
}
template <int W, bool kSame>
void quotient_over_root(const ProgramStep& s, RowRange rows) {
  using T = Divided<W>;
  const bool usual = kSame && both_usual<W>(s);
  along_rows<0, 4, 8>(
      s, rows,
      [&](double* to, const double* x, const double* y, const double* e) COMMITTAL_INLINE_LAMBDA {
        COMMITTAL_DIVIDED(l, W) {
          quotient_over_root<W>(s, usual, l, T::load(x + l), T::load(y + l), e).store(to + l);
        }
      });
}

// Three steps over the arms, of which the last divides what the others make: while it waits for the
// machine's divisions the others cost nothing.
//
//   x = a x' + b g,   y = c y' + d g^2,   (x / e) / (root(y / f) + h)
template <int W>
void moments_over_root(const ProgramStep& s, RowRange rows) {
  using T = Divided<W>;
  const ProgramStep& second = (&s)[1];
  const ProgramStep& last = (&s)[2];
  const bool usual = both_usual<W>(last);
  for (std::int64_t i = rows.first; i < rows.end; ++i) {
    const auto row = [i](const StepRows& of) { return of.row + i * of.inner; };
    double* const x = row(s.to);
    const double* const a = row(s.from[0]);
    const double* const a_of = row(s.from[1]);
    const double* const b = row(s.from[2]);
    const double* const b_of = row(s.from[3]);
    double* const y = row(second.to);
    const double* const c = row(second.from[0]);
    const double* const c_of = row(second.from[1]);
    const double* const d = row(second.from[2]);
    const double* const d_of = row(second.from[3]);
    double* const to = row(last.to);
    const double* const e = row(last.from[8]);
    COMMITTAL_DIVIDED(l, W) {
      const T first_moment =
          TwoProducts{}(T::load(a + l), T::load(a_of + l), T::load(b + l), T::load(b_of + l));
      const T second_moment =
          ProductAndSquare{}(T::load(c + l), T::load(c_of + l), T::load(d + l), T::load(d_of + l));
      first_moment.store(x + l);
      second_moment.store(y + l);
      quotient_over_root<W>(last, usual, l, first_moment, second_moment, e).store(to + l);
    }
  }
}

}  // namespace
}  // namespace committal::COMMITTAL_ISA
