#include <cmath>
#include <limits>

#include "core/limits.hpp"
#include "plan/program.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

// sum(pi * r) of three arms, and its distance to every reward.
ProgramParts small_program() {
  ProgramParts parts;
  parts.registers = {"arm", "arm", "arm", "run", "arm", "arm", "run"};
  parts.constants = {{6, 2.0}};
  parts.inputs = {{"pi", 0}, {"r", 1}};
  parts.code = {{"mul", {2, 0, 1}}, {"sum_arms", {3, 2}}, {"sub", {4, 1, 3}}, {"mul", {5, 4, 6}}};
  parts.outputs = {{"b", 3}, {"d", 5}};
  return parts;
}

std::string refusal(const ProgramParts& parts) {
  return message_of<std::invalid_argument>([&] { const Program program(parts); });
}

TEST(the_same_bits_for_every_block_and_instruction_set) {
  const Program program(small_program());
  const std::int64_t lanes = 77;
  std::vector<double> pi(3 * lanes);
  std::vector<double> r(3 * lanes);
  for (std::size_t i = 0; i < pi.size(); ++i) {
    pi[i] = random_number(i);
    r[i] = random_number(1000 + i);
  }
  for (const std::string& isa : available_isas()) {
    for (const int block : {0, 8, 16, 64}) {
      std::vector<double> b(lanes);
      std::vector<double> d(3 * lanes);
      run_program(program, {3, 1}, lanes, {pi.data(), r.data()}, {b.data(), d.data()},
                  resolve_isa(isa), block);
      for (std::size_t l = 0; l < b.size(); ++l) {
        const std::size_t n = b.size();
        const double sum = (pi[l] * r[l] + pi[n + l] * r[n + l]) + pi[2 * n + l] * r[2 * n + l];
        CHECK(b[l] == sum);
        CHECK(d[2 * n + l] == (r[2 * n + l] - sum) * 2.0);
      }
    }
  }
}

TEST(a_product_that_is_summed_needs_no_row_and_rows_are_reused) {
  const Program program(small_program());
  CHECK(program.view().code.count == 3);
  CHECK(program.view().code[0].op == Opcode::kDotArms);
  CHECK(program.view().slots[static_cast<int>(RowShape::kArm)] == 1);
  ProgramParts kept = small_program();
  kept.outputs.push_back({"product", 2});
  CHECK(Program(kept).view().code.count == 4);
}

// m = b m + c g, v likewise of g^2, and m / (1 - b^t) over the root of the same of v.
ProgramParts adam() {
  ProgramParts parts;
  parts.registers = {"arm", "run", "arm", "arm", "run", "run", "run", "run", "run"};
  parts.constants = {{4, 0.9}, {5, 0.1}, {6, 0.999}, {7, 0.001}, {8, 1e-8}};
  parts.inputs = {{"g", 0}, {"t", 1}, {"state:m", 2}, {"state:v", 3}};
  parts.state = {{"m", 0.0}, {"v", 0.0}};
  const auto add = [&](const char* op, const char* shape, std::vector<std::int64_t> from) {
    parts.registers.push_back(shape);
    const auto to = static_cast<std::int64_t>(parts.registers.size()) - 1;
    from.insert(from.begin(), to);
    parts.code.push_back({op, from});
    return to;
  };
  const auto m = add("add", "arm", {add("mul", "arm", {4, 2}), add("mul", "arm", {5, 0})});
  const auto square = add("powi", "arm", {0, 2});
  const auto v = add("add", "arm", {add("mul", "arm", {6, 3}), add("mul", "arm", {7, square})});
  const auto over = add("div", "arm", {m, add("sub", "run", {5, add("pow", "run", {4, 1})})});
  const auto under = add("div", "arm", {v, add("sub", "run", {5, add("pow", "run", {6, 1})})});
  const auto root = add("add", "arm", {add("sqrt", "arm", {under}), 8});
  parts.outputs = {{"step", add("div", "arm", {over, root})}, {"state:m", m}, {"state:v", v}};
  return parts;
}

TEST(what_depends_on_the_time_comes_first_and_adam_goes_three_times_over_the_arms) {
  const Program program(adam());
  const ProgramView& view = program.view();
  CHECK(view.uniform == 8);  // two powers, two differences, and the reciprocals of those
  CHECK(view.kept.count == 4);
  CHECK(view.code.count == 11);
  CHECK(view.code[8].op == Opcode::kTwoProducts);
  CHECK(view.code[9].op == Opcode::kProductAndSquare);
  CHECK(view.code[10].op == Opcode::kQuotientOverRoot);
  CHECK(view.states[0].in_place && view.states[1].in_place);
  CHECK(view.slots[static_cast<int>(RowShape::kArm)] >= 1);
}

TEST(a_sum_does_not_overwrite_what_it_reads) {
  // others_sum_arms reads every arm after it has written some: its result has a row of its own.
  ProgramParts parts;
  parts.registers = {"arm", "arm", "arm"};
  parts.inputs = {{"r", 0}};
  parts.code = {{"neg", {1, 0}}, {"others_sum_arms", {2, 1}}};
  parts.outputs = {{"x", 2}};
  const Program program(parts);
  CHECK(program.view().slots[static_cast<int>(RowShape::kArm)] == 2);
  const std::vector<double> r{1.0, 2.0, 4.0};
  std::vector<double> x(3);
  run_program(program, {3, 1}, 1, {r.data()}, {x.data()}, resolve_isa("auto"), 0);
  CHECK(x[0] == -6.0 && x[1] == -5.0 && x[2] == -3.0);
}

TEST(refused_programs_say_where) {
  ProgramParts parts = small_program();
  parts.code[0].numbers[1] = 7;
  CHECK(refusal(parts) == "code[0] = 7 is not allowed; expected 0 to 6");
  parts = small_program();
  parts.code[0].numbers[1] = -1;
  CHECK(refusal(parts) == "code[0] = -1 is not allowed; expected 0 to 6");
  parts = small_program();
  parts.code[1].numbers = {3, 5};
  CHECK(starts_with(refusal(parts), "code[1] = register 5 is not allowed; expected a register"));
  parts = small_program();
  parts.code[3].numbers[0] = 4;
  CHECK(starts_with(refusal(parts), "code[3] = register 4 is not allowed"));
  parts = small_program();
  parts.code[1].name = "sum_samples";
  CHECK(starts_with(refusal(parts), "code[1] = 'sum_samples' of 'arm' giving 'run'"));
  parts = small_program();
  parts.code[2].name = "hcf";
  CHECK(starts_with(refusal(parts), "code[2] = 'hcf' is not allowed; expected one of 'add'"));
  parts = small_program();
  parts.registers[3] = "sample";
  CHECK(starts_with(refusal(parts), "code[1] = 'sum_arms' of 'arm' giving 'sample'"));
  parts = small_program();
  parts.constants[0].second = std::numeric_limits<double>::infinity();
  CHECK(refusal(parts) == "constants[0] = inf is not allowed; expected a finite number");
  parts = small_program();
  parts.inputs[0].second = 3;
  CHECK(starts_with(refusal(parts), "inputs[0] = 'pi' of shape 'run' is not allowed"));
  parts = small_program();
  parts.registers.push_back("run");
  CHECK(starts_with(refusal(parts), "registers[7] = a register without a value"));
  parts.registers = std::vector<std::string>(static_cast<std::size_t>(kMostProgramRegisters) + 1,
                                             std::string("run"));
  CHECK(starts_with(refusal(parts), "the number of registers = 8193 is not allowed"));
}

TEST(a_gather_reads_nothing_but_arms) {
  for (const std::int64_t arms : {3, 20}) {
    ProgramParts parts;
    parts.registers = {"arm", "sample", "sample"};
    parts.inputs = {{"r", 0}, {"a", 1}};
    parts.code = {{"gather", {2, 0, 1}}};
    parts.outputs = {{"x", 2}};
    const Program program(parts);
    std::vector<double> r(static_cast<std::size_t>(arms) * 4);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i);
    const std::vector<double> a{1.0, 1e300, -5.0, std::nan("")};
    std::vector<double> x(4);
    run_program(program, {arms, 1}, 4, {r.data(), a.data()}, {x.data()}, resolve_isa("auto"), 0);
    CHECK(x[0] == 4.0 && x[1] == 1.0 && x[2] == 2.0 && x[3] == 3.0);
    parts.inputs[1] = {"R", 1};
    CHECK(starts_with(refusal(parts), "code[0] = another index"));
  }
}

TEST(states_start_and_advance) {
  ProgramParts parts;
  parts.registers = {"arm", "arm", "run"};
  parts.constants = {{2, 1.0}};
  parts.inputs = {{"state:m", 0}};
  parts.code = {{"add", {1, 0, 2}}};
  parts.outputs = {{"state:m", 1}, {"step", 1}};
  parts.state = {{"m", 0.5}};
  const Program program(parts);
  std::vector<double> step(2);
  std::vector<double> m(2);
  run_program(program, {2, 1}, 1, {nullptr}, {step.data(), m.data()}, resolve_isa("auto"), 0);
  CHECK(step[0] == 1.5 && m[1] == 1.5);
  parts.state.clear();
  CHECK(starts_with(refusal(parts), "inputs[0] = 'm' is not allowed; expected a state"));
}

}  // namespace
}  // namespace committal
