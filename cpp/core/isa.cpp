#include <stdexcept>

#include "kernels/table.hpp"

namespace committal {

namespace generic {
extern const KernelTable kTable;
}
#if defined(COMMITTAL_HAS_AVX2)
namespace avx2 {
extern const KernelTable kTable;
}
#endif
#if defined(COMMITTAL_HAS_AVX512)
namespace avx512 {
extern const KernelTable kTable;
}
#endif

namespace {

// Slowest first. The processor is asked for everything the compiler was allowed to use.
std::vector<const KernelTable*> runnable() {
  std::vector<const KernelTable*> tables{&generic::kTable};
#if defined(COMMITTAL_HAS_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    tables.push_back(&avx2::kTable);
  }
#endif
#if defined(COMMITTAL_HAS_AVX512)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd")) {
    tables.push_back(&avx512::kTable);
  }
#endif
  return tables;
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> all;
  for (const KernelTable* table : runnable()) all.emplace_back(table->name);
  return all;
}

const KernelTable& kernel_table(std::string_view isa) {
  const std::vector<const KernelTable*> tables = runnable();
  if (isa == "auto") return *tables.back();
  std::string allowed = "'auto'";
  for (const KernelTable* table : tables) {
    if (isa == table->name) return *table;
    allowed += std::string(", '") + table->name + "'";
  }
  throw std::invalid_argument("isa = '" + std::string(isa) + "' is not allowed; expected " +
                              allowed);
}

}  // namespace committal
