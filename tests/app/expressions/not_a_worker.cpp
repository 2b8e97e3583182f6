// A pool starts its own binary as the worker unless told otherwise. The tests' binary is none: it would run all tests anew, which start
// workers, and so on.

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

[[maybe_unused]] const bool checked = [] {
  std::ifstream in{"/proc/self/cmdline", std::ios::binary};
  const std::string words{std::istreambuf_iterator<char>{in}, {}};
  if (words.find(std::string{"\0expression-worker\0", 19}) != std::string::npos) {
    std::fputs("the tests are not an expression worker: set FAIRLEAD_EXPRESSION_WORKER to the fairlead binary\n", stderr);
    _exit(2);
  }
  return true;
}();

}  // namespace
