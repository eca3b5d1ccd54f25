#include "bandit/simulator.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace committal {
BanditSimulator::BanditSimulator(BanditPlan plan) : plan_(std::move(plan)) { plan_.validate(); }

std::int64_t BanditSimulator::time_count() const {
  return static_cast<std::int64_t>(plan_.times.size());
}

std::int64_t BanditSimulator::width(int quantity) const {
  return plan_.width(static_cast<Quantity>(quantity));
}

int BanditSimulator::lanes(int asked) const {
  if (asked == 0) return plan_.arms > kManyArms ? kNarrowBlock : kWideBlock;
  if (asked != kNarrowBlock && asked != kWideBlock) {
    throw std::invalid_argument("block = " + std::to_string(asked) +
                                " is not allowed; expected 0, 16 or 64");
  }
  return asked;
}

std::size_t BanditSimulator::workspace_bytes(int lanes) const {
  // Mirrors lay_out() in kernels/block.hpp: rows per arm, single rows, two stretches of uniforms,
  // and the record rows.
  constexpr std::int64_t kRowsPerArm = 4;
  constexpr std::int64_t kSingleRows = 12;
  constexpr std::int64_t kUniformRows = 32;
  const LeafLayout leaves = leaf_layout(plan_.arms);
  const std::int64_t leaf_rows = (leaves.count > 0 ? leaves.padded_arms : 0) + 2 * leaves.count +
                                 (leaves.padded_arms + lanes - 1) / lanes;
  const std::int64_t rows = leaf_rows + kRowsPerArm * plan_.arms + kSingleRows + kUniformRows +
                            std::max(plan_.arms, plan_.samples);
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(lanes) * sizeof(double);
}

std::function<void(const BlockTask&)> BanditSimulator::block(const KernelTable& kernels,
                                                             int lanes) const {
  const auto run = lanes == kWideBlock ? kernels.bandit_block_wide : kernels.bandit_block_narrow;
  return [run, view = plan_.view()](const BlockTask& task) { run(view, task); };
}

}  // namespace committal
