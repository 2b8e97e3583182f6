#include "app/node/damage_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

namespace fairlead::app {
namespace {

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
  template <class Condition>
  void wait_until(Condition holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
  }
  std::vector<std::string> said() {
    const std::lock_guard lock{guard};
    return told;
  }
  /// The watch has looked at its clock so often since.
  void let_it_look(int times = 3) {
    const auto before = looks.load();
    wait_until([&] { return looks >= before + times; });
  }

  std::mutex guard;
  std::vector<std::string> told;
  std::atomic<std::int64_t> now_ms{0};
  static constexpr std::int64_t own_turn_later_ms = 2'100 + damage_watch::difference_counts_for_ms + 2'100;
  static_assert(own_turn_later_ms % 3'000 >= 1'000 && own_turn_later_ms % 3'000 < 1'500);
  std::atomic<int> looks{0}, asked{0}, clock_reads{0};
  std::atomic<bool> has_others{true}, may{false}, declines{false};
  std::atomic<error_code> ended{v1::ERROR_CODE_OK};
  std::atomic<std::int64_t> answer_takes_ms{0};
  damage_watch watch{{[this] {
                        ++clock_reads;
                        return now_ms.load();
                      },
                      [this] {
                        ++looks;
                        return node_turn{1, 3, 1'000};
                      },
                      [this] { return has_others.load(); },
                      [this]() -> status {
                        ++asked;
                        now_ms += answer_takes_ms;
                        return may ? status(nothing{}) : status(error{v1::ERROR_CODE_WRONG_STATE, "n3 does not follow.", "Start it."});
                      },
                      [this](bool on) { declines = on; },
                      [this](const std::string& sentence) {
                        const std::lock_guard lock{guard};
                        told.push_back(sentence);
                      },
                      [this](const error& why) { ended = why.code; }}};
};

TEST_F(damage_watch_test, a_node_goes_on_until_the_others_can_do_without_it) {
  now_ms = 1'100;
  watch.damaged(damage);
  wait_until([&] { return asked == 1; });
  EXPECT_TRUE(declines) << "whoever has sound values is to lead";
  wait_until([&] { return said().size() == 2; });
  EXPECT_EQ(said()[0], "a value is damaged. The node asks the other nodes whether they go on without it.");
  EXPECT_NE(said()[1].find("n3 does not follow"), std::string::npos) << said()[1];
  let_it_look();
  EXPECT_EQ(asked, 1) << "once a turn";
  now_ms = 4'100;
  wait_until([&] { return asked == 2; });
  EXPECT_EQ(said().size(), 2u) << "the same is said once";
  may = true;
  now_ms = 7'100;
  wait_until([&] { return ended == v1::ERROR_CODE_CORRUPT; });
}

TEST_F(damage_watch_test, a_node_asks_only_in_the_first_half_of_its_turn) {
  may = true;
  now_ms = 100;
  watch.damaged(damage);
  wait_until([&] { return looks > 0; });
  for (const std::int64_t other : {900, 1'500, 1'900, 2'100, 3'900}) {
    now_ms = other;
    let_it_look();
    EXPECT_EQ(asked, 0) << other;
  }
  now_ms = 4'499;
  wait_until([&] { return ended == v1::ERROR_CODE_CORRUPT; });
}

TEST_F(damage_watch_test, an_answer_that_comes_when_its_turn_is_over_does_not_count) {
  may = true;
  answer_takes_ms = 1'000;
  now_ms = 1'100;
  watch.damaged(damage);
  wait_until([&] { return asked == 1; });
  let_it_look();
  EXPECT_EQ(ended, v1::ERROR_CODE_OK);
  answer_takes_ms = 0;
  now_ms = 4'100;
  wait_until([&] { return ended == v1::ERROR_CODE_CORRUPT; });
}

TEST_F(damage_watch_test, a_node_alone_says_so_once_and_serves_on) {
  has_others = false;
  for (int i = 0; i < 3; ++i) watch.damaged(damage);
  EXPECT_EQ(said(), std::vector<std::string>{"a value is damaged. restore it"});
  EXPECT_EQ(looks, 0);
  // Others hold it by now.
  has_others = true;
  may = true;
  now_ms = 1'100;
  watch.damaged(damage);
  wait_until([&] { return ended == v1::ERROR_CODE_CORRUPT; });
}

TEST_F(damage_watch_test, a_difference_counts_for_a_while_only) {
  may = true;
  now_ms = 2'100;
  watch.differs(difference);
  let_it_look();
  EXPECT_TRUE(declines);
  const auto before = clock_reads.load();
  now_ms = own_turn_later_ms;
  wait_until([&] { return clock_reads > before; });
  wait_until([&] { return !declines; });
  watch.stop();
  EXPECT_EQ(asked, 0);
}

TEST_F(damage_watch_test, a_difference_that_is_said_again_ends_the_node) {
  may = true;
  now_ms = 2'100;
  watch.differs(difference);
  let_it_look();
  watch.differs(difference);
  now_ms = 4'100;
  wait_until([&] { return ended == v1::ERROR_CODE_CORRUPT; });
}

}  // namespace
}  // namespace fairlead::app
