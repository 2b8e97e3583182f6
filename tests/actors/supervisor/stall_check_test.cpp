#include "actors/supervisor/stall_check.hpp"

#include "tests/actors/supervisor/wake_up_world.hpp"

namespace fairlead::testing {
namespace {

using texts = std::vector<std::string>;

class stall_check_test : public wake_up_world {
 protected:
  /// One look at the store as it is now: `task: what is wrong`.
  texts look() {
    std::vector<wake_up_finding> found;
    const auto answer = check.look(*store.read(), from_unix_ms(now_ms), found);
    EXPECT_TRUE(answer.ok());
    if (!answer.ok()) return {answer.failure().sentence};
    more = answer->more;
    unexplained = answer->unexplained.value_or("");
    return sentences(found);
  }

  static texts sentences(const std::vector<wake_up_finding>& found) {
    texts out;
    for (const auto& one : found) out.push_back((one.task_id.empty() ? std::to_string(one.number) : one.task_id) + ": " + one.sentence);
    return out;
  }

  stall_check check{std::chrono::seconds{1}};
  std::int64_t now_ms = 5'000;
  bool more = false;
  std::string unexplained;
};

TEST_F(stall_check_test, reads_no_task_while_the_counters_agree) {
  create(1);
  create(2);
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  EXPECT_EQ(look(), texts{});
  EXPECT_FALSE(more);
}

TEST_F(stall_check_test, finds_the_task_whose_entry_is_gone_at_the_first_look) {
  create(1);
  create(2);
  create(3);
  lose_entry(2);
  EXPECT_EQ(look(), (texts{"t2: the entry of the task in the due index is missing"}));
  EXPECT_FALSE(more);
}

TEST_F(stall_check_test, finds_live_tasks_that_have_no_wake_up_at_all) {
  create(1);
  create(2, [](v1::TaskRecord& task) { task.set_due_unix_ms(0); });
  create(3, [](v1::TaskRecord& task) {
    task.set_state(v1::TASK_STATE_UNDOING);
    task.set_due_unix_ms(0);
  });
  EXPECT_EQ(look(), (texts{"t2: the task needs a wake-up but has none", "t3: the task needs a wake-up but has none"}));
}

TEST_F(stall_check_test, lets_those_be_that_wait_for_a_person_or_for_their_turn) {
  create(1, [](v1::TaskRecord& task) {
    task.mutable_steps(0)->clear_complete_by_unix_ms();
    store::testing::park(task, 2'000);
  });
  create(2, [](v1::TaskRecord& task) {
    task.mutable_steps(0)->clear_complete_by_unix_ms();
    task.set_paused(true);
    task.set_due_unix_ms(0);
  });
  create(3, [](v1::TaskRecord& task) { task = store::testing::pending_order_task(3, "t3"); });
  create(4, [](v1::TaskRecord& task) {
    task.mutable_steps(0)->clear_complete_by_unix_ms();
    store::testing::complete(task, 2'000);
  });
  EXPECT_EQ(look(), texts{});
  add_entry(99, 7'000);  // so that it looks at all of them
  EXPECT_EQ(look(), (texts{"99: the due index has an entry for a task that does not exist"}));
}

TEST_F(stall_check_test, wants_the_lease_of_a_parked_task_to_end) {
  create(1, [](v1::TaskRecord& task) { store::testing::park(task, 2'000); });
  create(2);
  lose_entry(2);
  EXPECT_EQ(look(), (texts{"t1: the task needs a wake-up but has none", "t2: the entry of the task in the due index is missing"}));
}

TEST_F(stall_check_test, finds_entries_that_nobody_needs) {
  create(1);
  add_entry(1, 8'000);
  add_entry(7, 9'000);
  EXPECT_EQ(look(), (texts{"t1: the due index has an entry that does not match the task's row",
                           "7: the due index has an entry for a task that does not exist"}));
}

TEST_F(stall_check_test, sweeps_a_large_store_in_parts) {
  for (std::uint64_t i = 1; i <= 4'500; ++i) create(i);
  lose_entry(4'400);
  EXPECT_EQ(look(), texts{});
  EXPECT_TRUE(more);
  EXPECT_EQ(look(), texts{});
  EXPECT_TRUE(more);
  EXPECT_EQ(look(), (texts{"t4400: the entry of the task in the due index is missing"}));
  int parts = 0;
  while (more && ++parts < 10) EXPECT_EQ(look(), texts{});
  EXPECT_EQ(parts, 2) << "the entries of the due index are looked at too";
}

TEST_F(stall_check_test, looks_again_after_a_scan_period_as_long_as_it_is_not_repaired) {
  create(1);
  lose_entry(1);
  EXPECT_EQ(look().size(), 1u);
  now_ms += 100;
  EXPECT_EQ(look().size(), 0u);
  now_ms += 900;
  EXPECT_EQ(look().size(), 1u);
  put_back_entry(1);
  now_ms += 1'000;
  EXPECT_EQ(look().size(), 0u);
}

TEST_F(stall_check_test, looks_again_at_once_when_the_clock_was_set_back) {
  create(1);
  lose_entry(1);
  EXPECT_EQ(look().size(), 1u);
  now_ms -= 3'600'000;
  EXPECT_EQ(look().size(), 1u);
}

TEST_F(stall_check_test, says_once_that_only_the_counters_are_wrong_and_lets_it_rest) {
  create(1);
  shard.state().set_due_entries(5);
  create(2);
  EXPECT_EQ(look(), texts{});
  EXPECT_NE(unexplained.find("2 entries where 6 are counted"), std::string::npos) << unexplained;
  // Neither said nor looked for again; a damaged row would be met by a sweep.
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  now_ms += 60'000;
  EXPECT_EQ(look(), texts{});
  EXPECT_EQ(unexplained, "");
}

TEST_F(stall_check_test, does_not_let_it_rest_when_something_else_is_lost) {
  create(1);
  shard.state().set_due_entries(5);
  create(2);
  EXPECT_EQ(look(), texts{});
  lose_entry(2);
  now_ms += 1'000;
  EXPECT_EQ(look(), (texts{"t2: the entry of the task in the due index is missing"}));
}

TEST_F(stall_check_test, reports_a_row_that_cannot_be_read) {
  create(1);
  create(2);
  lose_entry(2);
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  std::vector<wake_up_finding> found;
  const auto answer = check.look(*store.read(), from_unix_ms(now_ms), found);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, v1::ERROR_CODE_CORRUPT);
}

class progress_round_test : public wake_up_world {
 protected:
  void create_since(std::uint64_t number, std::int64_t at_ms, std::int64_t due_ms = 10'000) {
    create(number, [&](v1::TaskRecord& task) {
      task.set_due_unix_ms(due_ms);
      store::testing::add_event(task, v1::EVENT_KIND_STEP_STARTED, at_ms);
    });
  }

  std::optional<stalest_task> step(std::size_t entries) {
    found.clear();
    waiting.clear();
    const auto done = round.step(*store.read(), entries, now_ms, now_ms - quiet_since_ms, found, waiting);
    EXPECT_TRUE(done.ok());
    return done.ok() ? *done : std::nullopt;
  }

  progress_round round;
  std::int64_t now_ms = 9'999;
  std::int64_t quiet_since_ms = 0;
  std::vector<wake_up_finding> found;
  std::vector<std::uint64_t> waiting;
};

TEST_F(progress_round_test, names_the_live_task_that_has_gone_longest_without_progress) {
  create_since(1, 3'000);
  create_since(2, 2'000);
  create_since(3, 4'000);
  EXPECT_EQ(step(10), (stalest_task{"t2", 2'000}));
}

TEST_F(progress_round_test, takes_a_task_without_events_from_its_creation) {
  create(1, [](v1::TaskRecord& task) { task.clear_recent(); });
  create_since(2, 2'000);
  EXPECT_EQ(step(10), (stalest_task{"t1", 1'000}));
}

TEST_F(progress_round_test, passes_over_what_is_not_live) {
  create(1, [](v1::TaskRecord& task) {
    store::testing::park(task, 1'500);
    task.set_due_unix_ms(10'000);
  });
  create(2, [](v1::TaskRecord& task) { task.set_paused(true); });
  create_since(3, 4'000);
  EXPECT_EQ(step(10), (stalest_task{"t3", 4'000}));
}

TEST_F(progress_round_test, names_nobody_when_there_is_nobody) { EXPECT_EQ(step(10), stalest_task{}); }

TEST_F(progress_round_test, goes_in_parts_and_begins_anew) {
  for (std::uint64_t i = 1; i <= 5; ++i) create_since(i, static_cast<std::int64_t>(9'000 - i), static_cast<std::int64_t>(10'000 + i));
  EXPECT_EQ(step(2), std::nullopt);
  EXPECT_EQ(step(2), std::nullopt);
  EXPECT_EQ(step(2), (stalest_task{"t5", 8'995}));
  shard.change(5, [](v1::TaskRecord& task) { store::testing::complete(task, 9'500); });
  EXPECT_EQ(step(10), (stalest_task{"t4", 8'996}));
}

TEST_F(progress_round_test, ends_though_entries_move_on_ahead_of_it) {
  for (std::uint64_t i = 1; i <= 3; ++i) create_since(i, static_cast<std::int64_t>(2'000 + i), static_cast<std::int64_t>(10'000 + i));
  EXPECT_EQ(step(1), std::nullopt);
  EXPECT_EQ(step(1), std::nullopt);
  for (std::uint64_t i = 1; i <= 3; ++i)
    shard.change(
        i, [](v1::TaskRecord& task) { task.set_due_unix_ms(task.due_unix_ms() + 30'000); }, true);
  EXPECT_EQ(step(1), (stalest_task{"t1", 2'001}));
}

TEST_F(progress_round_test, asks_about_tasks_for_which_nothing_is_under_way_and_about_those_that_have_been_quiet) {
  create_since(1, 3'000);
  create_since(2, 2'000);
  create(3, [](v1::TaskRecord& task) { task.mutable_steps(0)->clear_complete_by_unix_ms(); });
  create(4, [](v1::TaskRecord& task) {
    task.mutable_steps(0)->clear_complete_by_unix_ms();
    task.mutable_steps(0)->set_not_before_unix_ms(10'000);
    store::testing::add_event(task, v1::EVENT_KIND_STEP_FAILED, 3'000);
  });
  quiet_since_ms = 2'500;
  step(10);
  EXPECT_EQ(waiting, (std::vector<std::uint64_t>{2, 3}));
}

TEST_F(progress_round_test, asks_about_tasks_that_a_clock_has_written_to_which_was_set_back_since) {
  create_since(1, 3'000, 5'000'000);
  create_since(2, 5'000, 5'000'000);
  create(3, [](v1::TaskRecord& task) {
    store::testing::add_event(task, v1::EVENT_KIND_STEP_STARTED, 4'000'000);
    store::testing::add_event(task, v1::EVENT_KIND_STEP_STARTED, 3'500);  // by the clock that is right again
    store::testing::park(task, 3'600);
    task.set_due_unix_ms(5'000'000);
  });
  now_ms = 3'900;
  quiet_since_ms = 2'900;
  step(10);
  EXPECT_EQ(waiting, (std::vector<std::uint64_t>{2, 3})) << "the lease of one that is parked has to end too";
}

TEST_F(progress_round_test, finds_the_surplus_entry_that_hides_a_lost_one_from_the_counters) {
  create(1);
  create(2);
  lose_entry(1);
  add_entry(77, 6'000);
  std::vector<wake_up_finding> by_counters;
  stall_check check{std::chrono::seconds{1}};
  ASSERT_TRUE(check.look(*store.read(), from_unix_ms(5'000), by_counters).ok());
  EXPECT_TRUE(by_counters.empty());
  step(10);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].number, 77u);
  lose_entry(77, 6'000);
  ASSERT_TRUE(check.look(*store.read(), from_unix_ms(5'000), by_counters).ok());
  ASSERT_EQ(by_counters.size(), 1u);
  EXPECT_EQ(by_counters[0].task_id, "t1");
}

}  // namespace
}  // namespace fairlead::testing
