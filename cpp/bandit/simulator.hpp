// Bandit experiments as a Simulator.
#pragma once

#include "bandit/plan.hpp"
#include "core/engine.hpp"

namespace committal {

class BanditSimulator final : public Simulator {
 public:
  explicit BanditSimulator(BanditPlan plan);  // validates
  const BanditPlan& plan() const { return plan_; }

  std::int64_t time_count() const override;
  std::int64_t width(int quantity) const override;
  int value_quantity() const override { return static_cast<int>(Quantity::kValue); }
  int lanes(int asked) const override;
  std::size_t workspace_bytes(int lanes) const override;
  std::function<void(const BlockTask&)> block(const KernelTable& kernels, int lanes) const override;

 private:
  BanditPlan plan_;
};

}  // namespace committal
