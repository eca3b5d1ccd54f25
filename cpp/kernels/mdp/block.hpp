// The state of a block of MDP runs: rows of W lanes, one lane per run.
//
// A lane whose episode has ended is parked on a dummy state, number n, whose rows exist and mean
// nothing.
#pragma once

#include "core/arena.hpp"
#include "core/task.hpp"
#include "kernels/arms.hpp"
#include "kernels/mdp/view.hpp"
#include "kernels/philox.hpp"

namespace committal::COMMITTAL_ISA {

template <int W>
struct MdpRows {
  double* theta = nullptr;              // [n + 1][A][W]
  double* policy = nullptr;             // [n + 1][A][W]
  double* advantage = nullptr;          // [n + 1][A][W]
  double* visits = nullptr;             // [n + 1][W]
  double* baseline = nullptr;           // [n + 1][W]
  double* values = nullptr;             // [n + goals][W]
  double* spare_values = nullptr;       // [n + goals][W] for what must leave `values` alone
  double* slots = nullptr;              // [slots][W] of the elimination
  std::int64_t* path_state = nullptr;   // [limit][W]
  std::int64_t* path_action = nullptr;  // [limit][W]
  double* path_weight = nullptr;        // [limit][W]
  double* path_ratio = nullptr;         // [limit][W] importance ratios up to and including a move
  double* path_reward = nullptr;        // [limit][W] discounted
  std::uint8_t* touched = nullptr;      // [n + 1] whether a lane has been there in this episode
  double* record = nullptr;             // [as wide as the widest quantity][W]
  double* here = nullptr;               // [A][W] the policy where each lane is
  double* mixture = nullptr;            // [A][W]
  double* scratch_rows = nullptr;       // [A][W]
  double* action_uniforms = nullptr;    // [kDraws][W]
  double* transition_uniforms = nullptr;
  double* here_total = nullptr;  // [W], as all that follow
  double* mixture_total = nullptr;
  double* importance = nullptr;
  double* spare = nullptr;
  double* spare2 = nullptr;
  double* running_mean = nullptr;
  double* episode_return = nullptr;
  double* length = nullptr;
  double* goal = nullptr;
  double* entropy_sum = nullptr;
  double* alive = nullptr;
  double* prefix = nullptr;
  std::int64_t* action = nullptr;
  std::int64_t* state = nullptr;
  std::int64_t* reached = nullptr;  // where the last move led: acting states, then terminal ones
  std::uint64_t* run = nullptr;
};

// Takes the rows of a block from an arena, as many of them to record in.
template <int W>
inline void lay_out(MdpRows<W>& s, const MdpView& plan, std::int64_t recorded, Arena& arena) {
  const std::int64_t n = plan.model.acting;
  const std::int64_t A = plan.model.actions;
  s.theta = arena.take<double>((n + 1) * A, W);
  s.policy = arena.take<double>((n + 1) * A, W);
  s.advantage = arena.take<double>((n + 1) * A, W);
  s.visits = arena.take<double>(n + 1, W);
  s.baseline = arena.take<double>(n + 1, W);
  s.values = arena.take<double>(n + plan.model.goals, W);
  s.slots = arena.take<double>(plan.model.elimination.slots, W);
  s.path_state = arena.take<std::int64_t>(plan.limit, W);
  s.path_action = arena.take<std::int64_t>(plan.limit, W);
  s.path_weight = arena.take<double>(plan.limit, W);
  s.path_ratio = arena.take<double>(plan.limit, W);
  s.path_reward = arena.take<double>(plan.limit, W);
  s.touched = arena.take<std::uint8_t>(n + 1);
  s.record = arena.take<double>(recorded, W);
  s.spare_values = arena.take<double>(n + plan.model.goals, W);
  s.here = arena.take<double>(A, W);
  s.mixture = arena.take<double>(A, W);
  s.scratch_rows = arena.take<double>(A, W);
  s.action_uniforms = arena.take<double>(kDraws, W);
  s.transition_uniforms = arena.take<double>(kDraws, W);
  s.here_total = arena.take<double>(W);
  s.mixture_total = arena.take<double>(W);
  s.importance = arena.take<double>(W);
  s.spare = arena.take<double>(W);
  s.spare2 = arena.take<double>(W);
  s.running_mean = arena.take<double>(W);
  s.episode_return = arena.take<double>(W);
  s.length = arena.take<double>(W);
  s.goal = arena.take<double>(W);
  s.entropy_sum = arena.take<double>(W);
  s.alive = arena.take<double>(W);
  s.prefix = arena.take<double>(W);
  s.action = arena.take<std::int64_t>(W);
  s.state = arena.take<std::int64_t>(W);
  s.reached = arena.take<std::int64_t>(W);
  s.run = arena.take<std::uint64_t>(W);
}

// What an episode must keep while it is drawn, as asked for by what is recorded.
struct Kept {
  bool episodes = false;        // an episode is drawn even where no update needs it
  bool visits = false;          // to every state, so far
  bool action_entropy = false;  // along the episode
};

// KT is the number of actions when it is a constant (4), else 0.
template <int KT, int W>
struct MdpBlock : MdpRows<W> {
  const MdpView& plan;
  const BlockTask& task;
  const MdpModelView& m;
  const std::int64_t n;  // states that are acted in
  Kept kept;
  std::uint64_t filled = ~std::uint64_t{0};  // which stretch of kDraws draws the uniforms hold
  std::int64_t moves = 0;                    // of the longest episode of the block
  Patience patience;

  MdpBlock(const MdpView& view, const BlockTask& block)
      : plan(view),
        task(block),
        m(view.model),
        n(view.model.acting),
        patience(block.proceed, block.proceed_context) {}

  COMMITTAL_INLINE std::int64_t A() const { return KT > 0 ? KT : m.actions; }
};

}  // namespace committal::COMMITTAL_ISA
