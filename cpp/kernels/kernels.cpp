// Compiled once per instruction set, with COMMITTAL_ISA naming it.
#include "kernels/bandit/run.hpp"
#include "kernels/mdp/evaluate.hpp"
#include "kernels/mdp/run.hpp"
#include "kernels/program.hpp"
#include "kernels/table.hpp"

namespace committal::COMMITTAL_ISA {

COMMITTAL_ALL_FEW_ARMS()

namespace {

// f over an array; the tail goes through a padded copy, so every element meets the same code.
template <typename F>
COMMITTAL_INLINE void map(const double* x, double* y, std::size_t count, F f) {
  std::size_t i = 0;
  for (; i + kStrip <= count; i += kStrip) f(Strip::load(x + i)).store(y + i);
  double padded[kStrip];
  for (std::size_t l = 0; l < kStrip; ++l) padded[l] = i + l < count ? x[i + l] : 0.5;
  f(Strip::load(padded)).store(padded);
  for (std::size_t l = 0; i + l < count; ++l) y[i + l] = padded[l];
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
    .exp =
        [](const double* x, double* y, std::size_t count) {
          map(x, y, count, [](const Strip& v) COMMITTAL_INLINE_LAMBDA { return exp_of(v); });
        },
    .log =
        [](const double* x, double* y, std::size_t count) {
          map(x, y, count, [](const Strip& v) COMMITTAL_INLINE_LAMBDA { return log_of(v); });
        },
    .normal_quantile =
        [](const double* x, double* y, std::size_t count) {
          map(x, y, count,
              [](const Strip& v) COMMITTAL_INLINE_LAMBDA { return normal_quantile(v); });
        },
    .uniforms = uniforms,
    .baselines = kRows<BaselineRow, Baselines>,
    .behaviours = kRows<BehaviourRow, Behaviours>,
    .updates = kRows<UpdateRow, Updates>,
    .mdp_updates = kRows<Named, MdpUpdates>,
    .quantities = kBanditQuantities,
    .mdp_quantities = kMdpQuantities,
};

}  // namespace committal::COMMITTAL_ISA
