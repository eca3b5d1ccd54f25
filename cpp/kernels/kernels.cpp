// Compiled once per instruction set, with COMMITTAL_ISA naming it.
#include "kernels/bandit/run.hpp"
#include "kernels/mdp/evaluate.hpp"
#include "kernels/mdp/run.hpp"
#include "kernels/program.hpp"
#include "kernels/table.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

using LaneFunction = double (*)(double);

// Chunks of constant length vectorise; the tail goes through a padded copy, so every element meets
// the same code.
template <LaneFunction Function>
void map(const double* x, double* y, std::size_t count) {
  constexpr int W = kBanditWide;
  double in[W];
  double out[W];
  for (std::size_t i = 0; i < count; i += W) {
    const int filled = count - i < W ? static_cast<int>(count - i) : W;
    for (int l = 0; l < W; ++l) in[l] = l < filled ? x[i + static_cast<std::size_t>(l)] : 0.5;
    COMMITTAL_LANES(l, W) out[l] = Function(in[l]);
    for (int l = 0; l < filled; ++l) y[i + static_cast<std::size_t>(l)] = out[l];
  }
}

void uniforms(std::uint64_t key, std::uint64_t run, std::uint32_t slot, std::uint64_t first,
              double* out, std::size_t count) {
  constexpr int W = kBanditNarrow;
  std::uint64_t runs[W];
  double rows[kDraws * W];
  for (int l = 0; l < W; ++l) runs[l] = run + static_cast<std::uint64_t>(l);
  std::uint64_t filled = ~std::uint64_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t draw = first + i;
    if (draw / kDraws != filled) {
      filled = draw / kDraws;
      fill_uniforms<W>(key, runs, slot, filled * kDraws, rows);
    }
    out[i] = rows[draw % kDraws * W];
  }
}

}  // namespace

extern const KernelTable kTable;
const KernelTable kTable = {
    .bandit = {{bandit_block_bytes<kBanditWide>, run_bandit_block<kBanditWide>},
               {bandit_block_bytes<kBanditNarrow>, run_bandit_block<kBanditNarrow>}},
    .mdp = {{mdp_block_bytes<kMdpWide>, run_mdp_block<kMdpWide>},
            {mdp_block_bytes<kMdpNarrow>, run_mdp_block<kMdpNarrow>}},
    .mdp_solve = {{solve_bytes<kMdpWide>, solve_mdp<kMdpWide>},
                  {solve_bytes<kMdpNarrow>, solve_mdp<kMdpNarrow>}},
    .program = {{kBanditWide, program_bytes<kBanditWide>, evaluate_program<kBanditWide>},
                {kBanditNarrow, program_bytes<kBanditNarrow>, evaluate_program<kBanditNarrow>},
                {kMdpNarrow, program_bytes<kMdpNarrow>, evaluate_program<kMdpNarrow>}},
    .exp = map<lane_exp>,
    .log = map<lane_log>,
    .normal_quantile = map<normal_quantile>,
    .uniforms = uniforms,
    .baselines = kRows<BaselineRow, Baselines>,
    .behaviours = kRows<BehaviourRow, Behaviours>,
    .updates = kRows<UpdateRow, Updates>,
    .mdp_updates = kRows<Named, MdpUpdates>,
    .quantities = kBanditQuantities,
    .mdp_quantities = kMdpQuantities,
};

}  // namespace committal::COMMITTAL_ISA
