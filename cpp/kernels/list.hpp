// Lists of types: the parts of one kind, each with a number (its place) and a row (its kRow).
//
// Choosing a part by its number is a chain of comparisons that the compiler writes out, as it would
// for a switch; it happens once per pass over a block, where it costs nothing visible.
#pragma once

#include "core/array.hpp"
#include "kernels/lanes.hpp"

namespace committal::COMMITTAL_ISA {

template <typename... Parts>
struct List {};

template <typename A, typename B>
inline constexpr bool kSame = false;
template <typename A>
inline constexpr bool kSame<A, A> = true;

template <typename Part, typename... Parts>
constexpr int place_of(List<Parts...>) {
  static_assert((kSame<Part, Parts> || ...), "the part is in its list");
  int place = 0;
  bool found = false;
  ((found = found || kSame<Part, Parts>, place += found ? 0 : 1), ...);
  return place;
}

// The number of a part.
template <typename Part, typename Parts>
inline constexpr int kPlace = place_of<Part>(Parts{});

template <typename Row, typename Parts>
struct RowsOf;
template <typename Row, typename... Parts>
struct RowsOf<Row, List<Parts...>> {
  static constexpr Row kAll[] = {Parts::kRow...};
};
template <typename Row, typename Parts>
inline constexpr Array<Row> kRows = array_of(RowsOf<Row, Parts>::kAll);

// f<Part>() of the part with this number.
template <typename... Parts, typename F>
COMMITTAL_INLINE void with_part(List<Parts...>, int number, F&& f) {
  (void)((number == kPlace<Parts, List<Parts...>> && (f.template operator()<Parts>(), true)) ||
         ...);
}

// f<Part>() of each part, in order.
template <typename... Parts, typename F>
COMMITTAL_INLINE void for_each_part(List<Parts...>, F&& f) {
  (f.template operator()<Parts>(), ...);
}

}  // namespace committal::COMMITTAL_ISA
