// How the fields of a plan are held.
//
// A plan's fields are declared once, in a structure with a parameter: `Seen` makes of it what
// kernels read (plain numbers and pointers), `Owned` (plan/fields.hpp) what the plan keeps.
#pragma once

#include "core/array.hpp"
#include "kernels/program_view.hpp"

namespace committal {

// A constant, or one number per update.
struct Schedule {
  const double* values;
  std::int64_t count;
  COMMITTAL_FORCE_INLINE double at(std::int64_t t) const {
    return values[t < count ? t : count - 1];
  }
};

struct Seen {
  template <typename T>
  using List = Array<T>;
  template <typename Enum>
  using Choice = Enum;
  using Schedule = committal::Schedule;
  using Programs = ProgramSetView;
};

template <typename Kind, typename T>
using ListOf = typename Kind::template List<T>;
template <typename Kind, typename Enum>
using ChoiceOf = typename Kind::template Choice<Enum>;
template <typename Kind>
using ScheduleOf = typename Kind::Schedule;

template <typename Kind>
using ProgramsOf = typename Kind::Programs;

}  // namespace committal
