// The softmax policy of an MDP: theta -> law in places where theta has changed -> rows of lanes.
#pragma once

#include "kernels/mdp/block.hpp"

namespace committal::COMMITTAL_ISA {

// A numbers per place, to[k][place] = from(place)[k], and back: to(place)[k] = from[k][place].
template <int KT, typename F>
COMMITTAL_INLINE void rows_to_strip(std::int64_t actions, F&& from, double* to) {
  if constexpr (KT == 4) {
    for (int i = 0; i < kPlaces; i += 4) {
      transpose4({from(i), from(i + 1), from(i + 2), from(i + 3)},
                 {to + i, to + kPlaces + i, to + 2 * kPlaces + i, to + 3 * kPlaces + i});
    }
  } else {
    for (int i = 0; i < kPlaces; ++i) {
      const double* row = from(i);
      for (std::int64_t k = 0; k < actions; ++k) to[k * kPlaces + i] = row[k];
    }
  }
}
template <int KT, typename F>
COMMITTAL_INLINE void strip_to_rows(std::int64_t actions, const double* from, F&& to) {
  if constexpr (KT == 4) {
    for (int i = 0; i < kPlaces; i += 4) {
      transpose4({from + i, from + kPlaces + i, from + 2 * kPlaces + i, from + 3 * kPlaces + i},
                 {to(i), to(i + 1), to(i + 2), to(i + 3)});
    }
  } else {
    for (int i = 0; i < kPlaces; ++i) {
      double* row = to(i);
      for (std::int64_t k = 0; k < actions; ++k) row[k] = from[k * kPlaces + i];
    }
  }
}

// pi = softmax(theta) in as many places as a strip has lanes.
template <int KT, int W>
COMMITTAL_INLINE void refresh_strip(MdpBlock<KT, W>& s, const Place* place) {
  double* weights = s.strip_policy;
  double* sums = s.strip_q;
  const auto weight = [&](std::int64_t k)
                          COMMITTAL_INLINE_LAMBDA { return Places::load(weights + k * kPlaces); };
  rows_to_strip<KT>(
      s.A(), [&](int i) COMMITTAL_INLINE_LAMBDA { return s.theta + place[i].own; }, weights);
  Places highest = weight(0);
  for (std::int64_t k = 1; k < s.A(); ++k) highest = larger(highest, weight(k));
  Places total(0.0);
  for (std::int64_t k = 0; k < s.A(); ++k) {
    const Places each = exp_of(weight(k) - highest);
    each.store(weights + k * kPlaces);
    total += each;
  }
  Places sum(0.0);
  for (std::int64_t k = 0; k < s.A(); ++k) {
    const Places pi = weight(k) / total;
    pi.store(weights + k * kPlaces);
    sum += pi;
    sum.store(sums + k * kPlaces);
  }
  strip_to_rows<KT>(s.A(), sums,
                    [&](int i) COMMITTAL_INLINE_LAMBDA { return s.law_at(place[i].own); });
  strip_to_rows<KT>(s.A(), weights,
                    [&](int i) COMMITTAL_INLINE_LAMBDA { return s.pi_at(place[i].own); });
}

// Fills up the last strip of some places; behind them there is room for one.
template <int KT, int W>
COMMITTAL_INLINE void fill_up(const MdpBlock<KT, W>& s, Place* place, std::int64_t count) {
  for (int i = 0; i < kPlaces; ++i) place[count + i] = s.place(0, s.n);
}

// The same in any number of places, filled up.
template <int KT, int W>
inline void refresh_places(MdpBlock<KT, W>& s, const Place* place, std::int64_t count) {
  if (s.plan.programs.link != nullptr) {
    return refresh_linked<W>(s, s.plan, place, count, s.patience);
  }
  for (std::int64_t i = 0; i < count; i += kPlaces) {
    refresh_strip(s, place + i);
    s.patience.spend(s.A());
  }
}

// Makes the rows of the policy follow the law, where they are stale.
template <int KT, int W>
inline void spread_policy(MdpBlock<KT, W>& s) {
  for (std::int64_t i = 0; i < s.n; ++i) {
    if (s.stale[i] == 0) continue;
    s.stale[i] = 0;
    const std::int64_t pair = i * s.A();
    double* rows = s.policy + pair * W;
    const auto pi = [&](int l) COMMITTAL_INLINE_LAMBDA { return s.pi_at(l * s.own_pairs + pair); };
    if constexpr (KT == 4) {
      for (int l = 0; l < W; l += 4) {
        transpose4({pi(l), pi(l + 1), pi(l + 2), pi(l + 3)},
                   {rows + l, rows + W + l, rows + 2 * W + l, rows + 3 * W + l});
      }
    } else {
      for (int l = 0; l < W; ++l) {
        for (std::int64_t k = 0; k < s.A(); ++k) rows[k * W + l] = pi(l)[k];
      }
    }
  }
}

}  // namespace committal::COMMITTAL_ISA
