#include "messages/time.hpp"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(time, is_shown_in_utc_to_the_millisecond) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(1'774'746'000'250), "2026-03-29T01:00:00.250Z");
  EXPECT_EQ(format_utc(951'782'400'007), "2000-02-29T00:00:00.007Z");
  EXPECT_EQ(format_utc(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_utc(-1'000), "1969-12-31T23:59:59.000Z");
  EXPECT_EQ(format_utc(253'402'300'799'999), "9999-12-31T23:59:59.999Z");
}

TEST(time, is_read_as_rfc_3339_has_it) {
  struct row {
    const char* text;
    std::int64_t ms;
  };
  for (const auto& [text, ms] :
       {row{"2026-03-28T22:30:00Z", 1'774'737'000'000}, row{"2026-03-29T00:30:00+02:00", 1'774'737'000'000},
        row{"2026-03-28t17:30:00-05:00", 1'774'737'000'000}, row{"2026-03-28 22:30:00z", 1'774'737'000'000},
        row{"2026-03-29T04:15:00+05:45", 1'774'737'000'000}, row{"2026-03-28T22:30:00-00:00", 1'774'737'000'000},
        row{"2026-03-29T01:00:00.25Z", 1'774'746'000'250}, row{"2026-03-29T01:00:00.2509999Z", 1'774'746'000'250},
        row{"1970-01-01T00:00:00Z", 0}, row{"1969-12-31T23:59:59.999Z", -1}, row{"2000-02-29T00:00:00Z", 951'782'400'000},
        row{"2016-12-31T23:59:60Z", 1'483'228'799'000}, row{"0001-01-01T00:00:00Z", -62'135'596'800'000},
        row{"0000-01-01T00:00:00Z", -62'167'219'200'000}, row{"9999-12-31T23:59:59.999Z", 253'402'300'799'999}}) {
    std::int64_t got = 77;
    EXPECT_TRUE(parse_utc(text, got)) << text;
    EXPECT_EQ(got, ms) << text;
  }
}

TEST(time, reads_back_what_it_shows) {
  for (std::int64_t ms = -30'000'000'000'000; ms < 250'000'000'000'000; ms += 86'399'123'457) {
    std::int64_t back = 77;
    ASSERT_TRUE(parse_utc(format_utc(ms), back)) << format_utc(ms);
    ASSERT_EQ(back, ms) << format_utc(ms);
  }
}

TEST(time, is_refused_when_it_is_none) {
  for (const auto* text : {"",
                           "now",
                           "2026-03-28",
                           "2026-03-28T22:30:00",
                           "2026-03-28T22:30Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "1900-02-29T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-04-00T00:00:00Z",
                           "2026-03-28T24:00:00Z",
                           "2026-03-28T22:60:00Z",
                           "2026-03-28T22:30:61Z",
                           "2026-03-28T22:30:00.Z",
                           "2026-03-28T22:30:00+0200",
                           "2026-03-28T22:30:00+2:00",
                           "2026-03-28T22:30:00+24:00",
                           "2026-03-28T22:30:00+02:60",
                           "2026-03-28T22:30:00Z ",
                           " 2026-03-28T22:30:00Z",
                           "26-03-28T22:30:00Z",
                           "2026-3-28T22:30:00Z",
                           "+2026-03-28T22:30:00Z",
                           "2026-03-28T22:30:00ZZ",
                           "2026-03-28T22:30:00",
                           "2026-03-28_22:30:00Z",
                           "20260328T223000Z"}) {
    std::int64_t untouched = 77;
    EXPECT_FALSE(parse_utc(text, untouched)) << text;
    EXPECT_EQ(untouched, 77) << text;
  }
  std::int64_t untouched = 77;
  EXPECT_FALSE(parse_utc(std::string{"2026-03-28T22:30:00Z\0", 21}, untouched));
}

TEST(duration, is_read_from_numbers_with_units) {
  struct row {
    const char* text;
    std::int64_t ms;
  };
  for (const auto& [text, ms] :
       {row{"250ms", 250}, row{"5s", 5'000}, row{"1m30s", 90'000}, row{"2h", 7'200'000}, row{"7d", 604'800'000}, row{"1.5s", 1'500},
        row{"0s", 0}, row{"1d2h3m4s5ms", 93'784'005}, row{"0.5ms", 1}, row{"3650d", 315'360'000'000}}) {
    std::int64_t got = -1;
    EXPECT_TRUE(parse_duration(text, got)) << text;
    EXPECT_EQ(got, ms) << text;
  }
}

TEST(duration, is_refused_when_it_is_none) {
  for (const auto* text : {"", "5", "s", "5 s", " 5s", "5s ", "-5s", "5x", "1..5s", "1.s", ".5s", "5S", "1e3s", "4000d",
                           "99999999999999999999s", "5s3", "+5s", "0x5s"}) {
    std::int64_t untouched = 77;
    EXPECT_FALSE(parse_duration(text, untouched)) << text;
    EXPECT_EQ(untouched, 77) << text;
  }
}

TEST(duration, has_its_form_also_when_it_is_too_long) {
  for (const auto* text : {"0s", "1m30s", "1.5s", "3660d", "4000d", "3660d1ms", "99999999999999999999s"})
    EXPECT_TRUE(has_form_of_duration(text)) << text;
  EXPECT_TRUE(has_form_of_duration(std::string(400, '9') + "d"));
  for (const auto* text : {"", "5", "s", "5 s", "-5s", "5x", "1.s", "4000d5", "4000y"}) EXPECT_FALSE(has_form_of_duration(text)) << text;
}

TEST(duration, is_written_so_that_it_reads_back) {
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(90'000), "1m30s");
  EXPECT_EQ(format_duration(7'200'000), "2h");
  EXPECT_EQ(format_duration(60'001), "1m1ms");
  for (std::int64_t ms = 1; ms < 300'000'000'000; ms = ms * 7 / 3 + 1) {
    std::int64_t back = -1;
    EXPECT_TRUE(parse_duration(format_duration(ms), back));
    EXPECT_EQ(back, ms) << format_duration(ms);
  }
}

TEST(moment, turns_into_milliseconds_and_back) {
  EXPECT_EQ(to_unix_ms(from_unix_ms(1'774'746'000'250)), 1'774'746'000'250);
  EXPECT_EQ(to_unix_ms(from_unix_ms(1'000) + std::chrono::seconds{2}), 3'000);
}

TEST(clock, of_the_machine_does_not_stand_in_the_past) {
  const system_clock machine;
  EXPECT_GT(to_unix_ms(machine.now()), 1'700'000'000'000);
}

}  // namespace
}  // namespace fairlead
