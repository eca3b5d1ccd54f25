// Recorded formulas of MDPs, compiled once per instruction set.
//
// A formula is looked at in every state that is acted in; a mean adds them up in one order.
#include "kernels/mdp/window.hpp"

namespace committal::COMMITTAL_ISA {

template <int W>
void lay_out_quantities(MdpPrograms<W>& p, const MdpView& plan, Arena& arena) {
  const Array<const ProgramView*>& all = plan.programs.quantities;
  p.quantities = arena.take<LaneProgram<kSeen>>(all.count);
  for (std::int64_t i = 0; i < all.count; ++i) {
    LaneProgram<kSeen> program;
    program.lay_out(all[i], {plan.model.actions, 1}, arena);
    if (p.quantities != nullptr) p.quantities[i] = program;
  }
}

template <int W>
void look_at_states(MdpRows<W>& s, const MdpView& plan, std::int64_t formula, const double* visits,
                    Patience& patience) {
  Window<W> window(s, plan);
  const LaneProgram<kSeen>& program = window.p.quantities[formula];
  const bool each = plan.over_states(formula) == OverStates::kEach;
  const std::int64_t width = plan.has_actions(formula) ? window.A : 1;
  const std::int64_t n = plan.model.acting;
  for (std::int64_t row = 0; row < (each ? plan.states : 1) * width; ++row) {
    fill<W>(s.record + row * W, 0.0);  // what stays in terminal states
  }
  double total[W];
  fill<W>(total, 0.0);
  constexpr std::int64_t kTogether = kSeen / W;
  for (std::int64_t first = 0; first < n; first += kTogether) {
    const std::int64_t end = first + kTogether < n ? first + kTogether : n;
    window.count = 0;
    for (std::int64_t i = first; i < end; ++i) {
      for (int l = 0; l < W; ++l) {
        window.lane[window.count] = l;
        window.own[window.count++] = (l * window.states + i) * window.A;
      }
    }
    window.gather_states(program.view().used, s.advantage);
    program.run();
    const BoundRows& value = program.output(0);
    for (std::int64_t i = first; i < end; ++i) {
      double* to = each ? s.record + plan.original[i] * width * W : s.record;
      double by[W];
      for (int l = 0; l < W; ++l) {
        by[l] = visits == nullptr ? 1.0 : visits[i * W + l];
        total[l] += by[l];
      }
      for (std::int64_t k = 0; k < width; ++k) {
        const double* from = value.row + k * value.arm + (i - first) * W;
        for (int l = 0; l < W; ++l) to[k * W + l] += by[l] * from[l];
      }
    }
    patience.spend((program.view().code.count + 4) * window.A);
  }
  for (std::int64_t k = 0; k < width && !each; ++k) {
    for (int l = 0; l < W; ++l) s.record[k * W + l] /= total[l];
  }
}

#define COMMITTAL_MDP_QUANTITIES(W)                                                         \
  template void lay_out_quantities<W>(MdpPrograms<W>&, const MdpView&, Arena&);             \
  template void look_at_states<W>(MdpRows<W>&, const MdpView&, std::int64_t, const double*, \
                                  Patience&);
COMMITTAL_MDP_QUANTITIES(kMdpWide)
COMMITTAL_MDP_QUANTITIES(kMdpNarrow)
#undef COMMITTAL_MDP_QUANTITIES

}  // namespace committal::COMMITTAL_ISA
