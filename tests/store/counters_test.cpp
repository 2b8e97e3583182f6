#include "store/counters.hpp"

#include "store/alert_rows.hpp"
#include "tests/store/check_fixture.hpp"

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
    for (auto* later :
         {"paused", "due_entries", "next_alert", "unresolved_alerts", "next_position", "undo_held", "outbox_events", "counted_sequence"}) {
      const auto* field = v1::ShardState::descriptor()->FindFieldByName(later);
      ASSERT_NE(field, nullptr) << later;
      state.GetReflection()->ClearField(&state, field);
    }
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

TEST_F(counters, counted_anew_are_those_that_were_kept_all_along) {
  hold_an_undo();
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
  EXPECT_EQ(kept.due_entries(), 3u);
  EXPECT_EQ(kept.undo_held(), 1u);
  write_as_an_older_release();
  kept.clear_counted_sequence();
  EXPECT_EQ(counted_anew().SerializeAsString(), kept.SerializeAsString());
}

TEST_F(counters, counted_anew_never_give_a_number_twice) {
  shard.state().set_next_alert(9);
  shard.state().set_next_position(40);
  shard.state().set_next_task_number(100);
  plant([](batch&) {});
  const auto state = counted_anew();
  EXPECT_EQ(state.next_alert(), 9u) << "the alerts up to it may have been erased";
  EXPECT_EQ(state.next_position(), 40u);
  EXPECT_EQ(state.next_task_number(), 100u);
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

}  // namespace
}  // namespace fairlead::store
