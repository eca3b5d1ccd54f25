// Arguments from Python: checked, held for as long as the call lasts, and never copied if they are
// outputs.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace committal {

namespace py = pybind11;

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Shape = std::vector<py::ssize_t>;

// Throws a TypeError: "argument = value is not allowed; expected ...".
[[noreturn]] void refuse_type(const std::string& argument, const py::handle& value,
                              const std::string& expected);

// A name: text that can be encoded.
std::string name_of(const std::string& argument, const py::handle& value);

// Shares in the C++ object behind a Python one. None has none, and an object made by __new__ alone
// holds nothing: both are refused here, where pybind11 would hand out a null pointer or
// uninitialised memory.
template <typename T>
std::shared_ptr<T> held(const char* argument, const py::handle& object) {
  std::shared_ptr<T> found;
  try {
    found = py::cast<std::shared_ptr<T>>(object);
  } catch (const py::cast_error&) {
  }
  if (!found) {
    const auto name = py::type::of<T>().attr("__name__").template cast<std::string>();
    refuse_type(argument, object, "a " + name + " made by its constructor");
  }
  return found;
}

// An array that is written in place, alive until its owner is done with the memory.
struct Writable {
  py::array array;
  template <typename T>
  T* as() const {
    return static_cast<T*>(const_cast<void*>(array.data()));
  }
};
// Refuses any other type, shape or layout.
Writable writable(const std::string& name, const py::handle& object, const py::dtype& dtype,
                  const Shape& shape);
template <typename T>
Writable writable(const std::string& name, const py::handle& object, const Shape& shape) {
  return writable(name, object, py::dtype::of<T>(), shape);
}

// For Ctrl-C and the progress callback, called ten times a second without the interpreter lock.
std::function<void(std::int64_t)> make_poll(const py::object& progress);

}  // namespace committal
