// Times micro-benchmarks, or has valgrind count their instructions.
//
//   committal_micro [NAME...] [--isa NAME] [--seconds 0.05] [--plain | --list | --compiler]
//   valgrind --tool=callgrind committal_micro --count       (counts.py reads what that writes)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/isa.hpp"
#include "micro.hpp"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace committal {
namespace generic {
extern const Array<micro::Micro> kMicros;
}
#if defined(COMMITTAL_X86)
namespace avx2 {
extern const Array<micro::Micro> kMicros;
}
namespace avx512 {
extern const Array<micro::Micro> kMicros;
}
#endif
}  // namespace committal

#define COMMITTAL_TEXT_OF(x) #x
#define COMMITTAL_TEXT(x) COMMITTAL_TEXT_OF(x)

namespace committal::micro {

// Counts of instructions are those of a compiler.
#if defined(__clang__)
constexpr const char* kCompiler = "clang " COMMITTAL_TEXT(__clang_major__);
#else
constexpr const char* kCompiler = "gcc " COMMITTAL_TEXT(__GNUC__);
#endif

Array<Micro> micros([[maybe_unused]] const char* isa) {
#if defined(COMMITTAL_X86)
  if (std::strcmp(isa, "avx2") == 0) return avx2::kMicros;
  if (std::strcmp(isa, "avx512") == 0) return avx512::kMicros;
#endif
  return generic::kMicros;
}

namespace {

std::string name_of(const Row& row) {
  std::string name = row.kernel;
  if (row.variant[0] != '\0') name.append(" ").append(row.variant);
  if (row.arms > 0) name.append(" K=").append(std::to_string(row.arms));
  return name;
}

// Instructions of this thread, where the machine lets us count them.
class Counter {
 public:
  Counter() {
#if __has_include(<linux/perf_event.h>)
    perf_event_attr what{};
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof(what);
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, 0));
#endif
  }
  // -1 where it does not.
  long long now() const {
    long long count = -1;
#if __has_include(<linux/perf_event.h>)
    if (file_ >= 0 && read(file_, &count, sizeof(count)) != sizeof(count)) count = -1;
#endif
    return count;
  }

 private:
  int file_ = -1;
};

struct Measured {
  double nanoseconds;   // per unit, the best of many batches
  double instructions;  // per unit, negative where they cannot be counted
};

Measured measure(const Micro& micro, double seconds) {
  using Clock = std::chrono::steady_clock;
  static const Counter counter;
  const auto passed = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  void* state = micro.make();
  const auto batch = [&](int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) micro.call(state);
    return passed(start);
  };
  int calls = 1;
  while (batch(calls) < 1e-4) calls *= 2;
  const double units = calls * micro.units(state);
  double best = 1e300;
  double instructions = -1.0;
  const auto start = Clock::now();
  do {
    const long long before = counter.now();
    const double time = batch(calls);
    const long long after = counter.now();
    if (time < best) best = time;
    if (before >= 0) instructions = static_cast<double>(after - before) / units;
  } while (passed(start) < seconds);
  return {best / units * 1e9, instructions};
}

// Calls a few times between two marks that valgrind sees, and says for how many units.
void count([[maybe_unused]] const std::string& key, const Micro& micro) {
  constexpr int kCalls = 2;  // the same number every time: this is no measurement
  void* state = micro.make();
  micro.call(state);
#if defined(CALLGRIND_ZERO_STATS)
  CALLGRIND_ZERO_STATS;
  for (int i = 0; i < kCalls; ++i) micro.call(state);
  CALLGRIND_DUMP_STATS_AT(key.c_str());
#endif
  std::printf("%s\t%.17g\n", key.c_str(), kCalls * micro.units(state));
}

int run(int argc, char** argv) {
  std::vector<std::string> wanted;
  std::vector<std::string> isas = available_isas();
  double seconds = 0.05;
  enum class Mode { kTable, kPlain, kList, kCount } mode = Mode::kTable;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--isa" && more) {
      resolve_isa(argv[++i]);
      isas = {argv[i]};
    } else if (argument == "--seconds" && more) {
      seconds = std::strtod(argv[++i], nullptr);
    } else if (argument == "--plain") {
      mode = Mode::kPlain;
    } else if (argument == "--list") {
      mode = Mode::kList;
    } else if (argument == "--compiler") {
      std::puts(kCompiler);
      return 0;
    } else if (argument == "--count") {
      mode = Mode::kCount;
    } else if (argument.starts_with("--")) {
      std::fprintf(stderr, "committal_micro: no option %s\n", argv[i]);
      return 2;
    } else {
      wanted.emplace_back(argument);
    }
  }
#if !defined(CALLGRIND_ZERO_STATS)
  if (mode == Mode::kCount) {
    std::fprintf(stderr, "committal_micro: built without valgrind/callgrind.h\n");
    return 3;
  }
#endif
  if (mode == Mode::kTable) {
    std::printf("%-40s %-8s %10s %10s %10s\n", "kernel", "set", "ns", "instr.", "at least");
  }
  int found = 0;
  for (const std::string& isa : isas) {
    const double width = isa == "avx512" ? 8.0 : isa == "avx2" ? 4.0 : 2.0;
    for (const Micro& micro : micros(isa.c_str())) {
      const std::string name = name_of(micro.row);
      bool chosen = wanted.empty();
      for (const std::string& part : wanted) {
        chosen = chosen || name == part || name.starts_with(part + " ");
      }
      if (!chosen) continue;
      ++found;
      if (mode == Mode::kList) {
        std::printf("%s\t%s\t%.17g\n", isa.c_str(), name.c_str(), micro.row.least / width);
        continue;
      }
      if (mode == Mode::kCount) {
        count(isa + "\t" + name, micro);
        continue;
      }
      const Measured each = measure(micro, seconds);
      if (mode == Mode::kPlain) {
        std::printf("%s\t%s\t%.17g\n", isa.c_str(), name.c_str(), each.nanoseconds);
        continue;
      }
      std::printf("%-40s %-8s %10.3f", name.c_str(), isa.c_str(), each.nanoseconds);
      each.instructions < 0.0 ? std::printf(" %10s", "")
                              : std::printf(" %10.2f", each.instructions);
      micro.row.least > 0.0 ? std::printf(" %10.2f\n", micro.row.least / width) : std::puts("");
      std::fflush(stdout);
    }
  }
  if (found == 0) std::fprintf(stderr, "committal_micro: there is nothing of that name\n");
  return found == 0 ? 2 : 0;
}

}  // namespace
}  // namespace committal::micro

int main(int argc, char** argv) {
  try {
    return committal::micro::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "committal_micro: %s\n", error.what());
    return 2;
  }
}
