// What the rest of the library knows of the parts that kernels offer.
//
// A part (a baseline, a behaviour, an update, a quantity) is one structure in a list of types. Its
// number is its place in that list, its row is the structure's kRow; the rows reach plans and
// Python through the kernel table. So a new part touches one file: the one with its list.
#pragma once

namespace committal {

// Numbers of parts. Deliberately without enumerators: the lists name them.
enum class Baseline : int {};
enum class Behaviour : int {};
enum class Update : int {};     // of a bandit
enum class MdpUpdate : int {};  // of an MDP

struct Named {
  const char* name;
};

// Other choices are closed enumerations, with their names beside them: rows_of(Enum) has as many.
template <typename Enum>
constexpr bool names_end_with(Enum last) {
  return rows_of(last).count == static_cast<int>(last) + 1;
}

struct BaselineRow {
  const char* name;
  // It is the mean of the rewards so far (its parameter is the rate, 0 for the plain average), kept
  // by the run; other baselines depend on the policy and the mean rewards alone.
  bool follows_rewards = false;
};

struct BehaviourRow {
  const char* name;
  bool needs_law = false;  // a law of its own, from the plan
  bool remembers = false;  // its rows are those of an earlier update
};

enum class Policy : int { kSoftmax, kDirect };

struct UpdateRow {
  const char* name;
  Policy policy;     // the parameters that it moves
  bool along_score;  // a sample adds a multiple of e_a - pi, else of e_a
};

// One term of a baseline: coefficient * B(pi, r). `parameter` is lambda, or the rate of a running
// mean.
struct BaselineTerm {
  Baseline kind;
  double coefficient;
  double parameter;
};

}  // namespace committal
