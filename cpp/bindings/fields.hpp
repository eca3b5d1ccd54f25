// Plans from keyword arguments, by the list of fields of plan/fields.hpp: every name is known, none
// that is required is missing, and every value has the type of its field.
#pragma once

#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arguments.hpp"
#include "plan/fields.hpp"

namespace committal {

// One overload per type of field.
inline void load(const char* name, const py::handle& given, std::int64_t& value) {
  py::detail::make_caster<std::int64_t> caster;
  if (!caster.load(given, true)) refuse_type(name, given, "a whole number of 64 bits");
  value = caster;
}
inline void load(const char* name, const py::handle& given, double& value) {
  py::detail::make_caster<double> caster;
  if (!caster.load(given, true)) refuse_type(name, given, "a number");
  value = caster;
}
inline void load(const char* name, const py::handle& given, bool& value) {
  py::detail::make_caster<bool> caster;
  if (!caster.load(given, false)) refuse_type(name, given, "True or False");
  value = caster;
}
inline void load(const char* name, const py::handle& given, std::string& value) {
  value = name_of(name, given);
}
inline void load(const char* name, const py::handle& given, std::vector<BaselineTerm>& value) {
  py::detail::make_caster<std::vector<std::tuple<std::string, double, double>>> caster;
  if (!caster.load(given, true)) refuse_type(name, given, "tuples (name, coefficient, parameter)");
  value.clear();
  for (const auto& [kind, coefficient, parameter] :
       static_cast<std::vector<std::tuple<std::string, double, double>>&>(caster)) {
    value.push_back(baseline_term(kind, coefficient, parameter));
  }
}
inline std::shared_ptr<const Program> load_program(const std::string& name,
                                                   const py::handle& given) {
  return given.is_none() ? nullptr : held<Program>(name.c_str(), given);
}
inline void load(const char* name, const py::handle& given, ProgramSet& value) {
  if (!py::isinstance<py::dict>(given)) refuse_type(name, given, "a dictionary of programs");
  const auto at = [&](const char* key) { return std::string(name) + "['" + key + "']"; };
  for (const auto& [key, program] : py::reinterpret_borrow<py::dict>(given)) {
    if (!py::isinstance<py::str>(key)) refuse_type(name, key, "a name");
    const auto kind = py::cast<std::string>(key);
    if (kind == "baseline") {
      value.baseline = load_program(at("baseline"), program);
    } else if (kind == "weight") {
      value.weight = load_program(at("weight"), program);
    } else if (kind == "update") {
      value.update = load_program(at("update"), program);
    } else if (kind == "link") {
      value.link = load_program(at("link"), program);
    } else if (kind == "optimiser") {
      value.optimiser = load_program(at("optimiser"), program);
    } else if (kind == "critic") {
      value.critic = load_program(at("critic"), program);
    } else if (kind == "group") {
      value.group = load_program(at("group"), program);
    } else if (kind == "scale") {
      value.scale = load_program(at("scale"), program);
    } else if (kind == "quantities") {
      if (!py::isinstance<py::sequence>(program)) {
        refuse_type(at("quantities"), program, "a list of (name, program)");
      }
      for (const auto& entry : py::reinterpret_borrow<py::sequence>(program)) {
        py::detail::make_caster<std::pair<std::string, py::object>> caster;
        if (!caster.load(entry, false)) refuse_type(at("quantities"), entry, "(name, program)");
        const auto [called, object] = py::cast<std::pair<std::string, py::object>>(entry);
        value.add_quantity(called, held<Program>(at("quantities").c_str(), object));
      }
    } else {
      refuse(name, quoted(kind),
             "the names 'baseline', 'weight', 'update', 'link', 'optimiser', 'critic', "
             "'group', 'scale' and 'quantities'");
    }
  }
}
template <typename T>
void load(const char* name, const py::handle& given, std::vector<T>& value) {
  if (!py::isinstance<py::array>(given)) refuse_type(name, given, "a NumPy array");
  const auto array = py::reinterpret_borrow<py::array>(given);
  if (array.ndim() != 1) {
    throw py::value_error(std::string(name) + " = an array of " + std::to_string(array.ndim()) +
                          " dimensions is not allowed; expected 1 dimension");
  }
  const py::dtype wanted = py::dtype::of<T>();
  if (!array.dtype().is(wanted) &&
      !py::module_::import("numpy").attr("can_cast")(array.dtype(), wanted).template cast<bool>()) {
    throw py::type_error(std::string(name) + " = an array of " +
                         std::string(py::str(array.dtype())) + " is not allowed; expected " +
                         std::string(py::str(wanted)));
  }
  const py::array_t<T, py::array::c_style | py::array::forcecast> typed(array);
  value.assign(typed.data(), typed.data() + typed.size());
}

// Every name, in order.
template <typename... Plans>
std::vector<std::string> field_names() {
  std::vector<std::string> all;
  (Plans::visit([&](const auto& field) { all.emplace_back(field.name); }), ...);
  return all;
}

// Fills plans that share one list of arguments.
template <typename... Plans>
void fill_fields(const char* what, const py::kwargs& arguments, Plans&... plans) {
  std::string missing;
  std::size_t known = 0;
  const auto fill = [&](const auto& field, auto& value) {
    if (arguments.contains(field.name)) {
      load(field.name, arguments[field.name], value);
      ++known;
    } else if (field.kRequired) {
      missing.append(missing.empty() ? "" : ", ").append(field.name);
    }
  };
  (Plans::visit(fill, plans), ...);
  if (!missing.empty()) throw py::type_error(std::string(what) + " misses " + missing);
  if (known == arguments.size()) return;
  const std::vector<std::string> names = field_names<Plans...>();
  for (const auto& [key, value] : arguments) {
    const std::string name = name_of(std::string("an argument of ") + what, key);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string allowed;
    for (const std::string& each : names) allowed.append(allowed.empty() ? "" : ", ").append(each);
    throw py::type_error(std::string(what) + " has no " + quoted(name) + "; expected " + allowed);
  }
}

}  // namespace committal
