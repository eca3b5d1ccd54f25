// What each instruction set provides: functions, and the rows of the parts that they know.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/array.hpp"
#include "core/isa.hpp"
#include "core/quantity.hpp"
#include "core/task.hpp"
#include "kernels/parts.hpp"

namespace committal {

struct BanditView;
struct MdpView;
struct MdpModelView;
struct MdpSolve;
struct ProgramTask;

// `run` works in as many bytes as `bytes` says.
template <typename View, typename Task, typename Result>
struct Kernel {
  std::size_t (*bytes)(const View&);
  Result (*run)(const View&, const Task&);
};

// Kernels come in two widths: many lanes, or few while that keeps a block near the processor.
template <typename View, typename Task, typename Result>
struct Kernels {
  Kernel<View, Task, Result> wide;
  Kernel<View, Task, Result> narrow;
};

// Programs over arrays, by lanes per block; the same bits whichever is taken.
struct ProgramKernel {
  int lanes;
  std::size_t (*bytes)(const ProgramTask&);
  void (*run)(const ProgramTask&);
};
using ProgramKernels = ProgramKernel[3];

struct KernelTable {
  Kernels<BanditView, BlockTask, void> bandit;
  Kernels<MdpView, BlockTask, void> mdp;
  // As many policies as lanes; false, and nothing written, if one of them is not a law.
  Kernels<MdpModelView, MdpSolve, bool> mdp_solve;
  ProgramKernels program;
  void (*exp)(const double* x, double* y, std::size_t count);
  void (*log)(const double* x, double* y, std::size_t count);
  void (*normal_quantile)(const double* x, double* y, std::size_t count);
  void (*uniforms)(std::uint64_t key, std::uint64_t run, std::uint32_t slot, std::uint64_t first,
                   double* out, std::size_t count);
  // The same for every instruction set.
  Array<BaselineRow> baselines;
  Array<BehaviourRow> behaviours;
  Array<UpdateRow> updates;
  Array<Named> mdp_updates;
  Array<Quantity<BanditView>> quantities;
  Array<Quantity<MdpView>> mdp_quantities;
};

const KernelTable& kernel_table(Isa isa);
// The one that every machine has, for the rows.
inline const KernelTable& parts() { return kernel_table(Isa::kGeneric); }

}  // namespace committal
