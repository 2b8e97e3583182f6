// Every form of Retry-After, and everything that only looks like one.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "actors/agents/http/retry_after.hpp"

namespace fairlead::test {
namespace {

using agents::retry_after_ms;

// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
constexpr std::int64_t rfc_moment = 784'111'777'000;
constexpr std::int64_t day = 86'400'000;

TEST(http_retry_after, reads_seconds_and_all_three_dates) {
  struct one {
    const char* value;
    std::int64_t now;
    std::int64_t wait;
  };
  const std::vector<one> table{
      {"120", 0, 120'000},
      {" 7\t", 0, 7'000},
      {"007", 0, 7'000},
      {"86400", 0, day},
      {"Sun, 06 Nov 1994 08:49:37 GMT", rfc_moment - 5'000, 5'000},
      {"Sunday, 06-Nov-94 08:49:37 GMT", rfc_moment - 5'000, 5'000},
      {"Sun Nov  6 08:49:37 1994", rfc_moment - 5'000, 5'000},
      {"Sun, 6 Nov 1994 08:49:37 GMT", rfc_moment - 5'000, 5'000},  // one digit, as some services write it
      {"Sun, 06 Nov 1994 08:49:37 GMT", rfc_moment - 1, 1},
      {"Thu, 29 Feb 2024 00:00:00 GMT", 1'709'164'800'000 - 1'000, 1'000},
      {"Thu Feb 29 00:00:00 2024", 1'709'164'800'000 - 1'000, 1'000},
      {"Sat, 31 Dec 2016 23:59:60 GMT", 1'483'228'799'000, 1'000},  // a leap second
      {"Wednesday, 01-Jan-70 00:00:10 GMT", 5'000, 5'000},
      {"Friday, 01-Jan-27 00:00:00 GMT", 1'798'761'600'000 - 2'000, 2'000},  // 2027, not 1927
      {"Saturday, 01-Jan-00 00:00:00 GMT", 946'684'800'000 - 3'000, 3'000},  // 2000 as seen from 1999
  };
  for (const auto& row : table) EXPECT_EQ(retry_after_ms(row.value, row.now), row.wait) << row.value;
}

TEST(http_retry_after, is_at_most_a_day) {
  for (const char* value : {"86401", "999999999", "18446744073709551617", "99999999999999999999999999999999999999999999999",
                            "Fri, 31 Dec 9999 23:59:59 GMT", "Fri Dec 31 23:59:59 9999"}) {
    EXPECT_EQ(retry_after_ms(value, rfc_moment), day) << value;
  }
}

TEST(http_retry_after, says_nothing_when_it_is_negative_broken_or_past) {
  const std::vector<std::string> nothing{
      "",
      " ",
      "0",
      "-1",
      "-120",
      "+5",
      "1.5",
      "1e3",
      "0x10",
      "5s",
      "5 seconds",
      "soon",
      "120, 30",
      "NaN",
      "Sun, 06 Nov 1994 08:49:37 GMT",   // now
      "Sun, 06 Nov 1994 08:49:36 GMT",   // a second ago
      "Sunday, 06-Nov-94 08:49:36 GMT",  // the same
      "Sun Nov  6 08:49:36 1994",
      "Thu, 01 Jan 1970 00:00:00 GMT",
      "Sat, 01 Jan 0001 00:00:00 GMT",
      "Mon, 00 Jan 2035 00:00:00 GMT",
      "Thu, 30 Feb 2034 00:00:00 GMT",
      "Wed, 29 Feb 2034 00:00:00 GMT",  // no leap year
      "Sun, 06 Nov 2094 24:00:00 GMT",
      "Sun, 06 Nov 2094 08:60:00 GMT",
      "Sun, 06 Nov 2094 08:49:61 GMT",
      "Sun, 06 Nov 2094 08:49:37 UTC",
      "Sun, 06 Nov 2094 08:49:37 GMT+1",
      "Sun, 06 Nov 2094 08:49:37",
      "Sun, 06 Now 2094 08:49:37 GMT",
      "Son, 06 Nov 2094 08:49:37 GMT",
      "Sun, 06 Nov 12094 08:49:37 GMT",
      "2094-11-06T08:49:37Z",
      std::string("1\0002", 3),
  };
  for (const auto& value : nothing) EXPECT_EQ(retry_after_ms(value, rfc_moment), 0) << value;
}

}  // namespace
}  // namespace fairlead::test
