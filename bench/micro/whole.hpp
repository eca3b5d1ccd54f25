// What micro-benchmarks need of the rest of the library, which is not compiled per instruction set.
#pragma once

#include <cstdint>

namespace committal {
struct BanditView;
}

namespace committal::micro {

// Blocks of runs that are made from beginning to end, by parts named as in Python; or, for
// `kElimination`, exact evaluations.
enum class What { kBandit, kMaze, kElimination };

// A constant of this type can be a parameter of a template: hence the arrays.
struct Work {
  What what = What::kBandit;
  char kernel[16] = "";
  char variant[32] = "";
  std::int64_t arms = 0;
  char update[16] = "natural";
  char baseline[32] = "value";  // "" for none
  char behaviour[16] = "on_policy";
  char noise[16] = "deterministic";
  char estimator[16] = "";  // of mazes
  bool recorded = false;    // the policy, at every update
  int side = 0;             // of the square with four rooms
};

struct Whole;
Whole* make_whole(const Work& work, const char* isa);
void run_whole(Whole& whole);
double units_of(const Whole& whole);  // runs times updates, or policies

// A plan for blocks that are filled by hand.
const BanditView& natural_bandit(std::int64_t arms);
// Adds numbers and their squares to exact sums.
void accumulate_all(const double* x, int count);

}  // namespace committal::micro
