// MDPs with formulas: a baseline per state, a weight and an update per visit, an optimiser of the
// whole table of parameters.
//
// A program sees one state: the rows of its actions, gathered from wherever each lane has been, and
// the visit as its one sample. What a visit is multiplied by from outside (discount, importance
// ratios of the moves before) stays outside. Blocks without formulas have no MdpPrograms.
#pragma once

#include "kernels/behaviours.hpp"
#include "kernels/mdp/view.hpp"
#include "kernels/program.hpp"

namespace committal::COMMITTAL_ISA {

template <int W>
struct MdpRows;

template <int W>
struct MdpPrograms {
  LaneProgram<W> baseline;
  LaneProgram<W> weight;
  LaneProgram<W> update;
  LaneProgram<W> optimiser;
  std::uint32_t used = 0;
  double* time = nullptr;  // [W]
  double* one = nullptr;   // [W]
  double* arms = nullptr;  // [W] of a state
  double* all = nullptr;   // [W] of the whole table
  double* pi = nullptr;    // [A][W], as those below
  double* r = nullptr;
  double* theta = nullptr;
  double* mu = nullptr;
  double* score = nullptr;
  double* natural = nullptr;
  double* action = nullptr;  // [W], as those below: the visit
  double* reward = nullptr;
  double* ratio = nullptr;
  double* b = nullptr;
  double* advantage = nullptr;
  double* inverse = nullptr;   // 1 / pi(a)
  double* factor = nullptr;    // what multiplies a visit from outside, 0 after the end
  double* gradient = nullptr;  // [n + 1][A][W] for the optimiser

  bool per_visit() const { return static_cast<bool>(weight) || static_cast<bool>(update); }
  // Whether moves are added up before theta follows: an optimiser wants the sum, and programs that
  // read theta want the old one.
  bool gathers() const {
    return static_cast<bool>(optimiser) ||
           (per_visit() && (used >> static_cast<int>(ProgramInput::kTheta) & 1u) != 0);
  }
};

// Takes memory if the plan has programs, else there is none.
template <int W>
MdpPrograms<W>* lay_out_programs(const MdpView& plan, Arena& arena);
template <int W>
void start_programs(MdpRows<W>& s, const MdpView& plan);
// Before everything else that happens at time t.
template <int W>
void see_time(MdpRows<W>& s, std::int64_t t);
// b += the formula in state i, whose Q is in the rows of advantages.
template <int W>
void add_formula_baseline(MdpRows<W>& s, const MdpView& plan, std::int64_t i, double* b);
// b = other + the formula in the states of a move.
template <int W>
void formula_baseline_at(MdpRows<W>& s, const MdpView& plan, std::int64_t move, const double* other,
                         double* b);
// path_weight of a move becomes what its direction is multiplied by; `other` is the rest of b
// where the signal is the return.
template <int W>
void weigh_by_program(MdpRows<W>& s, const MdpView& plan, std::int64_t move, bool along_score,
                      const double* other);
// theta += alpha times what the update gives for a move.
template <int W>
void follow_update(MdpRows<W>& s, const MdpView& plan, std::int64_t move, double alpha,
                   const double* other);
// Rows of zeros that moves are added to, in the place of theta.
template <int W>
double* start_gradient(MdpRows<W>& s, const MdpView& plan);
// theta += alpha times the gradient, or the optimiser's step along it.
template <int W>
void take_step(MdpRows<W>& s, const MdpView& plan, double alpha);
// sum += 0 where every state row is a number, else NaN.
template <int W>
void add_lost(const MdpPrograms<W>& p, double* sum);

}  // namespace committal::COMMITTAL_ISA
