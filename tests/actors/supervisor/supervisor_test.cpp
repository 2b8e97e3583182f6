#include "actors/supervisor/supervisor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/actors/supervisor/wake_up_world.hpp"

namespace fairlead::testing {
namespace {

using texts = std::vector<std::string>;

class supervisor_test : public wake_up_world {
 protected:
  supervisor_test() { time.now_ms = 10'000; }

  using wake_up_world::create;

  /// A running task whose first step is as told, due at `due_ms`.
  void create(std::uint64_t number, v1::StepState state, std::int64_t at_ms, std::int64_t due_ms) {
    create(number, [&](v1::TaskRecord& record) {
      auto* one = record.mutable_steps(0);
      one->set_state(state);
      one->set_attempt(2);
      one->set_failure_count(1);
      one->clear_complete_by_unix_ms();
      if (state == v1::STEP_STATE_RUNNING)
        one->set_complete_by_unix_ms(at_ms);
      else
        one->set_not_before_unix_ms(at_ms);
      record.set_due_unix_ms(due_ms);
    });
  }

  /// `count` tasks, numbered from `first`, that have waited long enough.
  void create_failed(std::uint64_t first, std::uint64_t count) {
    for (auto i = first; i < first + count; ++i) create(i, v1::STEP_STATE_FAILED, 9'000, 9'000);
  }

  /// The Scheduler has decided: another attempt is out, and the index entry has moved on.
  void recover(std::uint64_t number) {
    shard.change(
        number,
        [this](v1::TaskRecord& task) {
          auto* one = task.mutable_steps(0);
          one->set_state(v1::STEP_STATE_RUNNING);
          one->set_attempt(one->attempt() + 1);
          one->clear_not_before_unix_ms();
          one->set_complete_by_unix_ms(time.now_ms + 60'000);
          task.set_due_unix_ms(time.now_ms + 60'000);
        },
        true);
  }

  bool scan() {
    const auto more = watcher.scan();
    EXPECT_TRUE(more.ok());
    return more.ok() && *more;
  }

  /// `task/step/direction/attempt/failures` of everything asked for since the last call; `repair task` of repairs.
  texts asked() {
    texts all;
    for (const auto& batch : out.recoveries) {
      for (const auto& one : batch.items()) {
        const auto* direction = one.direction() == v1::DIRECTION_UNDO     ? "undo"
                                : one.direction() == v1::DIRECTION_LOOKUP ? "lookup"
                                                                          : "perform";
        const auto task = std::to_string(one.task_number());
        all.push_back(one.repair() ? "repair " + task
                                   : task + "/" + std::to_string(one.step()) + "/" + direction + "/" + std::to_string(one.attempt()) + "/" +
                                         std::to_string(one.failure_count()));
      }
    }
    out.recoveries.clear();
    return all;
  }

  v1::RecoveryHintBatch hint(std::uint64_t task, std::int64_t due_ms) {
    v1::RecoveryHintBatch batch;
    auto* one = batch.add_items();
    one->set_due_unix_ms(due_ms);
    one->mutable_recover()->set_task_number(task);
    one->mutable_recover()->set_step(1);
    one->mutable_recover()->set_attempt(2);
    one->mutable_recover()->set_failure_count(1);
    return batch;
  }

  manual_clock time;
  recorder out;
  quiet_observer log;
  supervisor watcher{{&time, &store, &out, &log}, std::chrono::seconds{1}};
};

// ---- what it asks for ----

TEST_F(supervisor_test, asks_for_what_is_due_with_the_stamp_of_what_it_saw) {
  create(1, v1::STEP_STATE_RUNNING, 10'000, 10'000);
  create(2, v1::STEP_STATE_FAILED, 9'000, 9'000);
  create(3, v1::STEP_STATE_IN_DOUBT, 9'500, 9'500);
  create(4, v1::STEP_STATE_RUNNING, 10'001, 10'001);
  EXPECT_FALSE(scan());
  EXPECT_EQ(asked(), (texts{"2/1/perform/2/1", "3/1/perform/2/1", "1/1/perform/2/1"}));
}

TEST_F(supervisor_test, stamps_an_undo_and_a_lookup_with_counts_of_their_own) {
  create(1, [](v1::TaskRecord& task) {
    auto* undone = task.mutable_steps(0);
    undone->set_state(v1::STEP_STATE_UNDOING);
    undone->set_direction(v1::DIRECTION_UNDO);
    undone->mutable_undo()->set_made(4);
    undone->mutable_undo()->set_failed(3);
    auto* sought = task.mutable_steps(1);
    sought->set_state(v1::STEP_STATE_IN_DOUBT);
    sought->set_direction(v1::DIRECTION_LOOKUP);
    sought->set_attempt(9);
    sought->mutable_lookup()->set_made(6);
    sought->mutable_lookup()->set_failed(5);
    sought->set_not_before_unix_ms(10'000);
  });
  scan();
  EXPECT_EQ(asked(), (texts{"1/1/undo/4/3", "1/2/lookup/6/5"}));
}

TEST_F(supervisor_test, does_not_ask_for_a_step_that_waits_for_nothing) {
  create(1, [](v1::TaskRecord& task) {
    task.mutable_steps(0)->set_state(v1::STEP_STATE_FAILED);
    task.mutable_steps(0)->set_given_up(true);
    task.mutable_steps(0)->clear_complete_by_unix_ms();
    task.mutable_steps(1)->set_state(v1::STEP_STATE_RUNNING);
    task.mutable_steps(1)->set_attempt(1);
    task.mutable_steps(1)->set_complete_by_unix_ms(9'999);
  });
  scan();
  EXPECT_EQ(asked(), (texts{"1/2/perform/1/0"}));
}

TEST_F(supervisor_test, says_nothing_when_nothing_is_due) {
  create(1, v1::STEP_STATE_RUNNING, 20'000, 20'000);
  EXPECT_FALSE(scan());
  EXPECT_TRUE(out.recoveries.empty());
}

TEST_F(supervisor_test, asks_for_a_look_at_a_task_whose_entry_is_early) {
  create(1, v1::STEP_STATE_RUNNING, 20'000, 9'000);
  scan();
  EXPECT_EQ(asked(), (texts{"1/0/perform/0/0"}));
}

TEST_F(supervisor_test, asks_again_after_a_scan_period_until_something_has_changed) {
  create(1, v1::STEP_STATE_RUNNING, 10'000, 10'000);
  scan();
  EXPECT_EQ(asked().size(), 1u);
  time.now_ms += 500;
  scan();
  EXPECT_EQ(asked().size(), 0u);
  time.now_ms += 500;
  scan();
  EXPECT_EQ(asked().size(), 1u);
  shard.change(1, [](v1::TaskRecord& task) { store::testing::complete(task, 10'000); });
  time.now_ms += 1'000;
  scan();
  EXPECT_EQ(asked(), texts{});
}

TEST_F(supervisor_test, asks_at_once_for_the_next_failure_of_the_same_step) {
  create(1, v1::STEP_STATE_RUNNING, 10'000, 10'000);
  scan();
  shard.change(1, [](v1::TaskRecord& task) { task.mutable_steps(0)->set_failure_count(2); });
  scan();
  EXPECT_EQ(asked(), (texts{"1/1/perform/2/1", "1/1/perform/2/2"}));
}

TEST_F(supervisor_test, asks_again_when_the_clock_was_set_back) {
  create(1, v1::STEP_STATE_RUNNING, 2'000, 2'000);
  scan();
  time.now_ms -= 5'000;
  scan();
  EXPECT_EQ(asked().size(), 2u);
}

TEST_F(supervisor_test, reports_a_row_that_cannot_be_read) {
  create_failed(1, 1);
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  const auto scanned = watcher.scan();
  ASSERT_FALSE(scanned.ok());
  EXPECT_EQ(scanned.failure().code, v1::ERROR_CODE_CORRUPT);
}

// ---- much at once ----

TEST_F(supervisor_test, takes_what_is_due_in_chunks_and_reads_nothing_twice) {
  create_failed(1, 600);
  EXPECT_TRUE(scan());
  EXPECT_EQ(asked().size(), 256u);
  // A second look at the first of them would fail.
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  EXPECT_TRUE(scan());
  EXPECT_EQ(asked().size(), 256u);
  EXPECT_FALSE(scan());
  EXPECT_EQ(asked().size(), 88u);
}

TEST_F(supervisor_test, waits_for_the_scheduler_when_enough_has_been_asked_for) {
  create_failed(1, 1'200);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(scan());
  EXPECT_EQ(asked().size(), 768u);
  for (std::uint64_t i = 1; i <= 256; ++i) recover(i);
  time.now_ms += 20;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(scan());
  const auto more = asked();
  ASSERT_EQ(more.size(), 256u);
  EXPECT_EQ(more.front(), "769/1/perform/2/1");
}

TEST_F(supervisor_test, does_not_wait_long_for_what_decides_nothing) {
  create_failed(1, 1'200);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(scan());
  EXPECT_EQ(asked().size(), 768u);
  time.now_ms += 250;
  for (int i = 0; i < 10 && scan(); ++i) {
  }
  EXPECT_EQ(asked().size(), 432u);
}

TEST_F(supervisor_test, leaves_to_the_next_pass_what_becomes_due_meanwhile) {
  create_failed(1, 300);
  EXPECT_TRUE(scan());
  create(999, v1::STEP_STATE_FAILED, 10'001, 10'001);
  time.now_ms += 5;
  EXPECT_FALSE(scan());
  EXPECT_EQ(asked().size(), 300u);
  EXPECT_FALSE(scan());
  EXPECT_EQ(asked(), (texts{"999/1/perform/2/1"}));
}

// ---- hints ----

TEST_F(supervisor_test, fires_hints_in_the_order_of_their_time) {
  watcher.hint(hint(3, 10'300));
  watcher.hint(hint(1, 10'100));
  watcher.hint(hint(2, 10'200));
  EXPECT_EQ(watcher.next_hint(), from_unix_ms(10'100));
  watcher.fire();
  EXPECT_TRUE(asked().empty());
  time.now_ms = 10'200;
  watcher.fire();
  EXPECT_EQ(asked(), (texts{"1/1/perform/2/1", "2/1/perform/2/1"}));
  EXPECT_EQ(watcher.next_hint(), from_unix_ms(10'300));
  time.now_ms = 20'000;
  watcher.fire();
  EXPECT_EQ(asked(), (texts{"3/1/perform/2/1"}));
  EXPECT_EQ(watcher.next_hint(), std::nullopt);
}

TEST_F(supervisor_test, leaves_hints_of_a_far_future_to_the_index) {
  watcher.hint(hint(1, 10'000 + 300'001));
  EXPECT_EQ(watcher.next_hint(), std::nullopt);
  watcher.hint(hint(1, 10'000 + 300'000));
  EXPECT_NE(watcher.next_hint(), std::nullopt);
}

TEST_F(supervisor_test, does_not_ask_by_a_scan_for_what_a_hint_has_just_asked_for) {
  create_failed(1, 1);
  watcher.hint(hint(1, 9'000));
  watcher.fire();
  scan();
  EXPECT_EQ(asked(), (texts{"1/1/perform/2/1"}));
}

TEST_F(supervisor_test, fires_many_hints_in_chunks_and_waits_for_the_scheduler) {
  create_failed(1, 1'000);
  for (std::uint64_t i = 1; i <= 1'000; ++i) watcher.hint(hint(i, 9'000));
  watcher.fire();
  EXPECT_EQ(asked().size(), 256u);
  EXPECT_EQ(watcher.next_hint(), from_unix_ms(10'000) + supervisor::burst_pause);
  for (int i = 0; i < 10; ++i) watcher.fire();
  EXPECT_EQ(asked().size(), 512u);
  for (std::uint64_t i = 1; i <= 768; ++i) recover(i);
  time.now_ms += 20;
  for (int i = 0; i < 10; ++i) watcher.fire();
  EXPECT_EQ(asked().size(), 232u);
  EXPECT_EQ(watcher.next_hint(), std::nullopt);
}

TEST_F(supervisor_test, spreads_a_burst_so_that_the_scheduler_has_time_for_others) {
  create_failed(1, 2'000);
  std::size_t asked_in_20_ms = 0;
  for (std::uint64_t done = 1; time.now_ms < 10'020; time.now_ms += 1) {
    scan();
    const auto now_asked = asked().size();
    asked_in_20_ms += now_asked;
    for (std::size_t i = 0; i < now_asked; ++i) recover(done++);
  }
  EXPECT_GT(asked_in_20_ms, 700u);
  EXPECT_LT(asked_in_20_ms, 768u + 20u * 26u + 256u) << "all at once would hold up everything that comes behind it";
}

// ---- no silent stall ----

TEST_F(supervisor_test, asks_for_the_repair_of_a_lost_wake_up_with_its_next_scan_and_says_so) {
  create(1, v1::STEP_STATE_FAILED, 50'000, 50'000);
  create(2, v1::STEP_STATE_FAILED, 50'000, 50'000);
  scan();
  EXPECT_EQ(asked(), texts{});
  lose_entry(2, 50'000);
  time.now_ms += 1'000;
  scan();
  EXPECT_EQ(asked(), (texts{"repair 2"}));
  ASSERT_EQ(log.notes.size(), 1u);
  EXPECT_NE(log.notes[0].find("task t2"), std::string::npos) << log.notes[0];
  put_back_entry(2, 50'000);
  time.now_ms += 1'000;
  scan();
  EXPECT_EQ(asked(), texts{});
}

TEST_F(supervisor_test, asks_for_the_repair_of_a_due_entry_without_a_task) {
  add_entry(5, 9'000);
  scan();
  EXPECT_EQ(asked(), (texts{"repair 5"}));
}

TEST_F(supervisor_test, asks_for_many_repairs_with_few_lines_in_the_log) {
  for (std::uint64_t i = 1; i <= 500; ++i) create(i, v1::STEP_STATE_FAILED, 50'000, 50'000);
  for (std::uint64_t i = 1; i <= 500; ++i) lose_entry(i, 50'000);
  scan();
  EXPECT_EQ(asked().size(), 500u);
  ASSERT_EQ(log.notes.size(), 11u);
  EXPECT_NE(log.notes.back().find("490 more"), std::string::npos) << log.notes.back();
}

TEST_F(supervisor_test, tells_who_has_gone_longest_without_progress_when_it_is_another) {
  ASSERT_TRUE(watcher.go_round().ok());
  EXPECT_TRUE(out.stalest_seen.empty()) << "nobody is what everybody takes for granted";
  create(1, v1::STEP_STATE_FAILED, 50'000, 50'000);
  ASSERT_TRUE(watcher.go_round().ok());
  ASSERT_TRUE(watcher.go_round().ok());
  EXPECT_EQ(out.stalest_seen, (std::vector<stalest_task>{{"t1", 1'000}}));
  shard.change(1, [](v1::TaskRecord& task) { store::testing::complete(task, 10'000); });
  ASSERT_TRUE(watcher.go_round().ok());
  EXPECT_EQ(out.stalest_seen.back(), stalest_task{});
}

}  // namespace
}  // namespace fairlead::testing
