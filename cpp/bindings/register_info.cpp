#include <pybind11/stl.h>

#include "bindings/arguments.hpp"
#include "bindings/bindings.hpp"
#include "core/accumulator.hpp"
#include "core/isa.hpp"
#include "core/limits.hpp"
#include "core/rng.hpp"
#include "kernels/bandit/view.hpp"
#include "kernels/mdp/view.hpp"
#include "plan/parts.hpp"

#ifndef COMMITTAL_VERSION
#define COMMITTAL_VERSION "0"
#endif

namespace committal {
namespace {

template <typename Row>
std::vector<std::string> names(Array<Row> rows) {
  std::vector<std::string> all;
  for (const Row& row : rows) all.emplace_back(row.name);
  return all;
}

py::dict available() {
  py::dict all;
  all["policies"] = names(rows_of(Policy{}));
  all["updates"] = names(rows_of(Update{}));
  all["mdp_updates"] = names(rows_of(MdpUpdate{}));
  all["estimators"] = names(rows_of(Estimator{}));
  all["behaviours"] = names(rows_of(Behaviour{}));
  all["noises"] = names(rows_of(Noise{}));
  all["baselines"] = names(rows_of(Baseline{}));
  all["recorders"] = names(parts().quantities);
  all["mdp_estimators"] = names(rows_of(MdpEstimator{}));
  all["solvers"] = names(rows_of(Solver{}));
  all["mdp_recorders"] = names(parts().mdp_quantities);
  all["isas"] = available_isas();
  return all;
}

py::dict limits() {
  py::dict all;
  all["threads"] = kMostThreads;
  all["draws"] = kMostDraws;
  all["magnitude"] = kLargest;
  all["arms"] = kMostArms;
  all["states"] = kMostStates;
  all["pairs"] = kMostPairs;
  all["samples"] = kMostSamples;
  all["episode"] = kMostEpisode;
  all["policy_sum"] = kSumTolerance;
  all["operations"] = kMostProgramOperations;
  all["registers"] = kMostProgramRegisters;
  return all;
}

py::dict build_info() {
  py::dict info;
  info["version"] = COMMITTAL_VERSION;
#if defined(__clang__)
  info["compiler"] = "clang " __clang_version__;
#else
  info["compiler"] = "gcc " __VERSION__;
#endif
  info["cxx_standard"] = static_cast<long>(__cplusplus);
  info["stream_version"] = kStreamVersion;
  info["isa"] = available_isas().back();
  info["isas"] = available_isas();
  return info;
}

}  // namespace

void register_info(py::module_& m) {
  m.attr("ACCUMULATOR_LIMBS") = kAccumulatorLimbs;
  m.attr("ACCUMULATOR_BASE") = kAccumulatorBase;
  m.attr("STREAM_VERSION") = kStreamVersion;
  m.def("available", &available, "Every name the core understands, by kind.");
  m.def("limits", &limits, "The limits of the core, by name.");
  m.def("build_info", &build_info, "Version, compiler and instruction sets.");
}

}  // namespace committal
