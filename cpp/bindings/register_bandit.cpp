#include "bandit/simulator.hpp"
#include "bindings/bindings.hpp"
#include "bindings/fields.hpp"

namespace committal {

void register_bandit(py::module_& m) {
  py::class_<BanditSimulator, Simulator, std::shared_ptr<BanditSimulator>>(
      m, "BanditSimulator", "A bandit experiment as numbers; FIELDS names its arguments.")
      .def(py::init([](const py::kwargs& arguments) {
        BanditPlan plan;
        fill_fields("BanditSimulator", arguments, plan);
        return std::make_shared<BanditSimulator>(std::move(plan));
      }))
      .attr("FIELDS") = py::tuple(py::cast(field_names<BanditPlan>()));
}

}  // namespace committal
