// Baselines and behaviours, which bandits and MDPs share: their names, and the checks of what a
// plan says of them.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/table.hpp"

namespace committal {

inline Array<BaselineRow> rows_of(Baseline) { return parts().baselines; }
inline Array<BehaviourRow> rows_of(Behaviour) { return parts().behaviours; }
inline Array<UpdateRow> rows_of(Update) { return parts().updates; }
inline Array<Named> rows_of(MdpUpdate) { return parts().mdp_updates; }

inline const BaselineRow& row_of(const BaselineTerm& term) {
  return rows_of(term.kind)[static_cast<std::int64_t>(term.kind)];
}

// A term by name; throws std::invalid_argument for an unknown one.
BaselineTerm baseline_term(std::string_view name, double coefficient, double parameter);
void require_terms(const char* argument, const std::vector<BaselineTerm>& terms);

// The rate of the running mean among the terms, if there is one.
struct RunningMean {
  bool used = false;
  double rate = 0.0;
};
RunningMean running_mean(const std::vector<BaselineTerm>& terms);

// If the behaviour needs a law of its own: a positive probability for each of `count` actions.
void require_behaviour_law(std::string_view behaviour, const std::vector<double>& probabilities,
                           std::int64_t count);

}  // namespace committal
