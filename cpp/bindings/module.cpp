// The only file that knows Python. It checks every argument, never copies an output, releases the
// interpreter lock for the whole simulation and takes it back ten times a second to let Ctrl-C and
// the progress callback in.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bandit/simulator.hpp"
#include "core/accumulator.hpp"
#include "core/engine.hpp"
#include "core/rng.hpp"
#include "kernels/table.hpp"
#include "mdp/simulator.hpp"

#ifndef COMMITTAL_VERSION
#define COMMITTAL_VERSION "0"
#endif

namespace py = pybind11;

namespace committal {
namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Integers = py::array_t<std::int64_t, py::array::c_style>;

template <typename T>
std::vector<T> to_vector(const char* name, const py::array& array) {
  if (array.ndim() != 1) {
    throw py::value_error(std::string(name) + " = an array of " + std::to_string(array.ndim()) +
                          " dimensions is not allowed; expected 1 dimension");
  }
  const auto typed = py::array_t<T, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!typed) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + " is not an array of numbers");
  }
  return {typed.data(), typed.data() + typed.size()};
}

using Terms = std::vector<std::tuple<std::string, double, double>>;

std::vector<BaselineTerm> to_terms(const Terms& terms) {
  std::vector<BaselineTerm> all;
  for (const auto& [name, coefficient, parameter] : terms) {
    all.push_back({baseline_kind(name), coefficient, parameter});
  }
  return all;
}

std::unique_ptr<BanditSimulator> make_bandit(
    std::int64_t arms, std::int64_t steps, std::int64_t samples, const std::string& policy,
    bool contrast, const std::string& update, const std::string& estimator,
    const std::string& behaviour, const std::string& noise, const py::array& theta0,
    const py::array& step_size, const py::array& entropy, const py::array& implicit,
    const py::array& exploration, const Terms& baseline_terms, double baseline_offset,
    double running_mean_initial, const py::array& behaviour_probabilities, const py::array& means,
    const py::array& spread, const py::array& reward_variance, const py::array& table_offsets,
    const py::array& table_values, const py::array& table_cumulative, const py::array& times) {
  BanditPlan plan;
  plan.arms = arms;
  plan.steps = steps;
  plan.samples = samples;
  plan.policy = policy;
  plan.contrast = contrast;
  plan.update = update;
  plan.estimator = estimator;
  plan.behaviour = behaviour;
  plan.noise = noise;
  plan.theta0 = to_vector<double>("theta0", theta0);
  plan.step_size = to_vector<double>("step_size", step_size);
  plan.entropy = to_vector<double>("entropy", entropy);
  plan.implicit = to_vector<double>("implicit", implicit);
  plan.exploration = to_vector<double>("exploration", exploration);
  plan.terms = to_terms(baseline_terms);
  plan.baseline_offset = baseline_offset;
  plan.running_mean_initial = running_mean_initial;
  plan.behaviour_probabilities =
      to_vector<double>("behaviour_probabilities", behaviour_probabilities);
  plan.means = to_vector<double>("means", means);
  plan.spread = to_vector<double>("spread", spread);
  plan.reward_variance = to_vector<double>("reward_variance", reward_variance);
  plan.table_offsets = to_vector<std::int64_t>("table_offsets", table_offsets);
  plan.table_values = to_vector<double>("table_values", table_values);
  plan.table_cumulative = to_vector<double>("table_cumulative", table_cumulative);
  plan.times = to_vector<std::int64_t>("times", times);
  return std::make_unique<BanditSimulator>(std::move(plan));
}

std::shared_ptr<MdpModel> make_model(std::int64_t states, std::int64_t actions,
                                     const py::array& terminal, const py::array& row_offsets,
                                     const py::array& next_state, const py::array& probability,
                                     const py::array& reward, double gamma) {
  return std::make_shared<MdpModel>(states, actions, to_vector<std::uint8_t>("terminal", terminal),
                                    to_vector<std::int64_t>("row_offsets", row_offsets),
                                    to_vector<std::int32_t>("next_state", next_state),
                                    to_vector<double>("probability", probability),
                                    to_vector<double>("reward", reward), gamma);
}

std::unique_ptr<MdpSimulator> make_mdp(
    std::int64_t states, std::int64_t actions, const py::array& terminal,
    const py::array& row_offsets, const py::array& next_state, const py::array& probability,
    const py::array& reward, double gamma, const py::array& start_states,
    const py::array& start_cumulative, std::int64_t limit, std::int64_t steps,
    const py::array& theta0, const std::string& update, const std::string& estimator,
    const std::string& solver, double tolerance, bool discounted, const py::array& step_size,
    const Terms& baseline_terms, double baseline_offset, double running_mean_initial,
    const std::string& behaviour, const py::array& exploration,
    const py::array& behaviour_probabilities, const py::array& times) {
  MdpPlan plan;
  plan.steps = steps;
  plan.limit = limit;
  plan.update = update;
  plan.estimator = estimator;
  plan.solver = solver;
  plan.tolerance = tolerance;
  plan.discounted = discounted;
  plan.behaviour = behaviour;
  plan.theta0 = to_vector<double>("theta0", theta0);
  plan.step_size = to_vector<double>("step_size", step_size);
  plan.exploration = to_vector<double>("exploration", exploration);
  plan.terms = to_terms(baseline_terms);
  plan.baseline_offset = baseline_offset;
  plan.running_mean_initial = running_mean_initial;
  plan.behaviour_probabilities =
      to_vector<double>("behaviour_probabilities", behaviour_probabilities);
  plan.start_states = to_vector<std::int32_t>("start_states", start_states);
  plan.start_cumulative = to_vector<double>("start_cumulative", start_cumulative);
  plan.times = to_vector<std::int64_t>("times", times);
  return std::make_unique<MdpSimulator>(
      make_model(states, actions, terminal, row_offsets, next_state, probability, reward, gamma),
      std::move(plan));
}

std::string shape_of(const std::vector<py::ssize_t>& shape) {
  std::string text = "(";
  for (const py::ssize_t n : shape) text += std::to_string(n) + ", ";
  return text + ")";
}

// The memory of an output array, after checking that it can be written in place.
template <typename T>
T* writable(const std::string& name, const py::handle& object,
            const std::vector<py::ssize_t>& shape) {
  if (!py::isinstance<py::array>(object)) {
    throw py::type_error(name + " is not a NumPy array");
  }
  const auto array = py::reinterpret_borrow<py::array>(object);
  if (!array.dtype().is(py::dtype::of<T>())) {
    throw py::type_error(name + " has dtype " + std::string(py::str(array.dtype())) +
                         "; expected " + std::string(py::str(py::dtype::of<T>())));
  }
  const std::vector<py::ssize_t> actual(array.shape(), array.shape() + array.ndim());
  if (actual != shape) {
    throw py::value_error(name + " has shape " + shape_of(actual) + "; expected " +
                          shape_of(shape));
  }
  if ((array.flags() & py::array::c_style) == 0) {
    throw py::value_error(name + " is not C-contiguous");
  }
  if (!array.writeable()) throw py::value_error(name + " is read-only");
  return static_cast<T*>(const_cast<void*>(array.data()));
}

Request make_request(std::uint64_t key, std::uint64_t first_run, std::int64_t runs, int threads,
                     const std::string& isa, int block, const py::object& progress) {
  Request request;
  request.key = key;
  request.first_run = first_run;
  request.runs = runs;
  request.threads = threads;
  request.isa = isa;
  request.block = block;
  kernel_table(isa);  // a wrong name fails before any thread starts
  request.poll = [progress](std::int64_t updates) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(updates);
  };
  return request;
}

// How a plan's quantities are called, and the type and trailing shape of their arrays.
struct Described {
  int quantity;
  enum class Type { kNumbers, kIntegers, kLongs } type;
  std::vector<py::ssize_t> trailing;
};

Described describe(const Simulator& plan, const std::string& name) {
  using Type = Described::Type;
  if (const auto* mdp = dynamic_cast<const MdpSimulator*>(&plan)) {
    const MdpQuantity which = mdp_quantity(name);
    Described described{static_cast<int>(which), Type::kNumbers, {}};
    const auto states = static_cast<py::ssize_t>(mdp->model().states());
    switch (which) {
      case MdpQuantity::kLength:
      case MdpQuantity::kGoal:
        described.type = Type::kIntegers;
        break;
      case MdpQuantity::kVisits:
        described.type = Type::kLongs;
        described.trailing = {states};
        break;
      case MdpQuantity::kPolicy:
      case MdpQuantity::kTheta:
        described.trailing = {states, static_cast<py::ssize_t>(mdp->model().actions())};
        break;
      case MdpQuantity::kGoalProbability:
        described.trailing = {static_cast<py::ssize_t>(mdp->model().goals())};
        break;
      default:
        break;
    }
    return described;
  }
  const Quantity which = quantity(name);
  Described described{static_cast<int>(which), Type::kNumbers, {}};
  if (which == Quantity::kAction) described.type = Type::kIntegers;
  if (which == Quantity::kPolicy || which == Quantity::kTheta || which == Quantity::kAction ||
      which == Quantity::kReward) {
    described.trailing = {static_cast<py::ssize_t>(plan.width(static_cast<int>(which)))};
  }
  return described;
}

void simulate_into(const Simulator& plan, const py::dict& outputs, std::uint64_t key,
                   std::uint64_t first_run, std::int64_t runs, int threads, const std::string& isa,
                   int block, const py::object& progress) {
  const Request request = make_request(key, first_run, runs, threads, isa, block, progress);
  std::vector<Output> targets;
  for (const auto& [key_object, array] : outputs) {
    const auto name = py::cast<std::string>(key_object);
    const Described described = describe(plan, name);
    std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(runs),
                                   static_cast<py::ssize_t>(plan.time_count())};
    shape.insert(shape.end(), described.trailing.begin(), described.trailing.end());
    const std::string label = "outputs['" + name + "']";
    Output target{described.quantity};
    switch (described.type) {
      case Described::Type::kNumbers:
        target.numbers = writable<double>(label, array, shape);
        break;
      case Described::Type::kIntegers:
        target.integers = writable<std::int32_t>(label, array, shape);
        break;
      case Described::Type::kLongs:
        target.longs = writable<std::int64_t>(label, array, shape);
        break;
    }
    targets.push_back(target);
  }
  const py::gil_scoped_release release;
  simulate(plan, request, targets);
}

void reduce_into(const Simulator& plan, std::uint64_t key, std::uint64_t first_run,
                 std::int64_t runs, const py::dict& moments, const py::dict& histograms,
                 const py::object& failures, double below, int threads, const std::string& isa,
                 int block, const py::object& progress) {
  const Request request = make_request(key, first_run, runs, threads, isa, block, progress);
  Reductions reductions;
  const auto times = static_cast<py::ssize_t>(plan.time_count());
  const auto width = [&plan](int which) { return static_cast<py::ssize_t>(plan.width(which)); };
  for (const auto& [key_object, array] : moments) {
    const auto name = py::cast<std::string>(key_object);
    const int which = describe(plan, name).quantity;
    reductions.moments.push_back(
        {which, writable<std::int64_t>("moments['" + name + "']", array,
                                       {times, width(which), 2, kAccumulatorLimbs})});
  }
  for (const auto& [key_object, entry] : histograms) {
    const auto name = py::cast<std::string>(key_object);
    const int which = describe(plan, name).quantity;
    const std::string label = "histograms['" + name + "']";
    const auto [array, low, high] = py::cast<std::tuple<py::object, double, double>>(entry);
    if (!py::isinstance<py::array>(array) || py::cast<py::array>(array).ndim() != 3 ||
        py::cast<py::array>(array).shape(2) < 3) {
      throw py::value_error(label + " is not an array of shape (times, width, bins + 2)");
    }
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high)) {
      throw py::value_error(label + " has range [" + std::to_string(low) + ", " +
                            std::to_string(high) + "]; expected finite low < high");
    }
    const py::ssize_t cells = py::cast<py::array>(array).shape(2);
    reductions.histograms.push_back(
        {which, writable<std::int64_t>(label, array, {times, width(which), cells}), cells - 2, low,
         high});
  }
  if (!failures.is_none()) {
    reductions.failures = writable<std::int64_t>("failures", failures, {times});
    if (std::isnan(below)) throw py::value_error("below = nan is not allowed; expected a number");
    reductions.below = below;
  }
  const py::gil_scoped_release release;
  reduce(plan, request, reductions);
}

void check_threads(int threads) {
  if (threads < 1 || threads > 4096) {
    throw py::value_error("threads = " + std::to_string(threads) +
                          " is not allowed; expected 1 to 4096");
  }
}

// Shape (n, states, actions), or (n, states).
void check_batch(const char* name, const MdpModel& model, const Numbers& batch, bool pairs) {
  const auto states = static_cast<py::ssize_t>(model.states());
  const auto actions = static_cast<py::ssize_t>(model.actions());
  if (batch.ndim() != (pairs ? 3 : 2) || batch.shape(1) != states ||
      (pairs && batch.shape(2) != actions)) {
    throw py::value_error(std::string(name) + " must have shape (n, " + std::to_string(states) +
                          (pairs ? ", " + std::to_string(actions) : std::string()) + ")");
  }
}

// Runs an evaluation whose output has `trailing` dimensions per policy.
py::array_t<double> evaluate_batch(const MdpModel& model, Evaluation evaluation,
                                   const Numbers& given, const std::vector<py::ssize_t>& trailing) {
  check_threads(evaluation.threads);
  std::vector<py::ssize_t> shape{given.shape(0)};
  shape.insert(shape.end(), trailing.begin(), trailing.end());
  py::array_t<double> out(shape);
  evaluation.count = given.shape(0);
  evaluation.given = given.data();
  evaluation.out = out.mutable_data();
  evaluation.poll = [](std::int64_t) {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
  const py::gil_scoped_release release;
  evaluate_policies(model, evaluation);
  return out;
}

Evaluation evaluation_of(MdpSolve::What what, int threads, const std::string& isa) {
  Evaluation evaluation;
  evaluation.what = what;
  evaluation.threads = threads;
  evaluation.isa = isa;
  return evaluation;
}

py::array_t<double> values_of(const MdpModel& model, const Numbers& policies, int threads,
                              const std::string& isa) {
  check_batch("policies", model, policies, true);
  return evaluate_batch(model, evaluation_of(MdpSolve::What::kValues, threads, isa), policies,
                        {static_cast<py::ssize_t>(model.states())});
}

py::tuple iterated_values_of(const MdpModel& model, const Numbers& policies, double tolerance,
                             int threads, const std::string& isa) {
  check_batch("policies", model, policies, true);
  if (!(tolerance > 0.0)) throw py::value_error("tolerance must be positive");
  py::array_t<std::int64_t> sweeps(policies.shape(0));
  Evaluation evaluation = evaluation_of(MdpSolve::What::kValuesIterative, threads, isa);
  evaluation.tolerance = tolerance;
  evaluation.sweeps = sweeps.mutable_data();
  const py::array_t<double> values =
      evaluate_batch(model, evaluation, policies, {static_cast<py::ssize_t>(model.states())});
  return py::make_tuple(values, sweeps);
}

py::array_t<double> q_of(const MdpModel& model, const Numbers& values, int threads,
                         const std::string& isa) {
  check_batch("values", model, values, false);
  return evaluate_batch(
      model, evaluation_of(MdpSolve::What::kQ, threads, isa), values,
      {static_cast<py::ssize_t>(model.states()), static_cast<py::ssize_t>(model.actions())});
}

py::array_t<double> distribution_of(const MdpModel& model, const Numbers& policies,
                                    const Numbers& start, MdpSolve::What what, std::int64_t limit,
                                    int threads, const std::string& isa) {
  check_batch("policies", model, policies, true);
  if (start.ndim() != 1 || start.shape(0) != static_cast<py::ssize_t>(model.states())) {
    throw py::value_error("start must have shape (" + std::to_string(model.states()) + ",)");
  }
  if (limit < 0) throw py::value_error("limit must be at least 0");
  Evaluation evaluation = evaluation_of(what, threads, isa);
  evaluation.start = start.data();
  evaluation.limit = limit;
  const bool states = what == MdpSolve::What::kDistribution;
  return evaluate_batch(model, evaluation, policies,
                        {static_cast<py::ssize_t>(states ? model.states() : model.goals())});
}

using LaneMap = void (*)(const double*, double*, std::size_t);

py::array_t<double> apply(LaneMap function, const Numbers& x) {
  py::array_t<double> y(std::vector<py::ssize_t>(x.shape(), x.shape() + x.ndim()));
  function(x.data(), y.mutable_data(), static_cast<std::size_t>(x.size()));
  return y;
}

py::array_t<std::uint32_t> philox(
    const py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>& counter,
    const py::array_t<std::uint32_t, py::array::c_style | py::array::forcecast>& key) {
  if (counter.ndim() != 2 || counter.shape(1) != 4) {
    throw py::value_error("counter must have shape (n, 4)");
  }
  if (key.ndim() != 1 || key.shape(0) != 2) throw py::value_error("key must have shape (2,)");
  py::array_t<std::uint32_t> out(std::vector<py::ssize_t>{counter.shape(0), 4});
  const auto in = counter.unchecked<2>();
  auto words = out.mutable_unchecked<2>();
  const PhiloxKey k{{key.at(0), key.at(1)}};
  for (py::ssize_t i = 0; i < in.shape(0); ++i) {
    const PhiloxCounter x = philox4x32({{in(i, 0), in(i, 1), in(i, 2), in(i, 3)}}, k);
    for (py::ssize_t j = 0; j < 4; ++j) words(i, j) = x.word[j];
  }
  return out;
}

py::array_t<double> draw_uniforms(std::uint64_t key, std::uint64_t run, int slot,
                                  std::uint64_t first, py::ssize_t count, const std::string& isa) {
  if (count < 0) throw py::value_error("count must be at least 0");
  if (slot < 0 || slot > 255) throw py::value_error("slot must be from 0 to 255");
  py::array_t<double> out(count);
  kernel_table(isa).uniforms(key, run, static_cast<std::uint32_t>(slot), first, out.mutable_data(),
                             static_cast<std::size_t>(count));
  return out;
}

py::dict available() {
  py::dict all;
  all["policies"] = names<Policy>();
  all["updates"] = names<Update>();
  all["estimators"] = names<Estimator>();
  all["behaviours"] = names<Behaviour>();
  all["noises"] = names<Noise>();
  all["baselines"] = names<BaselineKind>();
  all["recorders"] = names<Quantity>();
  all["mdp_estimators"] = names<MdpEstimator>();
  all["solvers"] = names<Solver>();
  all["mdp_recorders"] = names<MdpQuantity>();
  all["isas"] = available_isas();
  return all;
}

py::dict build_info() {
  py::dict info;
  info["version"] = COMMITTAL_VERSION;
#if defined(__clang__)
  info["compiler"] = "clang " __clang_version__;
#elif defined(__GNUC__)
  info["compiler"] = "gcc " __VERSION__;
#else
  info["compiler"] = "unknown";
#endif
  info["cxx_standard"] = static_cast<long>(__cplusplus);
  info["stream_version"] = kStreamVersion;
  info["isa"] = available_isas().back();
  info["isas"] = available_isas();
  return info;
}

}  // namespace
}  // namespace committal

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
  using namespace committal;
  using py::arg;
  m.doc() = "The compiled core of committal: plans in, arrays out.";
  m.attr("ACCUMULATOR_LIMBS") = kAccumulatorLimbs;
  m.attr("ACCUMULATOR_BASE") = kAccumulatorBase;
  m.attr("STREAM_VERSION") = kStreamVersion;

  const Numbers off = py::cast(std::vector<double>{0.0});
  const Numbers none = py::cast(std::vector<double>{});
  const Integers no_offsets = py::cast(std::vector<std::int64_t>{});
  py::class_<Simulator>(m, "Plan", "An experiment as numbers.");
  py::class_<BanditSimulator, Simulator>(m, "BanditPlan",
                                         "A bandit experiment as numbers; see committal.plan.")
      .def(py::init(&make_bandit), py::kw_only(), arg("arms"), arg("steps"), arg("samples") = 1,
           arg("policy") = "softmax", arg("contrast") = false, arg("update") = "natural",
           arg("estimator") = "sampled", arg("behaviour") = "on_policy",
           arg("noise") = "deterministic", arg("theta0"), arg("step_size"), arg("entropy") = off,
           arg("implicit") = off, arg("exploration") = off, arg("baseline_terms") = Terms{},
           arg("baseline_offset") = 0.0, arg("running_mean_initial") = 0.0,
           arg("behaviour_probabilities") = none, arg("means"), arg("spread"),
           arg("reward_variance"), arg("table_offsets") = no_offsets, arg("table_values") = none,
           arg("table_cumulative") = none, arg("times"));
  py::class_<MdpSimulator, Simulator>(m, "MdpPlan", "An MDP experiment as numbers.")
      .def(py::init(&make_mdp), py::kw_only(), arg("states"), arg("actions"), arg("terminal"),
           arg("row_offsets"), arg("next_state"), arg("probability"), arg("reward"), arg("gamma"),
           arg("start_states"), arg("start_cumulative"), arg("limit"), arg("steps"), arg("theta0"),
           arg("update") = "natural", arg("estimator") = "exact_q", arg("solver") = "direct",
           arg("tolerance") = 1e-3, arg("discounted") = false, arg("step_size"),
           arg("baseline_terms") = Terms{}, arg("baseline_offset") = 0.0,
           arg("running_mean_initial") = 0.0, arg("behaviour") = "on_policy",
           arg("exploration") = off, arg("behaviour_probabilities") = none, arg("times"));
  py::class_<MdpModel, std::shared_ptr<MdpModel>>(
      m, "MdpModel", "An MDP prepared for the exact evaluation of many policies.")
      .def(py::init(&make_model), py::kw_only(), arg("states"), arg("actions"), arg("terminal"),
           arg("row_offsets"), arg("next_state"), arg("probability"), arg("reward"), arg("gamma"))
      .def_property_readonly("fill", &MdpModel::fill, "Entries of the upper factor.")
      .def("evaluate", &values_of, arg("policies"), py::kw_only(), arg("threads") = 1,
           arg("isa") = "auto", "V of each policy, by an exact solve; 0 in terminal states.")
      .def("evaluate_iterative", &iterated_values_of, arg("policies"), arg("tolerance"),
           py::kw_only(), arg("threads") = 1, arg("isa") = "auto",
           "V and the number of sweeps, by Gauss-Seidel sweeps from 0.")
      .def("q_values", &q_of, arg("values"), py::kw_only(), arg("threads") = 1, arg("isa") = "auto",
           "Q = R + gamma P V of each value function.")
      .def(
          "state_distribution",
          [](const MdpModel& model, const Numbers& policies, const Numbers& start, int threads,
             const std::string& isa) {
            return distribution_of(model, policies, start, MdpSolve::What::kDistribution, 0,
                                   threads, isa);
          },
          arg("policies"), arg("start"), py::kw_only(), arg("threads") = 1, arg("isa") = "auto",
          "sum_t gamma^t P(s_t = s), 0 for terminal states.")
      .def(
          "goal_probability",
          [](const MdpModel& model, const Numbers& policies, const Numbers& start,
             std::int64_t limit, int threads, const std::string& isa) {
            return distribution_of(model, policies, start, MdpSolve::What::kGoalProbability, limit,
                                   threads, isa);
          },
          arg("policies"), arg("start"), arg("limit"), py::kw_only(), arg("threads") = 1,
          arg("isa") = "auto", "The probability of reaching each terminal state within limit.");

  m.def("simulate", &simulate_into, arg("plan"), arg("outputs"), py::kw_only(), arg("key"),
        arg("first_run"), arg("runs"), arg("threads") = 1, arg("isa") = "auto", arg("block") = 0,
        arg("progress") = py::none(),
        "Make runs first_run .. first_run + runs - 1 and write what they record into outputs.");
  m.def("reduce", &reduce_into, arg("plan"), py::kw_only(), arg("key"), arg("first_run"),
        arg("runs"), arg("moments"), arg("histograms") = py::dict(), arg("failures") = py::none(),
        arg("below") = 0.0, arg("threads") = 1, arg("isa") = "auto", arg("block") = 0,
        arg("progress") = py::none(),
        "Make the same runs, adding exact sums and counts into the given arrays.");
  m.def(
      "exp",
      [](const Numbers& x, const std::string& isa) { return apply(kernel_table(isa).exp, x); },
      arg("x"), py::kw_only(), arg("isa") = "auto", "The exp of the kernels.");
  m.def(
      "log",
      [](const Numbers& x, const std::string& isa) { return apply(kernel_table(isa).log, x); },
      arg("x"), py::kw_only(), arg("isa") = "auto", "The log of the kernels (normal x > 0).");
  m.def(
      "normal_quantile",
      [](const Numbers& u, const std::string& isa) {
        return apply(kernel_table(isa).normal_quantile, u);
      },
      arg("u"), py::kw_only(), arg("isa") = "auto", "The normal quantile of the kernels.");
  m.def("philox4x32", &philox, arg("counter"), arg("key"), "Philox4x32-10 of each counter.");
  m.def("uniforms", &draw_uniforms, arg("key"), arg("run"), arg("slot"), arg("first"), arg("count"),
        py::kw_only(), arg("isa") = "auto",
        "Uniforms number first .. first + count - 1 of a stream.");
  m.def("available", &available, "Every name the core understands, by kind.");
  m.def("build_info", &build_info, "Version, compiler and instruction sets.");
}
