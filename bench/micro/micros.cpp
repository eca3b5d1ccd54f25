// Compiled once per instruction set, with COMMITTAL_ISA naming it.
#include "baselines.hpp"
#include "draw.hpp"
#include "elimination.hpp"
#include "episode.hpp"
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

template <template <int, int, int> typename Part>
using Three = Part<3, kWide, 3>;
template <template <int, int, int> typename Part>
using Hundred = Part<0, kNarrow, 100>;
template <typename Part>
using OfThree = BaselineMicro<Part, 3, kWide, 3>;
template <typename Part>
using OfHundred = BaselineMicro<Part, 0, kNarrow, 100>;

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
           NaturalMicro<3>, MinVarianceMicro<3>, VanillaMicro<3>, MixtureMicro<3>, ProjectedMicro,
           GaussianMicro, RecordedMicro, NaturalMicro<10>, NaturalMicro<100>, MinVarianceMicro<100>,
           VanillaMicro<100>, MixtureMicro<100>, NaturalMicro<1000>,
           // mazes
           Elimination10Micro, Elimination30Micro, EpisodeMicro, MazeMicro>);
}

}  // namespace

extern const Array<micro::Micro> kMicros;
constinit const Array<micro::Micro> kMicros = all();

}  // namespace committal::COMMITTAL_ISA
