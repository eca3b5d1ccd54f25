// Whole updates of bandits: draw, reward, baseline, step, weights.
#pragma once

#include "work.hpp"

namespace committal::COMMITTAL_ISA {

template <int K>
using NaturalMicro = WorkMicro<Work{.kernel = "update", .variant = "natural, value", .arms = K}>;

template <int K>
using MinVarianceMicro = WorkMicro<Work{
    .kernel = "update", .variant = "natural, b*", .arms = K, .baseline = "min_variance_gradient"}>;

template <int K>
using VanillaMicro = WorkMicro<Work{
    .kernel = "update", .variant = "vanilla, value", .arms = K, .update = "vanilla"}>;

template <int K>
using MixtureMicro = WorkMicro<Work{.kernel = "update",
                                    .variant = "natural, value, mixture",
                                    .arms = K,
                                    .behaviour = "uniform_mixture"}>;

using ProjectedMicro = WorkMicro<Work{
    .kernel = "update", .variant = "projected, value", .arms = 3, .update = "projected"}>;

using GaussianMicro = WorkMicro<Work{
    .kernel = "update", .variant = "natural, value, gaussian", .arms = 3, .noise = "gaussian"}>;

using RecordedMicro = WorkMicro<Work{
    .kernel = "update", .variant = "natural, value, recorded", .arms = 3, .recorded = true}>;

}  // namespace committal::COMMITTAL_ISA
