// Policies of MDPs through a link of the user's own, compiled once per instruction set:
// pi = f(theta) / F with F = sum f in every state, and what scores are made of, f'(theta) / F.
#include <limits>

#include "kernels/mdp/window.hpp"

namespace committal::COMMITTAL_ISA {

template <int W>
void refresh_linked(MdpRows<W>& s, const MdpView& plan, const Place* places, std::int64_t count,
                    Patience& patience) {
  Window<W> window(s, plan);
  MdpPrograms<W>& p = window.p;
  const std::int64_t A = window.A;
  const BoundRows& f = p.link.output(0);
  const BoundRows& rise = p.link.output(1);
  window.for_each(places, count, [&] {
    window.gather(p.theta, [&](int j) { return s.theta + window.own[j]; });
    p.link.run();
    if (p.along_link) window.look_at(rise, A, p.one);
    double least[kSeen];
    COMMITTAL_STRIPS(j, kSeen) {
      Strip total(0.0);
      Strip smallest = Strip::load(f.row + j);
      for (std::int64_t k = 0; k < A; ++k) {
        const Strip each = Strip::load(f.row + k * f.arm + j);
        total += each;
        smallest = smaller(smallest, each);
      }
      total.store(p.total + j);
      smallest.store(least + j);
    }
    for (int j = 0; j < window.count; ++j) {
      // Weights must be numbers from 0 and their total positive: remembered, as it may pass.
      const double total = p.total[j];
      const bool good =
          least[j] >= 0.0 && total > 0.0 && total <= std::numeric_limits<double>::max();
      if (!good) p.lost[window.lane[j]] = std::numeric_limits<double>::quiet_NaN();
      double* law = s.law + 2 * window.own[j];
      double* slopes = p.rise + window.own[j];
      double sum = 0.0;
      for (std::int64_t k = 0; k < A; ++k) {
        const double pi = f.row[k * f.arm + j] / total;
        sum += pi;
        law[k] = sum;
        law[A + k] = pi;
        slopes[k] = rise.row[k * rise.arm + j] / total;
      }
    }
    patience.spend((p.link.view().code.count + 4) * A);
  });
}

#define COMMITTAL_MDP_LINK(W)                                                              \
  template void refresh_linked<W>(MdpRows<W>&, const MdpView&, const Place*, std::int64_t, \
                                  Patience&);
COMMITTAL_MDP_LINK(kMdpWide)
COMMITTAL_MDP_LINK(kMdpNarrow)
#undef COMMITTAL_MDP_LINK

}  // namespace committal::COMMITTAL_ISA
