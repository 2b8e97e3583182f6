// Runs GoogleTest's tests of one folder: `store_tests --room=store/rows`; without `--room`, all of the program.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

/// The tests whose files stand right in `tests/ROOM/`, as a filter of GoogleTest.
std::string tests_of(std::string_view room) {
  const auto folder = "/tests/" + std::string{room};
  std::string out;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const auto& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const auto& test = *suite.GetTestInfo(j);
      const std::string_view file = test.file();
      const auto name = file.rfind('/');
      if (name == std::string_view::npos || !file.substr(0, name).ends_with(folder)) continue;
      out += (out.empty() ? "" : ":") + std::string{suite.name()} + "." + test.name();
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view option = "--room=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto filter = argument.starts_with(option) ? tests_of(argument.substr(option.size())) : std::string{};
    if (filter.empty()) {
      std::fprintf(stderr, "%s names no room that has tests in this program\n", argv[i]);
      return 2;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
