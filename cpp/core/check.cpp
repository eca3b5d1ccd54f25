#include "core/check.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

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

void refuse(const std::string& argument, const std::string& value, const std::string& allowed) {
  throw std::invalid_argument(argument + " = " + value + " is not allowed; expected " + allowed);
}

void require_count(const char* argument, std::size_t count, std::int64_t expected) {
  if (static_cast<std::int64_t>(count) != expected) {
    refuse(argument, "an array of length " + std::to_string(count),
           "length " + std::to_string(expected));
  }
}

void require_range(const char* argument, const std::vector<double>& numbers, double low,
                   double high) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!(numbers[i] >= low && numbers[i] <= high)) {
      refuse(std::string(argument) + "[" + std::to_string(i) + "]", show(numbers[i]),
             "a number from " + show(low) + " to " + show(high));
    }
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
  if (!(std::abs(sum - 1.0) <= 1e-6)) {
    refuse(argument, "numbers that sum to " + show(sum), "probabilities that sum to 1");
  }
}

void require_behaviour_law(const std::vector<double>& probabilities, std::int64_t count) {
  require_count("behaviour_probabilities", probabilities.size(), count);
  require_law("behaviour_probabilities", probabilities);
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0.0) {
      refuse("behaviour_probabilities[" + std::to_string(i) + "]", "0",
             "a positive probability: importance weights divide by it");
    }
  }
}

void require_times(const std::vector<std::int64_t>& times, std::int64_t steps) {
  std::int64_t previous = -1;
  for (const std::int64_t time : times) {
    if (time <= previous || time > steps) {
      refuse("times", std::to_string(time),
             "increasing numbers from 0 to " + std::to_string(steps));
    }
    previous = time;
  }
}

void require_terms(const std::vector<BaselineTerm>& terms) {
  bool running = false;
  for (const BaselineTerm& term : terms) {
    if (!(std::abs(term.coefficient) <= kLargest)) {
      refuse("baseline_terms", show(term.coefficient), "a finite coefficient");
    }
    if (!(std::abs(term.parameter) <= kLargest)) {
      refuse("baseline_terms", show(term.parameter), "a finite parameter");
    }
    if (term.kind != BaselineKind::kRunningMean) continue;
    if (running) refuse("baseline_terms", "two running means", "at most one");
    if (!(term.parameter >= 0.0 && term.parameter <= 1.0)) {
      refuse("baseline_terms", show(term.parameter), "a rate from 0 to 1");
    }
    running = true;
  }
}

bool has_running_mean(const std::vector<BaselineTerm>& terms) {
  return std::any_of(terms.begin(), terms.end(), [](const BaselineTerm& term) {
    return term.kind == BaselineKind::kRunningMean;
  });
}

}  // namespace committal
