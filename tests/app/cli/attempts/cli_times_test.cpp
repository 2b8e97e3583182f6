#include "app/cli/attempts/times.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

class attempt_time_test : public ::testing::Test {
 protected:
  attempt_time_test() {
    task.add_steps()->set_path("reserve");
    task.add_steps()->set_path("charge");
  }
  void happens(std::int64_t at_ms, v1::EventKind kind, std::uint32_t step, std::uint32_t attempt,
               v1::Direction direction = v1::DIRECTION_PERFORM) {
    auto& event = *task.add_recent();
    event.set_at_unix_ms(at_ms);
    event.set_kind(kind);
    event.set_step(step + 1);
    event.set_attempt(attempt);
    event.set_direction(direction);
  }
  v1::TaskRecord task;
};

TEST_F(attempt_time_test, is_told_by_the_history_for_each_attempt_of_each_step) {
  happens(1'000, v1::EVENT_KIND_STEP_STARTED, 0, 1);
  happens(1'500, v1::EVENT_KIND_STEP_STARTED, 1, 1);
  happens(2'000, v1::EVENT_KIND_STEP_FAILED, 1, 1);
  happens(2'100, v1::EVENT_KIND_STEP_RETRIED, 1, 1);
  happens(2'200, v1::EVENT_KIND_STEP_STARTED, 1, 2);
  happens(2'250, v1::EVENT_KIND_STEP_COMPLETED, 0, 1);
  happens(62'200, v1::EVENT_KIND_STEP_COMPLETED, 1, 2);
  happens(63'000, v1::EVENT_KIND_STEP_STARTED, 0, 1, v1::DIRECTION_UNDO);
  EXPECT_EQ(attempts_table(task),
            "\nAttempts\n"
            "STEP     ATTEMPT  BEGAN                        TOOK  END\n"
            "reserve  1        1970-01-01T00:00:01.000Z  1s250ms  completed\n"
            "charge   1        1970-01-01T00:00:01.500Z    500ms  failed\n"
            "charge   2        1970-01-01T00:00:02.200Z       1m  completed\n"
            "reserve  1 undo   1970-01-01T00:01:03.000Z\n");
}

TEST_F(attempt_time_test, of_a_round_ends_with_it_and_the_last_one_once) {
  happens(1'000, v1::EVENT_KIND_STEP_STARTED, 0, 1);
  happens(2'000, v1::EVENT_KIND_STEP_REPEATED, 0, 1);
  happens(9'000, v1::EVENT_KIND_STEP_STARTED, 0, 2);
  happens(9'500, v1::EVENT_KIND_STEP_REPEATED, 0, 2);
  happens(9'600, v1::EVENT_KIND_STEP_COMPLETED, 0, 2);
  const auto times = attempt_times(task);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].ended_unix_ms, 2'000);
  EXPECT_EQ(times[0].end, "completed");
  EXPECT_EQ(times[1].ended_unix_ms, 9'500);
}

TEST_F(attempt_time_test, of_work_that_was_accepted_ends_there_and_not_with_its_callback) {
  happens(1'000, v1::EVENT_KIND_STEP_STARTED, 0, 1);
  happens(2'000, v1::EVENT_KIND_STEP_ACCEPTED, 0, 1);
  happens(90'000, v1::EVENT_KIND_STEP_ANSWERED, 0, 1);
  happens(90'000, v1::EVENT_KIND_STEP_COMPLETED, 0, 1);
  const auto times = attempt_times(task);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].ended_unix_ms, 2'000);
  EXPECT_EQ(times[0].end, "accepted");
}

TEST_F(attempt_time_test, of_a_task_that_has_not_begun_there_is_none) { EXPECT_EQ(attempts_table(task), ""); }

TEST_F(attempt_time_test, is_ended_once_though_an_operator_settles_the_step_later) {
  happens(1'000, v1::EVENT_KIND_STEP_STARTED, 0, 1);
  happens(2'000, v1::EVENT_KIND_STEP_IN_DOUBT, 0, 1);
  happens(9'000, v1::EVENT_KIND_STEP_SETTLED, 0, 1);
  const auto times = attempt_times(task);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].ended_unix_ms, 2'000);
  EXPECT_EQ(times[0].end, "in_doubt");
}

}  // namespace
}  // namespace fairlead::app
