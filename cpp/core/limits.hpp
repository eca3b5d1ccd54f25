// The limits of the core, each once: a check uses the constant and its message quotes it.
//
// Python knows them from committal/support/limits.py; a test compares the two.
#pragma once

#include <cstdint>

namespace committal {

inline constexpr std::int64_t kMostThreads = 4096;

// Draws of one slot in one run: the counter of a stream has 56 bits for pairs of them.
inline constexpr std::int64_t kMostDraws = std::int64_t{1} << 56;

// Larger magnitudes would overflow double precision in a few products.
inline constexpr double kLargest = 1e50;

// What 32-bit integers number or count: arms and states, the rows (state, action) of an MDP, the
// samples of an update and the steps of an episode, whose length is recorded as one.
inline constexpr std::int64_t kMostArms = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMostStates = kMostArms;
inline constexpr std::int64_t kMostPairs = kMostArms;
inline constexpr std::int64_t kMostSamples = kMostArms;
inline constexpr std::int64_t kMostEpisode = kMostArms;

// Of a formula as a program: more is no formula but a mistake.
inline constexpr std::int64_t kMostProgramOperations = 4096;
inline constexpr std::int64_t kMostProgramRegisters = 8192;

// Lanes of the widest block: so many run numbers past the last one asked for may be used.
inline constexpr int kMostLanes = 64;

// What probabilities that should sum to 1 may be off by.
inline constexpr double kSumTolerance = 1e-6;

}  // namespace committal
