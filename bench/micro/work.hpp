// Blocks that are made from beginning to end, as the engine asks for them, as micro-benchmarks.
#pragma once

#include "rows.hpp"
#include "whole.hpp"

#define COMMITTAL_TEXT_OF(x) #x
#define COMMITTAL_TEXT(x) COMMITTAL_TEXT_OF(x)

namespace committal::COMMITTAL_ISA {

using micro::What;
using micro::Work;

template <Work kWork>
struct WorkMicro {
  static constexpr micro::Row kRow{kWork.kernel, kWork.variant, kWork.arms};
  micro::Whole* whole = micro::make_whole(kWork, COMMITTAL_TEXT(COMMITTAL_ISA));

  void call() { micro::run_whole(*whole); }
  double units() const { return micro::units_of(*whole); }
};

}  // namespace committal::COMMITTAL_ISA
