// A tabular MDP, checked and prepared for the elimination of I - gamma P_pi.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/mdp/view.hpp"
#include "mdp/elimination.hpp"
#include "plan/fields.hpp"

namespace committal {

inline constexpr std::int64_t kNearBytes = std::int64_t{1} << 21;  // about a second-level cache

// An MDP as it is given. Rows are numbered state * actions + action; terminal states have none of
// their entries read.
struct MdpTables {
  std::int64_t states = 0;
  std::int64_t actions = 0;
  std::vector<std::uint8_t> terminal;
  std::vector<std::int64_t> row_offsets;
  std::vector<std::int32_t> next_state;
  std::vector<double> probability;
  std::vector<double> reward;
  double gamma = 0.0;

  // Throws std::invalid_argument naming what is wrong and where.
  void validate() const;

  // f(field, each.member...) for every field, see plan/fields.hpp.
  template <typename F, typename... Each>
  static void visit(F&& f, Each&... each) {
    f(Field{"states", Required{}, Whole{1, kMostStates}}, each.states...);
    f(Field{"actions", Required{}, Whole{1, kMostPairs}}, each.actions...);
    f(Field{"terminal", Required{}, Unchecked{}}, each.terminal...);
    f(Field{"row_offsets", Required{}, Unchecked{}}, each.row_offsets...);
    f(Field{"next_state", Required{}, Unchecked{}}, each.next_state...);
    f(Field{"probability", Required{}, Between{0.0, 1.0}}, each.probability...);
    f(Field{"reward", Required{}, Between{-kLargest, kLargest}}, each.reward...);
    f(Field{"gamma", Required{}, Unchecked{}}, each.gamma...);
  }
};

// An MDP, checked and prepared for elimination.
class MdpModel {
 public:
  // An MDP is small if a wide block's elimination takes at most `near_bytes`. Throws
  // std::invalid_argument naming what is wrong and where, and what `patience` throws: preparing
  // some thousand states of no structure takes minutes.
  explicit MdpModel(const MdpTables& tables, std::int64_t near_bytes = kNearBytes,
                    Patience patience = {});

  MdpModelView view() const;
  std::int64_t states() const { return states_; }
  std::int64_t actions() const { return actions_; }
  std::int64_t acting() const { return static_cast<std::int64_t>(original_.size()); }
  std::int64_t goals() const { return goals_; }
  bool is_terminal(std::int64_t state) const { return inner_[static_cast<std::size_t>(state)] < 0; }
  // Caller's state -> inner number, -1 for terminal; and back.
  const std::vector<std::int32_t>& inner() const { return inner_; }
  const std::vector<std::int32_t>& original() const { return original_; }
  std::size_t fill() const { return factors_.upper_columns.size(); }
  // Rows of lanes that the elimination works on.
  std::int64_t elimination_slots() const;
  bool is_small() const { return is_small_; }
  // The lanes of a block; results do not depend on it.
  int lanes() const { return is_small_ ? kMdpWide : kMdpNarrow; }
  double gamma() const { return gamma_; }

 private:
  std::int64_t states_;
  std::int64_t actions_;
  double gamma_;
  bool deterministic_ = true;
  std::vector<std::int32_t> inner_;
  std::vector<std::int32_t> original_;
  std::vector<std::int32_t> goal_number_;  // of terminal states, -1 for the others
  std::int64_t goals_ = 0;
  std::vector<std::int64_t> row_offsets_;
  std::vector<std::int32_t> next_;
  std::vector<double> probability_;
  std::vector<double> weight_;  // gamma * probability
  std::vector<double> cumulative_;
  std::vector<double> reward_;
  std::vector<double> expected_reward_;
  std::vector<std::int64_t> only_pair_;
  void number_states(const MdpTables& tables, Patience& patience);
  void copy_transitions(const MdpTables& tables, Patience& patience);
  // The program of EliminationView.
  void compile_elimination(std::int64_t near_bytes, Patience& patience);
  struct Term {
    std::int64_t target;
    std::int64_t row;
    double weight;
  };
  struct Assembly {
    std::vector<std::uint32_t> rows;
    std::vector<double> weight;
    void sort(const std::vector<Term>& terms, std::int64_t targets, Patience& patience);
    AssemblyView view() const { return {rows.data(), weight.data()}; }
  };
  Factors factors_;
  Assembly assembly_;
  Assembly transposed_;
  bool is_small_ = true;
  std::int64_t longest_lower_ = 0;
  std::vector<std::int32_t> chain_;
  std::vector<std::uint32_t> products_;
};

}  // namespace committal
