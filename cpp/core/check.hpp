// Refusals that name the argument, its value and what is allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bandit/plan.hpp"

namespace committal {

// Larger magnitudes would overflow double precision in a few products.
inline constexpr double kLargest = 1e50;
inline constexpr std::int64_t kMaxDraws = std::int64_t{1} << 56;

std::string show(double x);
std::string quoted(std::string_view name);
[[noreturn]] void refuse(const std::string& argument, const std::string& value,
                         const std::string& allowed);
void require_count(const char* argument, std::size_t count, std::int64_t expected);
void require_range(const char* argument, const std::vector<double>& numbers, double low,
                   double high);
void require_schedule(const char* argument, const std::vector<double>& numbers, std::int64_t steps,
                      double low, double high);
void require_law(const char* argument, const std::vector<double>& numbers);
void require_behaviour_law(const std::vector<double>& probabilities, std::int64_t count);
void require_times(const std::vector<std::int64_t>& times, std::int64_t steps);
void require_terms(const std::vector<BaselineTerm>& terms);
bool has_running_mean(const std::vector<BaselineTerm>& terms);

// The enumerator called `name`, refused with the list of known names otherwise.
template <typename Enum>
Enum resolve(const char* argument, std::string_view name) {
  const std::vector<std::string>& known = names<Enum>();
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return static_cast<Enum>(found - known.begin());
  std::string allowed = "one of";
  for (const std::string& each : known) allowed.append(" ").append(quoted(each));
  refuse(argument, quoted(name), allowed);
}

}  // namespace committal
