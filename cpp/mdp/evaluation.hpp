// The exact evaluation of many policies of one MDP.
#pragma once

#include <functional>
#include <string>

#include "mdp/model.hpp"

namespace committal {

// Evaluates `count` policies (caller's order, [count][states][actions]) on `threads` threads; for
// kQ it is value functions [count][states] that are given. Throws std::invalid_argument where a
// policy is not a law.
struct Evaluation {
  std::int64_t count = 0;
  const double* given = nullptr;
  MdpSolve::What what = MdpSolve::What::kValues;
  const double* start = nullptr;  // [states]
  double tolerance = 0.0;
  std::int64_t limit = 0;
  int threads = 1;
  std::string isa = "auto";
  double* out = nullptr;           // [count][states], for kQ [states][actions], for goals [goals]
  std::int64_t* sweeps = nullptr;  // [count], for kValuesIterative
  // Called on the calling thread about ten times a second with the policies done; may throw to
  // stop.
  std::function<void(std::int64_t policies)> poll;
};
void evaluate_policies(const MdpModel& model, const Evaluation& evaluation);

}  // namespace committal
