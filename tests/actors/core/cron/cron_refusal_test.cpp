#include "actors/core/cron/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/actors/core/cron/cron_fixture.hpp"

namespace fairlead::core {
namespace {

TEST(cron_expression, says_where_and_why_it_refuses) {
  struct row {
    std::string_view text;
    std::size_t position;
    const char* sentence;
  } const rows[] = {
      {"", 1,
       "The expression ends after no field; expected five (minute, hour, day of the month, month, day of the week), or six with seconds "
       "first"},
      {"  ", 3,
       "The expression ends after no field; expected five (minute, hour, day of the month, month, day of the week), or six with seconds "
       "first"},
      {"1 2 3 4", 8,
       "The expression ends after 4 fields; expected five (minute, hour, day of the month, month, day of the week), or six with seconds "
       "first"},
      {"1 2 3 4 5 6 seven", 13, "`seven` is a seventh field; expected five, or six with seconds first"},
      {"60 * * * *", 1, "`60` is not allowed here; expected a minute from 0 to 59"},
      {"99999999999999999999 * * * *", 1, "`99999999999999999999` is not allowed here; expected a minute from 0 to 59"},
      {"* 24 * * *", 3, "`24` is not allowed here; expected an hour from 0 to 23"},
      {"* * 0 * *", 5, "`0` is not allowed here; expected a day of the month from 1 to 31"},
      {"* * 32 * *", 5, "`32` is not allowed here; expected a day of the month from 1 to 31"},
      {"* * * 13 *", 7, "`13` is not allowed here; expected a month from 1 to 12 or from JAN to DEC"},
      {"* * * * 8", 9, "`8` is not allowed here; expected a day of the week from 0 to 7 or from SUN to SAT"},
      {"60 * * * * *", 1, "`60` is not allowed here; expected a second from 0 to 59"},
      {"0 0 * *\t*  * 60", 14, "`60` is a seventh field; expected five, or six with seconds first"},
      {"x * * * *", 1, "`x` is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {"MON * * * *", 1, "`MON` is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {"-1 * * * *", 1, "`-` is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {"* * * * MONDAY", 9, "`MONDAY` is not allowed here; expected a day of the week from 0 to 7 or from SUN to SAT, `*` or `?`"},
      {"* * * * moon", 9, "`moon` is not allowed here; expected a day of the week from 0 to 7 or from SUN to SAT, `*` or `?`"},
      {"* * * janl *", 7, "`janl` is not allowed here; expected a month from 1 to 12 or from JAN to DEC, `*` or `?`"},
      {"* * x * *", 5, "`x` is not allowed here; expected a day of the month from 1 to 31, `L`, `*` or `?`"},
      {"1, * * * *", 3, "The minute ends here; expected a minute from 0 to 59, `*` or `?`"},
      {",1 * * * *", 1, "`,` is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {"1,,2 * * * *", 3, "`,` is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {"1x * * * *", 2, "`x` is not allowed here; expected `-`, `/`, `,` or a blank"},
      {"1.5 * * * *", 2, "`.` is not allowed here; expected `-`, `/`, `,` or a blank"},
      {"** * * * *", 2, "`*` is not allowed here; expected `/`, `,` or a blank"},
      {"*-5 * * * *", 2, "`-` is not allowed here; expected `/`, `,` or a blank"},
      {"* * 5x * *", 6, "`x` is not allowed here; expected `-`, `/`, `W`, `,` or a blank"},
      {"* * * * 5x", 10, "`x` is not allowed here; expected `-`, `/`, `#`, `L`, `,` or a blank"},
      {"5- * * * *", 3, "The minute ends here; expected a minute from 0 to 59"},
      {"5-x * * * *", 3, "`x` is not allowed here; expected a minute from 0 to 59"},
      {"5-60 * * * *", 3, "`60` is not allowed here; expected a minute from 0 to 59"},
      {"* 20-4 * * *", 6, "`4` is not allowed here; expected the end of a range that begins with 20, from 20 to 23"},
      {"* * * dec-Jan *", 11, "`Jan` is not allowed here; expected the end of a range that begins with 12, from 12 to 12"},
      {"* * * * 5-0", 11, "`0` is not allowed here; expected the end of a range that begins with 5, from 5 to 7"},
      {"1-2-3 * * * *", 4, "`-` is not allowed here; expected `/`, `,` or a blank"},
      {"*/ * * * *", 3, "The minute ends here; expected a step from 1 to 60"},
      {"*/0 * * * *", 3, "`0` is not allowed here; expected a step from 1 to 60"},
      {"*/90 * * * *", 3, "`90` is not allowed here; expected a step from 1 to 60"},
      {"* */25 * * *", 5, "`25` is not allowed here; expected a step from 1 to 24"},
      {"* * */x * *", 7, "`x` is not allowed here; expected a step from 1 to 31"},
      {"* * * */-1 *", 9, "`-` is not allowed here; expected a step from 1 to 12"},
      {"* * * * 1/8", 11, "`8` is not allowed here; expected a step from 1 to 7"},
      {"*/5/5 * * * *", 4, "`/` is not allowed here; expected `,` or a blank"},
      {"L * * * *", 1, "`L` is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {"5W * * * *", 2, "`W` is not allowed here; expected `-`, `/`, `,` or a blank"},
      {"* * L5 * *", 6, "`5` is not allowed here; expected `W`, `-`, `,` or a blank"},
      {"* * L-0 * *", 7, "`0` is not allowed here; expected a number of days from 1 to 30"},
      {"* * L-31 * *", 7, "`31` is not allowed here; expected a number of days from 1 to 30"},
      {"* * L- * *", 7, "The day of the month ends here; expected a number of days from 1 to 30"},
      {"* * L-1W * *", 8, "`W` is not allowed here; expected `,` or a blank"},
      {"* * LW-1 * *", 7, "`-` is not allowed here; expected `,` or a blank"},
      {"* * 32W * *", 5, "`32` is not allowed here; expected a day of the month from 1 to 31"},
      {"* * 1-5W * *", 8, "`W` is not allowed here; expected `/`, `,` or a blank"},
      {"* * W * *", 5, "`W` is not allowed here; expected a day of the month from 1 to 31, `L`, `*` or `?`"},
      {"* * 5L * *", 6, "`L` is not allowed here; expected `-`, `/`, `W`, `,` or a blank"},
      {"* * 5#1 * *", 6, "`#` is not allowed here; expected `-`, `/`, `W`, `,` or a blank"},
      {"* * * * L", 9, "`L` has no day; expected a day before it, as in `5L` or `FRIL`"},
      {"* * * * 5#0", 11, "`0` is not allowed here; expected a week of the month from 1 to 5"},
      {"* * * * fri#6", 13, "`6` is not allowed here; expected a week of the month from 1 to 5"},
      {"* * * * 5#", 11, "The day of the week ends here; expected a week of the month from 1 to 5"},
      {"* * * * 5L-6", 11, "`-` is not allowed here; expected `,` or a blank"},
      {"* * * * 1-5#2", 12, "`#` is not allowed here; expected `/`, `,` or a blank"},
      {"?5 * * * *", 2, "`5` is not allowed here; expected `(`, `/`, `,` or a blank"},
      {"?-5 * * * *", 2, "`-` is not allowed here; expected the range that `?` chooses from in brackets, as in `?(1-5)`"},
      {"5-? * * * *", 3, "`?` is not allowed here; expected a minute from 0 to 59"},
      {"*/? * * * *", 3, "`?` is not allowed here; expected a step from 1 to 60"},
      {"?( * * * *", 3, "The minute ends here; expected a minute from 0 to 59"},
      {"?(5) * * * *", 4, "`)` is not allowed here; expected `-` and the end of the range that `?` chooses from"},
      {"?(9-5) * * * *", 5, "`5` is not allowed here; expected the end of a range that begins with 9, from 9 to 59"},
      {"?(5-9 * * * *", 6, "The minute ends here; expected `)`"},
      {"?(5-9)/0 * * * *", 8, "`0` is not allowed here; expected a step from 1 to 60"},
      {"?(5-9)-1 * * * *", 7, "`-` is not allowed here; expected `/`, `,` or a blank"},
      {"@reboot", 1, "`@reboot` is not supported: it has no time; expected fields or another macro"},
      {" @fortnightly", 2,
       "`@fortnightly` is not a known macro; expected @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly or "
       "@every with a duration"},
      {"@daily 5", 8, "`5` follows; expected nothing more"},
      {"@every", 7, "The expression ends here; expected a duration of whole seconds from 1s to 10 years, such as 90s, 1h30m or 7d"},
      {"@every 5", 8, "`5` is not allowed here; expected a duration of whole seconds from 1s to 10 years, such as 90s, 1h30m or 7d"},
      {"@every 0s", 8, "`0s` is not allowed here; expected a duration of whole seconds from 1s to 10 years, such as 90s, 1h30m or 7d"},
      {"@every 1500ms", 8,
       "`1500ms` is not allowed here; expected a duration of whole seconds from 1s to 10 years, such as 90s, 1h30m or 7d"},
      {"@every 9999d", 8,
       "`9999d` is not allowed here; expected a duration of whole seconds from 1s to 10 years, such as 90s, 1h30m or 7d"},
      {"@every 1h 30m", 11, "`30m` follows; expected nothing more"},
      {"* * * * *\n", 10, "byte 0x0a is not allowed here; expected `/`, `,` or a blank"},
      {"\xc3\xa9 * * * *", 1, "byte 0xc3 is not allowed here; expected a minute from 0 to 59, `*` or `?`"},
      {std::string_view("* * \0 * *", 9), 5, "byte 0x00 is not allowed here; expected a day of the month from 1 to 31, `L`, `*` or `?`"},
      {"* * * * * * \xff\xfe", 13, "a word that begins with byte 0xff is a seventh field; expected five, or six with seconds first"},
  };
  for (const auto& row : rows) {
    const auto problem = refuse(row.text);
    EXPECT_EQ(problem.position, row.position) << row.text;
    EXPECT_EQ(problem.sentence, row.sentence) << row.text;
  }
}

TEST(cron_expression, has_at_most_256_bytes) {
  const auto padded = [](std::size_t bytes) { return "0 0 * * *" + std::string(bytes - 9, ' '); };
  EXPECT_EQ(read(padded(256)), read("0 0 * * *"));
  const auto problem = refuse(padded(257));
  EXPECT_EQ(problem.position, 257U);
  EXPECT_EQ(problem.sentence, "The expression has 257 bytes; expected at most 256");
  EXPECT_EQ(refuse(std::string(1'000'000, '*')).position, 257U);
}

TEST(cron_expression, stands_any_bytes) {
  std::mt19937 random{20'260'328};
  const std::string alphabet = "0123456789*/-,?()LW#@ \tJANmonSUNevery\x01\xff";
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  int accepted = 0;
  for (int i = 0; i < 300'000; ++i) {
    std::string text;
    if (i % 3 == 0) {
      for (auto n = any(300); n > 0; --n) text += static_cast<char>(any(256));
    } else if (i % 3 == 1) {
      for (auto n = any(24); n > 0; --n) text += alphabet[any(alphabet.size())];
    } else {
      text = i % 2 == 0 ? "?(0-29)/7 */2 L-3,5W JAN-MAR FRI#2,5L" : "@every 1h30m";
      for (auto n = any(4); n > 0; --n) text[any(text.size())] = i % 5 == 0 ? static_cast<char>(any(256)) : alphabet[any(alphabet.size())];
    }
    auto parsed = cron_expression::parse(text, text);
    if (const auto* problem = std::get_if<cron_problem>(&parsed)) {
      ASSERT_GE(problem->position, 1U);
      ASSERT_LE(problem->position, std::min(text.size(), max_cron_bytes) + 1);
      ASSERT_FALSE(problem->sentence.empty());
      ASSERT_TRUE(std::all_of(problem->sentence.begin(), problem->sentence.end(), [](char c) { return c >= ' ' || c < 0; }));
    } else {
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 1'000);
}

}  // namespace
}  // namespace fairlead::core
