// The lane interpreter: a program bound to the rows of a block.
//
// Every operation is one short loop over the rows of its result, in the machine's own vectors.
// Binding resolves each of them once per block to a function and to pointers with strides, where
// what broadcasts has stride 0: running is one indirect call per operation and block.
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

struct ProgramStep {
  void (*run)(const ProgramStep&);
  std::int64_t outer;  // trips of the two loops
  std::int64_t inner;
  StepRows to;
  StepRows from[3];
  std::int64_t number;
};
using ProgramOperation = void (*)(const ProgramStep&);

// The loop of an operation for blocks of W lanes; program.cpp has them all.
template <int W>
ProgramOperation program_operation(const ProgramInstruction& code);

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
    for (std::int64_t i = 0; i < view_->code.count; ++i) steps_[i] = resolve(view_->code[i]);
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

  COMMITTAL_INLINE void run() const {
    const ProgramStep* end = steps_ + view_->code.count;
    for (const ProgramStep* step = steps_; step != end; ++step) step->run(*step);
  }

  COMMITTAL_INLINE const BoundRows& output(std::int64_t i) const {
    return registers_[view_->outputs[i]];
  }
  COMMITTAL_INLINE const BoundRows& state(std::int64_t i) const { return states_[i]; }
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
    code.uniform = code.uniform && !varied_;
    const RowShape shape = view_->registers[code.to].shape;
    const BoundRows& to = registers_[code.to];
    ProgramStep step{program_operation<W>(code), 1, 1, {to.row, 0, 0}, {}, code.number};
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
  double* constants_ = nullptr;
  double* slots_[4] = {};
  BoundRows* states_ = nullptr;
  double** saved_ = nullptr;
};

template <int W>
std::size_t program_bytes(const ProgramTask& task);
template <int W>
void evaluate_program(const ProgramTask& task);

}  // namespace committal::COMMITTAL_ISA
