// Blocks of bandits with formulas, compiled once per instruction set and apart from the others:
// both take a while.
#include "kernels/bandit/programmed.hpp"

#include "kernels/bandit/run.hpp"

namespace committal::COMMITTAL_ISA {

COMMITTAL_ALL_FEW_ARMS(extern)

namespace {

// Whether a program looks at samples, or takes the place of more than the baseline.
bool takes_over(const ProgramSetView& set) {
  std::uint32_t used = set.baseline == nullptr ? 0u : set.baseline->used;
  for (const ProgramView* quantity : set.quantities) used |= quantity->used;
  return (used & kBatchInputs) != 0 || set.weight != nullptr || set.update != nullptr ||
         set.link != nullptr || set.optimiser != nullptr ||
         (set.baseline != nullptr && has_samples(set.baseline->output_shape(0)));
}

template <int KT, int W>
using ProgrammedBlock = BanditBlock<KT, W, BanditPrograms<KT, W>>;

}  // namespace

template <int W>
void run_programmed_bandit(const BanditView& plan, const BlockTask& task) {
  if constexpr (W == kBanditWide) {
    const std::int64_t arms = takes_over(plan.programs) ? 0 : plan.arms;
    if (arms == 2) return ProgrammedBlock<2, W>(plan, task).run();
    if (arms == 3) return ProgrammedBlock<3, W>(plan, task).run();
    if (arms == 4) return ProgrammedBlock<4, W>(plan, task).run();
  }
  ProgrammedBlock<0, W>(plan, task).run();
}

template <int W>
std::size_t programmed_bandit_bytes(const BanditView& plan) {
  Block<0, W> rows;
  Arena counting;
  lay_out(rows, plan, widest(kBanditQuantities, plan), counting);
  BanditPrograms<0, W> programs;
  programs.lay_out(plan, counting);
  return counting.bytes();
}

template void run_programmed_bandit<kBanditWide>(const BanditView&, const BlockTask&);
template void run_programmed_bandit<kBanditNarrow>(const BanditView&, const BlockTask&);
template std::size_t programmed_bandit_bytes<kBanditWide>(const BanditView&);
template std::size_t programmed_bandit_bytes<kBanditNarrow>(const BanditView&);

}  // namespace committal::COMMITTAL_ISA
