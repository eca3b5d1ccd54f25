// Runs the tests of the units that are named, or all; exits with 1 if a check failed or if a name
// has no tests.
#include <cstring>

#include "tests/harness.hpp"

namespace committal {
std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
int failed_checks = 0;
}  // namespace committal

int main(int count, char** arguments) {
  using committal::Test;
  int run = 0;
  for (const Test& test : committal::tests()) {
    bool named = count == 1;
    for (int i = 1; i < count; ++i) {
      const std::string file = "test_" + std::string(arguments[i]) + ".cpp";
      named = named || std::strstr(test.file, file.c_str()) != nullptr;
    }
    if (!named) continue;
    const int before = committal::failed_checks;
    test.body();
    std::printf("%s %s\n", committal::failed_checks == before ? "ok  " : "FAIL", test.name);
    ++run;
  }
  std::printf("%d tests, %d failed checks\n", run, committal::failed_checks);
  return run > 0 && committal::failed_checks == 0 ? 0 : 1;
}
