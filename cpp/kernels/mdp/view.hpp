// Tabular MDPs and experiments on them as kernels see them: plain numbers and pointers.
//
// Inside, states that are acted in are renumbered in elimination order (0 .. acting - 1) and
// terminal state number g becomes acting + g; arrays that cross the border keep the caller's order.
#pragma once

#include "core/limits.hpp"
#include "core/patience.hpp"
#include "kernels/fields.hpp"
#include "kernels/parts.hpp"

namespace committal {

inline constexpr int kMdpWide = 16;   // lanes, while a block's elimination stays near the core
inline constexpr int kMdpNarrow = 8;  // for larger MDPs
static_assert(kMdpWide <= kMostLanes);
inline constexpr int kMdpSeen = 64;  // states that a formula looks at together, of whatever lanes

// The solution of (I - gamma P_pi) x = y as a program over numbered slots, each a row of lanes: the
// same for every policy. With off-diagonal entries N_ij >= 0 (the matrix is D - N) every slot is a
// sum of products: nothing cancels but the diagonal, which is kept negated.
//
//   slot i              1 / D_i         slot acting + i      y_i
//   slots from 2 acting  the N_ij right of the diagonal, row by row
//   the rest             one row while it is made: its entries left of the diagonal, or all columns
//
// The targets of row i are its entries left of the diagonal (N_ik / D_k), -D_i, y_i and its entries
// right of the diagonal. A small MDP lists the products of every target, which is then added up in
// a register; for a large one that list would be larger than the factors, and whole rows are added.
// Both add the same numbers in the same order.
//
// Both lists are read from beginning to end: for every target how many follow, and then those.
struct AssemblyView {
  const std::uint32_t* rows;  // target += weight * pi[row]
  const double* weight;
};
struct EliminationView {
  std::int64_t slots;
  AssemblyView values;      // with R_pi as y
  AssemblyView transposed;  // of the transposed matrix, without y
  bool by_targets;
  // target += slot[left] * slot[right], if by targets: kMdpWide * left, kMdpWide * right
  const std::uint32_t* products;
  // Where the factors have entries, by row.
  const std::int64_t* lower_offsets;  // [acting + 1]
  const std::int32_t* lower_columns;
  const std::int64_t* upper_offsets;  // [acting + 1]
  const std::int32_t* upper_columns;
  // How many rows from k on have the same columns right of the last of them, k included.
  const std::int32_t* chain;  // [acting]
};

// What the kernels read of an MDP.
struct MdpModelView {
  std::int64_t acting;  // states that are acted in
  std::int64_t actions;
  std::int64_t goals;  // terminal states
  double gamma;
  bool deterministic;               // every action has one outcome
  const std::int64_t* row_offsets;  // [acting * actions + 1]
  const std::int32_t* next;         // acting + g: terminal state g
  const double* probability;
  const double* weight;  // gamma * probability
  const double* cumulative;
  const double* reward;
  const double* expected_reward;  // [acting * actions]
  // next * actions of the one outcome of every action, if deterministic.
  const std::int64_t* only_pair;  // [acting * actions]
  EliminationView elimination;
};

// One block of policies to evaluate, one per lane. What is read and written is in the
// caller's order of states; terminal states are skipped when reading and get 0.
struct MdpSolve {
  enum class What : int { kValues, kValuesIterative, kQ, kDistribution, kGoalProbability };
  What what;
  std::int64_t states;
  const std::int32_t* inner;      // [states], -1 for terminal
  const double* given[kMdpWide];  // [states][actions]; for kQ value functions [states]
  double* out[kMdpWide];  // [states], for kQ [states][actions], for kGoalProbability [goals]
  std::int64_t* sweeps[kMdpWide];  // for kValuesIterative
  const double* start;             // [acting], for kDistribution and kGoalProbability
  double tolerance;
  std::int64_t max_sweeps;
  std::int64_t limit;
  std::int64_t next;  // where the same lane will probably read next: given + next
  void* workspace;    // as many bytes as its layout counts
  Patience patience;
};

enum class MdpEstimator : int { kExactQ, kReinforce, kExpected };
inline constexpr Named kMdpEstimators[] = {{"exact_q"}, {"reinforce"}, {"expected"}};
COMMITTAL_FORCE_INLINE constexpr Array<Named> rows_of(MdpEstimator) {
  return array_of(kMdpEstimators);
}
static_assert(names_end_with(MdpEstimator::kExpected));

enum class Solver : int { kDirect, kIterative };
inline constexpr Named kSolvers[] = {{"direct"}, {"iterative"}};
COMMITTAL_FORCE_INLINE constexpr Array<Named> rows_of(Solver) { return array_of(kSolvers); }
static_assert(names_end_with(Solver::kIterative));

// What a recorded formula makes of the states: all of them, their mean, or their mean with the
// discounted visits as weights.
enum class OverStates : std::int32_t { kEach, kMean, kOccupancy };

// Every field of an MDP plan but the MDP; visit() in mdp/plan.hpp says what each may be.
template <typename Kind>
struct MdpFields {
  ListOf<Kind, std::int32_t> start_states;  // caller's numbers
  ListOf<Kind, double> start_cumulative;
  std::int64_t limit;
  std::int64_t steps;
  ListOf<Kind, double> theta0;  // [states][actions]
  ChoiceOf<Kind, MdpUpdate> update;
  ChoiceOf<Kind, MdpEstimator> estimator;
  ChoiceOf<Kind, Solver> solver;
  double tolerance;
  bool discounted;
  std::int64_t samples;  // episodes of one group
  bool each_start;       // a group from every start, else one of starts that are drawn
  std::int64_t epochs;   // moves of theta with the episodes of one update
  ScheduleOf<Kind> step_size;
  ListOf<Kind, BaselineTerm> baseline_terms;
  double baseline_offset;
  double running_mean_initial;
  ChoiceOf<Kind, Behaviour> behaviour;
  ScheduleOf<Kind> exploration;
  ListOf<Kind, double> behaviour_probabilities;
  ListOf<Kind, std::int64_t> times;
  ProgramsOf<Kind> programs;
  ListOf<Kind, std::int32_t> quantity_states;  // OverStates of every recorded formula
};

// The fields, the MDP, and what follows from them.
struct MdpView : MdpFields<Seen> {
  MdpModelView model;
  std::int64_t states;    // all of them, for what is emitted
  std::int64_t actions;   // those of the model: the axes of what is recorded
  std::int64_t goals;     // are members of this view
  std::int64_t episodes;  // of one update, of all groups
  // Whether episodes are drawn from a copy of the policy: one that lags behind, being taken when
  // exploration says so, or that of the beginning of an update. It is followed plainly, so that
  // `behaviour` is on-policy then.
  bool lags;
  bool keeps_law;
  const std::int32_t* original;  // inner -> caller's number
  const double* acting_theta0;   // [acting][actions]
  bool uses_running_mean;
  double running_mean_rate;
  const std::int32_t* acting_starts;  // start_states by their inner numbers
  const double* start;                // [acting] probabilities
  const std::uint8_t* reachable;      // [acting] from the start, under any full policy

  // Of a recorded formula: what it makes of the states, whether it has a number for every action.
  COMMITTAL_FORCE_INLINE OverStates over_states(std::int64_t formula) const {
    return static_cast<OverStates>(quantity_states[formula]);
  }
  COMMITTAL_FORCE_INLINE bool has_actions(std::int64_t formula) const {
    return has_arms(programs.quantities[formula]->output_shape(0));
  }
};

}  // namespace committal
