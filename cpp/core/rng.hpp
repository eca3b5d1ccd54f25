// Counter-based random streams: every random number is a pure function of (key, run, slot, draw).
//
// Philox4x32-7 (Salmon, Moraes, Dror, Shaw 2011, who found no test of BigCrush that seven rounds
// fail). The counter names what the number is for:
//
//   word 0   low 32 bits of draw / 2
//   word 1   high 24 bits of draw / 2, then 8 bits of slot
//   word 2   low 32 bits of run
//   word 3   high 32 bits of run
//
// and each block of four words gives the two 52-bit uniforms of draws 2i and 2i + 1. A *slot* names
// a use (action, reward, transition), so a new recorder or baseline never shifts a stream.
#pragma once

#include <bit>
#include <cstdint>

#include "core/attributes.hpp"

namespace committal {

inline constexpr int kStreamVersion = 2;  // raised whenever the same key would give other numbers

inline constexpr std::uint32_t kPhiloxM0 = 0xD2511F53;
inline constexpr std::uint32_t kPhiloxM1 = 0xCD9E8D57;
inline constexpr std::uint32_t kPhiloxW0 = 0x9E3779B9;
inline constexpr std::uint32_t kPhiloxW1 = 0xBB67AE85;
inline constexpr int kPhiloxRounds = 7;

enum class Slot : std::uint32_t { kAction = 0, kReward = 1, kTransition = 2, kStart = 3 };

struct PhiloxCounter {
  std::uint32_t word[4];
  constexpr bool operator==(const PhiloxCounter&) const = default;
};
struct PhiloxKey {
  std::uint32_t word[2];
};

COMMITTAL_FORCE_INLINE constexpr PhiloxCounter philox4x32(PhiloxCounter x, PhiloxKey k) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kPhiloxM0} * x.word[0];
    const std::uint64_t product1 = std::uint64_t{kPhiloxM1} * x.word[2];
    x = {{static_cast<std::uint32_t>(product1 >> 32) ^ x.word[1] ^ k.word[0],
          static_cast<std::uint32_t>(product1),
          static_cast<std::uint32_t>(product0 >> 32) ^ x.word[3] ^ k.word[1],
          static_cast<std::uint32_t>(product0)}};
    k.word[0] += kPhiloxW0;
    k.word[1] += kPhiloxW1;
  }
  return x;
}

COMMITTAL_FORCE_INLINE constexpr PhiloxCounter stream_counter(std::uint64_t run, std::uint32_t slot,
                                                              std::uint64_t draw) {
  const std::uint64_t pair = draw >> 1;
  return {{static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>((pair >> 32) << 8) | slot,
           static_cast<std::uint32_t>(run), static_cast<std::uint32_t>(run >> 32)}};
}

// The top 52 of the 64 bits (high, low) as a double in [0, 1).
COMMITTAL_FORCE_INLINE constexpr double uniform_from_words(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 12;
  return std::bit_cast<double>(bits | 0x3ff0000000000000) - 1.0;
}

COMMITTAL_FORCE_INLINE constexpr double uniform(std::uint64_t key, std::uint64_t run, Slot slot,
                                                std::uint64_t draw) {
  const PhiloxCounter x =
      philox4x32(stream_counter(run, static_cast<std::uint32_t>(slot), draw),
                 {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}});
  return draw % 2 == 0 ? uniform_from_words(x.word[0], x.word[1])
                       : uniform_from_words(x.word[2], x.word[3]);
}

}  // namespace committal
