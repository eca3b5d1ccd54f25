// Operations of programs that go row by row: loops over the rows of their results.
//
// Included by program.cpp alone, inside of which nothing else sees them.
#pragma once

#include <utility>

#include "kernels/program.hpp"
#include "kernels/program_math.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

using namespace operations;

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

// f(row of the result, rows of the operands with these numbers), one row after the other.
template <int... kFrom, typename F>
COMMITTAL_INLINE void along_rows(const ProgramStep& s, RowRange rows, F&& f) {
  for (std::int64_t o = 0; o < s.outer; ++o) {
    auto to = walk(s.to, o, rows.first);
    Walk<double*> from[] = {walk(s.from[kFrom], o, rows.first)...};
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
      [&]<std::size_t... I>(std::index_sequence<I...>) COMMITTAL_INLINE_LAMBDA {
        f(to.row, from[I].row...);
        (from[I].next(), ...);
      }(std::make_index_sequence<sizeof...(kFrom)>{});
      to.next();
    }
  }
}

template <int W, typename Op, int... kFrom>
void elementwise(const ProgramStep& s, RowRange rows) {
  const Op op{s.number};
  along_rows<kFrom...>(s, rows, [&](double* to, const auto*... from) COMMITTAL_INLINE_LAMBDA {
    COMMITTAL_TOGETHER(l, W) op(Together<W>::load(from + l)...).store(to + l);
  });
}
template <int W, typename Op>
inline constexpr auto unary = &elementwise<W, Op, 0>;
template <int W, typename Op>
inline constexpr auto binary = &elementwise<W, Op, 0, 1>;
template <int W, typename Op>
inline constexpr auto ternary = &elementwise<W, Op, 0, 1, 2>;
template <int W, typename Op>
inline constexpr auto quaternary = &elementwise<W, Op, 0, 1, 2, 3>;

}  // namespace
}  // namespace committal::COMMITTAL_ISA
