#include <cstdint>
#include <limits>
#include <new>

#include "core/arena.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

struct Rows {
  double* theta;
  std::uint8_t* flags;
  std::int64_t* action;
};
void lay_out(Rows& rows, Arena& arena) {
  rows.theta = arena.take<double>(3, 8);
  rows.flags = arena.take<std::uint8_t>(5);
  rows.action = arena.take<std::int64_t>(8);
}

TEST(a_layout_counts_what_it_takes) {
  Rows rows;
  Arena counting;
  lay_out(rows, counting);
  CHECK(rows.theta == nullptr && rows.action == nullptr);
  CHECK(counting.bytes() == 3 * 8 * 8 + 64 + 64);
  const Workspace memory = make_workspace(counting.bytes());
  Arena carving(memory.get());
  lay_out(rows, carving);
  CHECK(carving.bytes() == counting.bytes());
  CHECK(static_cast<void*>(rows.theta) == memory.get());
  CHECK(reinterpret_cast<unsigned char*>(rows.action) ==
        static_cast<unsigned char*>(memory.get()) + 3 * 8 * 8 + 64);
  CHECK(reinterpret_cast<std::uintptr_t>(rows.action) % kWorkspaceAlignment == 0);
}

TEST(sizes_do_not_wrap_around) {
  const std::int64_t large = std::int64_t{1} << 60;
  for (const std::int64_t rows : {large, std::int64_t{1} << 62}) {
    Arena counting;
    counting.take<double>(rows, 64);
    counting.take<double>(1);  // once too many, always too many
    CHECK(counting.bytes() == kTooManyBytes);
  }
  Arena counting;
  for (int i = 0; i < 3; ++i) counting.take<std::uint8_t>(std::numeric_limits<std::int64_t>::max());
  CHECK(counting.bytes() == kTooManyBytes);
}

TEST(memory_that_cannot_be_had_is_refused) {
  const auto ask = [](std::size_t bytes) {
    return message_of<std::bad_alloc>([&] { make_workspace(bytes); });
  };
  CHECK(ask(kTooManyBytes).find("2^64 bytes") != std::string::npos);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which abort instead
  CHECK(ask(std::size_t{1} << 60).find("1152921504606846976 bytes") != std::string::npos);
#endif
  CHECK(ask(64).empty());
}

}  // namespace
}  // namespace committal
