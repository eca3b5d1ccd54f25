// MDP experiments as a Simulator.
#pragma once

#include <memory>

#include "core/engine.hpp"
#include "mdp/model.hpp"
#include "mdp/plan.hpp"

namespace committal {

class MdpSimulator final : public Simulator {
 public:
  MdpSimulator(std::shared_ptr<const MdpModel> model, MdpPlan plan);  // validates
  const MdpPlan& plan() const { return plan_; }
  const MdpModel& model() const { return *model_; }

  std::int64_t time_count() const override;
  Described describe(std::string_view name) const override;
  int lanes(int asked) const override;
  BlockKernel block(Isa isa, int lanes) const override;

 private:
  MdpView view() const;
  void find_reachable();

  std::shared_ptr<const MdpModel> model_;
  MdpPlan plan_;
  std::vector<double> acting_theta0_;        // [acting][actions]
  std::vector<std::int32_t> acting_starts_;  // inner numbers
  std::vector<double> start_;                // [acting]
  std::vector<std::uint8_t> reachable_;      // [acting]
};

}  // namespace committal
