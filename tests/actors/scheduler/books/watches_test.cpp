#include "actors/scheduler/books/watches.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead {
namespace {

constexpr std::int64_t start_ms = 1'700'000'000'000;

TEST(watches, answer_when_their_time_is_over_also_after_the_clock_was_set_back) {
  store::memory_store store;
  store::testing::test_shard shard{store};
  shard.create(store::testing::running_order(1, "t1"));
  const auto view = store.read();
  watches here;
  here.add(1, {7, 2, 0, from_unix_ms(start_ms) + watches::longest_wait});
  std::vector<watches::answer> out;
  here.expire(from_unix_ms(start_ms), *view, out);
  EXPECT_TRUE(out.empty());
  here.expire(from_unix_ms(start_ms - 3'600'000), *view, out);
  ASSERT_EQ(out.size(), 1u) << "nobody waits for an hour and a half";
  EXPECT_EQ(out[0].ticket, 7u);
  EXPECT_TRUE(here.empty());
}

}  // namespace
}  // namespace fairlead
