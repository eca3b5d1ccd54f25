#include "plan/program.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/arena.hpp"
#include "core/check.hpp"
#include "core/limits.hpp"
#include "kernels/table.hpp"

namespace committal {
namespace {

constexpr std::string_view kStatePrefix = "state:";
constexpr std::int64_t kMostPower = 1024;

bool is_state(std::string_view name) { return name.substr(0, kStatePrefix.size()) == kStatePrefix; }

std::string shape_name(RowShape shape) {
  return quoted(rows_of(shape)[static_cast<std::int64_t>(shape)].name);
}

template <typename T>
Array<T> seen(const std::vector<T>& all) {
  return {all.data(), static_cast<std::int64_t>(all.size())};
}

// Whether a row of this shape can be repeated to make the other one.
bool broadcasts(RowShape from, RowShape to) {
  return from == to || from == RowShape::kRun || to == RowShape::kSampleArm;
}

RowShape without_arms(RowShape shape) {
  return has_samples(shape) ? RowShape::kSample : RowShape::kRun;
}
RowShape without_samples(RowShape shape) {
  return has_arms(shape) ? RowShape::kArm : RowShape::kRun;
}

}  // namespace

Program::Program(const ProgramParts& parts) {
  add_registers(parts);
  add_inputs(parts);
  add_code(parts);
  add_outputs(parts);
  merge_products();
  mark_uniform();
  divide_by_uniform();
  merge_roots();
  do_uniform_first();
  find_states_in_place();
  view_.registers = seen(registers_);
  view_.code = seen(code_);
  view_.constants = seen(constants_);
  view_.inputs = seen(inputs_);
  view_.states = seen(states_);
  view_.outputs = seen(outputs_);
  give_out_slots();
}

std::int64_t Program::output(std::string_view name) const {
  const auto found = std::find(output_names_.begin(), output_names_.end(), name);
  return found == output_names_.end() ? -1 : found - output_names_.begin();
}

RowShape Program::input_shape(std::size_t i) const {
  return registers_[static_cast<std::size_t>(inputs_[i].place)].shape;
}

std::int32_t Program::register_number(const std::string& argument, std::int64_t number) const {
  require_between(argument, number, 0, static_cast<std::int64_t>(registers_.size()) - 1);
  return static_cast<std::int32_t>(number);
}

void Program::define(const std::string& argument, std::int32_t number, ProgramRegister::Kind kind,
                     std::size_t place) {
  const auto at = static_cast<std::size_t>(number);
  if (defined_[at]) {
    refuse(argument, "register " + std::to_string(number), "a register that is not defined yet");
  }
  defined_[at] = true;
  registers_[at].kind = kind;
  registers_[at].place = static_cast<std::int32_t>(place);
}

std::int32_t Program::state_number(const std::string& argument, std::string_view name) const {
  const auto found = std::find(state_names_.begin(), state_names_.end(), name);
  if (found == state_names_.end()) {
    refuse(argument, quoted(name), "a state that has an initial value in 'state'");
  }
  return static_cast<std::int32_t>(found - state_names_.begin());
}

void Program::add_registers(const ProgramParts& parts) {
  require_between("the number of registers", static_cast<std::int64_t>(parts.registers.size()), 0,
                  kMostProgramRegisters);
  for (std::size_t i = 0; i < parts.registers.size(); ++i) {
    const std::int64_t shape =
        resolve(item("registers", i).c_str(), parts.registers[i], rows_of(RowShape{}));
    registers_.push_back({static_cast<RowShape>(shape), ProgramRegister::Kind::kComputed, -1});
  }
  defined_.assign(registers_.size(), false);
  for (std::size_t i = 0; i < parts.constants.size(); ++i) {
    const auto& [number, value] = parts.constants[i];
    const std::string argument = item("constants", i);
    const std::int32_t at = register_number(argument, number);
    if (registers_[static_cast<std::size_t>(at)].shape != RowShape::kRun) {
      refuse(argument, "register " + std::to_string(at), "a register of shape 'run'");
    }
    if (!std::isfinite(value)) refuse(argument, show(value), "a finite number");
    define(argument, at, ProgramRegister::Kind::kConstant, constants_.size());
    constants_.push_back(value);
  }
}

void Program::add_inputs(const ProgramParts& parts) {
  for (const auto& [name, initial] : parts.state) {
    if (!std::isfinite(initial)) {
      refuse("state[" + quoted(name) + "]", show(initial), "a finite number");
    }
    state_names_.push_back(name);
    states_.push_back({RowShape::kRun, initial, -1, false});
  }
  std::vector<bool> shaped(states_.size(), false);
  const auto shape_state = [&](const std::string& argument, std::int32_t state, RowShape shape) {
    const auto at = static_cast<std::size_t>(state);
    if (has_samples(shape) || (shaped[at] && states_[at].shape != shape)) {
      refuse(argument, shape_name(shape),
             "the same 'run' or 'arm' for input and output of a state");
    }
    states_[at].shape = shape;
    shaped[at] = true;
  };
  for (std::size_t i = 0; i < parts.inputs.size(); ++i) {
    const auto& [name, number] = parts.inputs[i];
    const std::string argument = item("inputs", i);
    if (std::find(input_names_.begin(), input_names_.end(), name) != input_names_.end()) {
      refuse(argument, quoted(name), "every input once");
    }
    const std::int32_t at = register_number(argument, number);
    const RowShape shape = registers_[static_cast<std::size_t>(at)].shape;
    ProgramInputUse use{-1, -1, at};
    if (is_state(name)) {
      use.state = state_number(argument, std::string_view(name).substr(kStatePrefix.size()));
      shape_state(argument, use.state, shape);
    } else {
      const Array<ProgramInputRow> known = rows_of(ProgramInput{});
      for (std::int64_t k = 0; k < known.count; ++k) {
        if (name != known[k].name) continue;
        if (shape != known[k].shape) {
          refuse(argument, quoted(name) + " of shape " + shape_name(shape),
                 "shape " + shape_name(known[k].shape));
        }
        use.known = static_cast<std::int32_t>(k);
        view_.used |= std::uint32_t{1} << k;
      }
    }
    define(argument, at, ProgramRegister::Kind::kInput, i);
    inputs_.push_back(use);
    input_names_.push_back(name);
  }
  // The shape of a state is also that of its output, which may be all that there is of it.
  for (std::size_t i = 0; i < parts.outputs.size(); ++i) {
    const auto& [name, number] = parts.outputs[i];
    if (!is_state(name)) continue;
    const std::string argument = item("outputs", i);
    const std::int32_t state =
        state_number(argument, std::string_view(name).substr(kStatePrefix.size()));
    const std::int32_t at = register_number(argument, number);
    shape_state(argument, state, registers_[static_cast<std::size_t>(at)].shape);
  }
}

void Program::check_shapes(const std::string& argument, const ProgramInstruction& code) const {
  const OpcodeRow& row = kOpcodes[static_cast<int>(code.op)];
  const auto shape_of = [&](std::int32_t number) {
    return registers_[static_cast<std::size_t>(number)].shape;
  };
  const RowShape to = shape_of(code.to);
  const RowShape from = shape_of(code.from[0]);
  const auto wrong = [&](RowShape operand, const std::string& allowed) {
    refuse(argument, quoted(row.name) + " of " + shape_name(operand) + " giving " + shape_name(to),
           allowed);
  };
  constexpr const char* kIndex = "the input 'a' or a number of shape 'run'";
  constexpr const char* kIndexed = "'arm', giving the shape of its index";
  const auto is_index = [&](std::int32_t number) {
    const ProgramRegister& reg = registers_[static_cast<std::size_t>(number)];
    if (reg.shape == RowShape::kRun) return true;
    return reg.kind == ProgramRegister::Kind::kInput &&
           inputs_[static_cast<std::size_t>(reg.place)].known ==
               static_cast<int>(ProgramInput::kAction);
  };
  switch (row.family) {
    case OpcodeFamily::kElementwise:
      for (int i = 0; i < row.operands; ++i) {
        const RowShape operand = shape_of(code.from[i]);
        if (!broadcasts(operand, to)) wrong(operand, "operands that broadcast to the result");
      }
      break;
    case OpcodeFamily::kReducesArms:
      if (!has_arms(from) || to != without_arms(from)) wrong(from, "arms, which it loses");
      break;
    case OpcodeFamily::kReducesSamples:
      if (!has_samples(from) || to != without_samples(from)) wrong(from, "samples, which it loses");
      break;
    case OpcodeFamily::kOthersArms:
      if (!has_arms(from) || to != from) wrong(from, "arms, and the same shape");
      break;
    case OpcodeFamily::kOthersSamples:
      if (!has_samples(from) || to != from) wrong(from, "samples, and the same shape");
      break;
    case OpcodeFamily::kGather:
      if (from != RowShape::kArm || to != shape_of(code.from[1])) wrong(from, kIndexed);
      if (!is_index(code.from[1])) refuse(argument, "another index", kIndex);
      break;
    case OpcodeFamily::kOnehot:
      if (has_arms(to) && to != from && without_arms(to) == from && is_index(code.from[0])) break;
      if (!is_index(code.from[0])) refuse(argument, "another index", kIndex);
      wrong(from, "'sample_arm' of the input 'a', 'arm' of a number of shape 'run'");
  }
}

void Program::add_code(const ProgramParts& parts) {
  require_between("the number of operations", static_cast<std::int64_t>(parts.code.size()), 0,
                  kMostProgramOperations);
  for (std::size_t i = 0; i < parts.code.size(); ++i) {
    const auto& [name, numbers] = parts.code[i];
    const std::string argument = item("code", i);
    const std::int64_t op = resolve(argument.c_str(), name, rows_of(Opcode{}));
    const OpcodeRow& row = kOpcodes[op];
    ProgramInstruction code{static_cast<Opcode>(op), 0, {}, 0, false};
    const bool whole = code.op == Opcode::kPowi;
    const auto expected = static_cast<std::size_t>(row.operands) + (whole ? 2U : 1U);
    if (numbers.size() != expected) {
      refuse(argument, quoted(name) + " with " + std::to_string(numbers.size()) + " numbers",
             std::to_string(expected));
    }
    for (int k = 0; k < row.operands; ++k) {
      code.from[k] = register_number(argument, numbers[static_cast<std::size_t>(k) + 1]);
      if (!defined_[static_cast<std::size_t>(code.from[k])]) {
        refuse(argument, "register " + std::to_string(code.from[k]),
               "a register that is defined before it is read");
      }
    }
    if (whole) {
      require_between(argument, numbers.back(), -kMostPower, kMostPower);
      code.number = static_cast<std::int32_t>(numbers.back());
    }
    code.to = register_number(argument, numbers[0]);
    define(argument, code.to, ProgramRegister::Kind::kComputed, 0);
    check_shapes(argument, code);
    code_.push_back(code);
  }
}

void Program::add_outputs(const ProgramParts& parts) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.outputs.size(); ++i) {
    const auto& [name, number] = parts.outputs[i];
    const std::string argument = item("outputs", i);
    const std::int32_t at = register_number(argument, number);
    if (!defined_[static_cast<std::size_t>(at)]) {
      refuse(argument, "register " + std::to_string(at), "a register that is defined");
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      refuse(argument, quoted(name), "every output once");
    }
    names.push_back(name);
    if (is_state(name)) {
      const auto state = static_cast<std::size_t>(
          state_number(argument, std::string_view(name).substr(kStatePrefix.size())));
      states_[state].next = at;
    } else {
      output_names_.push_back(name);
      outputs_.push_back(at);
    }
  }
  // A state that nobody reads or writes must still have been meant to be one.
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    if (!defined_[i]) {
      refuse(item("registers", i), "a register without a value",
             "a constant, an input or an operation for each");
    }
  }
}

void run_program(const Program& program, ProgramExtent extent, std::int64_t lanes,
                 const std::vector<const double*>& inputs, const std::vector<double*>& outputs,
                 Isa isa, int lanes_per_block) {
  const ProgramKernels& kernels = kernel_table(isa).program;
  const ProgramKernel* kernel = nullptr;
  for (const ProgramKernel& each : kernels) {
    if (each.lanes == lanes_per_block || (lanes_per_block == 0 && kernel == nullptr)) {
      kernel = &each;
    }
  }
  if (kernel == nullptr) {
    refuse("block", std::to_string(lanes_per_block), "0, 8, 16 or 64");
  }
  ProgramTask task{&program.view(), extent, lanes, inputs.data(), outputs.data(), nullptr};
  const Workspace workspace = make_workspace(kernel->bytes(task));
  task.workspace = workspace.get();
  kernel->run(task);
}

}  // namespace committal
