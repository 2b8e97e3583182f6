// Lines of real crontabs, with what cron makes of them. They are read and never run.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "actors/core/job/check.hpp"
#include "app/crontab/import.hpp"

namespace fairlead::app {
namespace {

std::filesystem::path data_file() {
  const char* folder = std::getenv("FAIRLEAD_DATA");
  const char* source = std::getenv("FAIRLEAD_SOURCE");
  const std::filesystem::path beside = std::filesystem::path{source == nullptr ? "." : source}.parent_path() / "shared" / "data";
  return (folder != nullptr ? std::filesystem::path{folder} : beside) / "crontabs.jsonl";
}

class CrontabData : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in{data_file()};
    if (!in) GTEST_SKIP() << "there are no real crontabs at " << data_file() << "; FAIRLEAD_DATA names the folder that has them";
    for (std::string line; std::getline(in, line);) rows_.push_back(nlohmann::json::parse(line));
    ASSERT_GT(rows_.size(), 200U);
  }

  static crontab read(const nlohmann::json& row, const std::string& below = "") {
    crontab_options options;
    options.user_column = row["user_field"].get<bool>();
    options.zone_known = [](const std::string&) { return true; };
    return read_crontab("tab", row["line"].get<std::string>() + "\n" + below, options);
  }

  static std::string text_of(const nlohmann::json& of, const char* key) {
    return of.contains(key) && of[key].is_string() ? of[key].get<std::string>() : std::string{};
  }

  static bool refused(const nlohmann::json& row) { return text_of(row, "debian_cron").substr(0, 6) == "refuse"; }
  // Accepted by cron, and no time for a set of nodes.
  static bool at_boot(const nlohmann::json& row) { return row["kind"] == "macro" && row["expected"]["macro"] == "@reboot"; }

  std::vector<nlohmann::json> rows_;
};

TEST_F(CrontabData, every_entry_and_macro_is_what_cron_sees) {
  std::size_t seen = 0;
  for (const auto& row : rows_) {
    if ((row["kind"] != "entry" && row["kind"] != "macro") || at_boot(row)) continue;
    const auto& expected = row["expected"];
    const auto found = read(row);
    ASSERT_EQ(found.entries.size(), 1U) << row["line"];
    EXPECT_TRUE(found.problems.empty()) << row["line"];
    const auto& entry = found.entries.front();
    std::string schedule = text_of(expected, "macro");
    if (expected.contains("fields"))
      for (const auto& field : expected["fields"]) schedule += (schedule.empty() ? "" : " ") + field.get<std::string>();
    EXPECT_EQ(entry.schedule, schedule);
    EXPECT_EQ(entry.command, text_of(expected, "command"));
    EXPECT_EQ(entry.user, text_of(expected, "user")) << row["line"];
    auto input = text_of(expected, "stdin");
    if (!input.empty() && input.back() != '\n') input += '\n';  // which cron adds
    EXPECT_EQ(entry.stdin_text.value_or(""), input);
    ++seen;
  }
  EXPECT_GT(seen, 140U);
}

TEST_F(CrontabData, every_variable_is_what_cron_sees) {
  std::size_t seen = 0;
  for (const auto& row : rows_) {
    if (row["kind"] != "env") continue;
    const auto found = read(row, "0 0 * * * root true\n");
    ASSERT_EQ(found.entries.size(), 1U) << row["line"];
    ASSERT_EQ(found.entries.front().environment.size(), 1U) << row["line"];
    EXPECT_EQ(found.entries.front().environment.front().name, text_of(row["expected"], "name"));
    EXPECT_EQ(found.entries.front().environment.front().value, text_of(row["expected"], "value"));
    ++seen;
  }
  EXPECT_GT(seen, 40U);
}

TEST_F(CrontabData, what_cron_refuses_and_what_has_no_time_is_a_problem_and_comments_are_nothing) {
  std::size_t refusals = 0;
  std::size_t comments = 0;
  for (const auto& row : rows_) {
    const auto found = read(row);
    const bool problem = refused(row) || at_boot(row);
    EXPECT_EQ(found.problems.size(), problem ? 1U : 0U) << row["line"];
    refusals += problem ? 1 : 0;
    if (row["kind"] != "comment") continue;
    EXPECT_TRUE(found.entries.empty()) << row["line"];
    ++comments;
  }
  EXPECT_GT(refusals, 10U);
  EXPECT_GT(comments, 25U);
}

TEST_F(CrontabData, every_entry_becomes_a_job_with_a_name_of_its_own_and_an_input_that_is_no_template) {
  std::vector<crontab_entry> entries;
  for (const auto& row : rows_) {
    const auto found = read(row);
    entries.insert(entries.end(), found.entries.begin(), found.entries.end());
  }
  const auto made = import_jobs("tab", entries, {});
  EXPECT_TRUE(made.problems.empty());
  ASSERT_EQ(made.jobs.size(), entries.size());
  std::set<std::string> names;
  for (const auto& job : made.jobs) {
    EXPECT_TRUE(core::valid_job_name(job.name())) << job.name();
    EXPECT_TRUE(names.insert(job.name()).second) << job.name();
    EXPECT_EQ(job.input().find("${"), std::string::npos) << job.input();
    EXPECT_TRUE(nlohmann::json::parse(job.input())["script"].is_string());
  }
  for (const auto& workflow : made.workflows) EXPECT_EQ(workflow.definition.steps_size(), 1);
}

}  // namespace
}  // namespace fairlead::app
