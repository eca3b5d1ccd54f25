// Compiled once per instruction set, with COMMITTAL_ISA naming it.
#include "kernels/bandit/run.hpp"
#include "kernels/mdp/run.hpp"

#define COMMITTAL_STRING_OF(x) #x
#define COMMITTAL_STRING(x) COMMITTAL_STRING_OF(x)

namespace committal::COMMITTAL_ISA {
namespace {

using LaneFunction = double (*)(double);

// Chunks of constant length vectorise; the tail goes through a padded copy, so every element meets
// the same code.
template <LaneFunction Function>
void map(const double* x, double* y, std::size_t count) {
  constexpr int W = kWideBlock;
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
  constexpr int W = kNarrowBlock;
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
    COMMITTAL_STRING(COMMITTAL_ISA),
    run_bandit_block<kWideBlock>,
    run_bandit_block<kNarrowBlock>,
    run_mdp_block<kMdpWideBlock>,
    run_mdp_block<kMdpNarrowBlock>,
    solve_mdp<kMdpWideBlock>,
    solve_mdp<kMdpNarrowBlock>,
    map<lane_exp>,
    map<lane_log>,
    map<normal_quantile>,
    uniforms,
};

}  // namespace committal::COMMITTAL_ISA
