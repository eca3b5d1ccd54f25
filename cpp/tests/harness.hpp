// A test is a function registered by TEST(name); CHECK reports file, line and expression. Tests of
// a file share its name: `committal_tests rng` runs those of test_rng.cpp.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/rng.hpp"

namespace committal {

struct Test {
  const char* file;
  const char* name;
  void (*body)();
};
std::vector<Test>& tests();
extern int failed_checks;

#define TEST(name)                                                     \
  static void name();                                                  \
  [[maybe_unused]] static const bool registered_##name =               \
      (::committal::tests().push_back({__FILE__, #name, name}), true); \
  static void name()
#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      std::printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition); \
      ++::committal::failed_checks;                                             \
    }                                                                           \
  } while (false)

// What `body` throws, "" if nothing.
template <typename Error = std::exception, typename Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
inline bool starts_with(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

// A small generator for test inputs, itself a stream of the library.
inline double random_number(std::uint64_t i) { return uniform(1, 2, Slot::kStart, i); }

}  // namespace committal
