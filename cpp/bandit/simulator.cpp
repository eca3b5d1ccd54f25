#include "bandit/simulator.hpp"

#include <utility>

#include "plan/simulators.hpp"

namespace committal {
namespace {

constexpr std::int64_t kFewArms = 4;    // have blocks of one width
constexpr std::int64_t kManyArms = 48;  // with more, a wide block would leave the nearest cache

}  // namespace

BanditSimulator::BanditSimulator(BanditPlan plan) : plan_(std::move(plan)) { plan_.validate(); }

std::int64_t BanditSimulator::time_count() const {
  return static_cast<std::int64_t>(plan_.times.size());
}

Described BanditSimulator::describe(std::string_view name) const {
  plan_.require_recordable(name);
  return describe_quantity(name, parts().quantities, plan_.view(), plan_.programs, plan_.arms);
}

int BanditSimulator::lanes(int asked) const {
  const int best = plan_.arms > kManyArms ? kBanditNarrow : kBanditWide;
  const int lanes = choose_lanes(asked, kBanditNarrow, kBanditWide, best);
  return plan_.arms <= kFewArms ? kBanditWide : lanes;
}

BlockKernel BanditSimulator::block(Isa isa, int lanes) const {
  const auto& kernels = kernel_table(isa).bandit;
  return bind_block(lanes == kBanditWide ? kernels.wide : kernels.narrow, plan_.view());
}

}  // namespace committal
