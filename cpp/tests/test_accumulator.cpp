#include <cmath>
#include <cstring>

#include "core/accumulator.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

TEST(sums_are_exact_and_order_free) {
  std::vector<double> numbers;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const double u = random_number(i) - 0.5;
    numbers.push_back(u * std::exp2(std::floor(240.0 * (random_number(i + 5000) - 0.5))));
  }
  std::int64_t forward[kAccumulatorLimbs] = {};
  std::int64_t backward[kAccumulatorLimbs] = {};
  for (const double x : numbers) accumulate(forward, x);
  for (auto it = numbers.rbegin(); it != numbers.rend(); ++it) {
    accumulate(backward, *it);
    carry(backward);
  }
  carry(forward);
  CHECK(std::memcmp(forward, backward, sizeof forward) == 0);
  for (const double x : numbers) accumulate(forward, -x);
  carry(forward);
  for (const std::int64_t limb : forward) CHECK(limb == 0);
}

TEST(squares_keep_the_rounding_error) {
  std::int64_t limbs[kAccumulatorLimbs] = {};
  const double x = 1.0 + 0x1p-40;  // x^2 = 1 + 2^-39 + 2^-80 needs more than 53 bits
  accumulate_square(limbs, x);
  accumulate(limbs, -1.0);
  accumulate(limbs, -0x1p-39);
  accumulate(limbs, -0x1p-80);
  carry(limbs);
  for (const std::int64_t limb : limbs) CHECK(limb == 0);
}

TEST(what_cannot_be_held_is_refused) {
  std::int64_t limbs[kAccumulatorLimbs] = {};
  CHECK(!message_of<std::overflow_error>([&] { accumulate(limbs, 1e200); }).empty());
}

}  // namespace
}  // namespace committal
