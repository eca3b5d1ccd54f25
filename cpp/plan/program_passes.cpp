// What is done to a program once it is known to be right: fewer operations, fewer rows.
#include <algorithm>
#include <map>
#include <utility>

#include "plan/program.hpp"

namespace committal {
namespace {

int operands_of(const ProgramInstruction& code) {
  return kOpcodes[static_cast<int>(code.op)].operands;
}
bool is_elementwise(const ProgramInstruction& code) {
  return kOpcodes[static_cast<int>(code.op)].family == OpcodeFamily::kElementwise;
}

// Who makes and who needs every register.
struct Users {
  static constexpr std::size_t kNobody = ~std::size_t{0};
  std::vector<int> uses;
  std::vector<std::size_t> maker;

  Users(const std::vector<ProgramInstruction>& code, std::size_t registers,
        const std::vector<std::int32_t>& outputs, const std::vector<ProgramState>& states)
      : uses(registers, 0), maker(registers, kNobody) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      for (int k = 0; k < operands_of(code[i]); ++k) {
        ++uses[static_cast<std::size_t>(code[i].from[k])];
      }
      maker[static_cast<std::size_t>(code[i].to)] = i;
    }
    for (const std::int32_t output : outputs) ++uses[static_cast<std::size_t>(output)];
    for (const ProgramState& state : states) {
      if (state.next >= 0) ++uses[static_cast<std::size_t>(state.next)];
    }
  }

  // The operation that makes a register, if it is this one and serves for one other alone. Its
  // operands may be merged as well by now, but they are still there.
  const ProgramInstruction* alone(const std::vector<ProgramInstruction>& code, std::int32_t number,
                                  Opcode op) const {
    const std::size_t at = maker[static_cast<std::size_t>(number)];
    const bool found = at != kNobody && uses[static_cast<std::size_t>(number)] == 1;
    return found && code[at].op == op ? &code[at] : nullptr;
  }
};

void drop(std::vector<ProgramInstruction>& code, const std::vector<bool>& gone) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!gone[i]) code[kept++] = code[i];
  }
  code.resize(kept);
}

}  // namespace

// mul and sum_arms, mul and add, where nobody else needs the product: one operation without a row
// between them, with the same bits.
void Program::merge_products() {
  const Users users(code_, registers_.size(), outputs_, states_);
  std::vector<bool> gone(code_.size(), false);
  const auto same_shape = [&](const ProgramInstruction& a, const ProgramInstruction& b) {
    return registers_[static_cast<std::size_t>(a.to)].shape ==
           registers_[static_cast<std::size_t>(b.to)].shape;
  };
  const auto forget = [&](const ProgramInstruction& code) {
    gone[users.maker[static_cast<std::size_t>(code.to)]] = true;
  };
  const auto product = [&](std::int32_t number) {
    return users.alone(code_, number, Opcode::kMul);
  };
  // y, if a register is y * y of the same shape.
  const auto squared = [&](const ProgramInstruction& code, std::int32_t number) -> std::int32_t {
    if (const auto* power = users.alone(code_, number, Opcode::kPowi)) {
      return power->number == 2 && same_shape(*power, code) ? power->from[0] : -1;
    }
    const auto* mul = product(number);
    return mul != nullptr && mul->from[0] == mul->from[1] && same_shape(*mul, code) ? mul->from[0]
                                                                                    : -1;
  };
  const auto merge = [&](ProgramInstruction& code, const ProgramInstruction& mul, Opcode op,
                         std::int32_t other) {
    forget(mul);
    code = {op, code.to, {mul.from[0], mul.from[1], other}, 0, false};
  };
  const auto merge_both = [&](ProgramInstruction& code, const ProgramInstruction& first,
                              const ProgramInstruction& second) {
    forget(first);
    forget(second);
    for (const auto& [one, other] : {std::pair{&first, &second}, std::pair{&second, &first}}) {
      for (const int at : {0, 1}) {
        const std::int32_t y = squared(code, one->from[at]);
        if (y < 0) continue;
        gone[users.maker[static_cast<std::size_t>(one->from[at])]] = true;
        code = {Opcode::kProductAndSquare,
                code.to,
                {other->from[0], other->from[1], one->from[1 - at], y},
                0,
                false};
        return;
      }
    }
    code = {Opcode::kTwoProducts,
            code.to,
            {first.from[0], first.from[1], second.from[0], second.from[1]},
            0,
            false};
  };
  for (ProgramInstruction& code : code_) {
    if (code.op == Opcode::kSumArms) {
      if (const auto* mul = product(code.from[0])) merge(code, *mul, Opcode::kDotArms, 0);
    } else if (code.op == Opcode::kAdd || code.op == Opcode::kSub) {
      const bool add = code.op == Opcode::kAdd;
      const auto* first = product(code.from[0]);
      const auto* second = product(code.from[1]);
      if (first != nullptr && !same_shape(*first, code)) first = nullptr;
      if (second != nullptr && !same_shape(*second, code)) second = nullptr;
      if (add && first != nullptr && second != nullptr) {
        merge_both(code, *first, *second);
      } else if (first != nullptr) {
        merge(code, *first, add ? Opcode::kMulAdd : Opcode::kMulSub, code.from[1]);
      } else if (second != nullptr) {
        merge(code, *second, add ? Opcode::kMulAdd : Opcode::kSubMul, code.from[0]);
      }
    }
  }
  drop(code_, gone);
}

// What depends on t, K, N and constants alone is the same for all runs of a block.
void Program::mark_uniform() {
  same_.assign(registers_.size(), false);
  for (std::size_t i = 0; i < registers_.size(); ++i) {
    const ProgramRegister& reg = registers_[i];
    if (reg.kind == ProgramRegister::Kind::kConstant) same_[i] = true;
    if (reg.kind != ProgramRegister::Kind::kInput) continue;
    const std::int32_t known = inputs_[static_cast<std::size_t>(reg.place)].known;
    same_[i] = known == static_cast<int>(ProgramInput::kTime) ||
               known == static_cast<int>(ProgramInput::kArms) ||
               known == static_cast<int>(ProgramInput::kSamples);
  }
  for (ProgramInstruction& code : code_) {
    const auto to = static_cast<std::size_t>(code.to);
    code.uniform = is_elementwise(code) && registers_[to].shape == RowShape::kRun;
    for (int k = 0; k < operands_of(code); ++k) {
      code.uniform = code.uniform && same_[static_cast<std::size_t>(code.from[k])];
    }
    same_[to] = code.uniform;
  }
}

// Many numbers that are divided by the same one: by its reciprocal and what that has lost, which
// gives the same bits.
void Program::divide_by_uniform() {
  std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> reciprocals;
  std::vector<ProgramInstruction> code;
  const auto add = [&](Opcode op, std::int32_t z, std::int32_t high) {
    const auto to = static_cast<std::int32_t>(registers_.size());
    registers_.push_back({RowShape::kRun, ProgramRegister::Kind::kComputed, -1});
    same_.push_back(true);
    code.push_back({op, to, {z, high}, 0, true});
    return to;
  };
  for (const ProgramInstruction& each : code_) {
    const std::int32_t z = each.from[1];
    const bool quotient = each.op == Opcode::kDiv && same_[static_cast<std::size_t>(z)] &&
                          has_arms(registers_[static_cast<std::size_t>(each.to)].shape);
    if (!quotient) {
      code.push_back(each);
      continue;
    }
    if (reciprocals.find(z) == reciprocals.end()) {
      const std::int32_t high = add(Opcode::kReciprocal, z, 0);
      const std::int32_t low = add(Opcode::kReciprocalRest, z, high);
      reciprocals[z] = {high, low};
    }
    const auto [high, low] = reciprocals[z];
    code.push_back({Opcode::kQuotient, each.to, {each.from[0], z, high, low}, 0, true});
  }
  code_ = std::move(code);
}

// a / (root(b) + c), and the same of quotients.
void Program::merge_roots() {
  const Users users(code_, registers_.size(), outputs_, states_);
  std::vector<bool> gone(code_.size(), false);
  const auto made = [&](const ProgramInstruction& code, std::int32_t number, Opcode op) {
    const auto* found = users.alone(code_, number, op);
    const bool fits = found != nullptr && registers_[static_cast<std::size_t>(found->to)].shape ==
                                              registers_[static_cast<std::size_t>(code.to)].shape;
    return fits ? found : nullptr;
  };
  const auto forget = [&](const ProgramInstruction& code) {
    gone[users.maker[static_cast<std::size_t>(code.to)]] = true;
  };
  for (ProgramInstruction& code : code_) {
    if (code.op != Opcode::kDiv) continue;
    const auto* sum = made(code, code.from[1], Opcode::kAdd);
    if (sum == nullptr) continue;
    const auto* first = made(code, sum->from[0], Opcode::kSqrt);
    const auto* root = first != nullptr ? first : made(code, sum->from[1], Opcode::kSqrt);
    if (root == nullptr) continue;
    const std::int32_t c = sum->from[first != nullptr ? 1 : 0];
    forget(*sum);
    forget(*root);
    const auto* over = made(code, code.from[0], Opcode::kQuotient);
    const auto* under = made(code, root->from[0], Opcode::kQuotient);
    if (over == nullptr || under == nullptr) {
      code = {Opcode::kOverRoot, code.to, {code.from[0], root->from[0], c}, 0, false};
      continue;
    }
    forget(*over);
    forget(*under);
    ProgramInstruction both{Opcode::kQuotientOverRoot, code.to, {}, 0, true};
    for (int k = 0; k < 3; ++k) {  // what the reciprocals have lost is of no use here
      both.from[k] = over->from[k];
      both.from[3 + k] = under->from[k];
    }
    both.from[6] = c;
    code = both;
  }
  drop(code_, gone);
}

// What is the same on every lane comes first: hosts that know the time compute it for many updates
// at once.
void Program::do_uniform_first() {
  const auto is_uniform = [&](const ProgramInstruction& code) {
    return same_[static_cast<std::size_t>(code.to)];
  };
  const auto rest = std::stable_partition(code_.begin(), code_.end(), is_uniform);
  view_.uniform = rest - code_.begin();
  std::vector<bool> made(registers_.size(), false);
  for (auto code = code_.begin(); code != rest; ++code) {
    made[static_cast<std::size_t>(code->to)] = true;
  }
  const auto keep = [&](std::int32_t number) {
    if (made[static_cast<std::size_t>(number)]) kept_.push_back(number);
    made[static_cast<std::size_t>(number)] = false;  // once
  };
  for (auto code = rest; code != code_.end(); ++code) {
    for (int k = 0; k < operands_of(*code); ++k) keep(code->from[k]);
  }
  for (const std::int32_t output : outputs_) keep(output);
  for (const ProgramState& state : states_) {
    if (state.next >= 0) keep(state.next);
  }
  view_.kept = {kept_.data(), static_cast<std::int64_t>(kept_.size())};
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
