// The parts of the Python module, one file each; pybind11 is included nowhere else.
#pragma once

#include <pybind11/pybind11.h>

namespace committal {

void register_info(pybind11::module_& m);      // names, limits, build
void register_math(pybind11::module_& m);      // the kernels' functions and streams
void register_simulate(pybind11::module_& m);  // Simulator, simulate, reduce
void register_program(pybind11::module_& m);   // Program, run_program
void register_bandit(pybind11::module_& m);    // BanditSimulator
void register_mdp(pybind11::module_& m);       // MdpModel, MdpSimulator

}  // namespace committal
