#include <cmath>

#include "core/check.hpp"
#include "core/limits.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

struct Row {
  const char* name;
};
constexpr Row kRows[] = {{"one"}, {"two"}};

TEST(a_refusal_names_argument_value_and_what_is_allowed) {
  CHECK(message_of([] { refuse("a", "b", "c"); }) == "a = b is not allowed; expected c");
  CHECK(message_of([] { require_threads(kMostThreads + 1); }) ==
        "threads = 4097 is not allowed; expected 1 to 4096");
  CHECK(message_of([] { require_range("x", std::vector<double>{1.0, std::nan("")}, 0.0, 2.0); }) ==
        "x[1] = nan is not allowed; expected a number from 0 to 2");
  CHECK(message_of([] { resolve("kind", "three", array_of(kRows)); }) ==
        "kind = 'three' is not allowed; expected one of 'one' 'two'");
}

TEST(what_is_allowed_passes) {
  CHECK(resolve("kind", "two", array_of(kRows)) == 1);
  require_threads(kMostThreads);
  require_draws(kMostDraws / 4 - 1, "samples", 4);
  require_draws(kMostDraws / 4 - 2, "limit", 4, true);
  require_schedule("alpha", {0.5}, 7, 0.0, 1.0);
  require_law("pi", {0.25, 0.75});
  require_times("times", {0, 3, 7}, 7);
}

TEST(each_kind_of_mistake_is_found) {
  CHECK(!message_of([] { require_draws(kMostDraws / 4, "samples", 4); }).empty());
  CHECK(message_of([] { require_draws(kMostDraws / 4 - 1, "limit", 4, true); }) ==
        "steps = 18014398509481983 is not allowed; expected (steps + 1) * limit below "
        "72057594037927936");
  CHECK(!message_of([] { require_count("x", 3, 4); }).empty());
  CHECK(!message_of([] { require_schedule("alpha", {}, 0, 0.0, 1.0); }).empty());
  CHECK(!message_of([] { require_schedule("alpha", {0.5, 0.5}, 7, 0.0, 1.0); }).empty());
  CHECK(!message_of([] { require_law("pi", {0.25, 0.7}); }).empty());
  CHECK(!message_of([] { require_law("pi", {1.25, -0.25}); }).empty());
  CHECK(!message_of([] { require_times("times", {3, 3}, 7); }).empty());
  CHECK(!message_of([] { require_times("times", {8}, 7); }).empty());
}

}  // namespace
}  // namespace committal
