#include "kernels/table.hpp"

namespace committal {

namespace generic {
extern const KernelTable kTable;
}
#if defined(COMMITTAL_X86)
namespace avx2 {
extern const KernelTable kTable;
}
namespace avx512 {
extern const KernelTable kTable;
}
#endif

const KernelTable& kernel_table(Isa isa) {
  switch (isa) {
#if defined(COMMITTAL_X86)
    case Isa::kAvx2:
      return avx2::kTable;
    case Isa::kAvx512:
      return avx512::kTable;
#endif
    default:
      return generic::kTable;
  }
}

}  // namespace committal
