#include "core/isa.hpp"

#include "core/check.hpp"

namespace committal {
namespace {

struct Known {
  const char* name;
  Isa isa;
};

// Slowest first. The processor is asked for everything that the compiler was allowed to use.
std::vector<Known> runnable() {
  std::vector<Known> all{{"generic", Isa::kGeneric}};
#if defined(COMMITTAL_X86)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
  if (avx2) all.push_back({"avx2", Isa::kAvx2});
  if (avx512) all.push_back({"avx512", Isa::kAvx512});
#endif
  return all;
}

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> all;
  for (const Known& each : runnable()) all.emplace_back(each.name);
  return all;
}

Isa resolve_isa(std::string_view name) {
  const std::vector<Known> all = runnable();
  if (name == "auto") return all.back().isa;
  std::string allowed = "'auto'";
  for (const Known& each : all) {
    if (name == each.name) return each.isa;
    allowed.append(", ").append(quoted(each.name));
  }
  refuse("isa", quoted(name), allowed);
}

}  // namespace committal
