// Programs: a user's formula as a list of operations on rows of lanes, as kernels see it.
//
// A register holds one row per lane block (run), one per arm, one per sample, or one per sample and
// arm. It is written once: a constant, an input that the host binds, or the result of an operation.
// plan/program.hpp owns and checks programs; kernels trust what they see here.
#pragma once

#include "core/array.hpp"
#include "kernels/parts.hpp"

namespace committal {

enum class RowShape : int { kRun, kArm, kSample, kSampleArm };
inline constexpr Named kRowShapes[] = {{"run"}, {"arm"}, {"sample"}, {"sample_arm"}};
COMMITTAL_FORCE_INLINE constexpr Array<Named> rows_of(RowShape) { return array_of(kRowShapes); }
static_assert(names_end_with(RowShape::kSampleArm));

// How many arms and samples a program works on.
struct ProgramExtent {
  std::int64_t arms;
  std::int64_t samples;

  COMMITTAL_FORCE_INLINE constexpr std::int64_t rows(RowShape shape) const {
    switch (shape) {
      case RowShape::kRun:
        return 1;
      case RowShape::kArm:
        return arms;
      case RowShape::kSample:
        return samples;
      case RowShape::kSampleArm:
        break;
    }
    return samples * arms;
  }
};

COMMITTAL_FORCE_INLINE constexpr bool has_arms(RowShape shape) {
  return shape == RowShape::kArm || shape == RowShape::kSampleArm;
}
COMMITTAL_FORCE_INLINE constexpr bool has_samples(RowShape shape) {
  return shape == RowShape::kSample || shape == RowShape::kSampleArm;
}

enum class Opcode : int {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kPow,
  kPowi,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kNot,
  kWhere,
  kMin,
  kMax,
  kAbs,
  kSign,
  kExp,
  kLog,
  kSqrt,
  kCopy,
  kSumArms,
  kMeanArms,
  kMinArms,
  kMaxArms,
  kStdArms,
  kSumSamples,
  kMeanSamples,
  kMinSamples,
  kMaxSamples,
  kStdSamples,
  kOthersSumArms,
  kOthersMeanArms,
  kOthersSumSamples,
  kOthersMeanSamples,
  kGather,
  kOnehot,
  // Made by the plan out of two of those above, never asked for by name.
  kDotArms,           // the sum of a * b over the arms
  kMulAdd,            // a * b + c, each rounded
  kMulSub,            // a * b - c
  kSubMul,            // c - a * b
  kTwoProducts,       // a * b + c * d, each rounded
  kProductAndSquare,  // a * b + c * (d * d)
  // Of numbers that are the same on every lane: 1 / z, and what its rounding has lost.
  kReciprocal,
  kReciprocalRest,
  kQuotient,          // a / z from both, correctly rounded
  kOverRoot,          // a / (root(b) + c)
  kQuotientOverRoot,  // the same of two quotients, by the reciprocals alone
};
// As many operands as an operation may have.
inline constexpr int kMostOperands = 7;

// What an operation does with the shapes of its operands.
enum class OpcodeFamily : int {
  kElementwise,     // broadcasts them to its own
  kReducesArms,     // loses the arms
  kReducesSamples,  // loses the samples
  kOthersArms,      // keeps the shape: of all arms but one
  kOthersSamples,
  kGather,  // x[a]
  kOnehot,  // e_a
};

struct OpcodeRow {
  const char* name;
  int operands;
  OpcodeFamily family;
};
inline constexpr OpcodeRow kOpcodes[] = {
    {"add", 2, OpcodeFamily::kElementwise},
    {"sub", 2, OpcodeFamily::kElementwise},
    {"mul", 2, OpcodeFamily::kElementwise},
    {"div", 2, OpcodeFamily::kElementwise},
    {"neg", 1, OpcodeFamily::kElementwise},
    {"pow", 2, OpcodeFamily::kElementwise},
    {"powi", 1, OpcodeFamily::kElementwise},
    {"lt", 2, OpcodeFamily::kElementwise},
    {"le", 2, OpcodeFamily::kElementwise},
    {"gt", 2, OpcodeFamily::kElementwise},
    {"ge", 2, OpcodeFamily::kElementwise},
    {"eq", 2, OpcodeFamily::kElementwise},
    {"ne", 2, OpcodeFamily::kElementwise},
    {"and", 2, OpcodeFamily::kElementwise},
    {"or", 2, OpcodeFamily::kElementwise},
    {"not", 1, OpcodeFamily::kElementwise},
    {"where", 3, OpcodeFamily::kElementwise},
    {"min", 2, OpcodeFamily::kElementwise},
    {"max", 2, OpcodeFamily::kElementwise},
    {"abs", 1, OpcodeFamily::kElementwise},
    {"sign", 1, OpcodeFamily::kElementwise},
    {"exp", 1, OpcodeFamily::kElementwise},
    {"log", 1, OpcodeFamily::kElementwise},
    {"sqrt", 1, OpcodeFamily::kElementwise},
    {"copy", 1, OpcodeFamily::kElementwise},
    {"sum_arms", 1, OpcodeFamily::kReducesArms},
    {"mean_arms", 1, OpcodeFamily::kReducesArms},
    {"min_arms", 1, OpcodeFamily::kReducesArms},
    {"max_arms", 1, OpcodeFamily::kReducesArms},
    {"std_arms", 1, OpcodeFamily::kReducesArms},
    {"sum_samples", 1, OpcodeFamily::kReducesSamples},
    {"mean_samples", 1, OpcodeFamily::kReducesSamples},
    {"min_samples", 1, OpcodeFamily::kReducesSamples},
    {"max_samples", 1, OpcodeFamily::kReducesSamples},
    {"std_samples", 1, OpcodeFamily::kReducesSamples},
    {"others_sum_arms", 1, OpcodeFamily::kOthersArms},
    {"others_mean_arms", 1, OpcodeFamily::kOthersArms},
    {"others_sum_samples", 1, OpcodeFamily::kOthersSamples},
    {"others_mean_samples", 1, OpcodeFamily::kOthersSamples},
    {"gather", 2, OpcodeFamily::kGather},
    {"onehot", 1, OpcodeFamily::kOnehot},
    {"", 2, OpcodeFamily::kReducesArms},
    {"", 3, OpcodeFamily::kElementwise},
    {"", 3, OpcodeFamily::kElementwise},
    {"", 3, OpcodeFamily::kElementwise},
    {"", 4, OpcodeFamily::kElementwise},
    {"", 4, OpcodeFamily::kElementwise},
    {"", 1, OpcodeFamily::kElementwise},
    {"", 2, OpcodeFamily::kElementwise},
    {"", 4, OpcodeFamily::kElementwise},
    {"", 3, OpcodeFamily::kElementwise},
    {"", 7, OpcodeFamily::kElementwise},
};
static_assert(array_of(kOpcodes).count == static_cast<int>(Opcode::kQuotientOverRoot) + 1);
// Those that may be asked for.
COMMITTAL_FORCE_INLINE constexpr Array<OpcodeRow> rows_of(Opcode) {
  return {kOpcodes, static_cast<std::int64_t>(Opcode::kDotArms)};
}

// What hosts can give to a program, each with its shape.
enum class ProgramInput : int {
  kTime,
  kArms,
  kSamples,
  kPolicy,
  kRewards,
  kTheta,
  kStart,
  kBehaviour,
  kGradient,
  kAction,
  kReward,
  kRatio,
  kBaseline,
  kAdvantage,
  kWeight,
  kScore,
  kNatural,
};
struct ProgramInputRow {
  const char* name;
  RowShape shape;
};
inline constexpr ProgramInputRow kProgramInputs[] = {
    {"t", RowShape::kRun},
    {"K", RowShape::kRun},
    {"N", RowShape::kRun},
    {"pi", RowShape::kArm},
    {"r", RowShape::kArm},
    {"theta", RowShape::kArm},
    {"theta0", RowShape::kArm},
    {"mu", RowShape::kArm},
    {"g", RowShape::kArm},
    {"a", RowShape::kSample},
    {"R", RowShape::kSample},
    {"rho", RowShape::kSample},
    {"b", RowShape::kSample},
    {"A", RowShape::kSample},
    {"w", RowShape::kSample},
    {"score", RowShape::kSampleArm},
    {"natural", RowShape::kSampleArm},
};
COMMITTAL_FORCE_INLINE constexpr Array<ProgramInputRow> rows_of(ProgramInput) {
  return array_of(kProgramInputs);
}
static_assert(rows_of(ProgramInput{}).count == static_cast<int>(ProgramInput::kNatural) + 1);

// Sets of inputs, as bits.
template <typename... Inputs>
constexpr std::uint32_t inputs_mask(Inputs... inputs) {
  return ((std::uint32_t{1} << static_cast<int>(inputs)) | ... | 0u);
}
inline constexpr std::uint32_t kBatchInputs = inputs_mask(
    ProgramInput::kAction, ProgramInput::kReward, ProgramInput::kRatio, ProgramInput::kBaseline,
    ProgramInput::kAdvantage, ProgramInput::kWeight, ProgramInput::kScore, ProgramInput::kNatural);

struct ProgramRegister {
  enum class Kind : int { kConstant, kInput, kComputed };
  RowShape shape;
  Kind kind;
  std::int32_t place;  // among the constants, the inputs, or the slots of its shape
};

struct ProgramInstruction {
  Opcode op;
  std::int32_t to;
  std::int32_t from[kMostOperands];
  std::int32_t number;  // of powi
  bool uniform;         // it makes, or divides by, what is the same on every lane
};

// An input is something that hosts know, or a state row of the program, or only known to a test.
struct ProgramInputUse {
  std::int32_t known;  // a ProgramInput or -1
  std::int32_t state;  // a number of a state or -1
  std::int32_t place;  // of its register
};

struct ProgramState {
  RowShape shape;  // run or arm
  double initial;
  std::int32_t next;  // the register of its next value, or -1: it stays
  bool in_place;      // nobody reads the old value once the next one is made
};

struct ProgramView {
  Array<ProgramRegister> registers;
  Array<ProgramInstruction> code;
  Array<double> constants;
  Array<ProgramInputUse> inputs;
  Array<ProgramState> states;
  Array<std::int32_t> outputs;  // registers, without those of states
  std::int64_t slots[4];        // rows that results need, by shape: they are reused
  std::int64_t uniform;         // operations at the beginning that depend on t, K and N alone
  Array<std::int32_t> kept;     // registers that those make and others read
  std::uint32_t used;           // inputs that hosts know, as bits

  COMMITTAL_FORCE_INLINE bool uses(ProgramInput input) const {
    return (used >> static_cast<int>(input) & 1u) != 0;
  }
  COMMITTAL_FORCE_INLINE RowShape output_shape(std::int64_t i) const {
    return registers[outputs[i]].shape;
  }
};

// The programs of a plan; null where the native part is meant.
struct ProgramSetView {
  const ProgramView* baseline;
  const ProgramView* weight;
  const ProgramView* update;
  const ProgramView* link;
  const ProgramView* optimiser;
  const ProgramView* critic;  // a baseline with states for every state of an MDP
  const ProgramView* scale;   // what A of all episodes is divided by, from all returns
  const ProgramView* group;   // A of the episodes of one update, from their returns
  Array<const ProgramView*> quantities;

  // Whether updates are made by some of them.
  COMMITTAL_FORCE_INLINE bool move() const {
    return baseline != nullptr || weight != nullptr || update != nullptr || link != nullptr ||
           optimiser != nullptr || critic != nullptr || group != nullptr;
  }
  COMMITTAL_FORCE_INLINE bool any() const { return move() || quantities.count > 0; }
};

// One evaluation over arrays: inputs and outputs are [rows of the shape][lanes].
struct ProgramTask {
  const ProgramView* program;
  ProgramExtent extent;
  std::int64_t lanes;
  const double* const* inputs;  // [inputs], null for a state: its initial value
  double* const* outputs;       // [outputs + states]; of a state: its next value
  void* workspace;
};

}  // namespace committal
