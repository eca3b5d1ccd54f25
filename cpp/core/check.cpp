#include "core/check.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "core/limits.hpp"

namespace committal {

std::string show(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

std::string quoted(std::string_view name) {
  std::string text(1, '\'');
  text.append(name);
  text.push_back('\'');
  return text;
}

std::string item(std::string_view argument, std::size_t place) {
  return std::string(argument) + "[" + std::to_string(place) + "]";
}

void refuse(const std::string& argument, const std::string& value, const std::string& allowed) {
  throw std::invalid_argument(argument + " = " + value + " is not allowed; expected " + allowed);
}

void require_between(const std::string& argument, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value < least || value > most) {
    refuse(argument, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
  }
}

void require_threads(std::int64_t threads) { require_between("threads", threads, 1, kMostThreads); }

void require_draws(std::int64_t steps, const char* each_name, std::int64_t each, bool one_more) {
  if (steps > (kMostDraws - 1) / each - (one_more ? 1 : 0)) {
    refuse("steps", std::to_string(steps),
           std::string(one_more ? "(steps + 1) * " : "steps * ") + each_name + " below " +
               std::to_string(kMostDraws));
  }
}

void require_count(const char* argument, std::size_t count, std::int64_t expected) {
  if (static_cast<std::int64_t>(count) != expected) {
    refuse(argument, "an array of length " + std::to_string(count),
           "length " + std::to_string(expected));
  }
}

namespace {

void require_range(const std::string& argument, double number, double low, double high) {
  if (!(number >= low && number <= high)) {
    refuse(argument, show(number), "a number from " + show(low) + " to " + show(high));
  }
}

}  // namespace

void require_range(const char* argument, double number, double low, double high) {
  require_range(std::string(argument), number, low, high);
}

void require_range(const char* argument, const std::vector<double>& numbers, double low,
                   double high) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= low && numbers[i] <= high) continue;
    require_range(item(argument, i), numbers[i], low, high);
  }
}

void require_schedule(const char* argument, const std::vector<double>& numbers, std::int64_t steps,
                      double low, double high) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (count != 1 && (count == 0 || count != steps)) {
    refuse(argument, "an array of length " + std::to_string(count),
           "length 1 or one number per update (" + std::to_string(steps) + ")");
  }
  require_range(argument, numbers, low, high);
}

void require_law(const char* argument, const std::vector<double>& numbers) {
  require_range(argument, numbers, 0.0, 1.0);
  double sum = 0.0;
  for (const double p : numbers) sum += p;
  if (!(std::abs(sum - 1.0) <= kSumTolerance)) {
    refuse(argument, "numbers that sum to " + show(sum), "probabilities that sum to 1");
  }
}

void require_times(const char* argument, const std::vector<std::int64_t>& times,
                   std::int64_t steps) {
  std::int64_t previous = -1;
  for (const std::int64_t time : times) {
    if (time <= previous || time > steps) {
      refuse(argument, std::to_string(time),
             "increasing numbers from 0 to " + std::to_string(steps));
    }
    previous = time;
  }
}

}  // namespace committal
