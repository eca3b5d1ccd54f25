// MDP experiments as a Simulator.
#pragma once

#include <memory>

#include "core/engine.hpp"
#include "mdp/model.hpp"

namespace committal {

class MdpSimulator final : public Simulator {
 public:
  MdpSimulator(std::shared_ptr<const MdpModel> model, MdpPlan plan);  // validates
  const MdpPlan& plan() const { return plan_; }
  const MdpModel& model() const { return *model_; }

  std::int64_t time_count() const override;
  std::int64_t width(int quantity) const override;
  int value_quantity() const override { return static_cast<int>(MdpQuantity::kValue); }
  int lanes(int asked) const override;
  std::size_t workspace_bytes(int lanes) const override;
  std::function<void(const BlockTask&)> block(const KernelTable& kernels, int lanes) const override;

 private:
  void validate() const;
  MdpView view() const;

  std::shared_ptr<const MdpModel> model_;
  MdpPlan plan_;
  std::vector<double> theta0_;              // [acting][actions]
  std::vector<std::int32_t> start_states_;  // inner numbers
  std::vector<double> start_;               // [acting]
  std::vector<std::uint8_t> reachable_;     // [acting]
};

}  // namespace committal
