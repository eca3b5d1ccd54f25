// Tabular MDPs as numbers, their exact evaluation, and policy gradient over episodes.
//
// Inside, states that are acted in are renumbered in elimination order (0 .. acting - 1) and
// terminal state number g becomes acting + g; arrays that cross the border keep the caller's order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bandit/plan.hpp"
#include "mdp/elimination.hpp"

namespace committal {

inline constexpr int kMdpWideBlock = 16;   // lanes, while a block's elimination stays near the core
inline constexpr int kMdpNarrowBlock = 8;  // for larger MDPs
inline constexpr std::int64_t kNearBytes = std::int64_t{1} << 21;  // about a second-level cache

enum class MdpEstimator : int { kExactQ, kReinforce, kExpected };
enum class Solver : int { kDirect, kIterative };
enum class MdpQuantity : int {
  kReturn,
  kLength,
  kGoal,
  kActionEntropy,
  kStateEntropy,
  kValue,
  kGoalProbability,
  kPolicy,
  kTheta,
  kVisits,
};
MdpQuantity mdp_quantity(std::string_view name);

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
struct AssemblyView {
  const std::int64_t* offsets;  // [targets + 1]
  const std::int32_t* row;      // target += weight * pi[row]
  const double* weight;
};
struct EliminationView {
  std::int64_t slots;
  AssemblyView values;      // with R_pi as y
  AssemblyView transposed;  // of the transposed matrix, without y
  bool by_targets;
  // target += slot[left] * slot[right], if by targets
  const std::int64_t* product_offsets;  // [targets + 1]
  const std::int32_t* left;
  const std::int32_t* right;
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
  const double* cumulative;
  const double* reward;
  const double* expected_reward;  // [acting * actions]
  // The one outcome of every action, if deterministic; one more state, which never leaves.
  const std::int64_t* only_next;  // [(acting + 1) * actions]
  const double* only_reward;
  EliminationView elimination;
};

// An MDP, checked and prepared for elimination.
class MdpModel {
 public:
  // Rows are numbered state * actions + action in the caller's order; terminal states have none of
  // their entries read. An MDP is small if a wide block's elimination takes at most `near_bytes`.
  // Throws std::invalid_argument naming what is wrong and where.
  MdpModel(std::int64_t states, std::int64_t actions, std::vector<std::uint8_t> terminal,
           const std::vector<std::int64_t>& row_offsets, const std::vector<std::int32_t>& next,
           const std::vector<double>& probability, const std::vector<double>& reward, double gamma,
           std::int64_t near_bytes = kNearBytes);

  MdpModelView view() const;
  std::int64_t states() const { return states_; }
  std::int64_t actions() const { return actions_; }
  std::int64_t acting() const { return static_cast<std::int64_t>(original_.size()); }
  std::int64_t goals() const { return static_cast<std::int64_t>(goal_states_.size()); }
  bool is_terminal(std::int64_t state) const { return inner_[static_cast<std::size_t>(state)] < 0; }
  // Caller's state -> inner number, -1 for terminal; and back.
  const std::vector<std::int32_t>& inner() const { return inner_; }
  const std::vector<std::int32_t>& original() const { return original_; }
  std::size_t fill() const { return factors_.upper_columns.size(); }
  // Rows of lanes that the elimination works on.
  std::int64_t elimination_slots() const;
  bool is_small() const { return is_small_; }
  // The lanes of a block; results do not depend on it.
  int lanes() const { return is_small_ ? kMdpWideBlock : kMdpNarrowBlock; }
  double gamma() const { return gamma_; }

 private:
  std::int64_t states_;
  std::int64_t actions_;
  double gamma_;
  bool deterministic_ = true;
  std::vector<std::int32_t> inner_;
  std::vector<std::int32_t> original_;
  std::vector<std::int32_t> goal_states_;
  std::vector<std::int64_t> row_offsets_;
  std::vector<std::int32_t> next_;
  std::vector<double> probability_;
  std::vector<double> cumulative_;
  std::vector<double> reward_;
  std::vector<double> expected_reward_;
  std::vector<std::int64_t> only_next_;
  std::vector<double> only_reward_;
  // The program of EliminationView.
  void compile_elimination(std::int64_t near_bytes);
  struct Term {
    std::int64_t target;
    std::int64_t row;
    double weight;
  };
  struct Assembly {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> row;
    std::vector<double> weight;
    void sort(std::vector<Term> terms, std::int64_t targets);
    AssemblyView view() const { return {offsets.data(), row.data(), weight.data()}; }
  };
  Factors factors_;
  Assembly assembly_;
  Assembly transposed_;
  bool is_small_ = true;
  std::int64_t longest_lower_ = 0;
  std::vector<std::int32_t> chain_;
  std::vector<std::int64_t> product_offsets_;
  std::vector<std::int32_t> left_;
  std::vector<std::int32_t> right_;
};

// One block of policies to evaluate, one per lane. What is read and written is in the
// caller's order of states; terminal states are skipped when reading and get 0.
struct MdpSolve {
  enum class What : int { kValues, kValuesIterative, kQ, kDistribution, kGoalProbability };
  What what;
  std::int64_t states;
  const std::int32_t* inner;           // [states], -1 for terminal
  const double* given[kMdpWideBlock];  // [states][actions]; for kQ value functions [states]
  double* out[kMdpWideBlock];  // [states], for kQ [states][actions], for kGoalProbability [goals]
  std::int64_t* sweeps[kMdpWideBlock];  // for kValuesIterative
  const double* start;                  // [acting], for kDistribution and kGoalProbability
  double tolerance;
  std::int64_t max_sweeps;
  std::int64_t limit;
  std::int64_t next;  // where the same lane will probably read next: given + next
  void* workspace;    // solve_workspace_bytes()
};
inline constexpr double kSumTolerance = 1e-6;  // of the probabilities of a law
std::size_t solve_workspace_bytes(const MdpModel& model, int lanes);

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

struct MdpView {
  MdpModelView model;
  std::int64_t states;           // all of them, for what is emitted
  const std::int32_t* original;  // inner -> caller's number
  std::int64_t steps;
  std::int64_t limit;
  Update update;
  MdpEstimator estimator;
  Solver solver;
  double tolerance;
  bool discounted;
  Behaviour behaviour;
  const double* theta0;          // [acting][actions]
  const double* terminal_theta;  // [states][actions] as given, for what is emitted
  Schedule step_size;
  Schedule exploration;
  const BaselineTerm* terms;
  std::int64_t term_count;
  double baseline_offset;
  bool uses_running_mean;
  double running_mean_initial;
  double running_mean_rate;
  const double* behaviour_probabilities;
  const std::int32_t* start_states;  // inner numbers
  const double* start_cumulative;
  std::int64_t start_count;
  const double* start;            // [acting] probabilities
  const std::uint8_t* reachable;  // [acting] from the start, under any full policy
  const std::int64_t* times;
  std::int64_t time_count;
};

struct MdpPlan {
  std::int64_t steps = 0;
  std::int64_t limit = 1;
  std::string update = "natural";
  std::string estimator = "exact_q";
  std::string solver = "direct";
  double tolerance = 1e-3;
  bool discounted = false;
  std::string behaviour = "on_policy";
  std::vector<double> theta0;  // [states][actions]
  std::vector<double> step_size;
  std::vector<double> exploration{0.0};
  std::vector<BaselineTerm> terms;
  double baseline_offset = 0.0;
  double running_mean_initial = 0.0;
  std::vector<double> behaviour_probabilities;
  std::vector<std::int32_t> start_states;  // caller's numbers
  std::vector<double> start_cumulative;
  std::vector<std::int64_t> times;
};

}  // namespace committal
