// Programs as plans own them: checked, so that kernels can trust them, with rows given out.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/isa.hpp"
#include "kernels/program_view.hpp"

namespace committal {

// What Python lowers a formula to. Registers are numbers; each is defined once: by a constant, an
// input or an operation, before it is read.
struct ProgramParts {
  struct Operation {
    std::string name;
    std::vector<std::int64_t> numbers;  // the result's register, the operands', a whole number
  };
  std::vector<std::string> registers;  // their shapes
  std::vector<std::pair<std::int64_t, double>> constants;
  std::vector<std::pair<std::string, std::int64_t>> inputs;
  std::vector<Operation> code;
  std::vector<std::pair<std::string, std::int64_t>> outputs;
  std::map<std::string, double> state;  // initial values
};

class Program {
 public:
  // Throws std::invalid_argument that names the argument, its value and what is allowed.
  explicit Program(const ProgramParts& parts);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ProgramView& view() const { return view_; }
  const std::vector<std::string>& inputs() const { return input_names_; }
  const std::vector<std::string>& outputs() const { return output_names_; }
  const std::vector<std::string>& states() const { return state_names_; }
  // Where an output is, or -1.
  std::int64_t output(std::string_view name) const;
  RowShape input_shape(std::size_t i) const;

 private:
  void add_registers(const ProgramParts& parts);
  void add_inputs(const ProgramParts& parts);
  void add_code(const ProgramParts& parts);
  void add_outputs(const ProgramParts& parts);
  // In program_passes.cpp, in this order.
  void merge_products();
  void mark_uniform();
  void divide_by_uniform();
  void merge_roots();
  void do_uniform_first();
  void find_states_in_place();
  void give_out_slots();
  std::int32_t register_number(const std::string& argument, std::int64_t number) const;
  void define(const std::string& argument, std::int32_t number, ProgramRegister::Kind kind,
              std::size_t place);
  std::int32_t state_number(const std::string& argument, std::string_view name) const;
  void check_shapes(const std::string& argument, const ProgramInstruction& code) const;

  std::vector<ProgramRegister> registers_;
  std::vector<bool> defined_;
  std::vector<double> constants_;
  std::vector<ProgramInputUse> inputs_;
  std::vector<std::string> input_names_;
  std::vector<ProgramInstruction> code_;
  std::vector<bool> same_;  // of the registers: on every lane
  std::vector<std::int32_t> kept_;
  std::vector<std::int32_t> outputs_;
  std::vector<std::string> output_names_;
  std::vector<ProgramState> states_;
  std::vector<std::string> state_names_;
  ProgramView view_{};
};

// Evaluates a program over arrays: inputs by their place, null for the initial value of a state;
// outputs, then states. `lanes_per_block` is 0, or one of the widths of the kernels.
void run_program(const Program& program, ProgramExtent extent, std::int64_t lanes,
                 const std::vector<const double*>& inputs, const std::vector<double*>& outputs,
                 Isa isa, int lanes_per_block);

}  // namespace committal
