#include "actors/core/cron/expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/actors/core/cron/cron_fixture.hpp"

namespace fairlead::core {
namespace {

std::uint64_t values_between(unsigned from, unsigned to, unsigned step = 1) {
  std::uint64_t out = 0;
  for (auto value = from; value <= to; value += step) out |= std::uint64_t{1} << value;
  return out;
}

unsigned only_value(std::uint64_t set) {
  EXPECT_EQ(std::popcount(set), 1);
  return static_cast<unsigned>(std::countr_zero(set));
}

TEST(cron_expression, lets_the_name_choose_within_the_bounds_of_the_field) {
  std::map<std::string, std::set<unsigned>> seen;
  for (int i = 0; i < 5'000; ++i) {
    const auto job = "job-" + std::to_string(i);
    const auto whole = read("? ? ? ? ? ?", job).sets();
    seen["second"].insert(only_value(whole.seconds));
    seen["minute"].insert(only_value(whole.minutes));
    seen["hour"].insert(only_value(whole.hours));
    seen["day"].insert(only_value(whole.days));
    seen["month"].insert(only_value(whole.months));
    seen["weekday"].insert(only_value(whole.weekdays));
    EXPECT_EQ(read("? ? ? ? ? ?", job).sets(), whole) << "stable";
    EXPECT_EQ(read("? ? ? ? ?", job).sets().minutes, whole.minutes) << "whether or not seconds stand in front";

    seen["range"].insert(only_value(read("?(10-29) * * * *", job).sets().minutes));
    seen["names"].insert(only_value(read("0 0 * * ?(FRI-SUN)", job).sets().weekdays));
    seen["whole week"].insert(only_value(read("0 0 * * ?(0-7)", job).sets().weekdays));

    const auto stepped = read("?/15 * * * *", job).sets().minutes;
    const auto start = static_cast<unsigned>(std::countr_zero(stepped));
    EXPECT_EQ(stepped, values_between(start, 59, 15));
    seen["step"].insert(start);

    const auto in_range = read("0 ?(8-17)/4 * * *", job).sets().hours;
    const auto in_range_start = static_cast<unsigned>(std::countr_zero(in_range));
    EXPECT_EQ(in_range, values_between(in_range_start, 17, 4));
    seen["step in range"].insert(in_range_start);

    const auto over = read("0 ?(8-10)/20 * * *", job).sets().hours;
    seen["step over range"].insert(only_value(over));
    seen["day step"].insert(static_cast<unsigned>(std::countr_zero(read("0 0 ?/10 * *", job).sets().days)));

    seen["W"].insert(only_value(read("0 0 ?(10-12)W * *", job).sets().nearest_weekdays));
    seen["#"].insert(only_value(read("0 0 * * ?(1-5)#2", job).sets().nth_weekdays[1]));
    seen["L"].insert(only_value(read("0 0 * * ?L", job).sets().last_weekdays));
  }
  const auto numbers = [](unsigned from, unsigned to) {
    std::set<unsigned> out;
    for (; from <= to; ++from) out.insert(from);
    return out;
  };
  EXPECT_EQ(seen["second"], numbers(0, 59));
  EXPECT_EQ(seen["minute"], numbers(0, 59));
  EXPECT_EQ(seen["hour"], numbers(0, 23));
  EXPECT_EQ(seen["day"], numbers(1, 28));
  EXPECT_EQ(seen["month"], numbers(1, 12));
  EXPECT_EQ(seen["weekday"], numbers(0, 6));
  EXPECT_EQ(seen["range"], numbers(10, 29));
  EXPECT_EQ(seen["names"], (std::set<unsigned>{0, 5, 6}));
  EXPECT_EQ(seen["whole week"], numbers(0, 6));
  EXPECT_EQ(seen["step"], numbers(0, 14));
  EXPECT_EQ(seen["step in range"], numbers(8, 11));
  EXPECT_EQ(seen["step over range"], numbers(8, 10));
  EXPECT_EQ(seen["day step"], numbers(1, 10));
  EXPECT_EQ(seen["W"], numbers(10, 12));
  EXPECT_EQ(seen["#"], numbers(1, 5));
  EXPECT_EQ(seen["L"], numbers(0, 6));
}

TEST(cron_expression, keeps_what_a_name_chose_for_ever) {
  // Stored jobs count on these: another hash or seed would move every job of every user.
  const auto sets = read("? ? ? ? ? ?", "nightly report").sets();
  EXPECT_EQ((std::vector{only_value(sets.seconds), only_value(sets.minutes), only_value(sets.hours), only_value(sets.days),
                         only_value(sets.months), only_value(sets.weekdays)}),
            (std::vector{48U, 1U, 17U, 5U, 6U, 0U}));
}

/// How far the counts of `values` equally likely values are from equal, in standard deviations of that distance.
double unevenness(const std::map<std::uint64_t, int>& counts, std::size_t values, int total) {
  const auto expected = static_cast<double>(total) / static_cast<double>(values);
  double chi_square = expected * static_cast<double>(values - counts.size());
  for (const auto& [value, count] : counts) chi_square += (count - expected) * (count - expected) / expected;
  const auto freedom = static_cast<double>(values - 1);
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

TEST(cron_expression, spreads_names_evenly_whatever_they_look_like) {
  std::vector<std::string> numbered;
  std::vector<std::string> anagrams;
  for (int i = 0; i < 20'000; ++i) numbered.push_back("backup-" + std::to_string(i));
  std::string letters = "abcdefgh";
  do anagrams.push_back(letters);
  while (std::next_permutation(letters.begin(), letters.end()));
  for (const auto* names : {&numbered, &anagrams}) {
    std::map<std::uint64_t, int> minutes;
    std::map<std::uint64_t, int> pairs;
    for (const auto& name : *names) {
      const auto sets = read("? ? * * *", name).sets();
      ++minutes[only_value(sets.minutes)];
      ++pairs[only_value(sets.minutes) * 24 + only_value(sets.hours)];
    }
    const auto total = static_cast<int>(names->size());
    EXPECT_LT(std::abs(unevenness(minutes, 60, total)), 5) << names->front();
    // Minute and hour together: were they of one hash, most of the pairs would never be.
    EXPECT_LT(std::abs(unevenness(pairs, 60 * 24, total)), 5) << names->front();
  }
}

TEST(cron_expression, parts_anagrams) {
  for (const auto& [one, other] : std::map<std::string, std::string>{
           {"report", "porter"}, {"listen", "silent"}, {"db-1-a", "db-a-1"}, {"ab", "ba"}, {"copy12", "copy21"}}) {
    EXPECT_NE(read("? ? ? * * *", one), read("? ? ? * * *", other)) << one;
  }
}

}  // namespace
}  // namespace fairlead::core
