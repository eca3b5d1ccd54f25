#include "mdp/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/arena.hpp"
#include "core/pool.hpp"

namespace committal {
namespace {

constexpr std::int64_t kMaxSweepsAlone = 10000000;
constexpr std::int64_t kMostBlocksTogether = 16;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Says which of the policies from `first` on is not a law, and where.
[[noreturn]] void refuse_policies(const MdpModel& model, const Evaluation& evaluation,
                                  std::int64_t first) {
  const std::int64_t actions = model.actions();
  const auto good = [](double p) { return p >= 0.0; };
  for (std::int64_t policy = first; policy < evaluation.count; ++policy) {
    for (std::int64_t s = 0; s < model.states(); ++s) {
      if (model.is_terminal(s)) continue;
      const double* law = evaluation.given + (policy * model.states() + s) * actions;
      const double sum = std::accumulate(law, law + actions, 0.0);
      if (std::all_of(law, law + actions, good) && std::abs(sum - 1.0) <= kSumTolerance) continue;
      refuse("policies[" + std::to_string(policy) + ", state " + std::to_string(s) + "]",
             "numbers that sum to " + show(sum), "probabilities that sum to 1");
    }
  }
  refuse("policies", "numbers that sum to nearly 1", "probabilities that sum to 1");
}

// Numbers per policy: what is read, and what is written.
std::int64_t width_given(const MdpModel& model, MdpSolve::What what) {
  return what == MdpSolve::What::kQ ? model.states() : model.states() * model.actions();
}
std::int64_t width_out(const MdpModel& model, MdpSolve::What what) {
  if (what == MdpSolve::What::kQ) return model.states() * model.actions();
  return what == MdpSolve::What::kGoalProbability ? model.goals() : model.states();
}

}  // namespace

void evaluate_policies(const MdpModel& model, const Evaluation& evaluation) {
  require_threads(evaluation.threads);
  const int W = model.lanes();
  const auto& kernels = kernel_table(resolve_isa(evaluation.isa)).mdp_solve;
  const auto& kernel = W == kMdpWide ? kernels.wide : kernels.narrow;
  const MdpModelView view = model.view();
  const std::size_t bytes = kernel.bytes(view);
  const std::int64_t given = width_given(model, evaluation.what);
  const std::int64_t out = width_out(model, evaluation.what);
  std::vector<double> start(at(model.acting()));
  for (std::size_t i = 0; i < start.size() && evaluation.start != nullptr; ++i) {
    start[i] = evaluation.start[model.original()[i]];
  }
  MdpSolve pattern{};
  pattern.what = evaluation.what;
  pattern.states = model.states();
  pattern.inner = model.inner().data();
  pattern.start = start.data();
  pattern.tolerance = evaluation.tolerance;
  pattern.max_sweeps = kMaxSweepsAlone;
  pattern.limit = evaluation.limit;
  pattern.next = W * given;
  std::vector<Workspace> workspaces(at(evaluation.threads));
  // A thread takes several blocks at a time: the next one's numbers follow this one's, and are
  // fetched ahead.
  const std::int64_t blocks = (evaluation.count + W - 1) / W;
  const std::int64_t together =
      std::clamp<std::int64_t>(blocks / (4 * evaluation.threads), 1, kMostBlocksTogether);
  const auto run_group = [&](int worker, std::int64_t group, Progress& progress) {
    Workspace& workspace = workspaces[at(worker)];
    if (!workspace) workspace = make_workspace(bytes);
    MdpSolve task = pattern;
    task.workspace = workspace.get();
    task.patience = progress.patience();
    const std::int64_t end = std::min(blocks, (group + 1) * together);
    for (std::int64_t block = group * together; block < end; ++block) {
      for (std::int64_t l = 0; l < W; ++l) {
        // Lanes past the last policy repeat it, and write the same numbers to the same place.
        const std::int64_t policy = std::min(block * W + l, evaluation.count - 1);
        task.given[l] = evaluation.given + policy * given;
        task.out[l] = evaluation.out + policy * out;
        task.sweeps[l] = evaluation.sweeps == nullptr ? nullptr : evaluation.sweeps + policy;
      }
      if (!kernel.run(view, task)) refuse_policies(model, evaluation, block * W);
      if (!progress.advance(std::min<std::int64_t>(W, evaluation.count - block * W))) return;
    }
  };
  run_blocks((blocks + together - 1) / together, evaluation.threads, run_group, evaluation.poll);
}

}  // namespace committal
