#include "actors/gateway/held_requests.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace fairlead;

namespace {

struct heard {
  std::string order;
  held_requests::request request(char name, std::uint32_t shard, std::int64_t until_ms, std::size_t bytes = 1) {
    return {shard, from_unix_ms(until_ms), bytes, [this, name] { order += name; }, [this, name] { order += std::string{'-'} + name; }};
  }
};

}  // namespace

TEST(held_requests, requests_go_in_the_order_in_which_they_came_once_their_shard_is_led) {
  heard it;
  held_requests held;
  EXPECT_TRUE(held.hold(it.request('a', 1, 500), from_unix_ms(0)));
  EXPECT_TRUE(held.hold(it.request('b', 2, 500), from_unix_ms(0)));
  EXPECT_TRUE(held.hold(it.request('c', 1, 500), from_unix_ms(0)));
  held.look(from_unix_ms(100), [](std::uint32_t shard) { return shard == 1; });
  EXPECT_EQ(it.order, "ac");
  held.look(from_unix_ms(499), [](std::uint32_t) { return false; });
  EXPECT_EQ(it.order, "ac");
  held.look(from_unix_ms(500), [](std::uint32_t) { return false; });
  EXPECT_EQ(it.order, "ac-b");
  EXPECT_TRUE(held.empty());
}

TEST(held_requests, a_request_whose_time_is_over_is_not_sent_again) {
  heard it;
  held_requests held;
  EXPECT_FALSE(held.hold(it.request('a', 1, 500), from_unix_ms(500)));
  EXPECT_TRUE(held.hold(it.request('b', 1, 500), from_unix_ms(499)));
  held.look(from_unix_ms(600), [](std::uint32_t) { return true; });
  EXPECT_EQ(it.order, "-b");
}

TEST(held_requests, only_so_many_and_only_so_many_bytes_are_held) {
  heard it;
  held_requests held{2, 100};
  EXPECT_TRUE(held.hold(it.request('a', 1, 500, 60), from_unix_ms(0)));
  EXPECT_FALSE(held.hold(it.request('b', 1, 500, 41), from_unix_ms(0)));
  EXPECT_TRUE(held.hold(it.request('c', 1, 500, 40), from_unix_ms(0)));
  EXPECT_FALSE(held.hold(it.request('d', 1, 500, 0), from_unix_ms(0)));
  held.look(from_unix_ms(1), [](std::uint32_t) { return true; });
  EXPECT_EQ(it.order, "ac");
  EXPECT_TRUE(held.hold(it.request('e', 1, 500, 100), from_unix_ms(1)));
}

TEST(held_requests, a_request_that_is_let_go_may_be_held_again) {
  held_requests held;
  int tries = 0;
  std::function<void()> again = [&] {
    ++tries;
    held.hold({1, from_unix_ms(500), 1, again, [] {}}, from_unix_ms(0));
  };
  again();
  held.look(from_unix_ms(0), [](std::uint32_t) { return true; });
  EXPECT_EQ(tries, 2);
  EXPECT_FALSE(held.empty());
}
