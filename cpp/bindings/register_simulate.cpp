// The interpreter lock is released for the whole simulation and taken back ten times a second to
// let Ctrl-C and the progress callback in.
#include <pybind11/stl.h>

#include <cmath>
#include <tuple>

#include "bindings/arguments.hpp"
#include "bindings/bindings.hpp"
#include "bindings/interpreter.hpp"
#include "core/accumulator.hpp"
#include "core/engine.hpp"

namespace committal {
namespace {

py::dtype dtype_of(Element element) {
  switch (element) {
    case Element::kInt32:
      return py::dtype::of<std::int32_t>();
    case Element::kInt64:
      return py::dtype::of<std::int64_t>();
    case Element::kFloat64:
      break;
  }
  return py::dtype::of<double>();
}

std::shared_ptr<Simulator> simulator_of(const py::handle& object) {
  return held<Simulator>("simulator", object);
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
  request.poll = make_poll(progress);
  return request;
}

void simulate_into(const py::object& object, const py::dict& outputs, std::uint64_t key,
                   std::uint64_t first_run, std::int64_t runs, int threads, const std::string& isa,
                   int block, const py::object& progress) {
  const std::shared_ptr<const Simulator> simulator = simulator_of(object);
  const Request request = make_request(key, first_run, runs, threads, isa, block, progress);
  std::vector<Writable> kept;  // the caller's dictionary may change while the lock is released
  std::vector<Output> targets;
  for (const auto& [key_object, array] : outputs) {
    const std::string name = name_of("a key of outputs", key_object);
    const Described described = simulator->describe(name);
    Shape shape{static_cast<py::ssize_t>(runs), static_cast<py::ssize_t>(simulator->time_count())};
    shape.insert(shape.end(), described.shape.begin(), described.shape.end());
    kept.push_back(writable("outputs['" + name + "']", array, dtype_of(described.element), shape));
    targets.push_back({described, kept.back().as<void>()});
  }
  const WithoutLock release;
  simulate(*simulator, request, targets);
}

void reduce_into(const py::object& object, std::uint64_t key, std::uint64_t first_run,
                 std::int64_t runs, const py::dict& moments, const py::dict& histograms,
                 const py::object& failures, double below, int threads, const std::string& isa,
                 int block, const py::object& progress) {
  const std::shared_ptr<const Simulator> simulator = simulator_of(object);
  const Request request = make_request(key, first_run, runs, threads, isa, block, progress);
  const auto times = static_cast<py::ssize_t>(simulator->time_count());
  std::vector<Writable> kept;
  const auto keep = [&kept](const std::string& name, const py::handle& array, const Shape& shape) {
    kept.push_back(writable<std::int64_t>(name, array, shape));
    return kept.back().as<std::int64_t>();
  };
  Reductions reductions;
  for (const auto& [key_object, array] : moments) {
    const std::string name = name_of("a key of moments", key_object);
    const Described described = simulator->describe(name);
    const Shape shape{times, static_cast<py::ssize_t>(described.width()), 2, kAccumulatorLimbs};
    reductions.moments.push_back({described, keep("moments['" + name + "']", array, shape)});
  }
  for (const auto& [key_object, entry] : histograms) {
    const std::string name = name_of("a key of histograms", key_object);
    const Described described = simulator->describe(name);
    const std::string label = "histograms['" + name + "']";
    py::detail::make_caster<std::tuple<py::object, double, double>> caster;
    if (!caster.load(entry, true)) refuse_type(label, entry, "(counts, low, high)");
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
    const Shape shape{times, static_cast<py::ssize_t>(described.width()), cells};
    reductions.histograms.push_back({described, keep(label, array, shape), cells - 2, low, high});
  }
  if (!failures.is_none()) {
    reductions.failures = keep("failures", failures, {times});
    if (std::isnan(below)) throw py::value_error("below = nan is not allowed; expected a number");
    reductions.below = below;
  }
  const WithoutLock release;
  reduce(*simulator, request, reductions);
}

py::tuple describe(const py::object& self, const std::string& name) {
  const Described described = simulator_of(self)->describe(name);
  return py::make_tuple(dtype_of(described.element), py::tuple(py::cast(described.shape)));
}

}  // namespace

void register_simulate(py::module_& m) {
  using py::arg;
  static py::exception<Diverged> diverged(m, "Diverged", PyExc_ArithmeticError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Diverged& error) {
      // With the run and the update, and whether it is something that was recorded.
      const py::tuple args = py::make_tuple(error.what(), error.where().run, error.where().update,
                                            error.where().quantity >= 0);
      PyErr_SetObject(diverged.ptr(), args.ptr());
    }
  });
  py::class_<Simulator, std::shared_ptr<Simulator>>(m, "Simulator", "An experiment as numbers.")
      .def("describe", &describe, arg("name"),
           "The type of a quantity's array, and its shape beyond runs and times.");
  m.def("simulate", &simulate_into, arg("simulator"), arg("outputs"), py::kw_only(), arg("key"),
        arg("first_run"), arg("runs"), arg("threads") = 1, arg("isa") = "auto", arg("block") = 0,
        arg("progress") = py::none(),
        "Make runs first_run .. first_run + runs - 1 and write what they record into outputs.");
  m.def("reduce", &reduce_into, arg("simulator"), py::kw_only(), arg("key"), arg("first_run"),
        arg("runs"), arg("moments"), arg("histograms") = py::dict(), arg("failures") = py::none(),
        arg("below") = 0.0, arg("threads") = 1, arg("isa") = "auto", arg("block") = 0,
        arg("progress") = py::none(),
        "Make the same runs, adding exact sums and counts into the given arrays.");
}

}  // namespace committal
