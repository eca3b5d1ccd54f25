#include "bindings/arguments.hpp"

#include "bindings/interpreter.hpp"

namespace committal {
namespace {

constexpr std::size_t kMostShown = 80;  // characters of a refused value

std::string text_of(const Shape& shape) {
  std::string text = "(";
  for (const py::ssize_t n : shape) text += std::to_string(n) + ", ";
  return text + ")";
}

}  // namespace

void refuse_type(const std::string& argument, const py::handle& value,
                 const std::string& expected) {
  auto shown = py::repr(value).cast<std::string>();
  if (shown.size() > kMostShown) shown = "a " + std::string(py::str(py::type::of(value)));
  throw py::type_error(argument + " = " + shown + " is not allowed; expected " + expected);
}

std::string name_of(const std::string& argument, const py::handle& value) {
  py::detail::make_caster<std::string> caster;
  if (!py::isinstance<py::str>(value) || !caster.load(value, false)) {
    refuse_type(argument, value, "a name");
  }
  return std::move(static_cast<std::string&>(caster));
}

Writable writable(const std::string& name, const py::handle& object, const py::dtype& dtype,
                  const Shape& shape) {
  if (!py::isinstance<py::array>(object)) throw py::type_error(name + " is not a NumPy array");
  auto array = py::reinterpret_borrow<py::array>(object);
  if (!array.dtype().is(dtype)) {
    throw py::type_error(name + " has dtype " + std::string(py::str(array.dtype())) +
                         "; expected " + std::string(py::str(dtype)));
  }
  const Shape actual(array.shape(), array.shape() + array.ndim());
  if (actual != shape) {
    throw py::value_error(name + " has shape " + text_of(actual) + "; expected " + text_of(shape));
  }
  if ((array.flags() & py::array::c_style) == 0) {
    throw py::value_error(name + " is not C-contiguous");
  }
  if (!array.writeable()) throw py::value_error(name + " is read-only");
  return {std::move(array)};
}

std::function<void(std::int64_t)> make_poll(const py::object& progress) {
  // Called on the calling thread only, within the call that holds `progress`.
  return [progress = py::handle(progress)](std::int64_t updates) {
    if (finalising()) throw Finalising();
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(updates);
  };
}

}  // namespace committal
