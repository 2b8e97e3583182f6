#include "actors/core/workflow/wait.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "messages/time.hpp"

namespace fairlead::core {
namespace {

constexpr std::int64_t from = 1'774'738'800'000;  // 2026-03-28T23:00:00Z
constexpr std::int64_t day = 86'400'000;

TEST(wait_end, is_the_duration_later_or_the_time) {
  const std::vector<std::pair<std::string, std::int64_t>> table{
      {"1ms", from + 1},
      {"10m", from + 600'000},
      {"1m30s", from + 90'000},
      {"1.5s", from + 1'500},
      {"0s", from},  // an expression may find that nothing is left to wait for
      {"3660d", from + 3660 * day},
      {"2026-03-29T00:00:00Z", from + 3'600'000},
      {"2026-03-29T02:00:00+02:00", from + 3'600'000},
      {"2026-03-28T23:00:00.25Z", from + 250},
      {"1999-01-01T00:00:00Z", 915'148'800'000},  // has passed
      {"1960-01-01T00:00:00Z", -315'619'200'000},
      {format_utc(from + 3660 * day), from + 3660 * day},
  };
  for (const auto& [text, end] : table) {
    const auto got = wait_end(text, from);
    ASSERT_TRUE(got) << text << ": " << got.failure().sentence;
    EXPECT_EQ(*got, end) << text;
  }
}

TEST(wait_end, says_what_is_wrong) {
  const std::string neither = "the text is neither a duration of at most 3660d nor a time";
  const std::vector<std::pair<std::string, std::string>> table{
      {"soon", neither},
      {"", neither},
      {"10", neither},
      {"-5m", neither},
      {"3661d", neither},
      {" 10m", neither},
      {"2026-12-24", neither},
      {"2026-12-24T18:00:00", neither},
      {"2026-02-30T18:00:00Z", neither},
      {std::string("1\n\0s", 4), neither},
      {std::string(1'000'000, '1') + "s", neither},
      {"9999-12-31T23:59:59Z", "the time 9999-12-31T23:59:59.000Z is more than 3660d ahead"},
      {format_utc(from + 3660 * day + 1), "the time " + format_utc(from + 3660 * day + 1) + " is more than 3660d ahead"},
  };
  for (const auto& [text, sentence] : table) {
    const auto got = wait_end(text, from);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_EQ(got.failure().sentence, sentence);
    EXPECT_FALSE(got.failure().remedy.empty());
  }
}

TEST(canonical_wait, is_the_shortest_duration_or_the_time_in_utc) {
  EXPECT_EQ(canonical_wait("90s"), "1m30s");
  EXPECT_EQ(canonical_wait("1.5s"), "1s500ms");
  EXPECT_EQ(canonical_wait("0s"), "0s");
  EXPECT_EQ(canonical_wait("2026-12-24T18:00:00Z"), "2026-12-24T18:00:00.000Z");
  EXPECT_EQ(canonical_wait("2026-12-24 19:00:00.5+01:00"), "2026-12-24T18:00:00.500Z");
  EXPECT_EQ(canonical_wait("soon"), std::nullopt);
  for (const auto* text : {"90s", "2026-12-24T18:00:00Z"}) {
    const auto once = canonical_wait(text);
    ASSERT_TRUE(once);
    EXPECT_EQ(canonical_wait(*once), once);
    EXPECT_EQ(*wait_end(*once, from), *wait_end(text, from));
  }
}

TEST(is_wait_duration, tells_durations_from_times) {
  EXPECT_TRUE(is_wait_duration("10m"));
  EXPECT_FALSE(is_wait_duration("2026-12-24T18:00:00Z"));
  EXPECT_FALSE(is_wait_duration("3661d"));
  EXPECT_FALSE(is_wait_duration("soon"));
}

}  // namespace
}  // namespace fairlead::core
