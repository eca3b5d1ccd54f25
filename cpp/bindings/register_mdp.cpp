#include "bindings/bindings.hpp"
#include "bindings/fields.hpp"
#include "bindings/interpreter.hpp"
#include "core/pool.hpp"
#include "mdp/evaluation.hpp"
#include "mdp/simulator.hpp"

namespace committal {
namespace {

using What = MdpSolve::What;

// How all evaluations are called: a model, a batch, threads and an instruction set.
struct Call {
  std::shared_ptr<const MdpModel> model;
  Evaluation evaluation;

  Call(const py::object& self, What what, int threads, const std::string& isa)
      : model(held<MdpModel>("self", self)) {
    evaluation.what = what;
    evaluation.threads = threads;
    evaluation.isa = isa;
    evaluation.poll = make_poll(py::none());
  }

  py::ssize_t states() const { return static_cast<py::ssize_t>(model->states()); }
  py::ssize_t actions() const { return static_cast<py::ssize_t>(model->actions()); }

  // The batch has shape (n, *given) and the result (n, *out).
  py::array_t<double> run(const char* name, const Numbers& batch, const Shape& given,
                          const Shape& out) {
    const Shape actual(batch.shape(), batch.shape() + batch.ndim());
    if (actual.empty() || Shape(actual.begin() + 1, actual.end()) != given) {
      std::string expected = "(n";
      for (const py::ssize_t n : given) expected += ", " + std::to_string(n);
      throw py::value_error(std::string(name) + " must have shape " + expected + ")");
    }
    Shape shape{actual[0]};
    shape.insert(shape.end(), out.begin(), out.end());
    py::array_t<double> result(shape);
    evaluation.count = actual[0];
    evaluation.given = batch.data();
    evaluation.out = result.mutable_data();
    {
      const WithoutLock release;
      evaluate_policies(*model, evaluation);
    }
    return result;
  }

  void start_from(const Numbers& start) {
    if (start.ndim() != 1 || start.shape(0) != states()) {
      throw py::value_error("start must have shape (" + std::to_string(states()) + ",)");
    }
    evaluation.start = start.data();
  }
};

// Prepared without the interpreter lock: it may take minutes, and Ctrl-C is answered.
std::shared_ptr<MdpModel> make_model(const MdpTables& tables) {
  std::shared_ptr<MdpModel> model;
  const auto poll = make_poll(py::none());
  const WithoutLock release;
  const auto make = [&](int, std::int64_t, Progress& progress) {
    model = std::make_shared<MdpModel>(tables, kNearBytes, progress.patience());
  };
  run_blocks(1, 1, make, poll);
  return model;
}

py::array_t<double> evaluate(const py::object& self, const Numbers& policies, int threads,
                             const std::string& isa) {
  Call call(self, What::kValues, threads, isa);
  return call.run("policies", policies, {call.states(), call.actions()}, {call.states()});
}

py::tuple evaluate_iterative(const py::object& self, const Numbers& policies, double tolerance,
                             int threads, const std::string& isa) {
  Call call(self, What::kValuesIterative, threads, isa);
  if (!(tolerance > 0.0)) refuse("tolerance", show(tolerance), "a positive number");
  py::array_t<std::int64_t> sweeps(policies.ndim() > 0 ? policies.shape(0) : 0);
  call.evaluation.tolerance = tolerance;
  call.evaluation.sweeps = sweeps.mutable_data();
  const py::array_t<double> values =
      call.run("policies", policies, {call.states(), call.actions()}, {call.states()});
  return py::make_tuple(values, sweeps);
}

py::array_t<double> q_values(const py::object& self, const Numbers& values, int threads,
                             const std::string& isa) {
  Call call(self, What::kQ, threads, isa);
  return call.run("values", values, {call.states()}, {call.states(), call.actions()});
}

py::array_t<double> state_distribution(const py::object& self, const Numbers& policies,
                                       const Numbers& start, int threads, const std::string& isa) {
  Call call(self, What::kDistribution, threads, isa);
  call.start_from(start);
  return call.run("policies", policies, {call.states(), call.actions()}, {call.states()});
}

py::array_t<double> goal_probability(const py::object& self, const Numbers& policies,
                                     const Numbers& start, std::int64_t limit, int threads,
                                     const std::string& isa) {
  Call call(self, What::kGoalProbability, threads, isa);
  call.start_from(start);
  require_between("limit", limit, 0, kMostEpisode);
  call.evaluation.limit = limit;
  return call.run("policies", policies, {call.states(), call.actions()},
                  {static_cast<py::ssize_t>(call.model->goals())});
}

}  // namespace

void register_mdp(py::module_& m) {
  using py::arg;
  const py::kw_only named;
  const py::arg_v threads = arg("threads") = 1;
  const py::arg_v isa = arg("isa") = "auto";
  auto model = py::class_<MdpModel, std::shared_ptr<MdpModel>>(
      m, "MdpModel",
      "An MDP prepared for the exact evaluation of many policies; FIELDS names its arguments.");
  model
      .def(py::init([](const py::kwargs& arguments) {
        MdpTables tables;
        fill_fields("MdpModel", arguments, tables);
        return make_model(tables);
      }))
      .def_property_readonly(
          "fill", [](const py::object& self) { return held<MdpModel>("self", self)->fill(); },
          "Entries of the upper factor.")
      .def("evaluate", &evaluate, arg("policies"), named, threads, isa,
           "V of each policy, by an exact solve; 0 in terminal states.")
      .def("evaluate_iterative", &evaluate_iterative, arg("policies"), arg("tolerance"), named,
           threads, isa, "V and the number of sweeps, by Gauss-Seidel sweeps from 0.")
      .def("q_values", &q_values, arg("values"), named, threads, isa,
           "Q = R + gamma P V of each value function.")
      .def("state_distribution", &state_distribution, arg("policies"), arg("start"), named, threads,
           isa, "sum_t gamma^t P(s_t = s), 0 for terminal states.")
      .def("goal_probability", &goal_probability, arg("policies"), arg("start"), arg("limit"),
           named, threads, isa, "The probability of reaching each terminal state within limit.");
  model.attr("FIELDS") = py::tuple(py::cast(field_names<MdpTables>()));

  py::class_<MdpSimulator, Simulator, std::shared_ptr<MdpSimulator>>(
      m, "MdpSimulator", "An MDP experiment as numbers; FIELDS names its arguments.")
      .def(py::init([](const py::kwargs& arguments) {
        MdpTables tables;
        MdpPlan plan;
        fill_fields("MdpSimulator", arguments, tables, plan);
        return std::make_shared<MdpSimulator>(make_model(tables), std::move(plan));
      }))
      .attr("FIELDS") = py::tuple(py::cast(field_names<MdpTables, MdpPlan>()));
}

}  // namespace committal
