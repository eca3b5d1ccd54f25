#include <atomic>
#include <stdexcept>

#include "core/pool.hpp"
#include "tests/harness.hpp"

namespace committal {
namespace {

TEST(every_block_is_done_once) {
  for (const int threads : {1, 3, 8}) {
    std::vector<std::atomic<int>> done(50);
    std::int64_t told = 0;
    run_blocks(
        50, threads,
        [&](int, std::int64_t block, Progress& progress) {
          ++done[static_cast<std::size_t>(block)];
          progress.advance(2);
        },
        [&](std::int64_t updates) { told = updates; });
    for (const auto& count : done) CHECK(count == 1);
    CHECK(told == 100);
  }
}

TEST(the_first_exception_stops_the_others) {
  std::atomic<int> started{0};
  const std::string message = message_of([&] {
    run_blocks(
        1000, 3,
        [&](int, std::int64_t block, Progress& progress) {
          ++started;
          if (block == 2) throw std::runtime_error("block 2");
          while (progress.advance(1)) {
          }
        },
        nullptr);
  });
  CHECK(message == "block 2");
  CHECK(started <= 4);
}

TEST(loops_that_never_end_stop_with_the_first_exception) {
  std::atomic<int> started{0};
  const std::string message = message_of([&] {
    run_blocks(
        1000, 3,
        [&](int, std::int64_t block, Progress& progress) {
          ++started;
          if (block == 2) throw std::runtime_error("block 2");
          for (Patience patience = progress.patience();;) patience.spend(1);
        },
        nullptr);
  });
  CHECK(message == "block 2");
  CHECK(started <= 4);
}

TEST(a_poll_that_throws_stops_a_loop_that_never_ends) {
  for (const int threads : {1, 3}) {
    const std::string message = message_of([&] {
      run_blocks(
          10, threads,
          [](int, std::int64_t, Progress& progress) {
            for (Patience patience = progress.patience();;) patience.spend(1);
          },
          [](std::int64_t) { throw std::runtime_error("enough"); });
    });
    CHECK(message == "enough");
  }
}

}  // namespace
}  // namespace committal
