// The operations of the lane interpreter, compiled once per instruction set.
#include "kernels/program.hpp"

#include "kernels/bandit/view.hpp"
#include "kernels/mdp/view.hpp"
#include "kernels/program_divide.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

// Reductions: the outer loop is over rows that stay, the inner one over rows that are folded,
// always in their order. `Fold` has next(so far, x) and last(all, count).
template <int W, typename Fold>
void reduce(const ProgramStep& s, RowRange) {
  using T = Together<W>;
  const Fold fold{0};
  for (std::int64_t o = 0; o < s.outer; ++o) {
    COMMITTAL_TOGETHER(l, W) {
      const double* a = s.from[0].row + o * s.from[0].outer + l;
      T sum = T::load(a);
      for (std::int64_t i = 1; i < s.inner; ++i) {
        a += s.from[0].inner;
        sum = fold(sum, T::load(a));
      }
      sum.store(s.to.row + o * s.to.outer + l);
    }
  }
}

template <int W>
void mean(const ProgramStep& s, RowRange rows) {
  reduce<W, Add>(s, rows);
  const Together<W> count(static_cast<double>(s.inner));
  for (std::int64_t o = 0; o < s.outer; ++o) {
    double* to = s.to.row + o * s.to.outer;
    COMMITTAL_TOGETHER(l, W)(Together<W>::load(to + l) / count).store(to + l);
  }
}

// sum of a * b over the arms: what mul and sum_arms give, bit for bit, without a row between them.
template <int W>
void dot(const ProgramStep& s, RowRange) {
  using T = Together<W>;
  for (std::int64_t o = 0; o < s.outer; ++o) {
    COMMITTAL_TOGETHER(l, W) {
      const double* a = s.from[0].row + o * s.from[0].outer + l;
      const double* b = s.from[1].row + o * s.from[1].outer + l;
      T sum = T::load(a) * T::load(b);
      for (std::int64_t i = 1; i < s.inner; ++i) {
        a += s.from[0].inner;
        b += s.from[1].inner;
        sum += T::load(a) * T::load(b);
      }
      sum.store(s.to.row + o * s.to.outer + l);
    }
  }
}

// The root of the mean squared distance to the mean, in two passes: nothing cancels.
template <int W>
void deviation(const ProgramStep& s, RowRange) {
  using T = Together<W>;
  const T count(static_cast<double>(s.inner));
  for (std::int64_t o = 0; o < s.outer; ++o) {
    COMMITTAL_TOGETHER(l, W) {
      const double* a = s.from[0].row + o * s.from[0].outer + l;
      T sum = T::load(a);
      for (std::int64_t i = 1; i < s.inner; ++i) sum += T::load(a + i * s.from[0].inner);
      const T centre = sum / count;
      T squares(0.0);
      for (std::int64_t i = 0; i < s.inner; ++i) {
        const T x = T::load(a + i * s.from[0].inner) - centre;
        squares += x * x;
      }
      root(squares / count).store(s.to.row + o * s.to.outer + l);
    }
  }
}

// The sum over all rows but one, for every row: what is before it plus what is after it, so that
// nothing is subtracted.
template <int W, bool kMean>
void others(const ProgramStep& s, RowRange) {
  using T = Together<W>;
  const T rest(static_cast<double>(s.inner - 1));
  for (std::int64_t o = 0; o < s.outer; ++o) {
    COMMITTAL_TOGETHER(l, W) {
      const double* a = s.from[0].row + o * s.from[0].outer + l;
      double* to = s.to.row + o * s.to.outer + l;
      T sum(0.0);
      for (std::int64_t i = 0; i < s.inner; ++i) {
        sum.store(to + i * s.to.inner);
        sum += T::load(a + i * s.from[0].inner);
      }
      sum = T(0.0);
      for (std::int64_t i = s.inner - 1; i >= 0; --i) {
        const T both = T::load(to + i * s.to.inner) + sum;
        (kMean ? both / rest : both).store(to + i * s.to.inner);
        sum += T::load(a + i * s.from[0].inner);
      }
    }
  }
}

inline constexpr std::int64_t kFewArms = 8;  // a chain of selects is faster than a gather

// x[a]: what is the number of no arm counts as the first, so that nothing outside is read.
template <int W>
void gather(const ProgramStep& s, RowRange) {
  using T = Together<W>;
  for (std::int64_t o = 0; o < s.outer; ++o) {
    const double* x = s.from[0].row + o * s.from[0].outer;
    const double* index = s.from[1].row + o * s.from[1].outer;
    double* to = s.to.row + o * s.to.outer;
    if (s.inner <= kFewArms) {
      COMMITTAL_TOGETHER(l, W) {
        const T a = T::load(index + l);
        T chosen = T::load(x + l);
        for (std::int64_t k = 1; k < s.inner; ++k) {
          chosen =
              select(a == T(static_cast<double>(k)), T::load(x + k * s.from[0].inner + l), chosen);
        }
        chosen.store(to + l);
      }
    } else {
      const double arms = static_cast<double>(s.inner);
      for (int l = 0; l < W; ++l) {
        const bool known = index[l] >= 0.0 && index[l] < arms;
        const std::int64_t below = known ? static_cast<std::int64_t>(index[l]) : 0;
        const std::int64_t k = static_cast<double>(below) == index[l] ? below : 0;
        to[l] = x[k * s.from[0].inner + l];
      }
    }
  }
}

template <int W>
void onehot(const ProgramStep& s, RowRange) {
  using T = Together<W>;
  for (std::int64_t o = 0; o < s.outer; ++o) {
    const double* index = s.from[0].row + o * s.from[0].outer;
    for (std::int64_t k = 0; k < s.inner; ++k) {
      double* to = s.to.row + o * s.to.outer + k * s.to.inner;
      const T arm(static_cast<double>(k));
      COMMITTAL_TOGETHER(l, W) truth(T::load(index + l) == arm).store(to + l);
    }
  }
}

}  // namespace

template <int W>
ProgramOperation program_operation(const ProgramInstruction& code) {
  switch (code.op) {
    case Opcode::kAdd:
      return binary<W, Add>;
    case Opcode::kSub:
      return binary<W, Subtract>;
    case Opcode::kMul:
      return binary<W, Multiply>;
    case Opcode::kDiv:
      return binary<W, Divide>;
    case Opcode::kNeg:
      return unary<W, Negate>;
    case Opcode::kPow:
      return binary<W, Power>;
    case Opcode::kPowi:
      return code.number == 2 ? unary<W, Square> : unary<W, WholePower>;
    case Opcode::kLess:
      return binary<W, Less>;
    case Opcode::kLessEqual:
      return binary<W, LessEqual>;
    case Opcode::kGreater:
      return binary<W, Greater>;
    case Opcode::kGreaterEqual:
      return binary<W, GreaterEqual>;
    case Opcode::kEqual:
      return binary<W, Equal>;
    case Opcode::kNotEqual:
      return binary<W, NotEqual>;
    case Opcode::kAnd:
      return binary<W, And>;
    case Opcode::kOr:
      return binary<W, Or>;
    case Opcode::kNot:
      return unary<W, Not>;
    case Opcode::kWhere:
      return ternary<W, Choose>;
    case Opcode::kMin:
      return binary<W, Minimum>;
    case Opcode::kMax:
      return binary<W, Maximum>;
    case Opcode::kAbs:
      return unary<W, Magnitude>;
    case Opcode::kSign:
      return unary<W, Sign>;
    case Opcode::kExp:
      return unary<W, Exponential>;
    case Opcode::kLog:
      return unary<W, Logarithm>;
    case Opcode::kSqrt:
      return unary<W, SquareRoot>;
    case Opcode::kCopy:
      return unary<W, Copy>;
    case Opcode::kSumArms:
    case Opcode::kSumSamples:
      return reduce<W, Add>;
    case Opcode::kMeanArms:
    case Opcode::kMeanSamples:
      return mean<W>;
    case Opcode::kMinArms:
    case Opcode::kMinSamples:
      return reduce<W, Minimum>;
    case Opcode::kMaxArms:
    case Opcode::kMaxSamples:
      return reduce<W, Maximum>;
    case Opcode::kStdArms:
    case Opcode::kStdSamples:
      return deviation<W>;
    case Opcode::kOthersSumArms:
    case Opcode::kOthersSumSamples:
      return others<W, false>;
    case Opcode::kOthersMeanArms:
    case Opcode::kOthersMeanSamples:
      return others<W, true>;
    case Opcode::kGather:
      return gather<W>;
    case Opcode::kOnehot:
      return onehot<W>;
    case Opcode::kMulAdd:
      return ternary<W, MultiplyAdd>;
    case Opcode::kMulSub:
      return ternary<W, MultiplySubtract>;
    case Opcode::kSubMul:
      return ternary<W, SubtractProduct>;
    case Opcode::kTwoProducts:
      return quaternary<W, TwoProducts>;
    case Opcode::kProductAndSquare:
      return quaternary<W, ProductAndSquare>;
    case Opcode::kReciprocal:
      return unary<W, Reciprocal>;
    case Opcode::kReciprocalRest:
      return binary<W, ReciprocalRest>;
    case Opcode::kQuotient:
      return code.uniform ? quotient<W, true> : quotient<W, false>;
    case Opcode::kOverRoot:
      return ternary<W, OverRoot>;
    case Opcode::kQuotientOverRoot:
      return code.uniform ? quotient_over_root<W, true> : quotient_over_root<W, false>;
    case Opcode::kDotArms:
      break;
  }
  return dot<W>;
}

template <int W>
bool merge_moments(const ProgramInstruction* code, ProgramStep* steps) {
  // Both moments are loaded before they are stored: the second is none of the first.
  const auto reads = [](const ProgramInstruction& each, std::int32_t number) {
    for (int k = 0; k < kOpcodes[static_cast<int>(each.op)].operands; ++k) {
      if (each.from[k] == number) return true;
    }
    return false;
  };
  const bool fits = code[0].op == Opcode::kTwoProducts && code[2].uniform &&
                    code[1].op == Opcode::kProductAndSquare &&
                    code[2].op == Opcode::kQuotientOverRoot && code[2].from[0] == code[0].to &&
                    code[2].from[3] == code[1].to && !reads(code[1], code[0].to) &&
                    MomentRows<W>::fit(steps);
  if (!fits) return false;
  const auto nothing = [](const ProgramStep&, RowRange) {};
  steps[0].run = moments_over_root<W>;
  steps[1].run = nothing;
  steps[2].run = nothing;
  return true;
}

namespace {

// The rows of one evaluation over arrays.
template <int W>
struct ArrayRows {
  LaneProgram<W> program;
  BoundRows* inputs = nullptr;

  void lay_out(const ProgramTask& task, Arena& arena) {
    const ProgramView& view = *task.program;
    program.lay_out(&view, task.extent, arena);
    inputs = arena.take<BoundRows>(view.inputs.count);
    for (std::int64_t i = 0; i < view.inputs.count; ++i) {
      const RowShape shape = view.registers[view.inputs[i].place].shape;
      struct Row {
        double lane[W];
      };
      auto* rows = reinterpret_cast<double*>(arena.take<Row>(task.extent.rows(shape)));
      if (inputs != nullptr) inputs[i] = contiguous<W>(rows, shape, task.extent);
    }
  }
};

template <int W>
void copy_out(const BoundRows& from, RowShape shape, const ProgramTask& task, std::int64_t first,
              int valid, double* to) {
  const std::int64_t samples = has_samples(shape) ? task.extent.samples : 1;
  const std::int64_t arms = has_arms(shape) ? task.extent.arms : 1;
  for (std::int64_t s = 0; s < samples; ++s) {
    for (std::int64_t k = 0; k < arms; ++k) {
      const double* row = from.row + s * from.sample + k * from.arm;
      for (int l = 0; l < valid; ++l) to[(s * arms + k) * task.lanes + first + l] = row[l];
    }
  }
}

}  // namespace

template <int W>
std::size_t program_bytes(const ProgramTask& task) {
  ArrayRows<W> rows;
  Arena counting;
  rows.lay_out(task, counting);
  return counting.bytes();
}

template <int W>
void evaluate_program(const ProgramTask& task) {
  ArrayRows<W> rows;
  Arena arena(task.workspace);
  rows.lay_out(task, arena);
  const ProgramView& view = *task.program;
  // Here every input is one of the caller's arrays, whether hosts know it or not.
  BoundRows known[rows_of(ProgramInput{}).count];
  for (std::int64_t i = 0; i < view.inputs.count; ++i) {
    if (view.inputs[i].known >= 0) known[view.inputs[i].known] = rows.inputs[i];
  }
  rows.program.bind(known, rows.inputs);
  for (std::int64_t first = 0; first < task.lanes; first += W) {
    const int valid = task.lanes - first < W ? static_cast<int>(task.lanes - first) : W;
    rows.program.restart();
    for (std::int64_t i = 0; i < view.inputs.count; ++i) {
      if (task.inputs[i] == nullptr) continue;
      const ProgramInputUse& input = view.inputs[i];
      double* to = input.state >= 0 ? rows.program.state(input.state).row : rows.inputs[i].row;
      const std::int64_t count = task.extent.rows(view.registers[input.place].shape);
      for (std::int64_t row = 0; row < count; ++row) {
        const double* from = task.inputs[i] + row * task.lanes + first;
        for (int l = 0; l < W; ++l) to[row * W + l] = from[l < valid ? l : valid - 1];
      }
    }
    rows.program.run();
    for (std::int64_t i = 0; i < view.outputs.count; ++i) {
      copy_out<W>(rows.program.output(i), view.output_shape(i), task, first, valid,
                  task.outputs[i]);
    }
    rows.program.advance();
    for (std::int64_t i = 0; i < view.states.count; ++i) {
      copy_out<W>(rows.program.state(i), view.states[i].shape, task, first, valid,
                  task.outputs[view.outputs.count + i]);
    }
  }
}

#define COMMITTAL_PROGRAMS(W)                                                \
  template ProgramOperation program_operation<W>(const ProgramInstruction&); \
  template bool merge_moments<W>(const ProgramInstruction*, ProgramStep*);   \
  template std::size_t program_bytes<W>(const ProgramTask&);                 \
  template void evaluate_program<W>(const ProgramTask&);
COMMITTAL_PROGRAMS(kBanditWide)
COMMITTAL_PROGRAMS(kBanditNarrow)
COMMITTAL_PROGRAMS(kMdpNarrow)
static_assert(kMdpWide == kBanditNarrow && kMdpSeen == kBanditWide, "the same loops serve both");
#undef COMMITTAL_PROGRAMS

}  // namespace committal::COMMITTAL_ISA
