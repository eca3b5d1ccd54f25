// What is done to a program once it is known to be right: fewer operations, fewer rows.
#include <algorithm>

#include "plan/program.hpp"

namespace committal {
namespace {

int operands_of(const ProgramInstruction& code) {
  return kOpcodes[static_cast<int>(code.op)].operands;
}
bool is_elementwise(const ProgramInstruction& code) {
  return kOpcodes[static_cast<int>(code.op)].family == OpcodeFamily::kElementwise;
}

}  // namespace

// mul and sum_arms, mul and add, where nobody else needs the product: one operation without a row
// between them, with the same bits.
void Program::merge_products() {
  constexpr std::size_t kNobody = ~std::size_t{0};
  std::vector<int> uses(registers_.size(), 0);
  std::vector<std::size_t> maker(registers_.size(), kNobody);
  for (std::size_t i = 0; i < code_.size(); ++i) {
    for (int k = 0; k < operands_of(code_[i]); ++k) {
      ++uses[static_cast<std::size_t>(code_[i].from[k])];
    }
    maker[static_cast<std::size_t>(code_[i].to)] = i;
  }
  for (const std::int32_t output : outputs_) ++uses[static_cast<std::size_t>(output)];
  for (const ProgramState& state : states_) {
    if (state.next >= 0) ++uses[static_cast<std::size_t>(state.next)];
  }
  std::vector<bool> gone(code_.size(), false);
  // The product that a register is, if it serves for this alone; its operands may be merged as well
  // by now, but they are still there.
  const auto product = [&](std::int32_t number) -> const ProgramInstruction* {
    const std::size_t at = maker[static_cast<std::size_t>(number)];
    const bool alone = at != kNobody && uses[static_cast<std::size_t>(number)] == 1;
    return alone && code_[at].op == Opcode::kMul ? &code_[at] : nullptr;
  };
  const auto same_shape = [&](const ProgramInstruction& a, const ProgramInstruction& b) {
    return registers_[static_cast<std::size_t>(a.to)].shape ==
           registers_[static_cast<std::size_t>(b.to)].shape;
  };
  const auto merge = [&](ProgramInstruction& code, const ProgramInstruction& mul, Opcode op,
                         std::int32_t other) {
    gone[maker[static_cast<std::size_t>(mul.to)]] = true;
    code = {op, code.to, {mul.from[0], mul.from[1], other}, 0, false};
  };
  for (ProgramInstruction& code : code_) {
    if (code.op == Opcode::kSumArms) {
      if (const auto* mul = product(code.from[0])) merge(code, *mul, Opcode::kDotArms, 0);
    } else if (code.op == Opcode::kAdd || code.op == Opcode::kSub) {
      const bool add = code.op == Opcode::kAdd;
      const auto* first = product(code.from[0]);
      const auto* second = product(code.from[1]);
      if (first != nullptr && same_shape(*first, code)) {
        merge(code, *first, add ? Opcode::kMulAdd : Opcode::kMulSub, code.from[1]);
      } else if (second != nullptr && same_shape(*second, code)) {
        merge(code, *second, add ? Opcode::kMulAdd : Opcode::kSubMul, code.from[0]);
      }
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < code_.size(); ++i) {
    if (!gone[i]) code_[kept++] = code_[i];
  }
  code_.resize(kept);
}

// What depends on t, K, N and constants alone is the same for all runs of a block.
void Program::mark_uniform() {
  std::vector<bool> same(registers_.size(), false);
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    const ProgramRegister& reg = registers_[i];
    if (reg.kind == ProgramRegister::Kind::kConstant) same[i] = true;
    if (reg.kind != ProgramRegister::Kind::kInput) continue;
    const std::int32_t known = inputs_[static_cast<std::size_t>(reg.place)].known;
    same[i] = known == static_cast<int>(ProgramInput::kTime) ||
              known == static_cast<int>(ProgramInput::kArms) ||
              known == static_cast<int>(ProgramInput::kSamples);
  }
  for (ProgramInstruction& code : code_) {
    const auto to = static_cast<std::size_t>(code.to);
    code.uniform = is_elementwise(code) && registers_[to].shape == RowShape::kRun;
    for (int k = 0; k < operands_of(code); ++k) {
      code.uniform = code.uniform && same[static_cast<std::size_t>(code.from[k])];
    }
    same[to] = code.uniform;
  }
}

// Rows are given back after the last time that they are read. A result may take the row of an
// operand that ends with it only if it is made row by row from rows of its own shape.
void Program::give_out_slots() {
  std::vector<std::size_t> last(registers_.size(), 0);
  for (std::size_t i = 0; i < code_.size(); ++i) {
    last[static_cast<std::size_t>(code_[i].to)] = i;
    for (int k = 0; k < operands_of(code_[i]); ++k) {
      last[static_cast<std::size_t>(code_[i].from[k])] = i;
    }
  }
  const auto keep = [&](std::int32_t number) {
    last[static_cast<std::size_t>(number)] = code_.size();
  };
  for (const std::int32_t output : outputs_) keep(output);
  for (const ProgramState& state : states_) {
    if (state.next >= 0) keep(state.next);
  }
  std::vector<std::int32_t> free[4];
  const auto release = [&](std::int32_t number) {
    const ProgramRegister& reg = registers_[static_cast<std::size_t>(number)];
    if (reg.kind != ProgramRegister::Kind::kComputed) return;
    std::vector<std::int32_t>& shelf = free[static_cast<int>(reg.shape)];
    if (std::find(shelf.begin(), shelf.end(), reg.place) == shelf.end()) shelf.push_back(reg.place);
  };
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const ProgramInstruction& code = code_[i];
    ProgramRegister& to = registers_[static_cast<std::size_t>(code.to)];
    const bool elementwise = is_elementwise(code);
    const auto release_ended = [&](bool before) {
      for (int k = 0; k < operands_of(code); ++k) {
        const auto from = static_cast<std::size_t>(code.from[k]);
        if (last[from] != i) continue;
        const bool in_place = elementwise && registers_[from].shape == to.shape;
        if (in_place == before) release(code.from[k]);
      }
    };
    release_ended(true);
    std::vector<std::int32_t>& shelf = free[static_cast<int>(to.shape)];
    if (shelf.empty()) {
      to.place = static_cast<std::int32_t>(view_.slots[static_cast<int>(to.shape)]++);
    } else {
      to.place = shelf.back();
      shelf.pop_back();
    }
    release_ended(false);
    if (last[static_cast<std::size_t>(code.to)] == i) release(code.to);  // nobody reads it
  }
}

// The next value of a state is made in its own row if nobody reads the old one afterwards.
void Program::find_states_in_place() {
  std::vector<std::int32_t> taken;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    ProgramState& state = states_[i];
    if (state.next < 0 || std::find(taken.begin(), taken.end(), state.next) != taken.end())
      continue;
    const auto reads = [&](const ProgramInstruction& code) {
      for (int k = 0; k < operands_of(code); ++k) {
        const ProgramRegister& reg = registers_[static_cast<std::size_t>(code.from[k])];
        if (reg.kind == ProgramRegister::Kind::kInput &&
            inputs_[static_cast<std::size_t>(reg.place)].state == static_cast<int>(i)) {
          return true;
        }
      }
      return false;
    };
    const auto is_old = [&](std::int32_t number) {
      const ProgramRegister& reg = registers_[static_cast<std::size_t>(number)];
      return reg.kind == ProgramRegister::Kind::kInput &&
             inputs_[static_cast<std::size_t>(reg.place)].state == static_cast<int>(i);
    };
    std::size_t maker = code_.size();
    std::size_t last = 0;
    for (std::size_t at = 0; at < code_.size(); ++at) {
      if (code_[at].to == state.next) maker = at;
      if (reads(code_[at])) last = at;
    }
    if (maker == code_.size() || last > maker) continue;
    if (last == maker && reads(code_[maker]) && !is_elementwise(code_[maker])) continue;
    // An output or another state may be the old value itself.
    bool kept = std::any_of(outputs_.begin(), outputs_.end(), is_old);
    for (const ProgramState& other : states_) {
      kept = kept || (other.next >= 0 && is_old(other.next));
    }
    if (kept) continue;
    state.in_place = true;
    taken.push_back(state.next);
  }
}

}  // namespace committal
