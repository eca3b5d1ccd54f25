// The exact values of a policy of four rooms.
#pragma once

#include "work.hpp"

namespace committal::COMMITTAL_ISA {

template <int kSide, char... kName>
using EliminationMicro = WorkMicro<Work{
    .what = What::kElimination, .kernel = "elimination", .variant = {kName...}, .side = kSide}>;
using Elimination10Micro = EliminationMicro<10, '1', '0', 'x', '1', '0'>;
using Elimination30Micro = EliminationMicro<30, '3', '0', 'x', '3', '0'>;

}  // namespace committal::COMMITTAL_ISA
