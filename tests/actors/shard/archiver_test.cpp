#include "actors/shard/archiver.hpp"

#include <gtest/gtest.h>

#include "actors/queries/task_queries.hpp"
#include "store/check/check.hpp"
#include "store/memory/memory_store.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/deletion_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;
constexpr std::int64_t hour_ms = 3'600'000, day_ms = 24 * hour_ms;

class archiver_test : public ::testing::Test {
 protected:
  archiver_test() : archives(std::make_shared<store::archive>(folder / "archive")) {
    policy.archive_after = std::chrono::hours{1};
    policy.keep = std::chrono::hours{24 * 2};
    both_read(100 * day_ms + 12 * hour_ms);
    mover.emplace(time, store, archives, policy);
    shard.deploy_order();
  }

  /// As the Scheduler has it written.
  void retention_reads(std::int64_t ms) {
    shard.state().set_retention_unix_ms(ms);
    shard.expect_committed(shard.next());
  }
  void both_read(std::int64_t ms) {
    time.now_ms = ms;
    retention_reads(ms);
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

  /// Committed as the Scheduler would, and done as by whoever applies it.
  void commit(const archive_rows& what) {
    auto one = shard.next();
    one.append(what.rows);
    shard.expect_committed(std::move(one));
    auto done = shard.next();
    ASSERT_TRUE(archives->carry_out(*store.read(), done).ok());
    drop_old_row();
    shard.expect_committed(std::move(done));
  }

  void drop_old_row() {
    ASSERT_TRUE(store::for_each_drop(*store.read(), [&](std::uint32_t keep_days, std::int64_t before_day) {
                  EXPECT_TRUE(archives->drop_before(before_day, keep_days).ok());
                }).ok());
  }

  void drop_old() {
    const auto told = mover->drop_old();
    ASSERT_TRUE(told.ok());
    EXPECT_FALSE(told->problem);
    if (told->told) commit(*told->told);
  }

  /// One pass, committed and done; how many tasks it moved.
  std::uint64_t pass() {
    auto moved = mover->pass();
    EXPECT_TRUE(moved.ok());
    if (!moved->moved) return 0;
    std::uint64_t count = 0;
    for (const auto& [state, tasks] : moved->moved->ended) {
      store::move_to_archive(shard.state(), state, tasks);
      count += tasks;
    }
    EXPECT_EQ(moved->moved->numbers.size(), count);
    commit(*moved->moved);
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

TEST_F(archiver_test, fills_the_archive_of_the_day_on_which_tasks_were_old_enough) {
  both_read(98 * day_ms + 2 * hour_ms);
  finished(1, 98 * day_ms + 5);
  finished(3, 98 * day_ms + 7);
  EXPECT_EQ(pass(), 2u);
  finished(2, 99 * day_ms + 5);
  both_read(99 * day_ms + 2 * hour_ms);
  EXPECT_EQ(pass(), 1u);
  EXPECT_EQ(*archives->days(), (std::vector<std::int64_t>{98, 99}));
}

TEST_F(archiver_test, a_clock_that_is_a_month_ahead_for_one_look_moves_and_deletes_nothing) {
  finished(1, time.now_ms - 2 * hour_ms);
  EXPECT_EQ(pass(), 1u);
  finished(2, time.now_ms - 60'000);
  auto rows = shard.next();
  v1::AlertRecord alert;
  alert.set_number(1);
  alert.set_state(v1::ALERT_STATE_RESOLVED);
  alert.set_resolved_at_unix_ms(time.now_ms - 60'000);
  store::put_alert(rows, alert);
  shard.expect_committed(std::move(rows));
  time.now_ms += 31 * day_ms;
  EXPECT_EQ(pass(), 0u) << "it ended a minute ago, and may still be undone";
  drop_old();
  EXPECT_EQ(*archives->days(), (std::vector<std::int64_t>{100}));
  const auto old = mover->old_alerts();
  EXPECT_TRUE(old.ok() && !*old);
}

TEST_F(archiver_test, moves_nothing_early_while_the_clock_is_behind_retention_time) {
  time.now_ms -= 3 * hour_ms;
  finished(1, time.now_ms - hour_ms + 1'000);
  EXPECT_EQ(pass(), 0u) << "by the clock that has stamped it, it ended less than an hour ago";
  time.now_ms += 1'000;
  EXPECT_EQ(pass(), 1u);
}

TEST_F(archiver_test, keeps_what_ended_under_a_clock_of_1970_as_long_as_all_else) {
  finished(1, 600'000);
  EXPECT_EQ(pass(), 1u);
  EXPECT_EQ(*archives->days(), (std::vector<std::int64_t>{100}));
  drop_old();
  EXPECT_TRUE(archives->load(100, task_number{1})->has_value());
}

TEST_F(archiver_test, moves_nothing_under_a_clock_of_1970_where_all_that_ever_ended_would_be_as_old) {
  finished(1, time.now_ms - 60'000);
  time.now_ms = 600'000;
  EXPECT_EQ(pass(), 0u);
  retention_reads(600'000);
  EXPECT_EQ(pass(), 0u);
  drop_old();
}

TEST_F(archiver_test, ends_a_pass_when_the_tasks_of_it_are_large) {
  for (std::uint64_t number = 1; number <= 5; ++number) {
    auto task = fixture::running_order(number, "t" + std::to_string(number));
    for (auto& step : *task.mutable_steps()) {
      step.mutable_output()->set_slot(task.next_slot());
      step.mutable_output()->set_size(1 << 20);
      task.set_next_slot(task.next_slot() + 1);
    }
    shard.create(task);
    auto one = shard.next();
    for (std::uint32_t slot = 1; slot <= 3; ++slot) store::put_payload(one, number, slot, '"' + std::string((1 << 20) - 2, 'x') + '"');
    shard.expect_committed(std::move(one));
    shard.change(number, [&](v1::TaskRecord& record) { fixture::complete(record, 99 * day_ms + static_cast<std::int64_t>(number)); });
  }
  auto moved = mover->pass();
  ASSERT_TRUE(moved.ok() && moved->moved);
  EXPECT_EQ(moved->moved->numbers, (std::vector<std::uint64_t>{1, 2, 3})) << "nine MiB";
  EXPECT_EQ(moved->moved->ended.at(v1::TASK_STATE_COMPLETED), 3u);
  commit(*moved->moved);
  moved = mover->pass();
  ASSERT_TRUE(moved.ok() && moved->moved);
  EXPECT_EQ(moved->moved->numbers, (std::vector<std::uint64_t>{4, 5}));
}

TEST_F(archiver_test, has_time_for_what_is_too_old_however_much_there_is_to_move) {
  EXPECT_TRUE(mover->sweep_is_due());
  EXPECT_FALSE(mover->sweep_is_due());
  time.now_ms += 10'000;
  finished(1, 99 * day_ms);
  ASSERT_EQ(pass(), 1u);
  EXPECT_TRUE(mover->sweep_is_due());
}

TEST_F(archiver_test, asks_for_retention_time_while_something_ages_and_nothing_else_is_written) {
  const auto asks = [&] {
    const auto asked = mover->ask_for_time();
    EXPECT_TRUE(asked.ok());
    if (!asked.ok() || !*asked) return false;
    EXPECT_TRUE((*asked)->numbers.empty() && (*asked)->rows.empty());
    EXPECT_EQ((*asked)->rows.epoch, shard.epoch());
    return true;
  };
  EXPECT_FALSE(asks());
  time.now_ms += hour_ms;
  EXPECT_FALSE(asks()) << "nothing ages: an idle shard writes nothing";
  finished(1, time.now_ms);
  EXPECT_TRUE(asks()) << "it is an hour behind";
  time.now_ms += 59'000;
  EXPECT_FALSE(asks()) << "once a minute";
  time.now_ms += 1'000;
  EXPECT_TRUE(asks());
  retention_reads(time.now_ms);
  time.now_ms += 59'000;
  EXPECT_FALSE(asks()) << "it went with another batch";
  time.now_ms += 2 * hour_ms;
  retention_reads(time.now_ms);
  ASSERT_EQ(pass(), 1u);
  time.now_ms += 60'000;
  EXPECT_TRUE(asks()) << "an archive ages too";
  both_read(time.now_ms + 5 * day_ms);
  drop_old();
  time.now_ms += hour_ms;
  EXPECT_FALSE(asks()) << "it is gone, and nothing is left";
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
  commit(*first->moved);
  EXPECT_FALSE(in_store(1));
}

TEST_F(archiver_test, chooses_again_what_nobody_has_committed) {
  finished(1, 99 * day_ms);
  ASSERT_TRUE(mover->pass().ok());
  archiver after_restart{time, store, archives, policy};
  auto again = after_restart.pass();
  ASSERT_TRUE(again.ok() && again->moved);
  EXPECT_EQ(again->moved->ended.at(v1::TASK_STATE_COMPLETED), 1u);
}

TEST_F(archiver_test, counts_completed_and_undone_tasks_apart_and_takes_both) {
  finished(1, 99 * day_ms);
  undone(2, 99 * day_ms);
  finished(3, 99 * day_ms);
  const auto moved = mover->pass();
  ASSERT_TRUE(moved.ok() && moved->moved);
  EXPECT_EQ(moved->moved->ended.at(v1::TASK_STATE_COMPLETED), 2u);
  EXPECT_EQ(moved->moved->ended.at(v1::TASK_STATE_UNDONE), 1u);
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
  EXPECT_TRUE(archives->load(100, task_number{1})->has_value());
  EXPECT_TRUE(archives->load(100, task_number{2}, 90)->has_value());
  EXPECT_TRUE(archives->load(100, task_number{3}, 7)->has_value());
  EXPECT_TRUE(archives->load(100, task_number{4}, 90)->has_value());
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
  both_read(97 * day_ms + 2 * hour_ms);
  pass();
  both_read(100 * day_ms + 12 * hour_ms);
  drop_old();
  EXPECT_TRUE(archives->days()->empty());
  EXPECT_EQ(*archives->days(7), (std::vector<std::int64_t>{97}));
  both_read(104 * day_ms);
  drop_old();
  EXPECT_EQ(*archives->days(7), (std::vector<std::int64_t>{97})) << "exactly a week";
  both_read(105 * day_ms);
  drop_old();
  EXPECT_TRUE(archives->days(7)->empty());
}

TEST_F(archiver_test, starts_anew_when_a_task_it_had_chosen_was_brought_back_to_life) {
  finished(1, 99 * day_ms);
  finished(2, 99 * day_ms);
  const auto chosen = mover->pass();
  ASSERT_TRUE(chosen.ok() && chosen->moved);
  EXPECT_EQ(chosen->moved->numbers, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(chosen->moved->read_at_sequence, shard.sequence());
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
  EXPECT_EQ(lost->moved->rows.epoch, shard.epoch());
  const auto raised = store.raise_epoch();
  ASSERT_TRUE(raised.ok());
  const auto again = mover->pass();
  ASSERT_TRUE(again.ok() && again->moved) << "nobody will ever commit what was told before";
  EXPECT_EQ(again->moved->numbers, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(again->moved->rows.epoch, *raised);
  const auto third = mover->pass();
  EXPECT_TRUE(third.ok() && third->waiting);
}

TEST_F(archiver_test, lets_go_of_archives_beyond_the_retention) {
  for (const std::int64_t day : {97, 98}) {
    finished(static_cast<std::uint64_t>(day), day * day_ms + hour_ms);
    both_read(day * day_ms + 3 * hour_ms);
    ASSERT_EQ(pass(), 1u);
  }
  both_read(100 * day_ms + 12 * hour_ms);
  drop_old();
  EXPECT_EQ(*archives->days(), (std::vector<std::int64_t>{98}));
  both_read(102 * day_ms + 12 * hour_ms);
  drop_old();
  EXPECT_TRUE(archives->days()->empty());
}

TEST_F(archiver_test, says_which_archives_are_dropped_and_drops_none_itself) {
  finished(1, 97 * day_ms);
  both_read(97 * day_ms + 2 * hour_ms);
  ASSERT_EQ(pass(), 1u);
  both_read(100 * day_ms);
  const auto told = mover->drop_old();
  ASSERT_TRUE(told.ok() && told->told);
  EXPECT_FALSE(told->problem);
  EXPECT_EQ(archives->days()->size(), 1u);
  auto one = shard.next();
  one.append(told->told->rows);
  shard.expect_committed(std::move(one));
  const auto again = mover->drop_old();
  ASSERT_TRUE(again.ok() && again->told) << "the row is applied, and the directory is still there";
  EXPECT_EQ(again->problem->sentence, "The archive " + store::format_day(97) + " is kept no more, and its directory could not be removed.");
  drop_old_row();
  EXPECT_TRUE(archives->days()->empty());
  EXPECT_FALSE(mover->drop_old()->told);
}

TEST_F(archiver_test, moves_nothing_to_a_day_that_was_dropped_before) {
  const auto day_kept = deploy_kept_for(1);
  auto one = shard.next();
  store::put_drop(one, 1, 101);
  shard.expect_committed(std::move(one));
  finished_of(day_kept, 1, 99 * day_ms);
  EXPECT_EQ(pass(), 1u);
  EXPECT_EQ(*archives->days(1), (std::vector<std::int64_t>{101}));
}

TEST_F(archiver_test, takes_less_at_once_from_a_small_store) {
  store.resize(40 << 20);
  for (std::uint64_t i = 1; i <= 20; ++i) finished(i, 99 * day_ms);
  EXPECT_EQ(pass(), 8u);
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

TEST_F(archiver_test, erases_what_archives_hold_of_deleted_tasks_and_says_so_once) {
  finished(1, time.now_ms - 2 * hour_ms);
  finished(2, time.now_ms - 2 * hour_ms);
  EXPECT_EQ(pass(), 2u);
  EXPECT_FALSE(mover->erase_deleted()->done) << "nothing was deleted";
  auto deleted = shard.next();
  store::put_deletion(deleted, 1);
  shard.expect_committed(std::move(deleted));
  const auto done = mover->erase_deleted();
  ASSERT_TRUE(done.ok() && done->done);
  EXPECT_FALSE(archives->load(100, task_number{1})->has_value());
  EXPECT_TRUE(archives->load(100, task_number{2})->has_value());
  EXPECT_TRUE(done->done->numbers.empty());
  EXPECT_FALSE(mover->erase_deleted()->done) << "the row is on its way out";
  auto rows = shard.next();
  rows.append(done->done->rows);
  shard.expect_committed(std::move(rows));
  EXPECT_FALSE(mover->erase_deleted()->done);
}

TEST_F(archiver_test, says_again_what_a_lost_scheduler_has_not_heard) {
  auto deleted = shard.next();
  store::put_deletion(deleted, 7);
  shard.expect_committed(std::move(deleted));
  EXPECT_TRUE(mover->erase_deleted()->done);
  mover.emplace(time, store, archives, policy);
  EXPECT_TRUE(mover->erase_deleted()->done) << "a new archiver does not know what the earlier one said";
}

TEST_F(archiver_test, keeps_a_child_until_its_parent_has_left) {
  const auto child_of = [this](std::uint64_t number, std::uint64_t parent) {
    auto task = fixture::running_order(number, "t" + std::to_string(parent) + "/s~1");
    task.mutable_parent()->set_number(parent);
    task.mutable_parent()->set_id("t" + std::to_string(parent));
    shard.create(task);
    shard.change(number, [&](v1::TaskRecord& record) { fixture::complete(record, time.now_ms - 2 * hour_ms); });
  };
  shard.create(fixture::running_order(1, "t1"));
  child_of(2, 1);
  finished(3, time.now_ms - 2 * hour_ms);
  child_of(4, 3);
  EXPECT_EQ(pass(), 1u);
  EXPECT_TRUE(in_store(2)) << "its parent may be undone";
  EXPECT_FALSE(in_store(3));
  EXPECT_TRUE(in_store(4));
  EXPECT_EQ(pass(), 1u);
  EXPECT_FALSE(in_store(4));
  shard.change(1, [&](v1::TaskRecord& record) { fixture::complete(record, time.now_ms - 2 * hour_ms); });
  EXPECT_EQ(pass(), 1u);
  EXPECT_TRUE(in_store(2));
  EXPECT_EQ(pass(), 1u);
  EXPECT_FALSE(in_store(2));
}

}  // namespace
}  // namespace fairlead::testing
