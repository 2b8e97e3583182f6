#include "app/json/job/next.hpp"

#include <gtest/gtest.h>

#include "actors/system/time_zones.hpp"
#include "app/process/exit_codes.hpp"

namespace fairlead::app {
namespace {

using list = std::vector<std::string>;

constexpr std::int64_t now_ms = 1'774'737'000'250;  // 2026-03-28T22:30:00.250Z

result<next_answer> coming(const next_question& what) { return coming_instants(what, time_zones::of_system(), now_ms); }

next_question question(const std::string& expression, const std::string& zone = "",
                       const std::optional<std::string>& after = "2026-03-28T22:30:00Z", std::uint32_t count = 3) {
  next_question out;
  out.expression = expression;
  out.zone = zone;
  out.after = after;
  out.count = count;
  return out;
}

list locals(const next_question& what) {
  const auto answer = coming(what);
  if (!answer) return {answer.failure().sentence};
  list out;
  for (const auto& one : answer->instants) out.push_back(one.local);
  return out;
}

TEST(job_next, tells_when_an_expression_comes_up) {
  struct row {
    next_question what;
    list local;
  };
  for (const auto& [what, local] : {
           row{question("30 2 * * *"), {"2026-03-29T02:30:00+00:00", "2026-03-30T02:30:00+00:00", "2026-03-31T02:30:00+00:00"}},
           row{question("30 2 * * *", "Europe/Berlin"),
               {"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00"}},
           row{question("30 22 * * *", "UTC"), {"2026-03-29T22:30:00+00:00", "2026-03-30T22:30:00+00:00", "2026-03-31T22:30:00+00:00"}},
           row{question("0 9 * * MON-FRI", "America/New_York", {}, 2), {"2026-03-30T09:00:00-04:00", "2026-03-31T09:00:00-04:00"}},
           row{question("*/20 30 22 * * *", "UTC", "2026-03-28T22:30:00.5Z"),
               {"2026-03-28T22:30:20+00:00", "2026-03-28T22:30:40+00:00", "2026-03-29T22:30:00+00:00"}},
           row{question("0 0 L * *", "Asia/Kathmandu", "2026-03-28T22:30:00Z", 2),
               {"2026-03-31T00:00:00+05:45", "2026-04-30T00:00:00+05:45"}},
           row{question("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1), {"2104-02-29T00:00:00+00:00"}},
           row{question("@every 90m", "Europe/Berlin", "1970-01-01T00:00:00Z", 2),
               {"1970-01-01T02:30:00+01:00", "1970-01-01T04:00:00+01:00"}},
           row{question("@yearly", "UTC", "1969-12-31T23:59:59.999Z", 1), {"1970-01-01T00:00:00+00:00"}},
       })
    EXPECT_EQ(locals(what), local) << what.expression << " " << what.zone << " " << what.after.value_or("now");
}

TEST(job_next, the_policy_decides_what_becomes_of_the_hour_that_is_skipped_or_comes_twice) {
  auto spring = question("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1);
  EXPECT_EQ(locals(spring), list{"2026-03-29T03:00:00+02:00"});
  spring.dst = "literal";
  EXPECT_EQ(locals(spring), list{"2026-03-30T02:30:00+02:00"});
  spring.dst = "skip_once";
  EXPECT_EQ(locals(spring), list{"2026-03-30T02:30:00+02:00"});

  auto autumn = question("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
  EXPECT_EQ(locals(autumn), (list{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}));
  autumn.dst = "literal";
  EXPECT_EQ(locals(autumn), (list{"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"}));
}

TEST(job_next, what_comes_after_a_moment_is_not_that_moment) {
  EXPECT_EQ(coming(question("30 22 28 3 *", "", "2026-03-28T22:30:00Z", 1))->instants.front().utc, "2027-03-28T22:30:00Z");
  EXPECT_EQ(coming(question("30 22 28 3 *", "", "2026-03-28T22:29:59.999Z", 1))->instants.front().utc, "2026-03-28T22:30:00Z");
  EXPECT_EQ(coming(question("30 22 28 3 *", "", "2026-03-28T23:30:00+01:00", 1))->instants.front().utc, "2027-03-28T22:30:00Z");
  EXPECT_EQ(coming(question("* * * * * *", "", {}, 1))->instants.front().utc, "2026-03-28T22:30:01Z") << "after now";
}

TEST(job_next, a_job_s_name_decides_what_the_question_mark_stands_for) {
  auto one = question("? ? * * *");
  const auto nameless = coming(one);
  ASSERT_TRUE(nameless.ok());
  EXPECT_NE(nameless->remark.find("--name"), std::string::npos);
  one.job = "listen";
  auto other = one;
  other.job = "silent";
  EXPECT_EQ(locals(one), locals(one));
  EXPECT_NE(locals(one), locals(other));
  EXPECT_EQ(coming(one)->remark, "");
}

TEST(job_next, fewer_instants_than_asked_for_are_all_there_are) {
  const auto last = coming(question("0 0 1 1 *", "UTC", "9997-06-01T00:00:00Z", 1'000));
  ASSERT_TRUE(last.ok());
  ASSERT_EQ(last->instants.size(), 2U);
  EXPECT_EQ(last->instants.back().utc, "9999-01-01T00:00:00Z");
  EXPECT_NE(last->remark.find("no more times"), std::string::npos);
  const auto none = coming(question("0 0 1 1 *", "UTC", "9999-06-01T00:00:00Z"));
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(next_json(*none), "[]");
}

TEST(job_next, bad_input_is_refused_and_says_where) {
  struct row {
    next_question what;
    const char* part;
  };
  auto policy = question("@daily");
  policy.dst = "litteral";
  for (const auto& [what, part] :
       {row{question("61 * * * *"), "position 1"}, row{question("* * * *"), "position"}, row{question("0 0 1 1 8"), "position 9"},
        row{question(""), "position 1"}, row{question("@reboot"), "@reboot"}, row{question(std::string(257, '*')), "256"},
        row{question("@daily", "Europe/Berlim"), "no time zone 'Europe/Berlim'"},
        row{question("@daily", "../../etc/passwd"), "no time zone"}, row{question("@daily", "UTC", "yesterday"), "--after"},
        row{question("@daily", "UTC", ""), "--after"}, row{question("@daily", "UTC", {}, 0), "count"},
        row{question("@daily", "UTC", {}, 1'001), "count"}, row{policy, "litteral"}}) {
    const auto answer = coming(what);
    ASSERT_FALSE(answer.ok()) << what.expression;
    EXPECT_EQ(answer.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT) << what.expression;
    EXPECT_NE(answer.failure().sentence.find(part), std::string::npos) << answer.failure().sentence;
    EXPECT_NE(answer.failure().remedy, "") << what.expression;
  }
  EXPECT_EQ(coming(question("@daily", "Europe/Berlim")).failure().remedy, "Did you mean Europe/Berlin?");
}

TEST(job_next, what_is_wrong_is_named_as_the_command_line_or_the_api_names_it) {
  auto policy = question("@daily");
  policy.dst = "litteral";
  struct row {
    next_question what;
    std::string option, field;
  };
  for (const auto& [what, option, field] : {row{question("@daily", "UTC", "yesterday"), "--after", "after"}, row{policy, "--dst", "dst"}}) {
    EXPECT_NE(coming(what).failure().sentence.find(" for " + option), std::string::npos) << coming(what).failure().sentence;
    std::string at_fault;
    const auto over_api = coming_instants(what, time_zones::of_system(), now_ms, &at_fault);
    ASSERT_FALSE(over_api.ok());
    EXPECT_EQ(at_fault, field);
    EXPECT_NE(over_api.failure().sentence.find(" for field '" + field + "'"), std::string::npos) << over_api.failure().sentence;
  }
}

TEST(job_next, one_that_never_matches_is_named_as_such) {
  for (const auto* expression : {"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 31 2 *"}) {
    const auto answer = coming(question(expression));
    ASSERT_FALSE(answer.ok()) << expression;
    EXPECT_EQ(exit_code_of(answer.failure().code), 3) << expression;
    EXPECT_NE(answer.failure().sentence.find("never matches"), std::string::npos);
  }
}

TEST(instant_text, shows_a_fraction_where_there_is_one) {
  EXPECT_EQ(instant_text(now_ms), "2026-03-28T22:30:00.250Z");
  EXPECT_EQ(instant_text(now_ms - 250), "2026-03-28T22:30:00Z");
  EXPECT_EQ(instant_text(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace fairlead::app
