#include "mdp/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace committal {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t kListed = 16;  // what it costs to look up and list one transition, in rows

}  // namespace

void MdpTables::validate() const {
  visit(CheckFields{}, *this);
  require_between("states * actions", states * actions, 1, kMostPairs);
  if (!(gamma >= 0.0 && gamma < 1.0)) refuse("gamma", show(gamma), "a number in [0, 1)");
  const auto transitions = static_cast<std::int64_t>(next_state.size());
  require_count("terminal", terminal.size(), states);
  require_count("row_offsets", row_offsets.size(), states * actions + 1);
  require_count("probability", probability.size(), transitions);
  require_count("reward", reward.size(), transitions);
  if (row_offsets.front() != 0 || row_offsets.back() != transitions ||
      !std::is_sorted(row_offsets.begin(), row_offsets.end())) {
    refuse("row_offsets", "offsets that do not span the transitions",
           "increasing numbers from 0 to the number of transitions");
  }
  for (std::int64_t row = 0; row < states * actions; ++row) {
    if (terminal[at(row / actions)] != 0) continue;
    double sum = 0.0;
    for (std::int64_t e = row_offsets[at(row)]; e < row_offsets[at(row + 1)]; ++e) {
      sum += probability[at(e)];
      if (next_state[at(e)] < 0 || next_state[at(e)] >= states) {
        refuse(item("next_state", at(e)), std::to_string(next_state[at(e)]),
               "a state from 0 to " + std::to_string(states - 1));
      }
    }
    if (!(std::abs(sum - 1.0) <= kSumTolerance)) {
      refuse("probability[state " + std::to_string(row / actions) + ", action " +
                 std::to_string(row % actions) + "]",
             "numbers that sum to " + show(sum), "probabilities that sum to 1");
    }
  }
  if (std::find(terminal.begin(), terminal.end(), 0) == terminal.end()) {
    refuse("terminal", "every state", "at least one state that is acted in");
  }
}

MdpModel::MdpModel(const MdpTables& tables, std::int64_t near_bytes, Patience patience)
    : states_(tables.states), actions_(tables.actions), gamma_(tables.gamma) {
  tables.validate();
  number_states(tables, patience);
  copy_transitions(tables, patience);
  compile_elimination(near_bytes, patience);
}

void MdpModel::number_states(const MdpTables& tables, Patience& patience) {
  // Acting states in the caller's order, and their pattern.
  inner_.assign(at(states_), -1);
  goal_number_.assign(at(states_), -1);
  std::vector<std::int32_t> acting;
  for (std::int64_t s = 0; s < states_; ++s) {
    if (tables.terminal[at(s)] != 0) {
      goal_number_[at(s)] = static_cast<std::int32_t>(goals_++);
    } else {
      inner_[at(s)] = static_cast<std::int32_t>(acting.size());
      acting.push_back(static_cast<std::int32_t>(s));
    }
  }
  const auto pattern_of = [&] {
    Pattern pattern(acting.size());
    for (const std::int64_t s : acting) {
      const std::int32_t i = inner_[at(s)];
      for (std::int64_t e = tables.row_offsets[at(s * actions_)];
           e < tables.row_offsets[at((s + 1) * actions_)]; ++e) {
        const std::int32_t j = inner_[at(tables.next_state[at(e)])];
        if (j < 0 || j == i) continue;
        pattern[at(i)].push_back(j);
        pattern[at(j)].push_back(i);
        patience.spend(kListed);
      }
    }
    return pattern;
  };
  const std::vector<std::int32_t> order = minimum_degree_order(pattern_of(), patience);
  original_.resize(acting.size());
  for (std::size_t k = 0; k < order.size(); ++k) original_[k] = acting[at(order[k])];
  for (std::size_t k = 0; k < original_.size(); ++k) {
    inner_[at(original_[k])] = static_cast<std::int32_t>(k);
  }
  factors_ = symbolic_factors(pattern_of(), patience);
}

void MdpModel::copy_transitions(const MdpTables& tables, Patience& patience) {
  row_offsets_.push_back(0);
  for (const std::int64_t s : original_) {
    for (std::int64_t row = s * actions_; row < (s + 1) * actions_; ++row) {
      double cumulative = 0.0;
      double expected = 0.0;
      for (std::int64_t e = tables.row_offsets[at(row)]; e < tables.row_offsets[at(row + 1)]; ++e) {
        const double p = tables.probability[at(e)];
        const double r = tables.reward[at(e)];
        if (p == 0.0) continue;
        const std::int32_t target = tables.next_state[at(e)];
        const std::int32_t j = inner_[at(target)];
        next_.push_back(j >= 0 ? j
                               : static_cast<std::int32_t>(acting()) + goal_number_[at(target)]);
        cumulative += p;
        probability_.push_back(p);
        weight_.push_back(gamma_ * p);
        cumulative_.push_back(cumulative);
        reward_.push_back(r);
        expected += p * r;
        patience.spend(kListed);
      }
      expected_reward_.push_back(expected);
      row_offsets_.push_back(static_cast<std::int64_t>(next_.size()));
      deterministic_ =
          deterministic_ && row_offsets_.back() - row_offsets_[row_offsets_.size() - 2] == 1;
    }
  }
  if (!deterministic_) return;
  for (const std::int64_t next : next_) only_pair_.push_back(next * actions_);
}

// By target; those of one target keep their order.
void MdpModel::Assembly::sort(const std::vector<Term>& terms, std::int64_t targets,
                              Patience& patience) {
  std::vector<std::int64_t> next(at(targets) + 1, 0);
  for (const Term& term : terms) ++next[at(term.target) + 1];
  rows.resize(terms.size() + at(targets));
  weight.resize(terms.size());
  std::int64_t before = 0;
  for (std::int64_t target = 0; target < targets; ++target) {
    const std::int64_t count = next[at(target) + 1];
    rows[at(before + target)] = static_cast<std::uint32_t>(count);
    next[at(target)] = before;
    before += count;
  }
  for (const Term& term : terms) {
    const std::int64_t place = next[at(term.target)]++;
    rows[at(place + term.target + 1)] = static_cast<std::uint32_t>(term.row);
    weight[at(place)] = term.weight;
    patience.spend(kListed);
  }
}

void MdpModel::compile_elimination(std::int64_t near_bytes, Patience& patience) {
  const std::int64_t n = acting();
  const auto lower = [&](std::int64_t i) { return factors_.lower_offsets[at(i)]; };
  const auto upper = [&](std::int64_t i) { return factors_.upper_offsets[at(i)]; };
  // Row i's targets begin after those of the rows above: its entries, D and y.
  const auto first_target = [&](std::int64_t i) { return lower(i) + upper(i) + 2 * i; };
  const auto place = [](const std::vector<std::int32_t>& columns, std::int64_t begin,
                        std::int64_t end, std::int64_t j) {
    return std::lower_bound(columns.begin() + begin, columns.begin() + end,
                            static_cast<std::int32_t>(j)) -
           (columns.begin() + begin);
  };
  const auto diagonal = [&](std::int64_t i) { return first_target(i) + lower(i + 1) - lower(i); };
  const auto target = [&](std::int64_t i, std::int64_t j) -> std::int64_t {
    if (j < i) return first_target(i) + place(factors_.lower_columns, lower(i), lower(i + 1), j);
    if (j == i) return diagonal(i);
    return diagonal(i) + 2 + place(factors_.upper_columns, upper(i), upper(i + 1), j);
  };
  const std::int64_t targets = first_target(n);

  std::vector<Term> terms;
  std::vector<Term> transposed;
  for (std::int64_t row = 0; row < n * actions_; ++row) {
    const std::int64_t i = row / actions_;
    if (expected_reward_[at(row)] != 0.0) {
      terms.push_back({diagonal(i) + 1, row, expected_reward_[at(row)]});
    }
    for (std::int64_t e = row_offsets_[at(row)]; e < row_offsets_[at(row + 1)]; ++e) {
      const std::int64_t j = next_[at(e)];
      if (j >= n) continue;
      const double weight = weight_[at(e)];
      terms.push_back({target(i, j), row, weight});
      transposed.push_back({target(j, i), row, weight});
      patience.spend(kListed);
    }
  }
  assembly_.sort(terms, targets, patience);
  transposed_.sort(transposed, targets, patience);

  // Row i of the factors: what is left of the diagonal times the rows above that it names.
  for (std::int64_t i = 0; i < n; ++i) {
    longest_lower_ = std::max(longest_lower_, lower(i + 1) - lower(i));
  }
  is_small_ = elimination_slots() * kMdpWide * std::int64_t{sizeof(double)} <= near_bytes;
  chain_.assign(at(n), 1);
  for (std::int64_t k = n - 2; k >= 0; --k) {
    // The columns of row k other than its first one are always among those of that one's row.
    const std::int64_t columns = upper(k + 1) - upper(k);
    const bool follows = columns > 0 && factors_.upper_columns[at(upper(k))] == k + 1;
    if (follows && columns == upper(k + 2) - upper(k + 1) + 1)
      chain_[at(k)] = chain_[at(k + 1)] + 1;
  }
  if (!is_small_) return;
  const std::int64_t upper_slots = 2 * n;
  const std::int64_t lower_slots = upper_slots + upper(n);
  std::vector<std::int64_t> counts(at(targets), 0);
  const auto for_each_product = [&](const auto& visit) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t e = lower(i); e < lower(i + 1); ++e) {
        const std::int64_t k = factors_.lower_columns[at(e)];
        const std::int64_t multiplier = lower_slots + e - lower(i);
        visit(diagonal(i) + 1, multiplier, n + k);
        for (std::int64_t u = upper(k); u < upper(k + 1); ++u) {
          visit(target(i, factors_.upper_columns[at(u)]), multiplier, upper_slots + u);
          patience.spend(kListed);
        }
      }
    }
  };
  for_each_product([&](std::int64_t to, std::int64_t, std::int64_t) { ++counts[at(to)]; });
  std::vector<std::int64_t> next(at(targets));
  std::int64_t before = 0;
  for (std::int64_t to = 0; to < targets; ++to) {
    next[at(to)] = 2 * before + to + 1;
    before += counts[at(to)];
  }
  products_.resize(at(2 * before + targets));
  for (std::int64_t to = 0; to < targets; ++to) {
    products_[at(next[at(to)] - 1)] = static_cast<std::uint32_t>(counts[at(to)]);
  }
  for_each_product([&](std::int64_t to, std::int64_t left, std::int64_t right) {
    products_[at(next[at(to)]++)] = static_cast<std::uint32_t>(left * kMdpWide);
    products_[at(next[at(to)]++)] = static_cast<std::uint32_t>(right * kMdpWide);
  });
}

std::int64_t MdpModel::elimination_slots() const {
  return 2 * acting() + static_cast<std::int64_t>(fill()) + (is_small_ ? longest_lower_ : acting());
}

MdpModelView MdpModel::view() const {
  MdpModelView v{};
  v.acting = acting();
  v.actions = actions_;
  v.goals = goals();
  v.gamma = gamma_;
  v.deterministic = deterministic_;
  v.row_offsets = row_offsets_.data();
  v.next = next_.data();
  v.probability = probability_.data();
  v.weight = weight_.data();
  v.cumulative = cumulative_.data();
  v.reward = reward_.data();
  v.expected_reward = expected_reward_.data();
  v.only_pair = only_pair_.data();
  EliminationView& e = v.elimination;
  e.slots = elimination_slots();
  e.values = assembly_.view();
  e.transposed = transposed_.view();
  e.by_targets = is_small_;
  e.products = products_.data();
  e.lower_offsets = factors_.lower_offsets.data();
  e.lower_columns = factors_.lower_columns.data();
  e.upper_offsets = factors_.upper_offsets.data();
  e.upper_columns = factors_.upper_columns.data();
  e.chain = chain_.data();
  return v;
}

}  // namespace committal
