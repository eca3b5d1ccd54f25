// Episodes in four rooms: alone (REINFORCE), and in a whole update with exact values.
#pragma once

#include "work.hpp"

namespace committal::COMMITTAL_ISA {

using EpisodeMicro = WorkMicro<Work{.what = What::kMaze,
                                    .kernel = "episode",
                                    .variant = "REINFORCE, 10x10",
                                    .baseline = "",
                                    .estimator = "reinforce",
                                    .side = 10}>;

using MazeMicro = WorkMicro<Work{.what = What::kMaze,
                                 .kernel = "maze",
                                 .variant = "natural, b*, 10x10",
                                 .baseline = "min_variance_gradient",
                                 .estimator = "exact_q",
                                 .side = 10}>;

}  // namespace committal::COMMITTAL_ISA
