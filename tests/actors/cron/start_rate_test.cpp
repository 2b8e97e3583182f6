#include "actors/cron/start_rate.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead {
namespace {

constexpr std::int64_t begin_ms = 1'700'000'000'000;

std::uint64_t take_all(start_rate& rate, std::int64_t ms) {
  std::uint64_t out = 0;
  for (; rate.has_room(from_unix_ms(begin_ms + ms)); ++out) rate.take();
  return out;
}

/// When each was started, by somebody who looks that often and starts what may be started.
std::vector<std::int64_t> starts(start_rate rate, std::int64_t until_ms, std::int64_t look_ms) {
  std::vector<std::int64_t> out;
  for (std::int64_t ms = 0; ms <= until_ms; ms += look_ms) out.insert(out.end(), take_all(rate, ms), ms);
  return out;
}

TEST(start_rate, lets_everything_start_where_there_is_no_limit) {
  start_rate rate{0, 4};
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(rate.has_room(from_unix_ms(begin_ms)));
    rate.take();
  }
}

TEST(start_rate, gives_each_part_of_a_slow_rate_one_start_in_as_many_seconds) {
  using moments = std::vector<std::int64_t>;
  EXPECT_EQ(starts(start_rate{1}, 3'000, 100), (moments{0, 1'000, 2'000, 3'000}));
  EXPECT_EQ(starts(start_rate{1, 4}, 12'000, 100), (moments{0, 4'000, 8'000, 12'000}));
  EXPECT_EQ(starts(start_rate{3, 2}, 2'000, 100), (moments{0, 600, 1'300, 2'000}))
      << "1.5 a second, as far as looks fall together with that";
}

TEST(start_rate, rounds_nothing_away_however_it_is_divided_and_however_often_it_is_looked_at) {
  struct bad_fit {
    std::uint32_t per_second;
    std::uint32_t parts;
  };
  for (const auto& [per_second, parts] :
       std::vector<bad_fit>{{1, 1}, {1, 7}, {1, 256}, {7, 3}, {15, 4}, {999, 7}, {1'000, 256}, {40'001, 3}})
    for (const std::int64_t look_ms : {1, 37, 100}) {
      const auto until_ms = 20'000 * std::int64_t{parts};
      const auto due = static_cast<std::uint64_t>(until_ms) * per_second / parts / 1'000;
      const auto started = starts(start_rate{per_second, parts}, until_ms, look_ms).size();
      // What may not be missing is what comes until the last look.
      EXPECT_GE(started, due - per_second * 37 / 1'000 / parts) << per_second << " over " << parts << ", looked at every " << look_ms;
      EXPECT_LE(started, due + per_second / parts / 10 + 1) << per_second << " over " << parts << ", looked at every " << look_ms;
    }
}

TEST(start_rate, has_saved_up_a_tenth_of_a_second_after_a_rest_or_a_single_start) {
  start_rate quick{1'000, 4};
  EXPECT_EQ(take_all(quick, 0), 25U);
  EXPECT_EQ(take_all(quick, 86'400'000), 25U);
  start_rate slow{1, 4};
  EXPECT_EQ(take_all(slow, 0), 1U);
  EXPECT_EQ(take_all(slow, 86'400'000), 1U);
  start_rate quickest{1'000'000};
  EXPECT_EQ(take_all(quickest, 0), 100'000U);
  EXPECT_EQ(take_all(quickest, 100LL * 366 * 86'400'000), 100'000U) << "a clock that has jumped by a century";
}

TEST(start_rate, gives_nothing_for_time_that_goes_back) {
  start_rate rate{1, 2};
  EXPECT_EQ(take_all(rate, 10'000), 1U);
  EXPECT_EQ(take_all(rate, 5'000), 0U);
  EXPECT_EQ(take_all(rate, 6'000), 0U);
  EXPECT_EQ(take_all(rate, 7'000), 1U) << "two seconds have passed since";
}

}  // namespace
}  // namespace fairlead
