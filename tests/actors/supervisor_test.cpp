#include "actors/supervisor.hpp"

#include <gtest/gtest.h>

#include "tests/actors/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

class supervisor_test : public ::testing::Test {
 protected:
  supervisor_test() { time.now_ms = 10'000; }

  /// A running task whose first step is as told, due at `due_ms`.
  void create(std::uint64_t number, v1::StepState state, std::int64_t at_ms, std::int64_t due_ms) {
    auto record = store::testing::running_order(number, "t" + std::to_string(number));
    auto* one = record.mutable_steps(0);
    one->set_state(state);
    one->set_attempt(2);
    one->set_failure_count(1);
    if (state == v1::STEP_STATE_RUNNING)
      one->set_complete_by_unix_ms(at_ms);
    else
      one->set_not_before_unix_ms(at_ms);
    record.set_due_unix_ms(due_ms);
    shard.create(record);
  }

  /// `task/step/attempt/failures` of everything asked for.
  std::vector<std::string> asked() {
    std::vector<std::string> all;
    for (const auto& batch : out.recoveries)
      for (const auto& one : batch.items())
        all.push_back(std::to_string(one.task_number()) + "/" + std::to_string(one.step()) + "/" + std::to_string(one.attempt()) + "/" +
                      std::to_string(one.failure_count()));
    out.recoveries.clear();
    return all;
  }

  v1::RecoveryHintBatch hint(std::uint64_t task, std::int64_t due_ms) {
    v1::RecoveryHintBatch batch;
    auto* one = batch.add_items();
    one->set_due_unix_ms(due_ms);
    one->mutable_recover()->set_task_number(task);
    one->mutable_recover()->set_step(1);
    return batch;
  }

  store::memory_store store;
  store::testing::test_shard shard{store};
  manual_clock time;
  recorder out;
  quiet_observer log;
  supervisor watcher{{&time, &store, &out, &log}};
};

using texts = std::vector<std::string>;

TEST_F(supervisor_test, asks_for_what_is_due_with_the_stamp_of_what_it_saw) {
  create(1, v1::STEP_STATE_RUNNING, 10'000, 10'000);
  create(2, v1::STEP_STATE_FAILED, 9'000, 9'000);
  create(3, v1::STEP_STATE_IN_DOUBT, 9'500, 9'500);
  create(4, v1::STEP_STATE_RUNNING, 10'001, 10'001);
  const auto more = watcher.scan();
  ASSERT_TRUE(more.ok());
  EXPECT_FALSE(*more);
  EXPECT_EQ(asked(), (texts{"2/1/2/1", "3/1/2/1", "1/1/2/1"}));
}

TEST_F(supervisor_test, says_nothing_when_nothing_is_due) {
  create(1, v1::STEP_STATE_RUNNING, 20'000, 20'000);
  EXPECT_TRUE(watcher.scan().ok());
  EXPECT_TRUE(out.recoveries.empty());
}

TEST_F(supervisor_test, asks_for_a_look_at_a_task_whose_entry_is_early) {
  create(1, v1::STEP_STATE_RUNNING, 20'000, 9'000);
  watcher.scan();
  EXPECT_EQ(asked(), (texts{"1/0/0/0"}));
}

TEST_F(supervisor_test, asks_again_with_each_scan_until_something_has_changed) {
  create(1, v1::STEP_STATE_RUNNING, 10'000, 10'000);
  watcher.scan();
  watcher.scan();
  EXPECT_EQ(asked().size(), 2u);
  shard.change(1, [](v1::TaskRecord& task) { store::testing::complete(task, 10'000); });
  watcher.scan();
  EXPECT_TRUE(asked().empty());
}

TEST_F(supervisor_test, takes_a_bounded_number_at_a_time_and_says_that_there_is_more) {
  for (std::uint64_t i = 1; i <= 2'001; ++i) create(i, v1::STEP_STATE_FAILED, 9'000, 9'000);
  const auto more = watcher.scan();
  ASSERT_TRUE(more.ok());
  EXPECT_TRUE(*more);
  EXPECT_EQ(asked().size(), 2'000u);
}

TEST_F(supervisor_test, reports_a_row_that_cannot_be_read) {
  create(1, v1::STEP_STATE_FAILED, 9'000, 9'000);
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  const auto scanned = watcher.scan();
  ASSERT_FALSE(scanned.ok());
  EXPECT_EQ(scanned.failure().code, v1::ERROR_CODE_CORRUPT);
}

TEST_F(supervisor_test, fires_hints_in_the_order_of_their_time) {
  watcher.hint(hint(3, 10'300));
  watcher.hint(hint(1, 10'100));
  watcher.hint(hint(2, 10'200));
  EXPECT_EQ(watcher.next_hint(), from_unix_ms(10'100));
  watcher.fire();
  EXPECT_TRUE(asked().empty());
  time.now_ms = 10'200;
  watcher.fire();
  EXPECT_EQ(asked(), (texts{"1/1/0/0", "2/1/0/0"}));
  EXPECT_EQ(watcher.next_hint(), from_unix_ms(10'300));
  time.now_ms = 20'000;
  watcher.fire();
  EXPECT_EQ(asked(), (texts{"3/1/0/0"}));
  EXPECT_EQ(watcher.next_hint(), std::nullopt);
}

TEST_F(supervisor_test, leaves_hints_of_a_far_future_to_the_index) {
  watcher.hint(hint(1, 10'000 + 300'001));
  EXPECT_EQ(watcher.next_hint(), std::nullopt);
  watcher.hint(hint(1, 10'000 + 300'000));
  EXPECT_NE(watcher.next_hint(), std::nullopt);
}

}  // namespace
}  // namespace fairlead::testing
