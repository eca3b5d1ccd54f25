// Exact sums: the order of addition cannot change a bit.
//
// A number is added as an integer multiple of 2^kAccumulatorBase, spread over 32-bit digits that
// are held in signed 64-bit limbs. Adding limbs is integer addition, hence associative: sums made
// by different threads, chunks or machines agree to the last bit.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>

namespace committal {

inline constexpr int kAccumulatorLimbs = 24;
inline constexpr int kAccumulatorBase = -320;  // the weight of bit 0 is 2^-320
// Additions that limbs hold between two carries, with room to spare.
inline constexpr std::int64_t kAccumulatorMostAdditions = std::int64_t{1} << 29;

// limbs += x. Bits below 2^-320 are dropped, for each number alike; throws above 2^384.
inline void accumulate(std::int64_t* limbs, double x) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0) return;  // zero or subnormal, far below 2^-320
  std::uint64_t mantissa = (bits & 0x000fffffffffffff) | 0x0010000000000000;
  int position = exponent - 1075 - kAccumulatorBase;
  if (position < 0) {
    if (position <= -64) return;
    mantissa >>= -position;
    position = 0;
  }
  if (position + 53 + 64 > 32 * kAccumulatorLimbs) {
    throw std::overflow_error("a recorded number is too large to be summed exactly (above 2^384)");
  }
  const int limb = position / 32;
  const int shift = position % 32;
  const std::int64_t sign = (bits >> 63) != 0 ? -1 : 1;
  const std::uint64_t low = mantissa << shift;  // digits 0 and 1; what falls off is digit 2
  const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
  limbs[limb] += sign * static_cast<std::int64_t>(low & 0xffffffff);
  limbs[limb + 1] += sign * static_cast<std::int64_t>(low >> 32);
  limbs[limb + 2] += sign * static_cast<std::int64_t>(high);
}

// limbs += x^2, with the rounding error of the product added back.
inline void accumulate_square(std::int64_t* limbs, double x) {
  const double square = x * x;
  accumulate(limbs, square);
  accumulate(limbs, __builtin_fma(x, x, -square));
}

// Carries digits upwards so that every limb but the last is in [0, 2^32): room for more sums.
inline void carry(std::int64_t* limbs) {
  for (int i = 0; i + 1 < kAccumulatorLimbs; ++i) {
    const std::int64_t over = limbs[i] >> 32;  // floor, also for negative limbs
    limbs[i] -= over * (std::int64_t{1} << 32);
    limbs[i + 1] += over;
  }
}

}  // namespace committal
