// The fields of a plan, each named once.
//
// A plan lists its fields in one function, visit(f, plans...), which calls f(field, member...) for
// each, with that member of every given plan or view. The list serves everybody: the bindings fill
// a plan from keyword arguments, DefaultFields gives the defaults, CheckFields checks what can be
// checked field by field, and SeeFields makes the view that kernels read.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/check.hpp"
#include "core/limits.hpp"
#include "kernels/fields.hpp"
#include "plan/parts.hpp"
#include "plan/programs.hpp"

namespace committal {

// How a plan keeps its fields; kernels/fields.hpp says what kernels see of them.
struct Owned {
  template <typename T>
  using List = std::vector<T>;
  template <typename Enum>
  using Choice = std::string;  // a name; the rule of the field knows which ones there are
  using Schedule = std::vector<double>;
  using Programs = ProgramSet;
};

// In place of a default.
struct Required {};

template <typename Default, typename Rule>
struct Field {
  const char* name;
  Default otherwise;
  Rule rule;

  static constexpr bool kRequired = std::is_same_v<Default, Required>;
};
template <typename Default, typename Rule>
Field(const char*, Default, Rule) -> Field<Default, Rule>;

// Rules: what a field may be.
struct Whole {
  std::int64_t least;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
struct Between {  // a number, or each of several
  double low;
  double high;
};
struct Scheduled {  // one number or one per update, each between
  double low;
  double high;
};
template <typename Enum>
struct OneOf {};  // the names of rows_of(Enum)
struct Terms {};
struct Times {};  // increasing, none after the last update
struct Unchecked {};

struct DefaultFields {
  template <typename Default, typename Rule, typename Value>
  void operator()(const Field<Default, Rule>& field, Value& value) const {
    if constexpr (!Field<Default, Rule>::kRequired) value = field.otherwise;
  }
};

struct CheckFields {
  std::int64_t steps = 0;

  template <typename Default, typename Rule, typename Value>
  void operator()(const Field<Default, Rule>& field, const Value& value) const {
    check(field.name, value, field.rule);
  }

 private:
  void check(const char* name, std::int64_t value, Whole rule) const {
    require_between(name, value, rule.least, rule.most);
  }
  template <typename Numbers>
  void check(const char* name, const Numbers& value, Between rule) const {
    require_range(name, value, rule.low, rule.high);
  }
  void check(const char* name, const std::vector<double>& value, Scheduled rule) const {
    require_schedule(name, value, steps, rule.low, rule.high);
  }
  template <typename Enum>
  void check(const char* name, const std::string& value, OneOf<Enum>) const {
    resolve(name, value, rows_of(Enum{}));
  }
  void check(const char* name, const std::vector<BaselineTerm>& value, Terms) const {
    require_terms(name, value);
  }
  void check(const char* name, const std::vector<std::int64_t>& value, Times) const {
    require_times(name, value, steps);
  }
  template <typename Value>
  void check(const char*, const Value&, Unchecked) const {}
};

// Of a plan that has been checked.
struct SeeFields {
  template <typename Default, typename Rule, typename Value, typename Seen>
  void operator()(const Field<Default, Rule>& field, const Value& value, Seen& seen) const {
    see(field.name, value, seen);
  }

 private:
  template <typename Same>
  void see(const char*, const Same& value, Same& seen) const {
    seen = value;
  }
  template <typename T>
  void see(const char*, const std::vector<T>& value, Array<T>& seen) const {
    seen = {value.data(), static_cast<std::int64_t>(value.size())};
  }
  void see(const char*, const std::vector<double>& value, Schedule& seen) const {
    seen = {value.data(), static_cast<std::int64_t>(value.size())};
  }
  void see(const char*, const ProgramSet& value, ProgramSetView& seen) const {
    seen = value.view();
  }
  template <typename Enum>
  void see(const char* name, const std::string& value, Enum& seen) const {
    seen = static_cast<Enum>(resolve(name, value, rows_of(Enum{})));
  }
};

}  // namespace committal
