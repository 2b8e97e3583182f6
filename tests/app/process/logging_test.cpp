#include "app/process/logging.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

namespace fairlead::app {
namespace {

class logging : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "logging.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    config_.file = folder_ / "node.log";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<transition_log> open() {
    auto log = transition_log::open(config_);
    EXPECT_TRUE(log.ok()) << (log.ok() ? "" : log.failure().sentence);
    return std::move(log).value();
  }

  // Read while the log is still open: what was told must be there.
  std::vector<std::string> read() const {
    std::vector<std::string> out;
    std::ifstream in{config_.file};
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }

  static void expect_text(const std::string& line, const std::string& rest) {
    static const std::regex time{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z .*)"};
    EXPECT_TRUE(std::regex_match(line, time)) << line;
    EXPECT_EQ(line.substr(std::min<std::size_t>(25, line.size())), rest);
  }

  std::filesystem::path folder_;
  log_config config_;
};

TEST_F(logging, goes_on_in_a_new_file_when_the_former_one_was_renamed) {
  const auto log = open();
  log->on_note(note_level::info, "node", "before");
  std::filesystem::rename(config_.file, config_.file + ".1");
  log->on_note(note_level::info, "node", "renamed");
  EXPECT_TRUE(log->reopen().ok());
  log->on_note(note_level::info, "node", "after");
  const auto lines = read();
  ASSERT_EQ(lines.size(), 1U);
  expect_text(lines[0], "info    node: after");
  std::filesystem::remove_all(folder_);
  std::ofstream{folder_} << "a file in place of the folder";
  EXPECT_FALSE(log->reopen().ok());
  log->on_note(note_level::info, "node", "into the file that was open");
}

TEST_F(logging, writes_a_line_for_each_transition_before_the_call_returns) {
  const auto log = open();
  log->on_transition({"order-1", "ship", "pending", "running", 2, ""});
  ASSERT_EQ(read().size(), 1U);
  log->on_transition({"order-1", "", "running", "completed", 0, "in 3 steps"});
  log->on_transition({"order-2", "", "", "pending", 0, ""});
  const auto lines = read();
  ASSERT_EQ(lines.size(), 3U);
  expect_text(lines[0], "info    task order-1 step ship: pending -> running, attempt 2");
  expect_text(lines[1], "info    task order-1: running -> completed, in 3 steps");
  expect_text(lines[2], "info    task order-2: pending");
}

TEST_F(logging, writes_notes_with_level_and_component) {
  config_.level = note_level::debug;
  const auto log = open();
  log->on_note(note_level::debug, "store", "a");
  log->on_note(note_level::info, "store", "b");
  log->on_note(note_level::warning, "agent payment", "c");
  log->on_note(note_level::error, "node", "d");
  const auto lines = read();
  ASSERT_EQ(lines.size(), 4U);
  expect_text(lines[0], "debug   store: a");
  expect_text(lines[1], "info    store: b");
  expect_text(lines[2], "warning agent payment: c");
  expect_text(lines[3], "error   node: d");
}

TEST_F(logging, keeps_to_its_level) {
  config_.level = note_level::warning;
  const auto log = open();
  EXPECT_FALSE(log->wants_transitions());
  log->on_transition({"order-1", "", "pending", "running", 0, ""});
  log->on_note(note_level::info, "store", "quiet");
  log->on_note(note_level::warning, "store", "loud");
  ASSERT_EQ(read().size(), 1U);
  config_.level = note_level::info;
  EXPECT_TRUE(open()->wants_transitions());
}

TEST_F(logging, a_hostile_text_stays_one_line_of_text) {
  const auto log = open();
  log->on_note(note_level::info, "client", "a\nb\x1b[31m\tc\x7f {} %v %*");
  log->on_transition({"id\n", "s\r", "a", "b", 1, "x\ny"});
  const auto lines = read();
  ASSERT_EQ(lines.size(), 2U);
  expect_text(lines[0], "info    client: a\\nb\\x1b[31m\\tc\\x7f {} %v %*");
  expect_text(lines[1], "info    task id\\n step s\\x0d: a -> b, attempt 1, x\\ny");
}

TEST_F(logging, writes_json_that_programs_can_read) {
  config_.json = true;
  const auto log = open();
  log->on_transition({"order-\"1\"\n", "ship", "pending", "running", 2, "caf\xe9 {}"});
  log->on_note(note_level::warning, "agent payment", "a \\ b\x01");
  log->on_transition({"order-2", "", "", "pending", 0, ""});
  const auto lines = read();
  ASSERT_EQ(lines.size(), 3U);
  auto first = nlohmann::json::parse(lines[0]);
  EXPECT_TRUE(std::regex_match(first["time"].get<std::string>(), std::regex{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"}));
  first.erase("time");
  EXPECT_EQ(first, (nlohmann::json{{"level", "info"},
                                   {"component", "task"},
                                   {"task", "order-\"1\"\n"},
                                   {"step", "ship"},
                                   {"from", "pending"},
                                   {"to", "running"},
                                   {"attempt", 2},
                                   {"detail", "caf\xef\xbf\xbd {}"}}));
  auto second = nlohmann::json::parse(lines[1]);
  second.erase("time");
  EXPECT_EQ(second, (nlohmann::json{{"level", "warning"}, {"component", "agent payment"}, {"message", "a \\ b\x01"}}));
  auto third = nlohmann::json::parse(lines[2]);
  third.erase("time");
  EXPECT_EQ(third, (nlohmann::json{{"level", "info"}, {"component", "task"}, {"task", "order-2"}, {"from", ""}, {"to", "pending"}}));
}

TEST_F(logging, appends_to_what_is_there_and_makes_the_folder) {
  config_.file = folder_ / "deep" / "er" / "node.log";
  open()->on_note(note_level::info, "node", "one");
  open()->on_note(note_level::info, "node", "two");
  EXPECT_EQ(read().size(), 2U);
}

TEST_F(logging, says_which_file_it_cannot_open) {
  config_.file = folder_;
  const auto log = transition_log::open(config_);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.failure().code, v1::ERROR_CODE_DISK);
  EXPECT_NE(log.failure().sentence.find(folder_.string()), std::string::npos);
}

TEST_F(logging, lines_of_many_threads_do_not_mix) {
  const auto log = open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) log->on_note(note_level::info, "node", std::string(200, 'x'));
    });
  }
  for (auto& thread : threads) thread.join();
  const auto lines = read();
  ASSERT_EQ(lines.size(), 2000U);
  for (const auto& line : lines) ASSERT_EQ(line.size(), 25 + 14 + 200U);
}

}  // namespace
}  // namespace fairlead::app
