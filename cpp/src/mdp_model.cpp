#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "committal/kernel.hpp"
#include "committal/mdp.hpp"
#include "pool.hpp"
#include "workspace.hpp"

namespace committal {
namespace {

constexpr std::int64_t kMaxSweepsAlone = 10000000;
constexpr double kSumTolerance = 1e-6;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

MdpModel::MdpModel(std::int64_t states, std::int64_t actions, std::vector<std::uint8_t> terminal,
                   const std::vector<std::int64_t>& row_offsets,
                   const std::vector<std::int32_t>& next, const std::vector<double>& probability,
                   const std::vector<double>& reward, double gamma)
    : states_(states), actions_(actions), gamma_(gamma) {
  if (states < 1 || states > std::int64_t{1} << 30) {
    refuse("states", std::to_string(states), "1 to 2^30");
  }
  if (actions < 1 || actions > std::int64_t{1} << 20) {
    refuse("actions", std::to_string(actions), "1 to 2^20");
  }
  if (!(gamma >= 0.0 && gamma < 1.0)) refuse("gamma", show(gamma), "a number in [0, 1)");
  require_count("terminal", terminal.size(), states);
  require_count("row_offsets", row_offsets.size(), states * actions + 1);
  require_count("probability", probability.size(), static_cast<std::int64_t>(next.size()));
  require_count("reward", reward.size(), static_cast<std::int64_t>(next.size()));
  require_range("reward", reward, -kLargest, kLargest);
  require_range("probability", probability, 0.0, 1.0);
  if (row_offsets.front() != 0 || row_offsets.back() != static_cast<std::int64_t>(next.size()) ||
      !std::is_sorted(row_offsets.begin(), row_offsets.end())) {
    refuse("row_offsets", "offsets that do not span the transitions",
           "increasing numbers from 0 to the number of transitions");
  }
  const auto row_name = [&](std::int64_t s, std::int64_t a) {
    return "probability[state " + std::to_string(s) + ", action " + std::to_string(a) + "]";
  };
  for (std::int64_t s = 0; s < states; ++s) {
    if (terminal[at(s)] != 0) continue;
    for (std::int64_t a = 0; a < actions; ++a) {
      double sum = 0.0;
      for (std::int64_t e = row_offsets[at(s * actions + a)];
           e < row_offsets[at(s * actions + a + 1)]; ++e) {
        sum += probability[at(e)];
        if (next[at(e)] < 0 || next[at(e)] >= states) {
          refuse("next[" + std::to_string(e) + "]", std::to_string(next[at(e)]),
                 "a state from 0 to " + std::to_string(states - 1));
        }
      }
      if (!(std::abs(sum - 1.0) <= 1e-6)) {
        refuse(row_name(s, a), "numbers that sum to " + show(sum), "probabilities that sum to 1");
      }
    }
  }

  // Acting states in the caller's order, and their pattern.
  inner_.assign(at(states), -1);
  std::vector<std::int32_t> acting;
  std::vector<std::int32_t> goal_number(at(states), -1);
  for (std::int64_t s = 0; s < states; ++s) {
    if (terminal[at(s)] != 0) {
      goal_number[at(s)] = static_cast<std::int32_t>(goal_states_.size());
      goal_states_.push_back(static_cast<std::int32_t>(s));
    } else {
      inner_[at(s)] = static_cast<std::int32_t>(acting.size());
      acting.push_back(static_cast<std::int32_t>(s));
    }
  }
  if (acting.empty()) refuse("terminal", "every state", "at least one state that is acted in");
  const auto pattern_of = [&] {
    Pattern pattern(acting.size());
    for (const std::int32_t s : acting) {
      const std::int32_t i = inner_[at(s)];
      for (std::int64_t e = row_offsets[at(s * actions)]; e < row_offsets[at((s + 1) * actions)];
           ++e) {
        const std::int32_t j = inner_[at(next[at(e)])];
        if (j < 0 || j == i) continue;
        pattern[at(i)].push_back(j);
        pattern[at(j)].push_back(i);
      }
    }
    return pattern;
  };
  const std::vector<std::int32_t> order = minimum_degree_order(pattern_of());
  original_.resize(acting.size());
  for (std::size_t k = 0; k < order.size(); ++k) original_[k] = acting[at(order[k])];
  for (std::size_t k = 0; k < original_.size(); ++k) {
    inner_[at(original_[k])] = static_cast<std::int32_t>(k);
  }
  factors_ = symbolic_factors(pattern_of());

  row_offsets_.push_back(0);
  for (const std::int32_t s : original_) {
    for (std::int64_t a = 0; a < actions; ++a) {
      double cumulative = 0.0;
      double expected = 0.0;
      const std::int64_t begin = row_offsets[at(s * actions + a)];
      const std::int64_t end = row_offsets[at(s * actions + a + 1)];
      for (std::int64_t e = begin; e < end; ++e) {
        if (probability[at(e)] == 0.0) continue;
        const std::int32_t target = next[at(e)];
        const std::int32_t j = inner_[at(target)];
        next_.push_back(
            j >= 0 ? j : static_cast<std::int32_t>(acting.size()) + goal_number[at(target)]);
        cumulative += probability[at(e)];
        probability_.push_back(probability[at(e)]);
        cumulative_.push_back(cumulative);
        reward_.push_back(reward[at(e)]);
        expected += probability[at(e)] * reward[at(e)];
      }
      expected_reward_.push_back(expected);
      row_offsets_.push_back(static_cast<std::int64_t>(next_.size()));
      deterministic_ =
          deterministic_ && row_offsets_.back() - row_offsets_[row_offsets_.size() - 2] == 1;
    }
  }
  compile_elimination();
}

void MdpModel::Assembly::add(std::int64_t to, std::int64_t from, double by) {
  slot.push_back(static_cast<std::int32_t>(to));
  row.push_back(static_cast<std::int32_t>(from));
  weight.push_back(by);
}

void MdpModel::compile_elimination() {
  const std::int64_t n = acting();
  const auto fill_in = static_cast<std::int64_t>(factors_.upper_columns.size());
  const auto place = [](const std::vector<std::int64_t>& offsets,
                        const std::vector<std::int32_t>& columns, std::int64_t i, std::int64_t j) {
    const auto begin = columns.begin() + offsets[at(i)];
    const auto end = columns.begin() + offsets[at(i + 1)];
    return std::lower_bound(begin, end, static_cast<std::int32_t>(j)) - columns.begin();
  };
  const auto slot = [&](std::int64_t i, std::int64_t j) -> std::int64_t {
    if (i == j) return i;
    if (j > i) return 2 * n + place(factors_.upper_offsets, factors_.upper_columns, i, j);
    return 2 * n + fill_in + place(factors_.lower_offsets, factors_.lower_columns, i, j);
  };
  for (std::int64_t row = 0; row < n * actions_; ++row) {
    const std::int64_t i = row / actions_;
    if (expected_reward_[at(row)] != 0.0) assembly_.add(n + i, row, expected_reward_[at(row)]);
    for (std::int64_t e = row_offsets_[at(row)]; e < row_offsets_[at(row + 1)]; ++e) {
      const std::int64_t j = next_[at(e)];
      if (j >= n) continue;
      const double weight = gamma_ * probability_[at(e)];
      assembly_.add(slot(i, j), row, weight);
      transposed_.add(slot(j, i), row, weight);
    }
  }
  entry_updates_.push_back(0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t e = factors_.lower_offsets[at(i)]; e < factors_.lower_offsets[at(i + 1)];
         ++e) {
      const std::int64_t k = factors_.lower_columns[at(e)];
      multiplier_slot_.push_back(static_cast<std::int32_t>(2 * n + fill_in + e));
      const auto update = [&](std::int64_t to, std::int64_t from) {
        target_.push_back(static_cast<std::int32_t>(to));
        source_.push_back(static_cast<std::int32_t>(from));
      };
      update(n + i, n + k);
      for (std::int64_t u = factors_.upper_offsets[at(k)]; u < factors_.upper_offsets[at(k + 1)];
           ++u) {
        update(slot(i, factors_.upper_columns[at(u)]), 2 * n + u);
      }
      entry_updates_.push_back(static_cast<std::int64_t>(target_.size()));
    }
  }
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
  v.cumulative = cumulative_.data();
  v.reward = reward_.data();
  v.expected_reward = expected_reward_.data();
  EliminationView& e = v.elimination;
  e.slots = 2 * acting() + 2 * static_cast<std::int64_t>(fill());
  e.assembly_count = static_cast<std::int64_t>(assembly_.slot.size());
  e.assembly_slot = assembly_.slot.data();
  e.assembly_row = assembly_.row.data();
  e.assembly_weight = assembly_.weight.data();
  e.transposed_count = static_cast<std::int64_t>(transposed_.slot.size());
  e.transposed_slot = transposed_.slot.data();
  e.transposed_row = transposed_.row.data();
  e.transposed_weight = transposed_.weight.data();
  e.row_entries = factors_.lower_offsets.data();
  e.multiplier_slot = multiplier_slot_.data();
  e.pivot = factors_.lower_columns.data();
  e.entry_updates = entry_updates_.data();
  e.target = target_.data();
  e.source = source_.data();
  e.upper_offsets = factors_.upper_offsets.data();
  e.upper_columns = factors_.upper_columns.data();
  return v;
}

std::size_t solve_workspace_bytes(const MdpModel& model, int lanes) {
  return model.elimination_rows() * at(lanes) * sizeof(double);
}

namespace {

// One block of an evaluation: rows of lanes in and out of the caller's arrays.
class Batch {
 public:
  Batch(const MdpModel& model, const Evaluation& evaluation)
      : model_(model), evaluation_(evaluation), view_(model.view()), start_(at(view_.acting)) {
    if (evaluation.start == nullptr) return;
    for (std::int64_t i = 0; i < view_.acting; ++i) {
      start_[at(i)] = evaluation.start[model.original()[at(i)]];
    }
  }

  std::size_t workspace_bytes() const {
    return at(pair_rows() + 2 * state_rows() + 1) * W * sizeof(double) +
           solve_workspace_bytes(model_, W);
  }

  void run(std::int64_t block, double* memory,
           void (*solve)(const MdpModelView&, const MdpSolve&)) {
    double* pairs = memory;
    double* values = pairs + pair_rows() * W;
    double* out = values + state_rows() * W;
    MdpSolve task{};
    task.what = evaluation_.what;
    task.given = evaluation_.given;
    task.original = model_.original().data();
    task.pairs = pairs;
    task.start = start_.data();
    task.tolerance = evaluation_.tolerance;
    task.max_sweeps = kMaxSweepsAlone;
    task.limit = evaluation_.limit;
    task.values = values;
    task.out = out;
    task.sweeps = out + state_rows() * W;
    task.workspace = task.sweeps + W;
    first_ = block * W;
    valid_ = std::min<std::int64_t>(W, evaluation_.count - first_);
    for (std::int64_t l = 0; l < W; ++l) {
      task.offset[l] = place(l) * model_.states() * view_.actions;
    }
    if (evaluation_.what == MdpSolve::What::kQ) {
      load_values(values);
    } else if (evaluation_.what == MdpSolve::What::kValuesIterative) {
      // Sweeps need not end for what is not a law: a look before them. A solve ends anyway.
      MdpSolve look = task;
      look.what = MdpSolve::What::kLoad;
      solve(view_, look);
      check_all(pairs);
    }
    solve(view_, task);
    if (evaluation_.what != MdpSolve::What::kQ) check_all(pairs);
    switch (evaluation_.what) {
      case MdpSolve::What::kQ:
        store(pairs, view_.actions);
        break;
      case MdpSolve::What::kDistribution:
        store(out, 1);
        break;
      case MdpSolve::What::kGoalProbability:
        for (std::int64_t l = 0; l < valid_; ++l) {
          for (std::int64_t g = 0; g < view_.goals; ++g) {
            evaluation_.out[(first_ + l) * view_.goals + g] = out[g * W + l];
          }
        }
        break;
      default:
        store(values, 1);
        for (std::int64_t l = 0; l < valid_ && evaluation_.sweeps != nullptr; ++l) {
          evaluation_.sweeps[first_ + l] = static_cast<std::int64_t>(task.sweeps[l]);
        }
    }
  }

 private:
  static constexpr int W = kMdpBlock;
  std::int64_t pair_rows() const { return view_.acting * view_.actions; }
  std::int64_t state_rows() const { return view_.acting + view_.goals; }

  // Lanes past the last policy repeat it.
  std::int64_t place(std::int64_t l) const { return first_ + std::min(l, valid_ - 1); }

  void check_all(const double* pairs) const {
    for (std::int64_t i = 0; i < view_.acting; ++i) {
      check_laws(pairs + i * view_.actions * W, model_.original()[at(i)]);
    }
  }

  // All lanes at once; who is to blame is asked only if somebody is.
  void check_laws(const double* rows, std::int32_t state) const {
    double sum[W] = {};
    double least[W] = {};
    for (std::int64_t k = 0; k < view_.actions; ++k) {
      for (int l = 0; l < W; ++l) {
        sum[l] += rows[k * W + l];
        least[l] = rows[k * W + l] < least[l] ? rows[k * W + l] : least[l];
      }
    }
    bool lawful = true;
    for (int l = 0; l < W; ++l) {
      lawful &= least[l] >= 0.0 && sum[l] >= 1.0 - kSumTolerance && sum[l] <= 1.0 + kSumTolerance;
    }
    for (int l = 0; l < W && !lawful; ++l) {
      if (least[l] >= 0.0 && std::abs(sum[l] - 1.0) <= kSumTolerance) continue;
      refuse("policies[" + std::to_string(place(l)) + ", state " + std::to_string(state) + "]",
             "numbers that sum to " + show(sum[l]), "probabilities that sum to 1");
    }
  }

  void load_values(double* values) const {
    for (std::int64_t l = 0; l < W; ++l) {
      const double* given = evaluation_.given + place(l) * model_.states();
      for (std::int64_t i = 0; i < view_.acting; ++i) {
        values[i * W + l] = given[model_.original()[at(i)]];
      }
      for (std::int64_t g = 0; g < view_.goals; ++g) values[(view_.acting + g) * W + l] = 0.0;
    }
  }

  // Rows of acting states, `width` each, to the caller's order; terminal states get 0.
  void store(const double* rows, std::int64_t width) const {
    for (std::int64_t l = 0; l < valid_; ++l) {
      double* out = evaluation_.out + (first_ + l) * model_.states() * width;
      for (std::int64_t s = 0; s < model_.states(); ++s) {
        const std::int64_t i = model_.inner()[at(s)];
        for (std::int64_t k = 0; k < width; ++k) {
          out[s * width + k] = i < 0 ? 0.0 : rows[(i * width + k) * W + l];
        }
      }
    }
  }

  const MdpModel& model_;
  const Evaluation& evaluation_;
  MdpModelView view_;
  std::vector<double> start_;
  std::int64_t first_ = 0;
  std::int64_t valid_ = 0;
};

}  // namespace

void evaluate_policies(const MdpModel& model, const Evaluation& evaluation) {
  const auto solve = kernel_table(evaluation.isa).mdp_solve;
  const Batch pattern(model, evaluation);
  std::vector<Batch> batches(at(evaluation.threads), pattern);
  std::vector<Workspace> workspaces(at(evaluation.threads));
  run_blocks((evaluation.count + kMdpBlock - 1) / kMdpBlock, evaluation.threads,
             [&](int worker, std::int64_t block, Progress&) {
               Workspace& workspace = workspaces[at(worker)];
               if (!workspace) workspace = make_workspace(pattern.workspace_bytes());
               batches[at(worker)].run(block, static_cast<double*>(workspace.get()), solve);
             },
             {});
}

}  // namespace committal
