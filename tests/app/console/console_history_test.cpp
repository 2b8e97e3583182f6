#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/console/history.hpp"

namespace fairlead::app {
namespace {

class console_history_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/console_history.XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::string file() const { return folder / "fairlead" / "console_history"; }
};

TEST_F(console_history_test, what_was_typed_is_there_in_the_next_console) {
  console_history{file()}.add("nodes");
  console_history second{file()};
  EXPECT_EQ(second.lines(), std::vector<std::string>{"nodes"});
  EXPECT_EQ(second.trouble(), "");
}

TEST_F(console_history_test, only_its_owner_can_read_it) {
  console_history{file()}.add("nodes");
  struct stat about {};
  ASSERT_EQ(::stat(file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((folder / "fairlead").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700u);
}

TEST_F(console_history_test, two_consoles_do_not_write_over_each_other) {
  console_history one{file()};
  console_history other{file()};
  one.add("nodes");
  other.add("tree");
  EXPECT_EQ(console_history{file()}.lines(), (std::vector<std::string>{"nodes", "tree"}));
}

TEST_F(console_history_test, keeps_neither_blank_lines_nor_repetitions_nor_what_begins_with_a_blank) {
  console_history history{file()};
  EXPECT_TRUE(history.add("nodes"));
  EXPECT_FALSE(history.add("nodes"));
  EXPECT_FALSE(history.add(" retry t --input '{\"card\": 4111}'"));
  EXPECT_FALSE(history.add(""));
  EXPECT_EQ(console_history{file()}.lines(), std::vector<std::string>{"nodes"});
}

TEST_F(console_history_test, a_long_one_is_cut_to_its_newest_lines) {
  std::filesystem::create_directories(folder / "fairlead");
  {
    std::ofstream old{file()};
    for (std::size_t i = 0; i < 3 * console_history::most_lines; ++i) old << "line " << i << "\n";
  }
  const console_history history{file()};
  EXPECT_EQ(history.lines().size(), console_history::most_lines);
  EXPECT_EQ(history.lines().back(), "line 2999");
  std::ifstream written{file()};
  std::string first;
  std::getline(written, first);
  EXPECT_EQ(first, "line 2000");
}

TEST_F(console_history_test, where_it_cannot_be_written_it_is_kept_for_this_console_and_said_once) {
  std::ofstream{folder / "fairlead"} << "a file where the folder should be";
  console_history history{file()};
  EXPECT_TRUE(history.add("nodes"));
  EXPECT_NE(history.trouble().find("console_history"), std::string::npos) << history.trouble();
  EXPECT_EQ(history.lines(), std::vector<std::string>{"nodes"});
}

TEST_F(console_history_test, stands_in_the_state_folder_of_the_user) {
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(console_history::default_path(), "/state/fairlead/console_history");
  ::setenv("XDG_STATE_HOME", "not/absolute", 1);
  ::setenv("HOME", "/home/ana", 1);
  EXPECT_EQ(console_history::default_path(), "/home/ana/.local/state/fairlead/console_history");
  ::unsetenv("XDG_STATE_HOME");
}

}  // namespace
}  // namespace fairlead::app
