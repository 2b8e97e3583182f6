// The oracle of cron against rows worked out by hand: what it is compared with must be known to be right itself.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/actors/core/cron/cron_oracle.hpp"

namespace fairlead::core::oracle {
namespace {

using texts = std::vector<std::string>;

constexpr std::int64_t day_s = 86400;

texts due(const std::string& text, const std::string& name, policy by, std::int64_t from_utc_s, int days) {
  const zone where{name};
  const auto what = parse(text);
  texts out;
  if (!what) return {"no expression"};
  const auto fires = timeline{where, from_utc_s, from_utc_s + days * day_s}.fires(*what);
  for (const auto instant : fires.of(by)) out.push_back(written(where, instant));
  return out;
}

TEST(the_cron_oracle, knows_what_clocks_did) {
  struct row {
    const char *text, *in;
    int year, month, day, days;
    texts vixie, literal, skip_once;
  };
  const row rows[] = {
      {"30 2 * * *", "Europe/Berlin", 2026, 3, 29, 1, {"2026-03-29T03:00:00+02:00"}, {}, {}},
      {"0,30 2,3 * * *",
       "Europe/Berlin",
       2026,
       3,
       29,
       1,
       {"2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"},
       {"2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"},
       {"2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"}},
      {"*/30 2 * * *", "Europe/Berlin", 2026, 3, 29, 1, {}, {}, {}},
      {"30 2 * * *",
       "Europe/Berlin",
       2026,
       10,
       25,
       1,
       {"2026-10-25T02:30:00+02:00"},
       {"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"},
       {"2026-10-25T02:30:00+02:00"}},
      {"*/30 2 * * *",
       "Europe/Berlin",
       2026,
       10,
       25,
       1,
       {"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"},
       {"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"},
       {"2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00"}},
      // Half an hour, and a rule of the file's footer instead of its table.
      {"45 1 * * *",
       "Australia/Lord_Howe",
       2056,
       4,
       1,
       1,
       {"2056-04-02T01:45:00+11:00"},
       {"2056-04-02T01:45:00+11:00", "2056-04-02T01:45:00+10:30"},
       {"2056-04-02T01:45:00+11:00"}},
      {"15 2 * * *", "Australia/Lord_Howe", 2026, 10, 3, 1, {"2026-10-04T02:30:00+11:00"}, {}, {}},
      {"0 0 * * *", "Asia/Beirut", 2026, 3, 28, 1, {"2026-03-29T01:00:00+03:00"}, {}, {}},
      {"0 0 1 11 *",
       "America/Havana",
       2026,
       11,
       1,
       1,
       {"2026-11-01T00:00:00-04:00"},
       {"2026-11-01T00:00:00-04:00", "2026-11-01T00:00:00-05:00"},
       {"2026-11-01T00:00:00-04:00"}},
      {"0 */6 30 12 *", "Pacific/Apia", 2011, 12, 29, 3, {}, {}, {}},
      {"0 0,12 30 12 *", "Pacific/Apia", 2011, 12, 29, 3, {"2011-12-31T00:00:00+14:00"}, {}, {}},
      {"0 12 21 8 *", "Pacific/Kwajalein", 1993, 8, 20, 3, {"1993-08-22T00:00:00+12:00"}, {}, {}},
      {"0 0-3 29 3 *",
       "Antarctica/Troll",
       2026,
       3,
       29,
       1,
       {"2026-03-29T00:00:00+00:00", "2026-03-29T03:00:00+02:00"},
       {"2026-03-29T00:00:00+00:00", "2026-03-29T03:00:00+02:00"},
       {"2026-03-29T00:00:00+00:00", "2026-03-29T03:00:00+02:00"}},
      {"30 1 * * *",
       "Europe/Dublin",
       2026,
       10,
       25,
       1,
       {"2026-10-25T01:30:00+01:00"},
       {"2026-10-25T01:30:00+01:00", "2026-10-25T01:30:00+00:00"},
       {"2026-10-25T01:30:00+01:00"}},
      {"45 23 * * *",
       "Asia/Pyongyang",
       2015,
       8,
       14,
       1,
       {"2015-08-14T23:45:00+09:00"},
       {"2015-08-14T23:45:00+09:00", "2015-08-14T23:45:00+08:30"},
       {"2015-08-14T23:45:00+09:00"}},
      {"45 23 4 5 *", "Asia/Pyongyang", 2018, 5, 4, 2, {"2018-05-05T00:00:00+09:00"}, {}, {}},
      {"45 2 * * *", "America/Caracas", 2016, 5, 1, 1, {"2016-05-01T03:00:00-04:00"}, {}, {}},
      // From -00:44:30 to UTC at midnight: the gap ends within a minute.
      {"0 0 7 1 *", "Africa/Monrovia", 1972, 1, 7, 1, {"1972-01-07T00:44:30+00:00"}, {}, {}},
      {"40 44 0 7 1 *",
       "Africa/Monrovia",
       1972,
       1,
       7,
       1,
       {"1972-01-07T00:44:40+00:00"},
       {"1972-01-07T00:44:40+00:00"},
       {"1972-01-07T00:44:40+00:00"}},
  };
  for (const auto& [text, in, year, month, day, days, vixie, literal, skip_once] : rows) {
    const auto from = local_seconds(year, month, day);
    EXPECT_EQ(due(text, in, policy::vixie, from, days), vixie) << text << " in " << in;
    EXPECT_EQ(due(text, in, policy::literal, from, days), literal) << text << " in " << in;
    EXPECT_EQ(due(text, in, policy::skip_once, from, days), skip_once) << text << " in " << in;
  }
}

TEST(the_cron_oracle, knows_the_days_of_2026) {
  const auto days = [](const std::string& fields) {
    std::string out;
    for (const auto& one : due("0 0 " + fields, "UTC", policy::literal, local_seconds(2026, 1, 1), 365)) out += one.substr(5, 6);
    std::erase(out, 'T');
    return out;
  };
  EXPECT_EQ(days("LW 1-6 *"), "01-3002-2703-3104-3005-2906-30");
  EXPECT_EQ(days("1W 1-3,8 *"), "01-0102-0203-0208-03");
  EXPECT_EQ(days("15W 2-4,8 *"), "02-1603-1604-1508-14");
  EXPECT_EQ(days("31W 1-6 *"), "01-3003-3105-29");
  EXPECT_EQ(days("L-30,L 1-3 *"), "01-0101-3102-2803-0103-31");
  EXPECT_EQ(days("* * MON#5"), "03-3006-2908-3111-30");
  EXPECT_EQ(days("* 1,2 7L"), "01-2502-22");
  EXPECT_EQ(days("13 2 FRI"), "02-0602-1302-2002-27");
  EXPECT_EQ(days("13 5 FRI"), "05-0105-0805-1305-1505-2205-29");
  EXPECT_EQ(days("*/10 2 SUN-MON"), "02-01");
  EXPECT_EQ(days("29 2 *"), "");
  EXPECT_EQ(days("1 JAN-DEC/5 *"), "01-0106-0111-01");
  EXPECT_EQ(days("* 2 5/2"), "02-0102-0602-0802-1302-1502-2002-2202-27") << "Sunday is also 7";
}

TEST(the_cron_oracle, refuses_what_is_no_expression) {
  for (const char* text :
       {"", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "1,,2 * * * *",
        "* * L-0 * *", "* * L-31 * *", "* * W * *", "* * * * L", "* * * * 1#6", "* * * L *", "1 * * * jan", "@reboot", "@every 0s"}) {
    EXPECT_FALSE(parse(text)) << text;
  }
}

}  // namespace
}  // namespace fairlead::core::oracle
