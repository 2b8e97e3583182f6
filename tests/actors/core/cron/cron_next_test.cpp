#include "actors/core/cron/next.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/actors/core/cron/cron_fixture.hpp"

namespace fairlead::core {
namespace {

std::string first(const std::string& text, const std::string& after) { return coming(text, "UTC", dst_policy::vixie, after, 1).front(); }

TEST(next_instant, finds_the_days_that_the_calendar_has) {
  struct row {
    const char* text;
    const char* after;
    const char* next;
  } const rows[] = {
      {"* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"},
      {"* * * * *", "2026-01-01T00:00:59Z", "2026-01-01T00:01:00Z"},
      {"*/7 * * * * *", "2026-01-01T00:00:56Z", "2026-01-01T00:01:00Z"},
      {"59 59 23 31 12 *", "2026-12-31T23:59:58Z", "2026-12-31T23:59:59Z"},
      {"59 59 23 31 12 *", "2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"},
      {"30 2 * * *", "2025-12-31T23:59:59Z", "2026-01-01T02:30:00Z"},
      {"0 9 * * MON-FRI", "2026-03-27T09:00:00Z", "2026-03-30T09:00:00Z"},
      {"0 9 * * FRI-SUN", "2026-03-29T09:00:00Z", "2026-04-03T09:00:00Z"},
      {"0 0 1 * *", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"},
      {"0 0 31 * *", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"},
      {"0 0 29 2 *", "1896-03-01T00:00:00Z", "1904-02-29T00:00:00Z"},
      {"0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
      {"0 0 29 2 */7", "2088-03-01T00:00:00Z", "2128-02-29T00:00:00Z"},  // leap days that are Sundays
      {"0 0 L * *", "2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z"},
      {"0 0 L 2 *", "2026-03-01T00:00:00Z", "2027-02-28T00:00:00Z"},
      {"0 0 L 2 *", "2027-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"0 0 L-2 * *", "2026-04-01T00:00:00Z", "2026-04-28T00:00:00Z"},
      {"0 0 L-30 * *", "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"},
      {"0 0 L-29 2 *", "2026-01-01T00:00:00Z", "never"},
      {"0 0 L-28 2 *", "2026-01-01T00:00:00Z", "2028-02-01T00:00:00Z"},
      {"0 0 LW * *", "2026-01-01T00:00:00Z", "2026-01-30T00:00:00Z"},     // the 31st is a Saturday
      {"0 0 LW 5 *", "2026-01-01T00:00:00Z", "2026-05-29T00:00:00Z"},     // the 31st is a Sunday
      {"0 0 LW 3 *", "2026-01-01T00:00:00Z", "2026-03-31T00:00:00Z"},     // a Tuesday
      {"0 0 1W 8 *", "2026-01-01T00:00:00Z", "2026-08-03T00:00:00Z"},     // a Saturday; Friday is in July
      {"0 0 1W 2 *", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"},     // a Sunday
      {"0 0 15W 8 *", "2026-01-01T00:00:00Z", "2026-08-14T00:00:00Z"},    // a Saturday
      {"0 0 15W 3 *", "2026-01-01T00:00:00Z", "2026-03-16T00:00:00Z"},    // a Sunday
      {"0 0 31W 5 *", "2026-01-01T00:00:00Z", "2026-05-29T00:00:00Z"},    // a Sunday; Monday is in June
      {"0 0 31W 4,7 *", "2026-01-01T00:00:00Z", "2026-07-31T00:00:00Z"},  // April has no 31st
      {"0 0 30W 2 *", "2026-01-01T00:00:00Z", "never"},
      {"0 0 * * 5#1", "2026-01-02T00:00:00Z", "2026-02-06T00:00:00Z"},
      {"0 0 * * 1#5", "2026-01-01T00:00:00Z", "2026-03-30T00:00:00Z"},
      {"0 0 * 2 SUN#5", "2026-01-01T00:00:00Z", "2032-02-29T00:00:00Z"},
      {"0 0 * * 7L", "2026-03-01T00:00:00Z", "2026-03-29T00:00:00Z"},
      {"0 0 * 2 6L", "2026-01-01T00:00:00Z", "2026-02-28T00:00:00Z"},
      {"0 0 * * 2#1,FRIL", "2026-03-03T00:00:00Z", "2026-03-27T00:00:00Z"},
      // Both restricted: either. One with a star: both.
      {"0 0 13 * 5", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z"},
      {"0 0 13 4 5", "2026-04-10T00:00:00Z", "2026-04-13T00:00:00Z"},
      {"0 0 */2 * 5", "2026-03-01T00:00:00Z", "2026-03-13T00:00:00Z"},
      {"0 0 13 * */5", "2026-01-01T00:00:00Z", "2026-02-13T00:00:00Z"},
      {"0 0 1-31 * 5", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
      {"0 0 L * 5#1", "2026-03-06T00:00:00Z", "2026-03-31T00:00:00Z"},
      {"@weekly", "2026-03-28T22:30:00Z", "2026-03-29T00:00:00Z"},
      {"0 0 1 1 *", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
      {"0 0 1 1 *", "1500-06-01T00:00:00Z", "1501-01-01T00:00:00Z"},
      {"0 0 1 1 *", "9998-06-01T00:00:00Z", "9999-01-01T00:00:00Z"},
      {"0 0 1 1 *", "9999-01-01T00:00:00Z", "never"},
      {"0 0 29 2 *", "9996-03-01T00:00:00Z", "never"},
  };
  for (const auto& row : rows) EXPECT_EQ(first(row.text, row.after), row.next) << row.text << " after " << row.after;
}

TEST(next_instant, stands_any_instant) {
  const auto daily = read("0 0 * * *");
  const auto every = read("@every 7s");
  for (const auto* name : {"UTC", "Europe/Berlin", "Pacific/Apia"}) {
    const auto zone = load(name);
    for (const auto policy : {dst_policy::vixie, dst_policy::literal, dst_policy::skip_once}) {
      EXPECT_EQ(next_instant(daily, zone, policy, std::numeric_limits<std::int64_t>::max()), std::nullopt);
      EXPECT_EQ(next_instant(every, zone, policy, std::numeric_limits<std::int64_t>::max()), std::nullopt);
      EXPECT_GE(next_instant(daily, zone, policy, std::numeric_limits<std::int64_t>::min()), at("0001-01-01T00:00:00Z"));
      EXPECT_GE(next_instant(every, zone, policy, std::numeric_limits<std::int64_t>::min()), at("0001-01-01T00:00:00Z"));
      EXPECT_EQ(next_instant(cron_expression{}, zone, policy, 0), std::nullopt) << "nothing was ever parsed";
    }
  }
}

TEST(next_instant, keeps_every_at_the_multiples_whatever_the_clock_of_the_zone_does) {
  for (const auto policy : {dst_policy::vixie, dst_policy::literal, dst_policy::skip_once}) {
    EXPECT_EQ(coming("@every 40m", "Europe/Berlin", policy, "2026-03-29T00:00:00Z", 3),
              (texts{"2026-03-29T00:40:00Z", "2026-03-29T01:20:00Z", "2026-03-29T02:00:00Z"}));
    EXPECT_EQ(coming("@every 40m", "Pacific/Apia", policy, "1969-12-31T23:30:00Z", 2),
              (texts{"1970-01-01T00:00:00Z", "1970-01-01T00:40:00Z"}));
    EXPECT_EQ(coming("@every 7d", "UTC", policy, "1969-12-24T00:00:00Z", 2), (texts{"1969-12-25T00:00:00Z", "1970-01-01T00:00:00Z"}));
  }
}

TEST(next_instant, goes_on_beyond_the_changes_that_zone_data_list) {
  // Berlin's rule goes on for ever: the last Sunday of March is the 28th in 9993, the last of October the 31st.
  EXPECT_EQ(coming("30 2 28 3 *", "Europe/Berlin", dst_policy::vixie, "9993-01-01T00:00:00Z", 1), (texts{"9993-03-28T01:00:00Z"}));
  EXPECT_EQ(coming("30 2 28 3 *", "Europe/Berlin", dst_policy::literal, "9993-01-01T00:00:00Z", 1), (texts{"9994-03-28T00:30:00Z"}));
  EXPECT_EQ(coming("30 2 31 10 *", "Europe/Berlin", dst_policy::literal, "9993-01-01T00:00:00Z", 2),
            (texts{"9993-10-31T00:30:00Z", "9993-10-31T01:30:00Z"}));
  EXPECT_EQ(coming("0 12 * * *", "Africa/Casablanca", dst_policy::vixie, "9990-05-01T00:00:00Z", 1), (texts{"9990-05-01T11:00:00Z"}));
  // Year by year over the end of the list, twenty years on either side of 2437.
  const auto gaps = coming("30 2 * 3 7L", "Europe/Berlin", dst_policy::vixie, "2417-01-01T00:00:00Z", 40);
  for (const auto& gap : gaps) EXPECT_EQ(gap.substr(10), "T01:00:00Z") << gap;
  EXPECT_EQ(gaps.back().substr(0, 4), "2456");
}

TEST(next_instant, gives_up_on_a_time_that_is_in_a_gap_every_year) {
  // At half past two on the last Sunday of March no clock in Berlin has shown the time since 1981, though every calendar has the day.
  for (const auto policy : {dst_policy::literal, dst_policy::skip_once}) {
    EXPECT_EQ(coming("30 2 * 3 7L", "Europe/Berlin", policy, "2026-01-01T00:00:00Z", 1), texts{"never"});
    EXPECT_EQ(coming("30 2 * 3 7L", "Europe/Berlin", policy, "9990-01-01T00:00:00Z", 1), texts{"never"});
  }
  EXPECT_TRUE(ever_matches(read("30 2 * 3 7L")));
}

TEST(ever_matches, knows_the_days_that_no_year_has) {
  for (const auto* text : {"0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31W 2 *", "0 0 L-30 2,4 *", "0 0 L-29 2 *", "* * * 30 2 */1"}) {
    EXPECT_FALSE(ever_matches(read(text))) << text;
    for (const auto policy : {dst_policy::vixie, dst_policy::literal, dst_policy::skip_once}) {
      EXPECT_EQ(coming(text, "Europe/Berlin", policy, "2026-01-01T00:00:00Z", 1), texts{"never"}) << text;
    }
  }
  for (const auto* text : {"0 0 29 2 *", "0 0 30 2 1", "0 0 29 2 */7", "0 0 L-28 2 *", "0 0 * 2 1#5", "@every 1s", "@yearly"}) {
    EXPECT_TRUE(ever_matches(read(text))) << text;
  }
}

TEST(format_local, writes_what_the_clock_shows_with_its_offset) {
  EXPECT_EQ(format_local(at("2026-03-29T00:59:59Z"), load("Europe/Berlin")), "2026-03-29T01:59:59+01:00");
  EXPECT_EQ(format_local(at("2026-03-29T01:00:00Z"), load("Europe/Berlin")), "2026-03-29T03:00:00+02:00");
  EXPECT_EQ(format_local(at("2026-01-01T00:00:00Z"), load("America/St_Johns")), "2025-12-31T20:30:00-03:30");
  EXPECT_EQ(format_local(0, cctz::utc_time_zone()), "1970-01-01T00:00:00+00:00");
  EXPECT_EQ(format_local(at("1890-01-01T00:00:00Z"), load("Europe/Berlin")), "1890-01-01T00:53:28+00:53:28");
  EXPECT_EQ(format_local(at("1880-01-01T00:00:00Z"), load("America/New_York")), "1879-12-31T19:03:58-04:56:02");
  EXPECT_EQ(format_local(at("0777-07-07T07:07:07Z"), cctz::utc_time_zone()), "0777-07-07T07:07:07+00:00");
}

}  // namespace
}  // namespace fairlead::core
