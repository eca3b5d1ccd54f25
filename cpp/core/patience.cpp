#include "core/patience.hpp"

namespace committal {

void Patience::ask() {
  left_ = kRows;
  if (proceed_ != nullptr && !proceed_(context_, 0)) throw Stopped{};
}

}  // namespace committal
