#include <pybind11/stl.h>

#include "bindings/arguments.hpp"
#include "bindings/bindings.hpp"
#include "core/check.hpp"
#include "core/limits.hpp"
#include "plan/program.hpp"

namespace committal {
namespace {

using Pairs = std::vector<std::pair<std::string, std::int64_t>>;

// One instruction: a name and whole numbers.
ProgramParts::Operation operation(std::size_t place, const py::handle& given) {
  const std::string argument = item("code", place);
  constexpr const char* kExpected = "a tuple (operation, register, registers ...)";
  if (!py::isinstance<py::tuple>(given) || py::len(given) < 2) {
    refuse_type(argument, given, kExpected);
  }
  const auto entry = py::reinterpret_borrow<py::tuple>(given);
  if (!py::isinstance<py::str>(entry[0])) refuse_type(argument, given, kExpected);
  ProgramParts::Operation out{py::cast<std::string>(entry[0]), {}};
  for (std::size_t i = 1; i < entry.size(); ++i) {
    py::detail::make_caster<std::int64_t> caster;
    if (!caster.load(entry[i], false)) refuse_type(argument, given, kExpected);
    out.numbers.push_back(caster);
  }
  return out;
}

std::shared_ptr<Program> make_program(const std::vector<std::string>& registers,
                                      const std::vector<std::pair<std::int64_t, double>>& constants,
                                      const Pairs& inputs, const py::sequence& code,
                                      const Pairs& outputs,
                                      const std::map<std::string, double>& state) {
  ProgramParts parts{registers, constants, inputs, {}, outputs, state};
  const std::size_t count = py::len(code);
  require_between("the number of operations", static_cast<std::int64_t>(count), 0,
                  kMostProgramOperations);
  for (std::size_t i = 0; i < count; ++i) parts.code.push_back(operation(i, code[i]));
  return std::make_shared<Program>(parts);
}

Shape shape_of(RowShape shape, ProgramExtent extent, py::ssize_t lanes) {
  Shape out;
  if (has_samples(shape)) out.push_back(static_cast<py::ssize_t>(extent.samples));
  if (has_arms(shape)) out.push_back(static_cast<py::ssize_t>(extent.arms));
  out.push_back(lanes);
  return out;
}

py::dict run_over_arrays(const py::object& object, const py::dict& inputs, std::int64_t arms,
                         std::int64_t samples, const std::string& isa, int block) {
  const std::shared_ptr<const Program> program = held<Program>("program", object);
  require_between("arms", arms, 1, kMostArms);
  require_between("samples", samples, 1, kMostSamples);
  const ProgramExtent extent{arms, samples};
  std::vector<Numbers> kept;
  std::vector<const double*> rows;
  py::ssize_t lanes = -1;
  std::size_t used = 0;
  for (std::size_t i = 0; i < program->inputs().size(); ++i) {
    const std::string& name = program->inputs()[i];
    const std::string argument = "inputs['" + name + "']";
    if (!inputs.contains(name.c_str())) {
      const bool state = program->view().inputs[static_cast<std::int64_t>(i)].state >= 0;
      if (!state) refuse(argument, "nothing", "an array");
      rows.push_back(nullptr);
      continue;
    }
    ++used;
    const auto array = Numbers::ensure(inputs[name.c_str()]);
    if (!array) throw py::error_already_set();
    const Shape actual(array.shape(), array.shape() + array.ndim());
    if (lanes < 0 && !actual.empty()) lanes = actual.back();
    if (actual != shape_of(program->input_shape(i), extent, lanes)) {
      throw py::value_error(argument +
                            " has a wrong shape; expected samples, arms (as far as it "
                            "has them) and lanes");
    }
    kept.push_back(array);
    rows.push_back(array.data());
  }
  if (used != inputs.size()) throw py::value_error("inputs has a name that the program does not");
  if (lanes < 0) lanes = 1;
  py::dict out;
  std::vector<double*> targets;
  const auto add = [&](const std::string& name, RowShape shape) {
    py::array_t<double> array(shape_of(shape, extent, lanes));
    targets.push_back(array.mutable_data());
    out[name.c_str()] = array;
  };
  const ProgramView& view = program->view();
  for (std::size_t i = 0; i < program->outputs().size(); ++i) {
    add(program->outputs()[i], view.output_shape(static_cast<std::int64_t>(i)));
  }
  for (std::size_t i = 0; i < program->states().size(); ++i) {
    add("state:" + program->states()[i], view.states[static_cast<std::int64_t>(i)].shape);
  }
  committal::run_program(*program, extent, lanes, rows, targets, resolve_isa(isa), block);
  return out;
}

}  // namespace

void register_program(py::module_& m) {
  using py::arg;
  py::class_<Program, std::shared_ptr<Program>>(
      m, "Program", "A formula as operations on rows of lanes; each register is written once.")
      .def(py::init(&make_program), py::kw_only(), arg("registers"), arg("constants"),
           arg("inputs"), arg("code"), arg("outputs"), arg("state") = py::dict());
  m.def("run_program", &run_over_arrays, arg("program"), arg("inputs"), py::kw_only(), arg("arms"),
        arg("samples") = 1, arg("isa") = "auto", arg("block") = 0,
        "Evaluate a program over arrays whose last axis is lanes.");
}

}  // namespace committal
