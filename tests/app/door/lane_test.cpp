#include "app/door/lane.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace fairlead::app::door {
namespace {

TEST(lane, does_what_comes_in_its_order_and_ends_when_all_is_done) {
  std::vector<int> done;
  {
    lane one;
    for (int i = 0; i < 1'000; ++i) one.post([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 1'000U);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(lane, wakes_for_each_piece_of_work_that_finds_it_idle) {
  lane one;
  for (int i = 0; i < 100; ++i) {
    std::promise<void> done;
    one.post([&done] { done.set_value(); });
    ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready) << i;
  }
}

TEST(lane, lets_go_of_what_a_piece_of_work_held_before_the_next_begins) {
  std::atomic<bool> was_alive = true;
  {
    lane one;
    auto held = std::make_shared<int>(7);
    const std::weak_ptr<int> seen = held;
    one.post([held = std::move(held)] {});
    one.post([&was_alive, seen] { was_alive = !seen.expired(); });
  }
  EXPECT_FALSE(was_alive);
}

}  // namespace
}  // namespace fairlead::app::door
