// Crontab lines of the real world, with the instants at which they are due by two other programs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "actors/core/text/json.hpp"
#include "tests/actors/core/cron/cron_fixture.hpp"

namespace fairlead::core {
namespace {

constexpr auto* after = "2026-03-28T22:30:00Z";

std::filesystem::path crontabs() {
  if (const auto* folder = std::getenv("FAIRLEAD_DATA")) return std::filesystem::path(folder) / "crontabs.jsonl";
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  return std::filesystem::path(source == nullptr ? "." : source) / ".." / "shared" / "data" / "crontabs.jsonl";
}

std::string text_member(std::string_view object, std::string_view name) {
  const auto found = json_member(object, name);
  return found && found->front() == '"' ? decode_json_string(*found) : std::string{};
}

texts array_member(std::string_view object, std::string_view name) {
  texts out;
  const auto array = json_member(object, name);
  if (!array || array->front() != '[') return out;
  for (std::int64_t i = 0;; ++i) {
    const auto element = json_element(*array, i);
    if (!element) return out;
    out.push_back(decode_json_string(*element));
  }
}

/// A line of the file whose cron line says when something runs.
struct real_line {
  std::string kind;
  std::string expression;
  texts utc;
  texts berlin;
};

std::vector<real_line> read_lines(std::istream& file) {
  std::vector<real_line> out;
  for (std::string line; std::getline(file, line);) {
    real_line found;
    found.kind = text_member(line, "kind");
    const auto expected = json_member(line, "expected");
    if (!expected || (found.kind != "entry" && found.kind != "odd" && found.kind != "macro")) continue;
    found.expression = text_member(*expected, "macro");
    for (const auto& field : array_member(*expected, "fields")) found.expression += (found.expression.empty() ? "" : " ") + field;
    found.utc = array_member(*expected, "next_utc");
    found.berlin = array_member(*expected, "next_berlin");
    out.push_back(std::move(found));
  }
  return out;
}

TEST(cron_crontabs, are_due_when_other_programs_say) {
  const auto path = crontabs();
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "there are no real crontab lines at " << path << "; FAIRLEAD_DATA names the folder that has them";
  const auto berlin = load("Europe/Berlin");
  std::size_t due = 0;
  std::set<std::string> refused;
  for (const auto& line : read_lines(file)) {
    if (line.utc.empty()) {
      refuse(line.expression);
      refused.insert(line.expression);
      continue;
    }
    ++due;
    const auto expression = read(line.expression);
    EXPECT_EQ(coming(expression, cctz::utc_time_zone(), dst_policy::vixie, after, line.utc.size()), line.utc) << line.expression;
    EXPECT_EQ(coming(expression, berlin, dst_policy::vixie, after, line.berlin.size()), line.berlin) << line.expression;
  }
  EXPECT_GE(due, 140U);
  EXPECT_TRUE(refused.contains("0 30 * * *"));
  EXPECT_TRUE(refused.contains("@reboot"));
}

}  // namespace
}  // namespace fairlead::core
