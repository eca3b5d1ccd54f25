// theta follows what an optimiser makes of the gradient, some rows at a time: from the gradient of
// one sample to the new weights they stay in the nearest cache.
#pragma once

#include "kernels/bandit/programmed_few.hpp"
#include "kernels/program_moments.hpp"

namespace committal::COMMITTAL_ISA {

// The gradient of one sample as rows of W lanes, along e_a - pi or along e_a: `own` at the arm
// drawn, `share` times the weight of every other.
struct SampleGradient {
  const double* number;  // a
  const double* own;
  const double* share;
};

// What the arms weigh that are not drawn ...
template <int KT, int W>
inline Strip sum_of_others(const Block<KT, W>& s, const Strip& number, int l) {
  Strip sum(0.0);
  for (std::int64_t k = 0; k < s.K(); ++k) {
    const StripTruth here = number == Strip(static_cast<double>(k));
    sum += where(!here, Strip::load(s.weight + k * W + l));
  }
  return sum;
}
// ... of many arms: the difference from the total, which has no digits left only where the one
// drawn weighs most of it.
template <int KT, int W>
inline Strip weight_of_others(const Block<KT, W>& s, const Strip& number, const Strip& drawn,
                              int l) {
  const Strip total = Strip::load(s.total + l);
  const Strip rest = total - drawn;
  const StripTruth most = drawn > Strip(0.5) * total;
  return any(most) ? select(most, sum_of_others(s, number, l), rest) : rest;
}

template <bool kAlongScore, int KT, int W>
inline void gradient_rows(Block<KT, W>& s, const SampleGradient& g, RowRange rows) {
  for (std::int64_t k = rows.first; k < rows.end; ++k) {
    const Strip arm(static_cast<double>(k));
    COMMITTAL_STRIPS(l, W) {
      const std::int64_t at = k * W + l;
      Strip other(0.0);
      if constexpr (kAlongScore) other = Strip::load(g.share + l) * Strip::load(s.weight + at);
      select(Strip::load(g.number + l) == arm, Strip::load(g.own + l), other)
          .store(s.direction + at);
    }
  }
}

// theta += alpha step, as MovesTheta::apply(), and the total comes along in the order of the arms.
template <int KT, int W>
inline void follow_rows(Block<KT, W>& s, const BoundRows& step, double alpha, RowRange rows) {
  COMMITTAL_STRIPS(l, W) {
    const Strip shift = Strip::load(s.shift + l);
    Strip total = rows.first == 0 ? Strip(0.0) : Strip::load(s.total + l);
    for (std::int64_t k = rows.first; k < rows.end; ++k) {
      const std::int64_t at = k * W + l;
      const Strip theta =
          Strip::load(s.theta + at) + Strip(alpha) * Strip::load(step.row + k * step.arm + l);
      theta.store(s.theta + at);
      const Strip weight = exp_of(theta - shift);
      weight.store(s.weight + at);
      total += weight;
    }
    total.store(s.total + l);
  }
}

// The same where the optimiser's rows are moments and their quotient, in one pass: gradient(k, l,
// weight) is that of some lanes of arm k. Short steps multiply a weight by a series; every so often
// it follows from its parameter again, so that roundings do not add up.
//
// What follows from the quotients of a row is done along with the next row's: the machine would not
// look so far ahead, and wait for them.
inline constexpr std::int64_t kStepsBetweenExponentials = 32;
template <int N, int KT, int W, typename Gradient>
inline void follow_moments(const Block<KT, W>& s, MomentRows<W> moments, double alpha, bool anew,
                           Gradient gradient) {
  using T = Lanes<N>;
  // Pointers of our own: nobody else changes them.
  double* const weights = s.weight;
  double* const thetas = s.theta;
  double* const totals = s.total;
  const double* const shifts = s.shift;
  alignas(64) double waiting[W];  // the steps of the last row
  const auto begin = [=](std::int64_t k, int l) COMMITTAL_INLINE_LAMBDA {
    const T g = gradient(k, l, T::load(weights + k * W + l));
    return moments.template follow<N>(k, l, g, g);
  };
  const auto finish = [=](std::int64_t k, int l, const T& step) COMMITTAL_INLINE_LAMBDA {
    const std::int64_t at = k * W + l;
    const T change = T(alpha) * step;
    const T theta = T::load(thetas + at) + change;
    theta.store(thetas + at);
    T weight = growth(T::load(weights + at), change);
    const Truth<N> far = operations::magnitude(change) > T(kGrowthMost);  // NaN stays NaN
    if (anew || any(far)) {
      const T exact = exp_of(theta - T::load(shifts + l));
      weight = anew ? exact : select(far, exact, weight);
    }
    weight.store(weights + at);
    (T::load(totals + l) + weight).store(totals + l);
  };
  fill<W>(totals, 0.0);
  for (int l = 0; l < W; l += N) begin(0, l).store(waiting + l);
  for (std::int64_t k = 1; k < s.K(); ++k) {
    for (int l = 0; l < W; l += N) {
      const T step = begin(k, l);
      finish(k - 1, l, T::load(waiting + l));
      step.store(waiting + l);
    }
  }
  for (int l = 0; l < W; l += N) finish(s.K() - 1, l, T::load(waiting + l));
}

// The same for update t, along the gradient of one sample, or along `direction` if there is none.
template <int KT, int W>
inline void follow_moments(const Block<KT, W>& s, const MomentRows<W>& moments,
                           const SampleGradient* sample, bool along_score, std::int64_t t,
                           double alpha) {
  using T = Lanes<kNativeLanes>;
  const bool anew = (t + 1) % kStepsBetweenExponentials == 0;
  const auto follow = [&](auto gradient) COMMITTAL_INLINE_LAMBDA {
    follow_moments<kNativeLanes>(s, moments, alpha, anew, gradient);
  };
  if (sample == nullptr) {
    const double* const direction = s.direction;
    return follow([direction](std::int64_t k, int l, const T&)
                      COMMITTAL_INLINE_LAMBDA { return T::load(direction + k * W + l); });
  }
  const SampleGradient g = *sample;
  const auto here = [g](std::int64_t k, int l) COMMITTAL_INLINE_LAMBDA {
    return T::load(g.number + l) == T(static_cast<double>(k));
  };
  if (along_score) {
    follow([g, here](std::int64_t k, int l, const T& weight) COMMITTAL_INLINE_LAMBDA {
      return select(here(k, l), T::load(g.own + l), T::load(g.share + l) * weight);
    });
  } else {
    follow([g, here](std::int64_t k, int l, const T&)
               COMMITTAL_INLINE_LAMBDA { return where(here(k, l), T::load(g.own + l)); });
  }
}

}  // namespace committal::COMMITTAL_ISA
