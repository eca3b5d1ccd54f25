// Two moments of a row and a quotient by the root of one of them: three operations of programs that
// are worth doing in one go, since what is not a division costs nothing while divisions are waited
// for.
//
//   x = a x' + b g,   y = c y' + d g^2,   (x / e) / (root(y / f) + h)
#pragma once

#include <initializer_list>

#include "kernels/program.hpp"
#include "kernels/program_math.hpp"

namespace committal::COMMITTAL_ISA {

// Whether both divisors, operands that are the same on every lane, are of moderate size.
COMMITTAL_INLINE bool both_moderate(const ProgramStep& s) {
  const auto moderate = [](double z) {
    return z >= operations::kLeastDivided && z <= operations::kMostDivided;
  };
  return moderate(s.from[1].row[0]) && moderate(s.from[4].row[0]);
}

// (x / c) / (root(y / d) + e), where moderate c and d are multiplied with, as their reciprocals:
// what a quotient by a root is off is more.
template <typename T>
COMMITTAL_INLINE T quotient_over_root(bool moderate, const T& x, const T& c, const T& y, const T& d,
                                      const T& e) {
  if (moderate) return x * c / (root(y * d) + e);
  return (x / c) / (root(y / d) + e);
}

// The rows of three such steps: some have one for every arm, one after the other, some one for all.
template <int W>
struct MomentRows {
  double* x;
  const double* x_before;
  double* y;
  const double* y_before;
  const double *a, *b, *c, *d, *h;
  const double* over_x;  // 1 / e and 1 / f of the formula above, or those if they are not moderate
  const double* over_y;
  bool moderate;

  // Of the first of the steps.
  COMMITTAL_INLINE explicit MomentRows(const ProgramStep* s)
      : x(s[0].to.row),
        x_before(s[0].from[1].row),
        y(s[1].to.row),
        y_before(s[1].from[1].row),
        a(s[0].from[0].row),
        b(s[0].from[2].row),
        c(s[1].from[0].row),
        d(s[1].from[2].row),
        h(s[2].from[6].row),
        moderate(both_moderate(s[2])) {
    over_x = s[2].from[moderate ? 2 : 1].row;
    over_y = s[2].from[moderate ? 5 : 4].row;
  }
  // Whether the rows of these steps are such ones.
  static bool fit(const ProgramStep* s) {
    bool fit = s[0].outer == 1;
    for (const StepRows* rows : {&s[0].to, &s[0].from[1], &s[0].from[3], &s[1].to, &s[1].from[1],
                                 &s[1].from[3], &s[2].to}) {
      fit = fit && rows->inner == W;
    }
    for (const StepRows* rows :
         {&s[0].from[0], &s[0].from[2], &s[1].from[0], &s[1].from[2], &s[2].from[6]}) {
      fit = fit && rows->inner == 0;
    }
    return fit;
  }

  // The moments of some lanes of arm k follow what is added to the first and squared in the second.
  template <int N>
  COMMITTAL_INLINE Lanes<N> follow(std::int64_t k, int l, const Lanes<N>& added,
                                   const Lanes<N>& squared) const {
    using T = Lanes<N>;
    const std::int64_t at = k * W + l;
    const T first =
        operations::TwoProducts{}(T::load(a + l), T::load(x_before + at), T::load(b + l), added);
    const T second = operations::ProductAndSquare{}(T::load(c + l), T::load(y_before + at),
                                                    T::load(d + l), squared);
    first.store(x + at);
    second.store(y + at);
    return quotient_over_root(moderate, first, T::load(over_x + l), second, T::load(over_y + l),
                              T::load(h + l));
  }
};

}  // namespace committal::COMMITTAL_ISA
