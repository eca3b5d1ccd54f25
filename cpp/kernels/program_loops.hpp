// Operations of programs that go row by row: loops over the rows of their results.
//
// Included by program.cpp alone, inside of which nothing else sees them.
#pragma once

#include "kernels/program.hpp"
#include "kernels/program_math.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

// Lanes that advance together: independent chains hide each other's latency.
template <int W>
inline constexpr int kTogether = W < 4 * kNativeLanes ? W : 4 * kNativeLanes;
template <int W>
using Together = Lanes<kTogether<W>>;
#define COMMITTAL_TOGETHER(l, W) for (int l = 0; l < (W); l += kTogether<W>)

// The rows of an operand along the inner loop of a step, from some trip of it on.
template <typename Pointer>
struct Walk {
  Pointer row;
  std::int64_t stride;

  COMMITTAL_INLINE void next() { row += stride; }
};
COMMITTAL_INLINE Walk<double*> walk(const StepRows& rows, std::int64_t outer, std::int64_t first) {
  return {rows.row + outer * rows.outer + first * rows.inner, rows.inner};
}

template <int W, typename Op>
void unary(const ProgramStep& s, RowRange rows) {
  const Op op{s.number};
  for (std::int64_t o = 0; o < s.outer; ++o) {
    auto to = walk(s.to, o, rows.first);
    auto a = walk(s.from[0], o, rows.first);
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      COMMITTAL_TOGETHER(l, W) op(Together<W>::load(a.row + l)).store(to.row + l);
      to.next();
      a.next();
    }
  }
}

template <int W, typename Op>
void binary(const ProgramStep& s, RowRange rows) {
  const Op op{s.number};
  for (std::int64_t o = 0; o < s.outer; ++o) {
    auto to = walk(s.to, o, rows.first);
    auto a = walk(s.from[0], o, rows.first);
    auto b = walk(s.from[1], o, rows.first);
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      COMMITTAL_TOGETHER(l, W) {
        op(Together<W>::load(a.row + l), Together<W>::load(b.row + l)).store(to.row + l);
      }
      to.next();
      a.next();
      b.next();
    }
  }
}

template <int W, typename Op>
void ternary(const ProgramStep& s, RowRange rows) {
  using T = Together<W>;
  const Op op{s.number};
  for (std::int64_t o = 0; o < s.outer; ++o) {
    auto to = walk(s.to, o, rows.first);
    auto a = walk(s.from[0], o, rows.first);
    auto b = walk(s.from[1], o, rows.first);
    auto c = walk(s.from[2], o, rows.first);
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      COMMITTAL_TOGETHER(l, W) {
        op(T::load(a.row + l), T::load(b.row + l), T::load(c.row + l)).store(to.row + l);
      }
      to.next();
      a.next();
      b.next();
      c.next();
    }
  }
}

template <int W, typename Op>
void quaternary(const ProgramStep& s, RowRange rows) {
  using T = Together<W>;
  const Op op{s.number};
  for (std::int64_t o = 0; o < s.outer; ++o) {
    auto to = walk(s.to, o, rows.first);
    auto a = walk(s.from[0], o, rows.first);
    auto b = walk(s.from[1], o, rows.first);
    auto c = walk(s.from[2], o, rows.first);
    auto d = walk(s.from[3], o, rows.first);
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      COMMITTAL_TOGETHER(l, W) {
        op(T::load(a.row + l), T::load(b.row + l), T::load(c.row + l), T::load(d.row + l))
            .store(to.row + l);
      }
      to.next();
      a.next();
      b.next();
      c.next();
      d.next();
    }
  }
}

}  // namespace
}  // namespace committal::COMMITTAL_ISA
