// Gaussian elimination of sparse systems that share one pattern: symbolic work, done once.
#pragma once

#include <cstdint>
#include <vector>

#include "core/patience.hpp"

namespace committal {

// A symmetric pattern: neighbours[i] lists j != i with a structural entry (i, j) or (j, i).
using Pattern = std::vector<std::vector<std::int32_t>>;

// A fill-reducing order by minimum degree; ties go to the lowest index, so it is the same on every
// machine. order[k] is eliminated k-th.
std::vector<std::int32_t> minimum_degree_order(const Pattern& pattern, Patience& patience);

// Where the factors of a matrix with this pattern, already in elimination order, have entries.
struct Factors {
  std::vector<std::int64_t> upper_offsets;  // row i: columns j > i, increasing
  std::vector<std::int32_t> upper_columns;
  std::vector<std::int64_t> lower_offsets;  // row i: columns k < i, increasing
  std::vector<std::int32_t> lower_columns;
};
Factors symbolic_factors(const Pattern& pattern, Patience& patience);

}  // namespace committal
