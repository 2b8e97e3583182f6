#include "actors/core/cron/expression.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/actors/core/cron/cron_fixture.hpp"

namespace fairlead::core {
namespace {

std::uint64_t set_of(std::initializer_list<unsigned> values) {
  std::uint64_t out = 0;
  for (const auto value : values) out |= std::uint64_t{1} << value;
  return out;
}

std::uint64_t range_of(unsigned from, unsigned to, unsigned step = 1) {
  std::uint64_t out = 0;
  for (auto value = from; value <= to; value += step) out |= std::uint64_t{1} << value;
  return out;
}

TEST(cron_expression, reads_what_each_field_says) {
  struct row {
    const char* text;
    std::uint64_t cron_sets::*minutes_or_seconds;
    std::uint64_t expected;
  } const long_sets[] = {
      {"* * * * *", &cron_sets::minutes, range_of(0, 59)},
      {"* * * * *", &cron_sets::seconds, set_of({0})},
      {"*/15 * * * *", &cron_sets::minutes, set_of({0, 15, 30, 45})},
      {"*/60 * * * *", &cron_sets::minutes, set_of({0})},
      {"7 * * * *", &cron_sets::minutes, set_of({7})},
      {"00 * * * *", &cron_sets::minutes, set_of({0})},
      {"0000059 * * * *", &cron_sets::minutes, set_of({59})},
      {"5-9 * * * *", &cron_sets::minutes, range_of(5, 9)},
      {"9-9 * * * *", &cron_sets::minutes, set_of({9})},
      {"10-30/7 * * * *", &cron_sets::minutes, set_of({10, 17, 24})},
      {"50/4 * * * *", &cron_sets::minutes, set_of({50, 54, 58})},
      {"1,2,40-42,*/30 * * * *", &cron_sets::minutes, set_of({0, 1, 2, 30, 40, 41, 42})},
      {"*/20 0 * * * *", &cron_sets::seconds, set_of({0, 20, 40})},
      {"*/20 0 * * * *", &cron_sets::minutes, set_of({0})},
      {"59 58 23 31 12 7", &cron_sets::seconds, set_of({59})},
      {" \t 3\t \t4 5 6 0 \t", &cron_sets::minutes, set_of({3})},
  };
  for (const auto& row : long_sets) EXPECT_EQ(read(row.text).sets().*row.minutes_or_seconds, row.expected) << row.text;

  struct short_row {
    const char* text;
    std::uint32_t cron_sets::*set;
    std::uint64_t expected;
  } const short_sets[] = {
      {"0 22/1 * * *", &cron_sets::hours, set_of({22, 23})},
      {"0 * * * *", &cron_sets::hours, range_of(0, 23)},
      {"0 0 * * *", &cron_sets::days, range_of(1, 31)},
      {"0 0 */10 * *", &cron_sets::days, set_of({1, 11, 21, 31})},
      {"0 0 31 * *", &cron_sets::days, set_of({31})},
      {"0 0 L * *", &cron_sets::days_before_last, set_of({0})},
      {"0 0 L * *", &cron_sets::days, 0},
      {"0 0 L-1,l-30,L * *", &cron_sets::days_before_last, set_of({0, 1, 30})},
      {"0 0 1W,31w * *", &cron_sets::nearest_weekdays, set_of({1, 31})},
      {"0 0 15,LW * *", &cron_sets::days, set_of({15})},
      {"0 0 * * *", &cron_sets::months, range_of(1, 12)},
      {"0 0 * JAN,dec,Mar-may *", &cron_sets::months, set_of({1, 3, 4, 5, 12})},
      {"0 0 * feb-12/5 *", &cron_sets::months, set_of({2, 7, 12})},
      {"0 0 * OCT/2 *", &cron_sets::months, set_of({10, 12})},
      {"0 0 * * *", &cron_sets::weekdays, range_of(0, 6)},
      {"0 0 * * 0", &cron_sets::weekdays, set_of({0})},
      {"0 0 * * 7", &cron_sets::weekdays, set_of({0})},
      {"0 0 * * sun", &cron_sets::weekdays, set_of({0})},
      {"0 0 * * 5-7", &cron_sets::weekdays, set_of({0, 5, 6})},
      {"0 0 * * fri-SUN", &cron_sets::weekdays, set_of({0, 5, 6})},
      {"0 0 * * 0-7", &cron_sets::weekdays, range_of(0, 6)},
      {"0 0 * * MON-FRI/2", &cron_sets::weekdays, set_of({1, 3, 5})},
      {"0 0 * * 5/1", &cron_sets::weekdays, set_of({0, 5, 6})},
      {"0 0 * * Tue,6", &cron_sets::weekdays, set_of({2, 6})},
      {"0 0 * * FRIL,7L,1l", &cron_sets::last_weekdays, set_of({0, 1, 5})},
      {"0 0 * * FRIL", &cron_sets::weekdays, 0},
  };
  for (const auto& row : short_sets) EXPECT_EQ(read(row.text).sets().*row.set, row.expected) << row.text;

  EXPECT_TRUE(read("0 0 15,LW * *").sets().last_working_day);
  EXPECT_FALSE(read("0 0 15,L * *").sets().last_working_day);
  const auto numbered = read("0 0 * * 5#1,MON#3,sun#5,7#2,5#3").sets().nth_weekdays;
  EXPECT_EQ(numbered, (std::array<std::uint32_t, 5>{0x20, 0x01, 0x22, 0, 0x01}));
}

TEST(cron_expression, knows_which_fields_begin_with_a_star) {
  const auto stars = [](const char* text) {
    const auto sets = read(text).sets();
    return std::vector<bool>{sets.minute_star, sets.hour_star, sets.day_star, sets.weekday_star};
  };
  EXPECT_EQ(stars("* 1 * 1 *"), (std::vector{true, false, true, true}));
  EXPECT_EQ(stars("1 */2 1 * 1"), (std::vector{false, true, false, false}));
  EXPECT_EQ(stars("1,* 1 */2 1 *,1"), (std::vector{false, false, true, true}));
  EXPECT_EQ(stars("0-59 0-23 1-31 * 0-6"), (std::vector{false, false, false, false}));
  EXPECT_TRUE(read("* 1 1 1 1").wild());
  EXPECT_TRUE(read("1 */6 1 1 1").wild());
  EXPECT_FALSE(read("* 1 1 * * *").wild()) << "the second does not make a job wild";
  EXPECT_FALSE(read("? ? * * *").wild());
}

TEST(cron_expression, reads_macros_as_the_fields_they_stand_for) {
  for (const auto& [macro, fields] : std::map<std::string, std::string>{{"@yearly", "0 0 1 1 *"},
                                                                        {"@annually", "0 0 1 1 *"},
                                                                        {"@monthly", "0 0 1 * *"},
                                                                        {" @Weekly\t", "0 0 * * 0"},
                                                                        {"@DAILY", "0 0 * * *"},
                                                                        {"@midnight", "0 0 * * *"},
                                                                        {"@hourly", "0 * * * *"}}) {
    EXPECT_EQ(read(macro), read(fields)) << macro;
  }
  EXPECT_EQ(read("@every 90s").every_s(), 90);
  EXPECT_EQ(read(" @EVERY  1h30m ").every_s(), 5'400);
  EXPECT_EQ(read("@every 0.5m").every_s(), 30);
  EXPECT_EQ(read("@every 3650d").every_s(), 3650LL * 86'400);
  EXPECT_EQ(read("@daily").every_s(), 0);
}

}  // namespace
}  // namespace fairlead::core
