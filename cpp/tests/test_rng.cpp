#include "core/rng.hpp"
#include "kernels/table.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

TEST(philox_known_answers) {
  // The vectors published with Random123 for philox4x32, 7 rounds.
  using C = PhiloxCounter;
  using K = PhiloxKey;
  constexpr std::uint32_t f = 0xffffffff;
  CHECK((philox4x32(C{{0, 0, 0, 0}}, K{{0, 0}}) ==
         C{{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}}));
  CHECK((philox4x32(C{{f, f, f, f}}, K{{f, f}}) ==
         C{{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}}));
  CHECK((philox4x32(C{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                    K{{0xa4093822, 0x299f31d0}}) ==
         C{{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}}));
}

TEST(lane_uniforms_are_the_scalar_stream) {
  const std::uint64_t key = 0x0123456789abcdef;
  const std::uint64_t far = (std::uint64_t{1} << 40) + 3;  // needs the high words of the counter
  for (const std::string& isa : available_isas()) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, far}) {
      for (const std::uint64_t run : {std::uint64_t{0}, std::uint64_t{77}, far}) {
        double u[40];
        kernel_table(resolve_isa(isa)).uniforms(key, run, 1, first, u, 40);
        for (std::uint64_t i = 0; i < 40; ++i) {
          CHECK(u[i] == uniform(key, run, Slot::kReward, first + i));
          CHECK(u[i] >= 0.0 && u[i] < 1.0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace committal
