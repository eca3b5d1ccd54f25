// Refusals that name the argument, its value and what is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/array.hpp"

namespace committal {

std::string show(double x);
std::string quoted(std::string_view name);
// "argument[place]"
std::string item(std::string_view argument, std::size_t place);
// Throws std::invalid_argument.
[[noreturn]] void refuse(const std::string& argument, const std::string& value,
                         const std::string& allowed);

void require_between(const std::string& argument, std::int64_t value, std::int64_t least,
                     std::int64_t most);
void require_threads(std::int64_t threads);
// steps * each, the draws of one slot in one run, is within what a stream can number; so is
// (steps + 1) * each, if one more update's are drawn.
void require_draws(std::int64_t steps, const char* each_name, std::int64_t each,
                   bool one_more = false);
void require_count(const char* argument, std::size_t count, std::int64_t expected);
void require_range(const char* argument, double number, double low, double high);
void require_range(const char* argument, const std::vector<double>& numbers, double low,
                   double high);
// A constant, or one number per update.
void require_schedule(const char* argument, const std::vector<double>& numbers, std::int64_t steps,
                      double low, double high);
void require_law(const char* argument, const std::vector<double>& numbers);
void require_times(const char* argument, const std::vector<std::int64_t>& times,
                   std::int64_t steps);

// Where the row called `name` is, refused with the list of known names otherwise.
template <typename Row>
std::int64_t resolve(const char* argument, std::string_view name, Array<Row> rows) {
  std::string allowed = "one of";
  for (std::int64_t i = 0; i < rows.count; ++i) {
    if (name == rows[i].name) return i;
    allowed.append(" ").append(quoted(rows[i].name));
  }
  refuse(argument, quoted(name), allowed);
}

}  // namespace committal
