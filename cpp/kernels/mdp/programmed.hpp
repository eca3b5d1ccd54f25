// MDPs with formulas: a baseline per state, a weight and an update per visit, an optimiser of the
// whole table of parameters.
//
// A program sees one state: the numbers of its actions, and a visit to it as its one sample. No
// number of it belongs to a lane, so it looks at as many places or visits together as it likes, of
// whatever lanes. Only an optimiser keeps something from update to update and goes by lanes. What a
// visit is multiplied by from outside (discount, importance ratios of the moves before) stays
// outside. Blocks without formulas have no MdpPrograms.
#pragma once

#include "kernels/mdp/view.hpp"
#include "kernels/program.hpp"

namespace committal::COMMITTAL_ISA {

struct Place;
template <int W>
struct MdpRows;

template <int W>
struct MdpPrograms {
  LaneProgram<kMdpSeen> baseline;
  LaneProgram<kMdpSeen> weight;
  LaneProgram<kMdpSeen> update;
  LaneProgram<kMdpSeen> link;  // f(theta), and f'
  LaneProgram<W> optimiser;
  LaneProgram<kMdpSeen> critic;  // a baseline that learns, with states for every state
  LaneProgram<kMdpSeen>* quantities = nullptr;  // what is recorded
  double** learned = nullptr;                   // by state of it: [W][own_states(n)][one, or A]
  LaneProgram<W> group;                         // A of the episodes of an update, among one another
  LaneProgram<W> scale;                         // what A of all groups is divided by
  double* group_returns = nullptr;              // [samples][W] of one group
  double* advantages = nullptr;                 // [episodes][W]
  double* group_norms = nullptr;                // [samples][W] of one group, if centres ask
  double* norms = nullptr;                      // [episodes][W] |sum of e_a - pi|^2 of each
  double* score_sum = nullptr;                  // [own_states(n)][A]; 0 but while it is found
  const double* signal = nullptr;  // [W] that of the episode looked at, if there is a group
  double* group_b = nullptr;       // [W] what it sees as b
  double* batch_size = nullptr;    // [W] how many episodes there are
  double* group_size = nullptr;    // [W] how many there are
  std::uint32_t of_place = 0;      // inputs of the baseline, as bits
  std::uint32_t of_visit = 0;      // inputs of weight and update
  double* time = nullptr;          // [kMdpSeen]
  double* one = nullptr;           // [kMdpSeen]
  double* arms = nullptr;          // [kMdpSeen] actions of a state
  double* pi = nullptr;            // [A][kMdpSeen], as those below
  double* r = nullptr;
  double* theta = nullptr;
  double* start = nullptr;
  double* mu = nullptr;
  double* score = nullptr;
  double* natural = nullptr;
  double* total = nullptr;   // [kMdpSeen], as those below
  double* action = nullptr;  // the visits
  double* reward = nullptr;
  double* ratio = nullptr;
  double* b = nullptr;
  double* advantage = nullptr;
  double* inverse = nullptr;        // 1 / pi(a)
  double* factor = nullptr;         // what multiplies a visit from outside
  double* place_b = nullptr;        // [W][own_states(n)][A] b in the places of this update, first
  double* rise = nullptr;           // [W][own_states(n)][A] f'(theta) / F, if there is a link
  double* place_q = nullptr;        // [W][own_states(n)][A] Q there, if visits are asked for it
  double* gradient = nullptr;       // [W][own_states(n)][A] what moves add up to; 0 between updates
  double* lane_time = nullptr;      // [W], as `all`: what an optimiser sees
  double* all = nullptr;            // pairs of the table
  double* gradient_rows = nullptr;  // [n][A][W]
  double* theta_rows = nullptr;     // [n][A][W]
  Place* everywhere = nullptr;  // [n * W + kPlaces] every state of the lanes that mean something
  std::int64_t places = 0;      // of them
  double* lost = nullptr;       // [W] 0 as long as all that programs gave was finite, else NaN

  bool along_link = false;  // whether updates look at the slopes of the link

  // Whether A of a group depends on the scores of its episodes.
  bool by_norms() const { return group && group.view().uses(ProgramInput::kWeight); }
  bool per_visit() const { return static_cast<bool>(weight) || static_cast<bool>(update); }
  // Whether moves are added up before theta follows: an optimiser wants the sum, and programs that
  // read theta want the old one.
  bool gathers() const {
    return static_cast<bool>(optimiser) ||
           (of_visit >> static_cast<int>(ProgramInput::kTheta) & 1u) != 0;
  }
};

// Takes memory if the plan has programs, else there is none.
template <int W>
MdpPrograms<W>* lay_out_programs(const MdpView& plan, Arena& arena);
// The same of its critic, in critic.cpp.
template <int W>
void lay_out_critic(MdpPrograms<W>& p, const MdpView& plan, Arena& arena);
// The same of what is recorded, in quantities.cpp.
template <int W>
void lay_out_quantities(MdpPrograms<W>& p, const MdpView& plan, Arena& arena);
// Puts a recorded formula into the rows of the record: of every state, or their mean. Q is in the
// rows of advantages, and `visits` are the weights of the states in a mean, or null.
template <int W>
void look_at_states(MdpRows<W>& s, const MdpView& plan, std::int64_t formula, const double* visits,
                    Patience& patience);
// pi = f(theta) / F in some places, by the link, in link.cpp.
template <int W>
void refresh_linked(MdpRows<W>& s, const MdpView& plan, const Place* places, std::int64_t count,
                    Patience& patience);
// Nothing is learned yet.
template <int W>
void start_critic(const MdpPrograms<W>& p, const MdpView& plan);
// `lanes` of the block mean something.
template <int W>
void start_programs(MdpRows<W>& s, const MdpView& plan, int lanes);
// Before everything else that happens at time t.
template <int W>
void see_time(MdpRows<W>& s, std::int64_t t);
// place_b += the formula in some places, whose Q is in the rows of advantages.
template <int W>
void add_formula_baseline(MdpRows<W>& s, const MdpView& plan, const Place* places,
                          std::int64_t count, Patience& patience);
// place_b += what the critic has learned there.
template <int W>
void add_critic(MdpRows<W>& s, const MdpView& plan, const Place* places, std::int64_t count,
                Patience& patience);
// The critic follows the episodes of some lanes, move by move: theta is still the old one.
template <int W>
void learn(MdpRows<W>& s, const MdpView& plan, int lanes, Patience& patience);
// A of all episodes of the update, from their returns and, if centres ask, `norms`.
template <int W>
void compare_episodes(MdpRows<W>& s, const MdpView& plan, Patience& patience);
// path_weight of every move of some lanes becomes what its direction is multiplied by. Off the
// policy path_ratio has the ratios of the moves before, and path_weight that of the move itself.
template <int W>
void weigh_by_program(MdpRows<W>& s, const MdpView& plan, int lanes, bool along_score,
                      Patience& patience);
// table += alpha times what the update gives for the moves of some lanes.
template <int W>
void follow_update(MdpRows<W>& s, const MdpView& plan, int lanes, double alpha, double* table,
                   Patience& patience);
// theta += alpha times the gradient, or the optimiser's step along it; the gradient is 0 again. It
// was moved in some places only.
template <int W>
void take_step(MdpRows<W>& s, const MdpView& plan, double alpha, const Place* places,
               std::int64_t count);
// sum += 0 where everything that programs gave and keep is a number, else NaN.
template <int W>
void add_lost(const MdpPrograms<W>& p, double* sum);

}  // namespace committal::COMMITTAL_ISA
