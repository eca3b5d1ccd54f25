// Compiled once per instruction set, with COMMITTAL_ISA naming it.
#include "baselines.hpp"
#include "draw.hpp"
#include "exp.hpp"
#include "kernels/list.hpp"
#include "limit.hpp"
#include "log.hpp"
#include "normal_quantile.hpp"
#include "rebase.hpp"
#include "record.hpp"
#include "reduce.hpp"
#include "uniforms.hpp"
#include "updates.hpp"

namespace committal::COMMITTAL_ISA {
namespace {

using micro::What;
using micro::Work;

template <template <int, int, int> typename Part>
using Three = Part<3, kWide, 3>;
template <template <int, int, int> typename Part>
using Hundred = Part<0, kNarrow, 100>;
template <typename Part>
using OfThree = BaselineMicro<Part, 3, kWide, 3>;
template <typename Part>
using OfHundred = BaselineMicro<Part, 0, kNarrow, 100>;

// The working set of the guard: short, and everything that a step is made of.
template <typename... Parts>
inline constexpr micro::Micro kAll[] = {micro::Bench<Parts>::kMicro...};

constexpr Array<micro::Micro> all() {
  return array_of(
      kAll<LimitMicro, UniformsMicro, ExpMicro, LogMicro, QuantileMicro,
           // draws
           Three<DrawMicro>, Hundred<DrawMicro>,
           // baselines
           OfThree<ValueBaseline>, OfThree<MinVarianceGradientBaseline>,
           OfThree<MinVarianceNaturalBaseline>, OfThree<MinVarianceFixedLambdaBaseline>,
           OfThree<MaximumBaseline>, OfHundred<ValueBaseline>,
           OfHundred<MinVarianceGradientBaseline>, OfHundred<MinVarianceNaturalBaseline>,
           // the rest of a block
           Three<RebaseMicro>, Hundred<RebaseMicro>, Three<RecordMicro>, Hundred<RecordMicro>,
           ReduceMicro,
           // whole updates
           WholeMicro<Work{What::kBandit, "update", "natural, value", 3}>,
           WholeMicro<Work{What::kBandit, "update", "natural, b*", 3, "natural",
                           "min_variance_gradient"}>,
           WholeMicro<Work{What::kBandit, "update", "vanilla, value", 3, "vanilla"}>,
           WholeMicro<Work{What::kBandit, "update", "projected, value", 3, "projected"}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value, mixture", 3, "natural",
                           "value", "uniform_mixture"}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value, gaussian", 3, "natural",
                           "value", "on_policy", "gaussian"}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value, recorded", 3, "natural",
                           "value", "on_policy", "deterministic", "", true}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value", 10}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value", 100}>,
           WholeMicro<Work{What::kBandit, "update", "natural, b*", 100, "natural",
                           "min_variance_gradient"}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value, mixture", 100, "natural",
                           "value", "uniform_mixture"}>,
           WholeMicro<Work{What::kBandit, "update", "vanilla, value", 100, "vanilla"}>,
           WholeMicro<Work{What::kBandit, "update", "natural, value", 1000}>,
           // mazes
           WholeMicro<Work{What::kElimination, "elimination", "10x10"}>,
           WholeMicro<Work{What::kMaze, "episode", "10x10", 0, "natural", "", "on_policy", "",
                           "reinforce"}>,
           WholeMicro<Work{What::kMaze, "maze", "natural, b*, 10x10", 0, "natural",
                           "min_variance_gradient", "on_policy", "", "exact_q"}>>);
}

}  // namespace

extern const Array<micro::Micro> kMicros;
const Array<micro::Micro> kMicros = all();

}  // namespace committal::COMMITTAL_ISA
