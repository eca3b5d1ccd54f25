// The lane interpreter: a program bound to the rows of a block.
//
// Every operation is one short loop over the rows of its result, in the machine's own vectors.
// Binding resolves each of them once per block to a function and to pointers with strides, where
// what broadcasts has stride 0: running is one indirect call per operation and block.
//
// Operations that go row by row over the arms make chains: a chain runs over a few rows at a time,
// which stay in the nearest cache, and while some wait for a division others go on. What depends on
// the time alone is computed for as many updates at once as a block has lanes.
#pragma once

#include "core/arena.hpp"
#include "kernels/arms.hpp"
#include "kernels/program_view.hpp"

namespace committal::COMMITTAL_ISA {

// Rows of lanes, and how far apart they are (in numbers) from sample to sample and arm to arm.
struct BoundRows {
  double* row = nullptr;
  std::int64_t sample = 0;
  std::int64_t arm = 0;
};

// The rows of one operand or result as two nested loops see them.
struct StepRows {
  double* row;
  std::int64_t outer;
  std::int64_t inner;
};

// Which trips of the inner loop of an operation on rows to make; others always make all of them.
struct RowRange {
  std::int64_t first;
  std::int64_t end;
};

struct ProgramStep {
  void (*run)(const ProgramStep&, RowRange);
  std::int64_t outer;  // trips of the two loops
  std::int64_t inner;
  StepRows to;
  StepRows from[kMostOperands];
  std::int64_t number;
  std::int64_t chain;  // operations from here on that go row by row over the arms
};
using ProgramOperation = void (*)(const ProgramStep&, RowRange);

// Rows that a chain works on at a time: enough to pay for a call, few enough for the processor to
// see the next operation while it waits.
template <int W>
inline constexpr std::int64_t kRowsTogether = W >= 64 ? 2 : 128 / W;

// The loop of an operation for blocks of W lanes; program.cpp has them all.
template <int W>
ProgramOperation program_operation(const ProgramInstruction& code);

// Makes one loop of three steps that go row by row over the arms, if they are those of two moments
// and a quotient by a root (see program_moments.hpp); the first does all the work then.
template <int W>
bool merge_moments(const ProgramInstruction* code, ProgramStep* steps);

template <int W>
COMMITTAL_INLINE BoundRows contiguous(double* rows, RowShape shape, ProgramExtent extent) {
  return {rows, has_samples(shape) ? (has_arms(shape) ? extent.arms : 1) * W : 0,
          has_arms(shape) ? W : 0};
}

template <int W>
class LaneProgram {
 public:
  // Takes memory; a program that is not there takes none.
  void lay_out(const ProgramView* view, ProgramExtent extent, Arena& arena) {
    view_ = view;
    extent_ = extent;
    if (view == nullptr) return;
    registers_ = arena.take<BoundRows>(view->registers.count);
    steps_ = arena.take<ProgramStep>(view->code.count);
    constants_ = take(arena, view->constants.count, 1);
    for (int shape = 0; shape < 4; ++shape) {
      slots_[shape] = take(arena, view->slots[shape], extent.rows(static_cast<RowShape>(shape)));
    }
    timed_ = take(arena, view->kept.count, 1);
    states_ = arena.take<BoundRows>(view->states.count);
    saved_ = arena.take<double*>(view->states.count);
    for (std::int64_t i = 0; i < view->states.count; ++i) {
      double* rows = take(arena, 1, extent.rows(view->states[i].shape));
      double* saved = take(arena, 1, extent.rows(view->states[i].shape));
      if (states_ != nullptr) {
        states_[i] = contiguous<W>(rows, view->states[i].shape, extent);
        saved_[i] = saved;
      }
    }
  }

  // `known[ProgramInput]` are the rows of the host, `other[i]` those of input i if nobody knows it.
  void bind(const BoundRows* known, const BoundRows* other = nullptr) {
    varied_ = other != nullptr;  // then even t may differ from lane to lane
    for (std::int64_t i = 0; i < view_->constants.count; ++i) {
      fill<W>(constants_ + i * W, view_->constants[i]);
    }
    for (std::int64_t i = 0; i < view_->registers.count; ++i) {
      const ProgramRegister& reg = view_->registers[i];
      switch (reg.kind) {
        case ProgramRegister::Kind::kConstant:
          registers_[i] = {constants_ + reg.place * W, 0, 0};
          break;
        case ProgramRegister::Kind::kInput: {
          const ProgramInputUse& input = view_->inputs[reg.place];
          registers_[i] = input.state >= 0  ? states_[input.state]
                          : input.known < 0 ? other[reg.place]
                                            : known[input.known];
          break;
        }
        case ProgramRegister::Kind::kComputed: {
          const std::int64_t size = extent_.rows(reg.shape) * W;
          double* rows = slots_[static_cast<int>(reg.shape)] + reg.place * size;
          registers_[i] = contiguous<W>(rows, reg.shape, extent_);
          break;
        }
      }
    }
    for (std::int64_t i = 0; i < view_->states.count; ++i) {
      if (view_->states[i].in_place) registers_[view_->states[i].next] = states_[i];
    }
    time_ = view_->uses(ProgramInput::kTime) ? known[static_cast<int>(ProgramInput::kTime)].row
                                             : nullptr;
    for (std::int64_t i = 0; i < view_->code.count; ++i) steps_[i] = resolve(view_->code[i]);
    find_chains();
    restart();
  }

  // State rows as they are at the start of a run.
  void restart() {
    for (std::int64_t i = 0; i < view_->states.count; ++i) {
      const std::int64_t rows = extent_.rows(view_->states[i].shape);
      for (std::int64_t k = 0; k < rows; ++k) {
        fill<W>(states_[i].row + k * W, view_->states[i].initial);
      }
    }
  }

  COMMITTAL_INLINE explicit operator bool() const { return view_ != nullptr; }
  COMMITTAL_INLINE const ProgramView& view() const { return *view_; }

  // All operations, with the rows of the inputs as they are.
  COMMITTAL_INLINE void run() const { run(0, view_->code.count); }

  // The same for update t, which the row of the time holds: what depends on it alone is there for
  // some updates ahead.
  COMMITTAL_INLINE void run(std::int64_t t) {
    reach(t);
    run(view_->uniform, view_->code.count);
  }

  // The same in pieces: what comes before the last chain, and some rows of that.
  COMMITTAL_INLINE bool ends_with_rows() const { return last_chain_ < view_->code.count; }
  COMMITTAL_INLINE void begin(std::int64_t t) {
    reach(t);
    run(view_->uniform, last_chain_);
  }
  COMMITTAL_INLINE void run_rows(RowRange rows) const {
    const ProgramStep* end = steps_ + view_->code.count;
    for (const ProgramStep* step = steps_ + last_chain_; step != end; ++step) {
      step->run(*step, rows);
    }
  }
  // The last chain, if it is two moments and a quotient by a root, else nullptr.
  COMMITTAL_INLINE const ProgramStep* moments() const { return moments_; }
  // Whether something before the last chain reads an input of the host.
  bool begins_with(ProgramInput input) const {
    for (std::int64_t i = 0; i < last_chain_; ++i) {
      const ProgramInstruction& code = view_->code[i];
      for (int k = 0; k < kOpcodes[static_cast<int>(code.op)].operands; ++k) {
        const ProgramRegister& reg = view_->registers[code.from[k]];
        if (reg.kind == ProgramRegister::Kind::kInput &&
            view_->inputs[reg.place].known == static_cast<int>(input)) {
          return true;
        }
      }
    }
    return false;
  }

  COMMITTAL_INLINE const BoundRows& output(std::int64_t i) const {
    return registers_[view_->outputs[i]];
  }
  COMMITTAL_INLINE const BoundRows& state(std::int64_t i) const { return states_[i]; }
  bool is_state(const double* row) const {
    for (std::int64_t i = 0; i < view_->states.count; ++i) {
      if (states_[i].row == row) return true;
    }
    return false;
  }
  COMMITTAL_INLINE std::int64_t state_rows(std::int64_t i) const {
    return extent_.rows(view_->states[i].shape);
  }

  // As run(), but states stay what they are: for a look at what would come.
  void look() const {
    keep_states</*kBack=*/false>();
    run();
    keep_states</*kBack=*/true>();
  }

  // State rows become what the last run made of them.
  COMMITTAL_INLINE void advance() const {
    for (std::int64_t i = 0; i < view_->states.count; ++i) {
      const std::int32_t next = view_->states[i].next;
      if (next < 0 || view_->states[i].in_place) continue;
      const BoundRows& from = registers_[next];
      double* to = states_[i].row;
      for (std::int64_t k = 0; k < state_rows(i); ++k) {
        const double* row = from.row + k * from.arm;
        for (int l = 0; l < W; ++l) to[k * W + l] = row[l];
      }
    }
  }

 private:
  struct Row {
    double lane[W];
  };
  static double* take(Arena& arena, std::int64_t count, std::int64_t rows) {
    return reinterpret_cast<double*>(arena.take<Row>(count, rows));  // saturates, as all sizes
  }

  COMMITTAL_INLINE void run(std::int64_t first, std::int64_t end) const {
    for (std::int64_t i = first; i < end;) {
      const ProgramStep* step = steps_ + i;
      if (step->chain < 2) {
        step->run(*step, {0, step->inner});
        ++i;
        continue;
      }
      const std::int64_t chain = step->chain;
      for (std::int64_t row = 0; row < step->inner; row += kRowsTogether<W>) {
        const std::int64_t left = step->inner - row;
        const RowRange rows{row, row + (left < kRowsTogether<W> ? left : kRowsTogether<W>)};
        for (std::int64_t k = 0; k < chain; ++k) step[k].run(step[k], rows);
      }
      i += chain;
    }
  }

  // What depends on the time alone, for update t. It is computed for W updates at once: a lane is
  // an update then.
  COMMITTAL_INLINE void reach(std::int64_t t) {
    if (view_->uniform == 0) return;
    if (t < reached_ || t >= reached_ + W) look_ahead(t);
    for (std::int64_t i = 0; i < view_->kept.count; ++i) {
      fill<W>(registers_[view_->kept[i]].row, timed_[i * W + (t - reached_)]);
    }
  }
  void look_ahead(std::int64_t t) {
    reached_ = t;
    if (time_ != nullptr) {
      for (int l = 0; l < W; ++l) time_[l] = static_cast<double>(t + l);
    }
    run(0, view_->uniform);
    if (time_ != nullptr) fill<W>(time_, static_cast<double>(t));
    for (std::int64_t i = 0; i < view_->kept.count; ++i) {
      const double* from = registers_[view_->kept[i]].row;
      for (int l = 0; l < W; ++l) timed_[i * W + l] = from[l];
    }
  }

  void find_chains() {
    last_chain_ = view_->code.count;
    moments_ = nullptr;
    for (std::int64_t i = view_->code.count - 1; i >= 0; --i) {
      const ProgramInstruction& code = view_->code[i];
      const bool by_rows =
          kOpcodes[static_cast<int>(code.op)].family == OpcodeFamily::kElementwise &&
          view_->registers[code.to].shape == RowShape::kArm;
      const bool goes_on = i + 1 < view_->code.count && steps_[i + 1].chain > 0;
      steps_[i].chain = by_rows ? 1 + (goes_on ? steps_[i + 1].chain : 0) : 0;
      if (by_rows && last_chain_ == i + 1) last_chain_ = i;
      if (steps_[i].chain < 3 || varied_) continue;
      const bool merged = merge_moments<W>(view_->code.data + i, steps_ + i);
      if (merged && i == last_chain_ && i + 3 == view_->code.count) moments_ = steps_ + i;
    }
  }

  template <bool kBack>
  void keep_states() const {
    for (std::int64_t i = 0; i < view_->states.count; ++i) {
      double* state = states_[i].row;
      const double* from = kBack ? saved_[i] : state;
      double* to = kBack ? state : saved_[i];
      for (std::int64_t at = 0; at < state_rows(i) * W; ++at) to[at] = from[at];
    }
  }

  ProgramStep resolve(ProgramInstruction code) const {
    code.uniform = code.uniform && (!varied_ || divides_by_constants(code));
    const RowShape shape = view_->registers[code.to].shape;
    const BoundRows& to = registers_[code.to];
    ProgramStep step{program_operation<W>(code), 1, 1, {to.row, 0, 0}, {}, code.number, 0};
    // Which stride each loop walks along: 0 none, 1 samples, 2 arms.
    int outer = 0;
    int inner = 0;
    switch (kOpcodes[static_cast<int>(code.op)].family) {
      case OpcodeFamily::kElementwise:
        outer = shape == RowShape::kSampleArm ? 1 : 0;
        inner = has_arms(shape) ? 2 : (has_samples(shape) ? 1 : 0);
        break;
      case OpcodeFamily::kReducesArms:
      case OpcodeFamily::kOthersArms:
        outer = has_samples(shape) ? 1 : 0;
        inner = 2;
        break;
      case OpcodeFamily::kReducesSamples:
      case OpcodeFamily::kOthersSamples:
        outer = has_arms(shape) ? 2 : 0;
        inner = 1;
        break;
      case OpcodeFamily::kGather:
      case OpcodeFamily::kOnehot:
        outer = has_samples(shape) ? 1 : 0;
        inner = 2;
        break;
    }
    step.outer = trips(outer);
    step.inner = trips(inner);
    step.to = seen(to, outer, inner);
    for (int i = 0; i < kOpcodes[static_cast<int>(code.op)].operands; ++i) {
      step.from[i] = seen(registers_[code.from[i]], outer, inner);
    }
    return step;
  }

  bool divides_by_constants(const ProgramInstruction& code) const {
    const auto constant = [&](int operand) {
      return view_->registers[code.from[operand]].kind == ProgramRegister::Kind::kConstant;
    };
    return code.op == Opcode::kQuotient
               ? constant(1)
               : code.op == Opcode::kQuotientOverRoot && constant(1) && constant(4);
  }

  std::int64_t trips(int axis) const {
    return axis == 0 ? 1 : (axis == 1 ? extent_.samples : extent_.arms);
  }
  static StepRows seen(const BoundRows& rows, int outer, int inner) {
    const std::int64_t along[3] = {0, rows.sample, rows.arm};
    return {rows.row, along[outer], along[inner]};
  }

  const ProgramView* view_ = nullptr;
  bool varied_ = false;
  ProgramExtent extent_{};
  BoundRows* registers_ = nullptr;
  ProgramStep* steps_ = nullptr;
  const ProgramStep* moments_ = nullptr;
  double* constants_ = nullptr;
  double* slots_[4] = {};
  double* timed_ = nullptr;    // [kept][W] what depends on the time alone, of W updates
  double* time_ = nullptr;     // the host's row
  std::int64_t reached_ = -W;  // the first of those updates
  std::int64_t last_chain_ = 0;
  BoundRows* states_ = nullptr;
  double** saved_ = nullptr;
};

template <int W>
std::size_t program_bytes(const ProgramTask& task);
template <int W>
void evaluate_program(const ProgramTask& task);

}  // namespace committal::COMMITTAL_ISA
