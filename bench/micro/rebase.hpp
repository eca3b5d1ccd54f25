// All lanes of a block are given their weights anew: the cold path of a softmax.
#pragma once

#include "block.hpp"

namespace committal::COMMITTAL_ISA {

template <int KT, int W, int K>
struct RebaseMicro : FilledBlock<KT, W, K> {
  static constexpr micro::Row kRow{"rebase", "", K, K * (kLeastExp + 2)};
  static constexpr double kUnits = W;

  void call() {
    for (int l = 0; l < W; ++l) this->s.total[l] = 0.0;
    rebase_where_needed(this->s);
  }
};

}  // namespace committal::COMMITTAL_ISA
