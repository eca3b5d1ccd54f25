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
  std::vector<std::int64_t> arrivals(acting.size() + 1, 0);
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
        if (j >= 0) ++arrivals[at(j) + 1];
      }
      expected_reward_.push_back(expected);
      row_offsets_.push_back(static_cast<std::int64_t>(next_.size()));
      deterministic_ =
          deterministic_ && row_offsets_.back() - row_offsets_[row_offsets_.size() - 2] == 1;
    }
  }
  std::partial_sum(arrivals.begin(), arrivals.end(), arrivals.begin());
  in_offsets_ = arrivals;
  in_row_.resize(at(in_offsets_.back()));
  in_probability_.resize(in_row_.size());
  for (std::size_t row = 0; row + 1 < row_offsets_.size(); ++row) {
    for (std::int64_t e = row_offsets_[row]; e < row_offsets_[row + 1]; ++e) {
      const std::int32_t j = next_[at(e)];
      if (j >= static_cast<std::int32_t>(acting.size())) continue;
      const auto place = at(arrivals[at(j)]++);
      in_row_[place] = static_cast<std::int32_t>(row);
      in_probability_[place] = probability_[at(e)];
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
  v.in_offsets = in_offsets_.data();
  v.in_row = in_row_.data();
  v.in_probability = in_probability_.data();
  v.upper_offsets = factors_.upper_offsets.data();
  v.upper_columns = factors_.upper_columns.data();
  v.lower_offsets = factors_.lower_offsets.data();
  v.lower_columns = factors_.lower_columns.data();
  return v;
}

std::size_t solve_workspace_bytes(const MdpModel& model, int lanes) {
  return (3 * at(model.acting()) + model.fill()) * at(lanes) * sizeof(double);
}

void evaluate_policies(const MdpModel& model, const Evaluation& evaluation) {
  constexpr std::int64_t W = kMdpBlock;
  const MdpModelView view = model.view();
  const auto solve = kernel_table(evaluation.isa).mdp_solve;
  const std::int64_t n = view.acting;
  const std::int64_t A = view.actions;
  std::vector<double> start(at(n));
  if (evaluation.start != nullptr) {
    for (std::int64_t i = 0; i < n; ++i) start[at(i)] = evaluation.start[model.original()[at(i)]];
  }
  const std::int64_t policy_rows = n * A;
  const std::int64_t rows = 2 * policy_rows + (n + view.goals) + std::max(n, view.goals) + 1;
  const std::size_t bytes = at(rows * W) * sizeof(double) + solve_workspace_bytes(model, kMdpBlock);
  std::vector<Workspace> workspaces(at(evaluation.threads));
  run_blocks((evaluation.count + W - 1) / W, evaluation.threads,
             [&](int worker, std::int64_t block, Progress&) {
               Workspace& workspace = workspaces[at(worker)];
               if (!workspace) workspace = make_workspace(bytes);
               auto* policy = static_cast<double*>(workspace.get());
               double* q = policy + policy_rows * W;
               double* values = q + policy_rows * W;
               double* out = values + (n + view.goals) * W;
               double* sweeps = out + std::max(n, view.goals) * W;
               const std::int64_t first = block * W;
               const std::int64_t valid = std::min(W, evaluation.count - first);
               for (std::int64_t l = 0; l < W; ++l) {
                 const double* source =
                     evaluation.policies + (first + std::min(l, valid - 1)) * model.states() * A;
                 for (std::int64_t i = 0; i < n; ++i) {
                   for (std::int64_t k = 0; k < A; ++k) {
                     policy[(i * A + k) * W + l] = source[model.original()[at(i)] * A + k];
                   }
                 }
               }
               MdpSolve task{};
               task.what = evaluation.what;
               task.policy = policy;
               task.start = start.data();
               task.tolerance = evaluation.tolerance;
               task.max_sweeps = kMaxSweepsAlone;
               task.limit = evaluation.limit;
               task.values = values;
               task.q = q;
               task.out = out;
               task.sweeps = sweeps;
               task.workspace = sweeps + W;
               solve(view, task);
               for (std::int64_t l = 0; l < valid; ++l) {
                 const std::int64_t p = first + l;
                 if (evaluation.sweeps != nullptr) {
                   evaluation.sweeps[p] = static_cast<std::int64_t>(sweeps[l]);
                 }
                 if (evaluation.what == MdpSolve::What::kGoalProbability) {
                   for (std::int64_t g = 0; g < view.goals; ++g) {
                     evaluation.out[p * view.goals + g] = out[g * W + l];
                   }
                   continue;
                 }
                 for (std::int64_t i = 0; i < n; ++i) {
                   const std::int64_t s = model.original()[at(i)];
                   if (evaluation.what == MdpSolve::What::kDistribution) {
                     evaluation.out[p * model.states() + s] = out[i * W + l];
                     continue;
                   }
                   evaluation.values[p * model.states() + s] = values[i * W + l];
                   for (std::int64_t k = 0; k < A; ++k) {
                     evaluation.q[(p * model.states() + s) * A + k] = q[(i * A + k) * W + l];
                   }
                 }
               }
             },
             {});
}

}  // namespace committal
