#include "core/rng.hpp"
#include "kernels/table.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

TEST(philox_known_answers) {
  // The vectors published with Random123 for philox4x32, 10 rounds.
  using C = PhiloxCounter;
  using K = PhiloxKey;
  constexpr std::uint32_t f = 0xffffffff;
  CHECK((philox4x32(C{{0, 0, 0, 0}}, K{{0, 0}}) ==
         C{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  CHECK((philox4x32(C{{f, f, f, f}}, K{{f, f}}) ==
         C{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  CHECK((philox4x32(C{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                    K{{0xa4093822, 0x299f31d0}}) ==
         C{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
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
