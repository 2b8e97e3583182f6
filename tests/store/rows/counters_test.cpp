#include "store/rows/counters.hpp"

#include "store/rows/alert_rows.hpp"
#include "tests/store/check/check_fixture.hpp"
#include "tests/store/job_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct counters : checked_store {
  void hold_an_undo() {
    shard.create(running_order(7, "o-7"));
    shard.change(7, [](v1::TaskRecord& task) { task.set_undo_held(true); });
  }

  /// As a release that does not know the counters leaves them: without the seal.
  void write_as_an_older_release() {
    auto one = shard.next();
    auto state = shard.state();
    for (auto* later : {"paused", "due_entries", "next_alert", "unresolved_alerts", "next_position", "undo_held", "outbox_events",
                        "counted_sequence", "jobs", "jobs_paused", "launches_in_flight", "launches_waiting_room", "launches_waiting_agents",
                        "latest_mark_unix_ms", "jobs_counted_sequence"}) {
      const auto* field = v1::ShardState::descriptor()->FindFieldByName(later);
      ASSERT_NE(field, nullptr) << later;
      state.GetReflection()->ClearField(&state, field);
    }
    one.shard_state = state.SerializeAsString();
    ASSERT_TRUE(it.commit({one}).ok());
  }

  /// As a release that keeps the counters of tasks and knows nothing of jobs: it ends a task of a launch, seals what it keeps, and passes
  /// the rest on as it found it.
  void complete_as_a_release_without_jobs(std::uint64_t number) {
    auto task = **load_task(*it.read(), number);
    const auto before = index_state_of(task);
    complete(task, 9'000);
    auto one = shard.next();
    put_task(one, before, task);
    auto state = it.read()->get_progress().shard;
    state.set_running(state.running() - 1);
    state.set_completed(state.completed() + 1);
    state.set_due_entries(state.due_entries() - 1);
    state.set_counted_sequence(one.sequence);
    one.shard_state = state.SerializeAsString();
    ASSERT_TRUE(it.commit({one}).ok());
  }

  v1::ShardState counted_anew() {
    auto state = it.read()->get_progress().shard;
    const auto done = recount(*it.read(), state);
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return state;
  }
};

TEST_F(counters, follow_a_task_through_its_states) {
  v1::ShardState shard_state;
  auto task = running_order(1, "o-1");
  task.set_due_indexed_unix_ms(10'000);
  const auto running = index_state_of(task);
  move_counters(shard_state, {}, running);
  EXPECT_EQ(shard_state.running(), 1u);
  EXPECT_EQ(shard_state.due_entries(), 1u);
  task.set_paused(true);
  task.set_due_indexed_unix_ms(0);
  const auto paused = index_state_of(task);
  move_counters(shard_state, running, paused);
  EXPECT_EQ(shard_state.running(), 1u);
  EXPECT_EQ(shard_state.paused(), 1u);
  EXPECT_EQ(shard_state.due_entries(), 0u);
  task.set_parked(true);
  const auto both = index_state_of(task);
  move_counters(shard_state, paused, both);
  EXPECT_EQ(shard_state.paused(), 0u) << "a parked task counts as parked only";
  EXPECT_EQ(shard_state.parked(), 1u);
  move_counters(shard_state, both, {});
  EXPECT_EQ(shard_state.SerializeAsString(), "");
}

TEST_F(counters, hold_the_tasks_that_wait_for_their_start) {
  v1::ShardState shard_state;
  auto task = pending_order_task(1, "o-1");
  task.set_scheduled(true);
  const auto before = index_state_of(task);
  move_counters(shard_state, {}, before);
  EXPECT_EQ(shard_state.pending(), 1u);
  EXPECT_EQ(shard_state.scheduled(), 1u);
  task.set_scheduled(false);
  move_counters(shard_state, before, index_state_of(task));
  EXPECT_EQ(shard_state.pending(), 1u);
  EXPECT_EQ(shard_state.scheduled(), 0u);
}

TEST_F(counters, hold_the_tasks_of_launches_until_they_end_or_are_parked) {
  v1::ShardState shard_state;
  auto task = launched_order(1, "nightly", 60'000);
  task.set_state(v1::TASK_STATE_PENDING);
  auto before = index_state_of(task);
  move_counters(shard_state, {}, before);
  EXPECT_EQ(shard_state.launches_in_flight(), 1u) << "pending";
  const auto after = [&](auto change) {
    change(task);
    const auto now = index_state_of(task);
    move_counters(shard_state, before, now);
    before = now;
    return shard_state.launches_in_flight();
  };
  EXPECT_EQ(after([](auto& of) { of.set_state(v1::TASK_STATE_RUNNING); }), 1u);
  EXPECT_EQ(after([](auto& of) { of.set_paused(true); }), 1u) << "a paused task has not ended";
  EXPECT_EQ(after([](auto& of) { of.set_parked(true); }), 0u);
  EXPECT_EQ(after([](auto& of) { of.set_parked(false); }), 1u);
  EXPECT_EQ(after([](auto& of) { of.set_state(v1::TASK_STATE_COMPLETED); }), 0u);
  EXPECT_EQ(after([](auto& of) { of.set_state(v1::TASK_STATE_UNDOING); }), 1u) << "it is undone after all";
  EXPECT_EQ(after([](auto& of) { of.set_state(v1::TASK_STATE_UNDONE); }), 0u);
  v1::ShardState other;
  move_counters(other, {}, index_state_of(running_order(2, "o-2")));
  EXPECT_EQ(other.launches_in_flight(), 0u) << "somebody submitted it";
}

TEST_F(counters, are_kept_where_each_batch_is_sealed) {
  EXPECT_TRUE(counters_are_kept(it.read()->get_progress()));
  write_as_an_older_release();
  EXPECT_FALSE(counters_are_kept(it.read()->get_progress()));
}

TEST_F(counters, of_a_fresh_store_are_kept) { EXPECT_TRUE(counters_are_kept(memory_store().read()->get_progress())); }

TEST_F(counters, are_not_kept_where_an_older_release_passed_the_seal_on_as_it_found_it) {
  auto one = shard.next();
  one.shard_state = shard.state().SerializeAsString();
  ASSERT_TRUE(it.commit({one}).ok());
  EXPECT_FALSE(counters_are_kept(it.read()->get_progress()));
}

TEST_F(counters, are_not_kept_where_a_release_without_jobs_wrote_last) {
  shard.create(launched_order(7, "nightly", 60'000));
  shard.create(launched_order(8, "nightly", 120'000));
  complete_as_a_release_without_jobs(7);
  const auto stored = it.read()->get_progress();
  EXPECT_EQ(stored.shard.counted_sequence(), stored.sequence) << "it sealed what it knows";
  EXPECT_EQ(stored.shard.launches_in_flight(), 2u) << "and left what it does not know";
  EXPECT_FALSE(counters_are_kept(stored));
  EXPECT_EQ(counted_anew().launches_in_flight(), 1u);
}

TEST_F(counters, counted_anew_are_those_that_were_kept_all_along) {
  hold_an_undo();
  shard.create(launched_order(8, "nightly", 60'000));
  shard.create(launched_order(9, "nightly", 120'000));
  shard.change(9, [](v1::TaskRecord& task) { park(task, 4'000); });
  plant([&](batch& one) {
    auto nightly = minutely_job("nightly");
    *nightly.add_open() = started_launch(60'000, 8);
    *nightly.add_open() = started_launch(120'000, 9);
    *nightly.add_open() = waiting_launch(180'000, v1::LAUNCH_WAIT_ROOM);
    *nightly.add_open() = waiting_launch(240'000, v1::LAUNCH_WAIT_AGENTS);
    store_job(shard, one, {}, nightly);
    auto paused = minutely_job("paused");
    paused.set_paused(true);
    paused.set_mark_unix_ms(90'000);
    store_job(shard, one, {}, paused);
    shard.state().set_launches(12);
    shard.state().set_launches_skipped(13);
  });
  plant([&](batch& one) {
    v1::AlertRecord alert;
    alert.set_number(5);
    alert.set_state(v1::ALERT_STATE_OPEN);
    put_alert(one, alert);
    alert.set_number(6);
    alert.set_state(v1::ALERT_STATE_RESOLVED);
    put_alert(one, alert);
    one.put(table::outbox, keys::outbox(1, content_hash("zz"), 11), "");
    one.put(table::outbox, keys::outbox(1, content_hash("a"), 12), "");
    shard.state().set_next_alert(6);
    shard.state().set_unresolved_alerts(1);
    shard.state().set_next_position(12);
    shard.state().set_outbox_events(2);
    shard.state().set_archived(4);
  });
  auto kept = it.read()->get_progress().shard;
  EXPECT_EQ(kept.paused(), 1u);
  EXPECT_EQ(kept.due_entries(), 4u);
  EXPECT_EQ(kept.jobs(), 2u);
  EXPECT_EQ(kept.jobs_paused(), 1u);
  EXPECT_EQ(kept.launches_in_flight(), 1u);
  EXPECT_EQ(kept.launches_waiting_room(), 1u);
  EXPECT_EQ(kept.launches_waiting_agents(), 1u);
  EXPECT_EQ(kept.latest_mark_unix_ms(), 90'000);
  EXPECT_EQ(kept.undo_held(), 1u);
  write_as_an_older_release();
  kept.clear_counted_sequence();
  kept.clear_jobs_counted_sequence();
  EXPECT_EQ(counted_anew().SerializeAsString(), kept.SerializeAsString());
}

TEST_F(counters, counted_anew_never_give_a_number_twice) {
  shard.state().set_next_alert(9);
  shard.state().set_next_position(40);
  shard.state().set_next_task_number(100);
  shard.state().set_latest_mark_unix_ms(70'000);
  plant([](batch&) {});
  const auto state = counted_anew();
  EXPECT_EQ(state.next_alert(), 9u) << "the alerts up to it may have been erased";
  EXPECT_EQ(state.next_position(), 40u);
  EXPECT_EQ(state.next_task_number(), 100u);
  EXPECT_EQ(state.latest_mark_unix_ms(), 70'000) << "the job that had it may have been deleted";
}

TEST_F(counters, cannot_be_counted_where_a_row_is_damaged) {
  plant([](batch& one) { one.put(table::task, keys::task(1, 1), "\xff"); });
  auto state = it.read()->get_progress().shard;
  const auto before = state.SerializeAsString();
  const auto done = recount(*it.read(), state);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.failure().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_EQ(state.SerializeAsString(), before);
}

TEST_F(counters, cannot_be_counted_where_a_job_is_damaged) {
  plant([](batch& one) { one.put(table::job, keys::job(1, "nightly"), "\xff"); });
  auto state = it.read()->get_progress().shard;
  const auto before = state.SerializeAsString();
  const auto done = recount(*it.read(), state);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.failure().sentence.find("nightly"), std::string::npos) << done.failure().sentence;
  EXPECT_EQ(state.SerializeAsString(), before);
}

}  // namespace
}  // namespace fairlead::store
