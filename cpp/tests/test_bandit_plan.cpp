#include <cmath>

#include "tests/bandit.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

template <typename Spoil>
std::string complaint(Spoil&& spoil) {
  BanditPlan plan = small_bandit(3);
  spoil(plan);
  return message_of<std::invalid_argument>([&] { plan.validate(); });
}

TEST(plans_are_refused_by_name) {
  const auto blames = [](const char* name, auto&& spoil) {
    return starts_with(complaint(spoil), name);
  };
  CHECK(blames("means[1]", [](BanditPlan& p) { p.means[1] = NAN; }));
  CHECK(blames("theta0", [](BanditPlan& p) { p.theta0.pop_back(); }));
  CHECK(blames("steps", [](BanditPlan& p) { p.steps = -1; }));
  CHECK(blames("steps", [](BanditPlan& p) { p.steps = kMostDraws; }));
  CHECK(blames("samples", [](BanditPlan& p) { p.samples = kMostSamples + 1; }));
  CHECK(blames("step_size", [](BanditPlan& p) { p.step_size = {1.0, 2.0}; }));
  CHECK(blames("update", [](BanditPlan& p) { p.policy = "direct"; }));
  CHECK(blames("update", [](BanditPlan& p) { p.update = "projected"; }));
  CHECK(blames("times", [](BanditPlan& p) { p.times = {3, 2}; }));
  CHECK(blames("noise", [](BanditPlan& p) { p.noise = "pink"; }));
  CHECK(blames("table_offsets", [](BanditPlan& p) { p.noise = "table"; }));
  CHECK(blames("behaviour_probabilities", [](BanditPlan& p) { p.behaviour = "fixed"; }));
  CHECK(blames("exploration[0]", [](BanditPlan& p) { p.behaviour = "snapshot"; }));
  CHECK(blames("contrast", [](BanditPlan& p) { p.contrast = true; }));
  CHECK(blames("baseline_terms", [](BanditPlan& p) {
    p.estimator = "expected";
    p.baseline_terms = {baseline_term("running_mean", 1.0, 0.0)};
  }));
  CHECK(complaint([](BanditPlan&) {}).empty());
}

TEST(fields_have_different_names_and_defaults) {
  std::vector<std::string> names;
  BanditPlan::visit([&](const auto& field) {
    for (const std::string& name : names) CHECK(name != field.name);
    names.emplace_back(field.name);
  });
  const BanditPlan plan;
  CHECK(plan.samples == 1 && plan.policy == "softmax" && plan.entropy == std::vector<double>{0.0});
}

TEST(the_view_sees_every_field) {
  const BanditPlan plan = small_bandit(3);
  const BanditView view = plan.view();
  CHECK(view.arms == 3 && view.steps == 60 && view.parameters == 3);
  CHECK(view.means.data == plan.means.data() && view.means.count == 3);
  CHECK(view.step_size.at(59) == 0.1);
  CHECK(std::string(rows_of(view.update)[static_cast<std::int64_t>(view.update)].name) ==
        "natural");
  CHECK(view.best_arm == 0 && view.best_mean == 1.0);
  CHECK(!view.regularised && !view.uses_running_mean);
}

}  // namespace
}  // namespace committal
