#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, m, pybind11::mod_gil_not_used()) {
  m.doc() = "The compiled core of committal: plans in, arrays out.";
  committal::register_info(m);
  committal::register_math(m);
  committal::register_simulate(m);
  committal::register_program(m);
  committal::register_bandit(m);
  committal::register_mdp(m);
}
