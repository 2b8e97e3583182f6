#include "app/cli/job/next.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "actors/system/time_zones.hpp"
#include "app/cli.hpp"
#include "app/cli/context.hpp"
#include "app/console/screen.hpp"
#include "app/json/job/next.hpp"

namespace fairlead::app {
namespace {

struct said {
  int code = 0;
  std::string text;
};

said run(const std::vector<const char*>& words) {
  captured_output output;
  const speak_to mine{output};
  std::vector<const char*> all{"fairlead", "job", "next"};
  all.insert(all.end(), words.begin(), words.end());
  said out;
  out.code = run_command_line(static_cast<int>(all.size()), all.data());
  out.text = output.text();
  return out;
}

TEST(cli_job_next, is_one_line_an_instant_for_people_and_one_array_for_programs) {
  next_question what;
  what.expression = "30 2 * * *";
  what.zone = "Europe/Berlin";
  what.after = "2026-03-28T22:30:00Z";
  what.count = 2;
  const auto answer = coming_instants(what, time_zones::of_system(), 0);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(next_text(*answer),
            "2026-03-29T01:00:00Z  2026-03-29T03:00:00+02:00\n"
            "2026-03-30T00:30:00Z  2026-03-30T02:30:00+02:00\n");
  const auto read = nlohmann::json::parse(next_json(*answer));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0], (nlohmann::json{{"utc", "2026-03-29T01:00:00Z"}, {"local", "2026-03-29T03:00:00+02:00"}}));
}

TEST(cli_job_next, answers_its_caller_with_0_2_and_3) {
  const auto five = run({"*/5 * * * *", "--json", "--after", "2026-03-28T22:30:00Z"});
  EXPECT_EQ(five.code, 0) << five.text;
  EXPECT_EQ(nlohmann::json::parse(five.text).size(), 5U) << "five unless another number is given";
  EXPECT_EQ(run({"0 0 29 2 *", "--count", "1000", "--after", "1896-03-01T00:00:00Z"}).code, 0);
  EXPECT_EQ(run({"60 * * * *"}).code, 2);
  EXPECT_EQ(run({""}).code, 2);
  EXPECT_EQ(run({"@daily", "--tz", "Nowhere/At_All"}).code, 2);
  EXPECT_EQ(run({"@daily", "--count", "0"}).code, 2);
  EXPECT_EQ(run({"@daily", "--count", "1001"}).code, 2);
  EXPECT_EQ(run({"@daily", "--count", "many"}).code, 2);
  EXPECT_EQ(run({"@daily", "--after", "now"}).code, 2);
  EXPECT_EQ(run({"@daily", "--dst", "summer"}).code, 2);
  EXPECT_EQ(run({}).code, 2);
  const auto never = run({"0 0 30 2 *", "--json"});
  EXPECT_EQ(never.code, 3);
  EXPECT_EQ(never.text,
            R"({"error":{"code":"not_found","sentence":"The expression '0 0 30 2 *' never matches: no year has a day that fits.",)"
            R"("remedy":"Check the day and the month.","exit_code":3}})"
            "\n")
      << "with --json errors are JSON too";
  EXPECT_EQ(run({"@daily", "--jsno", "--json"}).text.rfind(R"({"error":{"code":"invalid_argument")", 0), 0U)
      << "also those about the words";
  EXPECT_EQ(run({"@daily", "--jsno"}).text.rfind("fairlead: ", 0), 0U);
}

}  // namespace
}  // namespace fairlead::app
