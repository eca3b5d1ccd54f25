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
  Described describe(std::string_view name) const override;
  int lanes(int asked) const override;
  BlockKernel block(Isa isa, int lanes) const override;

 private:
  BanditPlan plan_;
};

}  // namespace committal
