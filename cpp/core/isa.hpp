// The instruction sets that kernels are compiled for, and which of them run here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace committal {

enum class Isa : int { kGeneric, kAvx2, kAvx512 };

// Those compiled in *and* runnable here, slowest first.
std::vector<std::string> available_isas();
// "auto" gives the fastest. Throws std::invalid_argument for a name that is not available.
Isa resolve_isa(std::string_view name);

}  // namespace committal
