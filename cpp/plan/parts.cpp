#include "plan/parts.hpp"

#include <cmath>

#include "core/check.hpp"
#include "core/limits.hpp"

namespace committal {

BaselineTerm baseline_term(std::string_view name, double coefficient, double parameter) {
  const std::int64_t kind = resolve("baseline_terms", name, rows_of(Baseline{}));
  return {static_cast<Baseline>(kind), coefficient, parameter};
}

void require_terms(const char* argument, const std::vector<BaselineTerm>& terms) {
  bool running = false;
  for (const BaselineTerm& term : terms) {
    const std::string finite = " of magnitude up to " + show(kLargest);
    if (!(std::abs(term.coefficient) <= kLargest)) {
      refuse(argument, show(term.coefficient), "a coefficient" + finite);
    }
    if (!(std::abs(term.parameter) <= kLargest)) {
      refuse(argument, show(term.parameter), "a parameter" + finite);
    }
    if (!row_of(term).follows_rewards) continue;
    if (running) refuse(argument, "two running means", "at most one");
    if (!(term.parameter >= 0.0 && term.parameter <= 1.0)) {
      refuse(argument, show(term.parameter), "a rate from 0 to 1");
    }
    running = true;
  }
}

RunningMean running_mean(const std::vector<BaselineTerm>& terms) {
  for (const BaselineTerm& term : terms) {
    if (row_of(term).follows_rewards) return {true, term.parameter};
  }
  return {};
}

void require_behaviour_law(std::string_view behaviour, const std::vector<double>& probabilities,
                           std::int64_t count) {
  constexpr const char* kArgument = "behaviour_probabilities";
  const Array<BehaviourRow> rows = rows_of(Behaviour{});
  if (!rows[resolve("behaviour", behaviour, rows)].needs_law) return;
  require_count(kArgument, probabilities.size(), count);
  require_law(kArgument, probabilities);
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0.0) {
      refuse(item(kArgument, i), "0", "a positive probability: importance weights divide by it");
    }
  }
}

}  // namespace committal
