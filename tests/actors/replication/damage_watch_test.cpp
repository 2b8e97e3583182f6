#include "actors/replication/damage_watch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fairlead {
namespace {

using lines = std::vector<std::string>;

const error damage{v1::ERROR_CODE_CORRUPT, "a value is damaged", "restore it"};
const error difference{v1::ERROR_CODE_CORRUPT, "the state is another one", ""};

TEST(node_turn, comes_to_each_node_in_its_place_and_never_to_two) {
  for (std::int64_t now = 0; now < 6'000; now += 100) {
    int turns = 0;
    for (std::size_t place = 0; place < 3; ++place) {
      const auto left = node_turn{place, 3, 1'000}.left_ms(now);
      turns += left > 0 ? 1 : 0;
      EXPECT_EQ(left, now / 1'000 % 3 == static_cast<std::int64_t>(place) ? 1'000 - now % 1'000 : 0) << place << " at " << now;
    }
    EXPECT_EQ(turns, 1);
  }
}

struct damage_watch_test : ::testing::Test {
  void look_at(std::int64_t unix_ms) {
    now_ms = unix_ms;
    watch.look();
  }
  void answer(bool may) {
    const auto to = std::exchange(waiting, nullptr);
    ASSERT_TRUE(to);
    to(may ? status(nothing{}) : status(error{v1::ERROR_CODE_WRONG_STATE, "n3 does not follow.", "Start it."}));
  }

  std::int64_t now_ms = 0;
  bool has_others = true, declines = false;
  int begun = 0, asked = 0;
  std::function<void(const status&)> waiting;
  lines told, ended;
  damage_watch watch{{[this] { return now_ms; },
                      [] {
                        return node_turn{1, 3, 1'000};
                      },
                      [this] { return has_others; },
                      [this](auto to) {
                        ++asked;
                        waiting = std::move(to);
                      },
                      [this](bool on) { declines = on; }, [this](const std::string& sentence) { told.push_back(sentence); },
                      [this](const error& why) { ended.push_back(why.sentence); }, [this] { ++begun; }}};
};

TEST_F(damage_watch_test, a_node_goes_on_until_the_others_can_do_without_it) {
  watch.damaged(damage);
  EXPECT_EQ(told, lines{"a value is damaged. The node asks the other nodes whether they go on without it."});
  EXPECT_EQ(begun, 1);
  look_at(1'000);
  EXPECT_TRUE(declines) << "whoever has sound values is to lead";
  look_at(1'099);
  EXPECT_EQ(asked, 0) << "the leaders may not know yet that it declines";
  look_at(1'100);
  EXPECT_EQ(asked, 1);
  look_at(1'200);
  EXPECT_EQ(asked, 1) << "the answer is not there yet";
  answer(false);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1],
            "a value is damaged. The node goes on with it, and leads no shard that another node can lead: n3 does not follow. Start it.");
  look_at(1'300);
  EXPECT_EQ(asked, 1) << "once a turn";
  watch.damaged(damage);
  look_at(4'100);
  EXPECT_EQ(asked, 2);
  answer(false);
  EXPECT_EQ(told.size(), 2U) << "the same is said once";
  look_at(7'100);
  answer(true);
  EXPECT_EQ(ended, lines{"a value is damaged"});
  EXPECT_EQ(begun, 1);
}

TEST_F(damage_watch_test, a_node_asks_only_in_the_first_half_of_its_turn) {
  watch.damaged(damage);
  for (const std::int64_t at : {100, 900, 1'500, 1'900, 2'100, 3'900}) look_at(at);
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(declines);
  look_at(4'499);
  EXPECT_EQ(asked, 1);
}

TEST_F(damage_watch_test, an_answer_that_comes_when_its_turn_is_over_does_not_count) {
  watch.damaged(damage);
  look_at(1'000);
  look_at(1'100);
  now_ms = 2'000;
  answer(true);
  EXPECT_TRUE(ended.empty());
  look_at(4'100);
  answer(true);
  EXPECT_EQ(ended.size(), 1U);
}

TEST_F(damage_watch_test, a_clock_that_is_set_back_does_not_keep_it_from_asking) {
  watch.damaged(damage);
  look_at(3'600'000 + 1'000);
  look_at(3'600'000 + 1'100);
  answer(false);
  look_at(1'100);
  EXPECT_EQ(asked, 2);
}

TEST_F(damage_watch_test, a_node_alone_says_so_once_and_serves_on) {
  has_others = false;
  for (int i = 0; i < 3; ++i) watch.damaged(damage);
  EXPECT_EQ(told, lines{"a value is damaged. restore it"});
  EXPECT_EQ(begun, 0);
  // Others hold it by now.
  has_others = true;
  watch.damaged(damage);
  look_at(1'000);
  look_at(1'100);
  answer(true);
  EXPECT_EQ(ended.size(), 1U);
}

TEST_F(damage_watch_test, a_difference_counts_for_a_while_only) {
  watch.differs(difference);
  look_at(100);
  EXPECT_TRUE(declines);
  look_at(damage_watch::difference_counts_for_ms + 1'100);
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(declines);
  watch.differs(difference);
  watch.damaged(damage);
  watch.differs(difference);
  look_at(10 * damage_watch::difference_counts_for_ms + 1'000);
  look_at(10 * damage_watch::difference_counts_for_ms + 1'100);
  answer(true);
  EXPECT_EQ(ended, lines{"a value is damaged"});
}

}  // namespace
}  // namespace fairlead
