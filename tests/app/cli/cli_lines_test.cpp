#include "app/cli/lines.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace fairlead::app {
namespace {

class cli_lines : public testing::Test {
 protected:
  cli_lines() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-lines-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~cli_lines() override { std::filesystem::remove_all(directory_); }

  line_reader with(const std::string& text) {
    auto path = (directory_ / "lines").string();
    std::ofstream{path, std::ios::binary} << text;
    auto opened = line_reader::open(path);
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  }

  static std::vector<std::string> all(line_reader& reader) {
    std::vector<std::string> out;
    std::string line;
    for (;;) {
      auto got = reader.next(line, [] { return false; });
      if (got == line_read::too_long) out.emplace_back("<too long>");
      if (got == line_read::line) out.push_back(line);
      if (got != line_read::too_long && got != line_read::line) return out;
    }
  }

  std::filesystem::path directory_;
};

TEST_F(cli_lines, gives_every_line_the_last_one_without_an_end_as_well) {
  auto reader = with("a\n\nb\r\nc");
  EXPECT_EQ(reader.count_lines(), 3U);
  EXPECT_EQ(all(reader), (std::vector<std::string>{"a", "", "b\r", "c"}));
}

TEST_F(cli_lines, an_empty_file_has_none) {
  auto reader = with("");
  EXPECT_EQ(reader.count_lines(), 0U);
  EXPECT_TRUE(all(reader).empty());
}

TEST_F(cli_lines, passes_over_a_line_that_is_too_long_and_goes_on) {
  const std::string longest(line_reader::max_line_bytes, 'x');
  auto reader = with("a\n" + longest + "\n" + longest + "y\nb\n" + longest + longest + longest);
  EXPECT_EQ(all(reader), (std::vector<std::string>{"a", longest, "<too long>", "b", "<too long>"}));
}

TEST_F(cli_lines, refuses_what_cannot_be_read_by_name) {
  auto missing = line_reader::open((directory_ / "missing").string());
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.failure().sentence.find("missing"), std::string::npos);
  EXPECT_FALSE(line_reader::open(directory_.string()).ok());
}

TEST_F(cli_lines, stops_while_nothing_comes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto reader = line_reader::open("/proc/self/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(reader.ok());
  std::string line;
  ASSERT_EQ(::write(ends[1], "half", 4), 4);
  EXPECT_EQ(reader->next(line, [] { return true; }), line_read::stopped);
  ASSERT_EQ(::write(ends[1], "-whole\n", 7), 7);
  EXPECT_EQ(reader->next(line, [] { return false; }), line_read::line);
  EXPECT_EQ(line, "half-whole");
  EXPECT_EQ(reader->count_lines(), 0U);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace fairlead::app
