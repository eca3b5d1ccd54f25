// The policy as it is recorded: one number per arm and run.
#pragma once

#include "block.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W, int K>
struct RecordMicro : FilledBlock<KT, W, K> {
  static constexpr micro::Row kRow{"record", "policy", K, K};
  static constexpr double kUnits = W;
  BlockTask task{};

  void call() { PolicyRecorder::record(this->s, Moment{this->plan, task, 0}); }
};

}  // namespace committal::COMMITTAL_ISA
