// The state of a block of MDP runs, one run per lane.
//
// What lanes do together, solving, goes by rows of W lanes. An episode each lane walks for itself,
// and what that needs lies lane by lane, a state's numbers side by side: theta, the law, the
// advantages, the path. There is one state more than are acted in, number n, whose numbers mean
// nothing: what fills up a strip points there.
#pragma once

#include "core/arena.hpp"
#include "core/task.hpp"
#include "kernels/arms.hpp"
#include "kernels/gather.hpp"
#include "kernels/mdp/programmed.hpp"
#include "kernels/mdp/view.hpp"
#include "kernels/philox.hpp"

namespace committal::COMMITTAL_ISA {

// A strip of places, or of moves, is worked out together: two registers hide each other's latency,
// and numbers are transposed four by four.
inline constexpr int kPlaces = 2 * kNativeLanes;
using Places = Lanes<kPlaces>;

// A state that a lane was in.
struct Place {
  std::int64_t own;    // where its numbers begin among all that is lanes' own
  std::uint32_t pair;  // state * A
  std::int32_t lane;
};

// A lane that has not reached its goal yet.
struct Walker {
  const double* law;    // of this lane
  std::uint32_t* path;  // of this lane
  double earned;        // discounted rewards
  std::int64_t pair;    // state * A: where the state's pairs begin; from n * A on: a goal
  std::int32_t lane;
  std::int32_t column;  // of its uniforms
};

// Uniforms of an episode are made for so many moves at a time, for the lanes that still walk.
inline constexpr int kWalkDraws = 4;

template <int W>
struct MdpRows {
  double* theta = nullptr;        // [W][own_states(n)][A]
  double* law = nullptr;          // [W][own_states(n)][2][A] pi, summed up over the actions; pi
  double* drawn = nullptr;        // a copy of the law that episodes are drawn from, if there is one
  double* advantage = nullptr;    // [W][own_states(n)][A] in the places of this update
  std::uint32_t* path = nullptr;  // [W][path_moves(limit)] state * A + action of every move
  double* path_weight = nullptr;  // off-policy only, as what follows: first the importance
  double* path_ratio = nullptr;   // importance ratios up to and including a move
  double* path_reward = nullptr;  // discounted
  std::int64_t* path_outcome = nullptr;  // of the model, of every move: if a critic learns from it
  double* discounts = nullptr;           // [path_moves(limit)]
  std::uint8_t* marks = nullptr;         // [n + 1] whether a lane was in a state
  std::uint32_t* found = nullptr;        // [n + 1] states that a lane was in
  Place* places = nullptr;               // [n * W + kPlaces]
  double* policy = nullptr;              // [n][A][W], see spread_policy()
  std::uint8_t* stale = nullptr;         // [n] whether it is older than the law
  std::int32_t* next_row = nullptr;      // [n][A] W * next of the one outcome, if deterministic
  double* visits = nullptr;              // [n][W]
  double* values = nullptr;              // [n + goals][W]
  double* spare_values = nullptr;        // [n + goals][W] for what must leave `values` alone
  double* slots = nullptr;               // [slots][W] of the elimination
  double* record = nullptr;              // [as wide as the widest quantity][W]
  double* strip_policy = nullptr;        // [A][kPlaces] of a strip of places
  double* strip_q = nullptr;             // [A][kPlaces]
  double* here = nullptr;                // [A][W] the policy where each walker is
  double* mixture = nullptr;             // [A][W]
  double* action_uniforms = nullptr;     // [kWalkDraws][W]
  double* transition_uniforms = nullptr;
  double* here_total = nullptr;  // [W], as all that follow
  double* mixture_total = nullptr;
  double* importance = nullptr;
  double* spare = nullptr;
  double* spare2 = nullptr;
  double* running_mean = nullptr;
  double* episode_return = nullptr;  // of the episode that is looked at, see face()
  double* length = nullptr;
  double* goal = nullptr;
  double* entropy_sum = nullptr;
  std::int64_t* made = nullptr;  // moves, as `length`
  std::int64_t* action = nullptr;
  Walker* walkers = nullptr;
  std::uint64_t* walking_run = nullptr;  // of every walker
  std::uint64_t* run = nullptr;
  MdpPrograms<W>* programs = nullptr;  // of formulas, if there are some
  // What is known of all episodes of one update, [samples] of what one of them has.
  std::uint32_t* paths = nullptr;
  std::int64_t* outcomes = nullptr;
  double* returns = nullptr;
  double* lengths = nullptr;
  double* goals = nullptr;
  std::int64_t* moves_made = nullptr;
};

// An odd number: neighbouring lanes must not share the sets of a cache.
COMMITTAL_INLINE std::int64_t own_states(std::int64_t acting) { return (acting + 1) | 1; }
// A path ends with moves from nowhere, for the last strip of it.
COMMITTAL_INLINE std::int64_t path_moves(std::int64_t limit) { return limit + kPlaces; }

// Episode number j of an update is the one that is looked at from now on.
template <int W>
COMMITTAL_INLINE void face(MdpRows<W>& s, const MdpView& plan, std::int64_t j) {
  s.path = s.paths + j * W * path_moves(plan.limit);
  s.path_outcome = s.outcomes + j * W * (plan.programs.critic ? path_moves(plan.limit) : 0);
  s.episode_return = s.returns + j * W;
  s.length = s.lengths + j * W;
  s.goal = s.goals + j * W;
  s.made = s.moves_made + j * W;
}

// Takes the rows of a block from an arena, as many of them to record in.
template <int W>
inline void lay_out(MdpRows<W>& s, const MdpView& plan, std::int64_t recorded, Arena& arena) {
  const std::int64_t n = plan.model.acting;
  const std::int64_t A = plan.model.actions;
  const std::int64_t own_pairs = own_states(n) * A;
  const std::int64_t moves = path_moves(plan.limit);
  s.theta = arena.take<double>(own_pairs, W);
  s.law = arena.take<double>(2 * own_pairs, W);
  if (plan.keeps_law) s.drawn = arena.take<double>(2 * own_pairs, W);
  s.advantage = arena.take<double>(own_pairs, W);
  const std::int64_t all_moves = plan.episodes * moves;
  s.paths = arena.take<std::uint32_t>(all_moves, W);
  s.path_weight = arena.take<double>(moves, W);
  s.path_ratio = arena.take<double>(moves, W);
  s.path_reward = arena.take<double>(moves, W);
  s.outcomes = arena.take<std::int64_t>(plan.programs.critic != nullptr ? all_moves : 0, W);
  s.discounts = arena.take<double>(moves);
  s.marks = arena.take<std::uint8_t>(n + 1);
  s.found = arena.take<std::uint32_t>(n + 1);
  s.places = arena.take<Place>(n * W + kPlaces);
  s.policy = arena.take<double>(n * A, W);
  s.stale = arena.take<std::uint8_t>(n);
  s.next_row = arena.take<std::int32_t>(n, A);
  s.visits = arena.take<double>(n, W);
  s.values = arena.take<double>(n + plan.model.goals, W);
  s.spare_values = arena.take<double>(n + plan.model.goals, W);
  s.slots = arena.take<double>(plan.model.elimination.slots, W);
  s.record = arena.take<double>(recorded, W);
  s.strip_policy = arena.take<double>(A, kPlaces);
  s.strip_q = arena.take<double>(A, kPlaces);
  s.here = arena.take<double>(A, W);
  s.mixture = arena.take<double>(A, W);
  s.action_uniforms = arena.take<double>(kWalkDraws, W);
  s.transition_uniforms = arena.take<double>(kWalkDraws, W);
  s.here_total = arena.take<double>(W);
  s.mixture_total = arena.take<double>(W);
  s.importance = arena.take<double>(W);
  s.spare = arena.take<double>(W);
  s.spare2 = arena.take<double>(W);
  s.running_mean = arena.take<double>(W);
  s.returns = arena.take<double>(plan.episodes, W);
  s.lengths = arena.take<double>(plan.episodes, W);
  s.goals = arena.take<double>(plan.episodes, W);
  s.entropy_sum = arena.take<double>(W);
  s.moves_made = arena.take<std::int64_t>(plan.episodes, W);
  s.action = arena.take<std::int64_t>(W);
  s.walkers = arena.take<Walker>(W);
  s.walking_run = arena.take<std::uint64_t>(W);
  s.run = arena.take<std::uint64_t>(W);
  s.programs = lay_out_programs<W>(plan, arena);
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
  const std::int64_t n;            // states that are acted in
  const std::int64_t own_pairs;    // numbers of theta and of advantages of one lane
  const std::int64_t path_stride;  // moves of the path of one lane
  Kept kept;
  int walking = 0;                    // lanes on their way
  std::int64_t reachable_places = 0;  // all there are, for the expected update
  Patience patience;

  MdpBlock(const MdpView& view, const BlockTask& block)
      : plan(view),
        task(block),
        m(view.model),
        n(view.model.acting),
        own_pairs(own_states(n) * view.model.actions),
        path_stride(path_moves(view.limit)),
        patience(block.proceed, block.proceed_context) {}

  COMMITTAL_INLINE std::int64_t A() const { return KT > 0 ? KT : m.actions; }
  // state * A of the number of a pair
  COMMITTAL_INLINE std::uint32_t first_pair(std::uint32_t pair) const {
    return pair - pair % static_cast<std::uint32_t>(A());
  }
  COMMITTAL_INLINE Place place(std::int64_t l, std::int64_t state) const {
    const std::int64_t pair = state * A();
    return {l * own_pairs + pair, static_cast<std::uint32_t>(pair), static_cast<std::int32_t>(l)};
  }
  // The law of a place: sums of pi, whose last is the total, then pi.
  COMMITTAL_INLINE double* law_at(std::int64_t own) const { return this->law + 2 * own; }
  COMMITTAL_INLINE double* pi_at(std::int64_t own) const { return this->law + 2 * own + A(); }
  COMMITTAL_INLINE std::uint32_t* path_of(std::int64_t l) const {
    return this->path + l * path_stride;
  }
};

}  // namespace committal::COMMITTAL_ISA
