#include "actors/archiver.hpp"

#include <gtest/gtest.h>

#include "actors/task_queries.hpp"
#include "store/alert_rows.hpp"
#include "store/check.hpp"
#include "store/memory_store.hpp"
#include "tests/actors/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;
constexpr std::int64_t day_ms = 86'400'000;

class archiver_test : public ::testing::Test {
 protected:
  archiver_test() : archives(std::make_shared<store::archive>(folder / "archive")) {
    policy.archive_after = std::chrono::hours{1};
    policy.keep = std::chrono::hours{24 * 2};
    time.now_ms = 100 * day_ms + 12 * 3'600'000;
    mover.emplace(time, store, archives, policy);
    shard.deploy_order();
  }

  /// A version of the workflow whose finished tasks are kept this long; its hash.
  std::string deploy_kept_for(std::uint32_t keep_days) {
    v1::DeployedWorkflow deployed;
    *deployed.mutable_definition() = fixture::order_definition();
    deployed.mutable_definition()->set_keep_days(keep_days);
    deployed.set_content_hash(store::definition_hash(deployed.definition()));
    auto one = shard.next();
    one.put(store::table::workflow_version, store::keys::workflow_version(1, "order", deployed.content_hash()),
            deployed.SerializeAsString());
    shard.expect_committed(std::move(one));
    return deployed.content_hash();
  }

  void finished_of(const std::string& hash, std::uint64_t number, std::int64_t at_ms) {
    auto task = fixture::running_order(number, "t" + std::to_string(number));
    task.set_workflow_hash(hash);
    shard.create(task);
    shard.change(number, [&](v1::TaskRecord& record) { fixture::complete(record, at_ms); });
  }

  void undone(std::uint64_t number, std::int64_t at_ms) {
    shard.create(fixture::running_order(number, "t" + std::to_string(number)));
    shard.change(number, [&](v1::TaskRecord& record) {
      fixture::complete(record, at_ms);
      record.set_state(v1::TASK_STATE_UNDONE);
    });
  }

  void finished(std::uint64_t number, std::int64_t at_ms) {
    shard.create(fixture::running_order(number, "t" + std::to_string(number)));
    shard.change(number, [&](v1::TaskRecord& task) { fixture::complete(task, at_ms); });
  }

  /// One pass, committed as the Scheduler would; how many tasks it moved.
  std::uint64_t pass() {
    auto moved = mover->pass();
    EXPECT_TRUE(moved.ok());
    if (!moved->moved) return 0;
    auto one = shard.next();
    one.append(moved->moved->erasures);
    const auto count = moved->moved->completed + moved->moved->undone;
    EXPECT_EQ(moved->moved->numbers.size(), count);
    shard.state().set_completed(shard.state().completed() - moved->moved->completed);
    shard.state().set_undone(shard.state().undone() - moved->moved->undone);
    shard.state().set_archived(shard.state().archived() + count);
    shard.expect_committed(std::move(one));
    EXPECT_TRUE(store::check(*store.read(), {}, 100, archives.get()).clean());
    return count;
  }

  bool in_store(std::uint64_t number) const { return store::load_task(*store.read(), number)->has_value(); }

  fixture::temporary_directory folder;
  store::memory_store store;
  fixture::test_shard shard{store};
  std::shared_ptr<store::archive> archives;
  manual_clock time;
  retention_policy policy;
  std::optional<archiver> mover;
};

TEST_F(archiver_test, moves_what_ended_long_enough_ago) {
  finished(1, time.now_ms - 3'600'001);
  finished(2, time.now_ms - 3'600'000);
  finished(3, time.now_ms - 3'599'999);
  shard.create(fixture::running_order(4, "t4"));
  EXPECT_EQ(pass(), 2u);
  EXPECT_FALSE(in_store(1));
  EXPECT_FALSE(in_store(2));
  EXPECT_TRUE(in_store(3));
  EXPECT_TRUE(in_store(4));
  EXPECT_TRUE(archives->load(100, task_number{1})->has_value());
  EXPECT_EQ(pass(), 0u);
}

TEST_F(archiver_test, fills_the_archive_of_one_day_at_a_time) {
  finished(1, 98 * day_ms + 5);
  finished(2, 99 * day_ms + 5);
  finished(3, 98 * day_ms + 7);
  EXPECT_EQ(pass(), 2u);
  EXPECT_TRUE(in_store(2));
  EXPECT_EQ(pass(), 1u);
  EXPECT_EQ(*archives->days(), (std::vector<std::int64_t>{98, 99}));
}

TEST_F(archiver_test, takes_small_bites) {
  for (std::uint64_t i = 1; i <= 1'001; ++i) finished(i, 99 * day_ms);
  EXPECT_EQ(pass(), 1'000u);
  EXPECT_EQ(pass(), 1u);
}

TEST_F(archiver_test, waits_until_the_tasks_of_the_pass_before_are_out) {
  finished(1, 99 * day_ms);
  auto first = mover->pass();
  ASSERT_TRUE(first.ok() && first->moved);
  EXPECT_FALSE(first->waiting);
  const auto second = mover->pass();
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->moved) << "they would be counted twice";
  EXPECT_TRUE(second->waiting);
  auto one = shard.next();
  one.append(first->moved->erasures);
  shard.expect_committed(std::move(one));
  EXPECT_FALSE(in_store(1));
}

TEST_F(archiver_test, moves_again_what_a_crash_left_in_both_places) {
  finished(1, 99 * day_ms);
  ASSERT_TRUE(mover->pass().ok());
  archiver after_restart{time, store, archives, policy};
  auto again = after_restart.pass();
  ASSERT_TRUE(again.ok() && again->moved);
  EXPECT_EQ(again->moved->completed, 1u);
}

TEST_F(archiver_test, counts_completed_and_undone_tasks_apart_and_takes_both) {
  finished(1, 99 * day_ms);
  undone(2, 99 * day_ms);
  finished(3, 99 * day_ms);
  const auto moved = mover->pass();
  ASSERT_TRUE(moved.ok() && moved->moved);
  EXPECT_EQ(moved->moved->completed, 2u);
  EXPECT_EQ(moved->moved->undone, 1u);
}

TEST_F(archiver_test, undone_tasks_have_their_turn_while_more_complete_than_a_pass_takes) {
  for (std::uint64_t i = 1; i <= 2'500; ++i) finished(i, 99 * day_ms);
  undone(2'501, 98 * day_ms);
  pass();
  pass();
  EXPECT_FALSE(in_store(2'501));
  EXPECT_TRUE(in_store(2'500));
}

TEST_F(archiver_test, puts_tasks_where_their_workflow_keeps_them) {
  const auto quarter = deploy_kept_for(90), week = deploy_kept_for(7);
  finished(1, 99 * day_ms);
  finished_of(quarter, 2, 99 * day_ms);
  finished_of(week, 3, 99 * day_ms);
  finished_of(quarter, 4, 99 * day_ms);
  EXPECT_EQ(pass(), 4u);
  EXPECT_TRUE(archives->load(99, task_number{1})->has_value());
  EXPECT_TRUE(archives->load(99, task_number{2}, 90)->has_value());
  EXPECT_TRUE(archives->load(99, task_number{3}, 7)->has_value());
  EXPECT_TRUE(archives->load(99, task_number{4}, 90)->has_value());
  EXPECT_EQ((*store::find_task(*store.read(), "t4"))->archive_keep_days(), 90u);
  v1::TaskShowRequest what;
  what.set_id("t4");
  const auto shown = show_task(what, *store.read(), *archives);
  EXPECT_TRUE(shown.archived()) << shown.error().sentence();
  EXPECT_EQ(shown.task().number(), 4u);
}

TEST_F(archiver_test, lets_go_of_each_archive_when_its_own_retention_is_over) {
  const auto week = deploy_kept_for(7);
  finished(1, 97 * day_ms);
  finished_of(week, 2, 97 * day_ms);
  pass();
  ASSERT_TRUE(mover->drop_old().ok());
  EXPECT_TRUE(archives->days()->empty());
  EXPECT_EQ(*archives->days(7), (std::vector<std::int64_t>{97}));
  time.now_ms = 104 * day_ms;
  ASSERT_TRUE(mover->drop_old().ok());
  EXPECT_EQ(*archives->days(7), (std::vector<std::int64_t>{97})) << "exactly a week";
  time.now_ms = 105 * day_ms;
  ASSERT_TRUE(mover->drop_old().ok());
  EXPECT_TRUE(archives->days(7)->empty());
}

TEST_F(archiver_test, starts_anew_when_a_task_it_had_copied_was_brought_back_to_life) {
  finished(1, 99 * day_ms);
  finished(2, 99 * day_ms);
  const auto copied = mover->pass();
  ASSERT_TRUE(copied.ok() && copied->moved);
  EXPECT_EQ(copied->moved->numbers, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(copied->moved->read_at_sequence, shard.sequence());
  shard.change(2, [](v1::TaskRecord& task) {
    task.set_state(v1::TASK_STATE_UNDOING);
    task.set_finished_at_unix_ms(0);
    task.set_due_unix_ms(10'000);
  });
  const auto again = mover->pass();
  ASSERT_TRUE(again.ok() && again->moved) << "the Scheduler drops what it was sent before";
  EXPECT_EQ(again->moved->numbers, (std::vector<std::uint64_t>{1}));
}

TEST_F(archiver_test, starts_anew_when_the_scheduler_that_it_told_has_been_replaced) {
  finished(1, 99 * day_ms);
  const auto lost = mover->pass();
  ASSERT_TRUE(lost.ok() && lost->moved);
  EXPECT_EQ(lost->moved->erasures.epoch, shard.epoch());
  const auto raised = store.raise_epoch();
  ASSERT_TRUE(raised.ok());
  const auto again = mover->pass();
  ASSERT_TRUE(again.ok() && again->moved) << "nobody will ever commit what was told before";
  EXPECT_EQ(again->moved->numbers, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(again->moved->erasures.epoch, *raised);
  const auto third = mover->pass();
  EXPECT_TRUE(third.ok() && third->waiting);
}

TEST_F(archiver_test, lets_go_of_archives_beyond_the_retention) {
  finished(1, 97 * day_ms);
  finished(2, 98 * day_ms + 13 * 3'600'000);
  pass();
  pass();
  ASSERT_TRUE(mover->drop_old().ok());
  EXPECT_EQ(*archives->days(), (std::vector<std::int64_t>{98}));
  time.now_ms += 2 * day_ms;
  ASSERT_TRUE(mover->drop_old().ok());
  EXPECT_TRUE(archives->days()->empty());
}

TEST_F(archiver_test, lets_go_of_alerts_that_were_resolved_long_ago) {
  auto rows = shard.next();
  for (std::uint64_t number = 1; number <= 3; ++number) {
    v1::AlertRecord alert;
    alert.set_number(number);
    alert.set_state(number == 2 ? v1::ALERT_STATE_OPEN : v1::ALERT_STATE_RESOLVED);
    alert.set_resolved_at_unix_ms(number == 2 ? 0 : time.now_ms - (number == 1 ? 3 : 1) * day_ms);
    store::put_alert(rows, alert);
  }
  shard.expect_committed(std::move(rows));
  const auto old = mover->old_alerts();
  ASSERT_TRUE(old.ok() && *old);
  auto erasures = shard.next();
  erasures.append((*old)->rows);
  shard.expect_committed(std::move(erasures));
  EXPECT_EQ(store.read()->count(store::table::alert), 2u) << "the open one stays, and the one that was resolved yesterday";
  const auto again = mover->old_alerts();
  EXPECT_TRUE(again.ok() && !*again);
}

}  // namespace
}  // namespace fairlead::testing
