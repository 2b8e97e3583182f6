#include "app/cli/job/moments.hpp"

#include <gtest/gtest.h>

#include "actors/system/time_zones.hpp"
#include "messages/time.hpp"

namespace fairlead::app {
namespace {

std::int64_t utc(const char* text) {
  std::int64_t out = 0;
  EXPECT_TRUE(parse_utc(text, out)) << text;
  return out;
}

const cctz::time_zone& berlin() { return *time_zones::of_system().find("Europe/Berlin"); }

time_range range(const char* from, const char* to) {
  const auto asked = asked_range::read({from, to, {}}, utc("2026-11-23T10:00:00Z"));
  EXPECT_TRUE(asked.ok());
  return *asked->in(&berlin());
}

TEST(moments, a_day_is_that_of_the_jobs_clock_and_included_whole) {
  const auto day = range("2026-11-19", "2026-11-19");
  EXPECT_EQ(format_utc(day.from_unix_ms), "2026-11-18T23:00:00.000Z");
  EXPECT_EQ(format_utc(day.to_unix_ms), "2026-11-19T22:59:59.999Z");
  EXPECT_EQ(format_utc(range("2026-11-23", "2026-11-23").to_unix_ms), "2026-11-23T10:00:00.000Z") << "today goes up to now";
}

TEST(moments, a_time_of_day_is_by_the_jobs_clock_too_and_utc_stays_utc) {
  EXPECT_EQ(format_utc(range("2026-11-19 02:30", "2026-11-19T03:30:15").from_unix_ms), "2026-11-19T01:30:00.000Z");
  EXPECT_EQ(format_utc(range("2026-11-19 02:30", "2026-11-19T03:30:15").to_unix_ms), "2026-11-19T02:30:15.000Z");
  EXPECT_EQ(format_utc(range("2026-11-19T01:30:00Z", "2026-11-19").from_unix_ms), "2026-11-19T01:30:00.000Z");
}

TEST(moments, a_time_in_the_gap_of_spring_is_the_first_moment_after_it) {
  EXPECT_EQ(format_utc(range("2026-03-29 02:30", "2026-03-30").from_unix_ms), "2026-03-29T01:00:00.000Z");
}

TEST(moments, the_last_days_end_now) {
  const auto asked = asked_range::read({{}, {}, "3d"}, utc("2026-11-23T10:00:00Z"));
  ASSERT_TRUE(asked.ok());
  EXPECT_FALSE(asked->needs_zone());
  EXPECT_EQ(format_utc(asked->in(nullptr)->from_unix_ms), "2026-11-20T10:00:00.000Z");
  EXPECT_EQ(format_utc(asked->in(nullptr)->to_unix_ms), "2026-11-23T10:00:00.000Z");
}

TEST(moments, what_is_no_moment_or_no_range_is_refused_by_its_option) {
  for (const auto* text : {"noon", "2026-13-01", "2026-02-30", "2026-11-19T25:00", "2026-11-19 02", "2026-11-19 02:30x", "19.11.2026", ""})
    EXPECT_NE(asked_range::read({text, {}, {}}, 0).failure().sentence.find("is not a valid time for --from"), std::string::npos) << text;
  EXPECT_EQ(asked_range::read({"2026-11-20", "2026-11-19", {}}, 0).failure().sentence, "--to is before --from");
  EXPECT_EQ(asked_range::read({{}, {}, "soon"}, 0).failure().sentence, "'soon' is not a duration for --last");
  EXPECT_EQ(asked_range::read({{}, {}, "3d"}, 1'000).failure().sentence, "--last begins before 1970");
  // Only the zone shows that these are the wrong way round.
  const auto asked = asked_range::read({"2026-11-19 02:30", "2026-11-19T01:00:00Z", {}}, utc("2026-11-23T10:00:00Z"));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->in(&berlin()).failure().sentence, "--to is before --from");
}

}  // namespace
}  // namespace fairlead::app
