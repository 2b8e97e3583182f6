#include "actors/scheduler/books/evaluations.hpp"

#include <gtest/gtest.h>

#include "actors/core/task/decision.hpp"

namespace fairlead {
namespace {

constexpr auto with = v1::EXPRESSION_PART_WITH;
const moment now = from_unix_ms(1'700'000'000'000);

TEST(evaluations, an_answer_leads_to_whose_part_it_is_once) {
  evaluations all{1'000};
  const auto ticket = all.ask({7, 2, v1::EXPRESSION_PART_UNDO_WITH}, 10);
  const auto whose = all.answered(ticket);
  ASSERT_TRUE(whose);
  EXPECT_EQ(whose->task, 7u);
  EXPECT_EQ(whose->step, 2u);
  EXPECT_EQ(whose->part, v1::EXPRESSION_PART_UNDO_WITH);
  EXPECT_FALSE(all.answered(ticket));
}

TEST(evaluations, tasks_wait_while_the_worker_has_enough_and_go_on_in_order) {
  evaluations all{100};
  const auto ticket = all.ask({1, 0, with}, 100);
  EXPECT_FALSE(all.has_room());
  all.wait(2);
  all.wait(3);
  EXPECT_FALSE(all.next_waiting());
  all.answered(ticket);
  EXPECT_EQ(all.next_waiting(), 2u);
  EXPECT_EQ(all.next_waiting(), 3u);
  EXPECT_FALSE(all.next_waiting());
}

TEST(evaluations, what_is_forgotten_makes_room_and_is_answered_no_more) {
  evaluations all{100};
  const auto ticket = all.ask({1, 0, with}, 100);
  all.forget(1);
  EXPECT_TRUE(all.has_room());
  EXPECT_FALSE(all.answered(ticket));
}

TEST(evaluations, a_part_counts_as_asked_for_while_somebody_may_still_answer) {
  evaluations all{1'000};
  const auto key = std::pair<std::uint64_t, std::uint32_t>{1, core::evaluation_key(4, with)};
  const auto ticket = all.ask({1, 4, with}, 10);
  EXPECT_EQ(all.asked().of_steps.count(key), 0u) << "nobody has taken it";
  auto worker = std::make_shared<const char>();
  all.outstanding(ticket, worker);
  EXPECT_EQ(all.asked().of_steps.count(key), 1u);
  worker.reset();
  EXPECT_EQ(all.asked().of_steps.count(key), 0u) << "whoever was asked is gone";
}

TEST(evaluations, tasks_that_wait_for_room_or_for_a_worker_count_as_asked_for) {
  evaluations all{10};
  all.wait(5);
  all.unavailable(6, now);
  EXPECT_EQ(all.asked().of_tasks, (std::unordered_set<std::uint64_t>{5, 6}));
  all.available(6);
  EXPECT_EQ(all.asked().of_tasks, (std::unordered_set<std::uint64_t>{5}));
}

TEST(evaluations, that_there_is_no_worker_is_said_once_a_minute) {
  evaluations all{10};
  EXPECT_TRUE(all.unavailable(1, now));
  EXPECT_FALSE(all.unavailable(2, now + std::chrono::seconds{59}));
  EXPECT_TRUE(all.unavailable(3, now + std::chrono::seconds{60}));
}

}  // namespace
}  // namespace fairlead
