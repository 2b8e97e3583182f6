// Supervisors and a Scheduler over one store: what is asked for twice is decided once, and what is lost is put right.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "actors/supervisor/stall_check.hpp"
#include "actors/supervisor/supervisor.hpp"
#include "store/load.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class recovery_test : public scheduler_fixture {
 protected:
  /// A Supervisor and what it has asked for and not yet got through.
  struct watch {
    watch(const clock& time, const store::store& reads, observer& log) : shell({&time, &reads, &out, &log}, std::chrono::seconds{1}) {}
    recorder out;
    supervisor shell;
  };

  void look(watch& one) {
    while (true) {
      const auto more = one.shell.scan();
      ASSERT_TRUE(more.ok()) << more.failure().sentence;
      if (!*more) return;
      time.now_ms += supervisor::burst_pause.count();
    }
  }

  /// Everything that `from` has asked for reaches the Scheduler.
  void deliver(watch& from) {
    for (; !from.out.recoveries.empty(); from.out.recoveries.pop_front()) node->shell.recover(from.out.recoveries.front());
  }

  std::size_t asked(const watch& by) const {
    std::size_t all = 0;
    for (const auto& batch : by.out.recoveries) all += static_cast<std::size_t>(batch.items_size());
    return all;
  }

  void give_hints(watch& to) {
    v1::RecoveryHintBatch batch;
    for (const auto& one : out.hints) *batch.add_items() = one;
    to.shell.hint(batch);
  }

  std::size_t handed_over(std::uint32_t attempt) const {
    return static_cast<std::size_t>(
        std::count_if(out.performs.begin(), out.performs.end(), [&](const auto& one) { return one.what.attempt() == attempt; }));
  }

  std::size_t events(v1::EventKind kind) {
    std::size_t all = 0;
    for (int i = 0; i < tasks; ++i) {
      const auto task = *stored(id(i));
      for (const auto& event : task.recent()) all += event.kind() == kind ? 1 : 0;
    }
    return all;
  }

  static std::string id(int i) { return "t" + std::to_string(i); }

  void begin() {
    deploy(workflow_of({step("a")}));
    auto service = agent("n1/svc");
    service.mutable_breaker()->set_off(true);  // these let the service fail as they please
    add_agent(service);
    for (int i = 0; i < tasks; ++i) EXPECT_TRUE(submit(submission(id(i))).created());
    ASSERT_EQ(handed_over(1), static_cast<std::size_t>(tasks));
  }

  /// Rows go from under the running Scheduler; nothing that it does by itself takes out these alone.
  void lose_entry(const std::string& of) {
    const auto task = *stored(of);
    archive_rows loss;
    loss.rows.epoch = node->shell.epoch();
    loss.rows.erase(store::table::due, store::keys::due(store::default_namespace, task.due_indexed_unix_ms(), task.number()));
    node->shell.archive(loss);
    node->settle();
    ASSERT_FALSE(has_entry(of));
  }

  bool has_entry(const std::string& of) {
    const auto task = *stored(of);
    const auto entry =
        store.read()->get(store::table::due, store::keys::due(store::default_namespace, task.due_indexed_unix_ms(), task.number()));
    return entry.ok() && entry->has_value();
  }

  std::vector<v1::AlertRecord> alerts() {
    std::vector<v1::AlertRecord> all;
    const auto view = store.read();
    EXPECT_TRUE(view->scan(store::table::alert, {}, {},
                           [&](std::string_view, std::string_view row) {
                             EXPECT_TRUE(all.emplace_back().ParseFromArray(row.data(), static_cast<int>(row.size())));
                             return true;
                           })
                    .ok());
    return all;
  }

  static constexpr int tasks = 40;
  watch first{time, store, log};
  watch second{time, store, log};
};

TEST_F(recovery_test, two_supervisors_that_see_the_same_failures_cause_one_further_attempt_each) {
  begin();
  for (int i = 0; i < tasks; ++i) answer(failure(out.performs[static_cast<std::size_t>(i)].what, v1::FAULT_KIND_TRANSIENT));
  give_hints(first);  // the other one has only the index
  time.now_ms += 1'000;
  first.shell.fire();
  look(first);
  look(second);
  EXPECT_EQ(asked(first), static_cast<std::size_t>(tasks));
  EXPECT_EQ(asked(second), static_cast<std::size_t>(tasks));
  deliver(first);
  deliver(second);
  node->settle();
  EXPECT_EQ(handed_over(2), static_cast<std::size_t>(tasks));
  EXPECT_EQ(handed_over(3), 0u);
  EXPECT_EQ(events(v1::EVENT_KIND_STEP_RETRIED), static_cast<std::size_t>(tasks));
  for (int i = 0; i < tasks; ++i) {
    EXPECT_EQ(stored(id(i))->steps(0).attempt(), 2u);
    EXPECT_EQ(stored(id(i))->steps(0).failure_count(), 1u);
  }
}

TEST_F(recovery_test, two_supervisors_that_see_the_same_leases_end_count_one_failure_each) {
  begin();
  time.now_ms += 5'000;
  look(first);
  look(second);
  auto late = second.out.recoveries;
  deliver(first);
  node->settle();
  deliver(second);
  node->settle();
  EXPECT_EQ(events(v1::EVENT_KIND_STEP_EXPIRED), static_cast<std::size_t>(tasks));
  for (int i = 0; i < tasks; ++i) EXPECT_EQ(stored(id(i))->steps(0).failure_count(), 1u);

  // Another attempt, and its lease ends too; what was asked for about the first one comes once more and decides nothing.
  time.now_ms += 1'000;
  look(second);
  deliver(second);
  node->settle();
  ASSERT_EQ(handed_over(2), static_cast<std::size_t>(tasks));
  time.now_ms += 5'000;
  for (const auto& batch : late) node->shell.recover(batch);
  node->settle();
  EXPECT_EQ(events(v1::EVENT_KIND_STEP_EXPIRED), static_cast<std::size_t>(tasks));
  look(second);
  look(first);
  deliver(first);
  deliver(second);
  node->settle();
  EXPECT_EQ(events(v1::EVENT_KIND_STEP_EXPIRED), static_cast<std::size_t>(2 * tasks));
  for (int i = 0; i < tasks; ++i) EXPECT_EQ(stored(id(i))->steps(0).failure_count(), 2u);
}

TEST_F(recovery_test, two_supervisors_bring_every_task_to_its_end_and_hand_over_each_attempt_once) {
  begin();
  // Every perform fails until its third attempt; requests of the two arrive in turns, some late, some twice.
  std::size_t seen = 0;
  const auto over = [&] {
    for (int i = 0; i < tasks; ++i)
      if (stored(id(i))->state() != v1::TASK_STATE_COMPLETED) return false;
    return true;
  };
  for (int turn = 0; turn < 60 && !over(); ++turn) {
    for (; seen < out.performs.size(); ++seen) {
      const auto one = out.performs[seen].what;
      if (one.attempt() == 3)
        answer(success(one));
      else if (one.task_number() % 2 == 0)
        answer(failure(one, v1::FAULT_KIND_IN_DOUBT));
      // The others say nothing: their leases end.
    }
    time.now_ms += 1'000;
    look(first);
    look(second);
    auto& ahead = turn % 2 == 0 ? first : second;
    const auto twice = ahead.out.recoveries;
    deliver(ahead);
    if (turn % 3 == 0) node->settle();
    deliver(turn % 2 == 0 ? second : first);
    for (const auto& batch : twice) node->shell.recover(batch);
    node->settle();
  }
  EXPECT_TRUE(over());
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, int> times;
  for (const auto& one : out.performs) ++times[{one.what.task_number(), one.what.step(), one.what.attempt()}];
  EXPECT_EQ(times.size(), static_cast<std::size_t>(3 * tasks));
  for (const auto& [which, count] : times) EXPECT_EQ(count, 1) << "task " << std::get<0>(which) << " attempt " << std::get<2>(which);
}

// ---- no silent stall ----

TEST_F(recovery_test, a_wake_up_that_is_lost_is_found_repaired_and_alerted_within_two_scans) {
  begin();
  lose_entry(id(7));
  time.now_ms += 1'000;
  look(first);
  deliver(first);
  node->settle();
  EXPECT_TRUE(has_entry(id(7)));
  const auto raised = alerts();
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].kind(), v1::ALERT_KIND_WAKE_UP_LOST);
  EXPECT_EQ(raised[0].task_id(), id(7));
  EXPECT_EQ(raised[0].state(), v1::ALERT_STATE_OPEN);
  time.now_ms += 1'000;
  look(first);
  EXPECT_EQ(asked(first), 0u) << "the counters agree again";

  // And it does what a wake-up is for.
  time.now_ms += 3'000;
  look(first);
  deliver(first);
  node->settle();
  EXPECT_EQ(events(v1::EVENT_KIND_STEP_EXPIRED), static_cast<std::size_t>(tasks));
}

TEST_F(recovery_test, two_supervisors_that_miss_the_same_wake_up_raise_one_alert) {
  begin();
  lose_entry(id(3));
  lose_entry(id(4));
  time.now_ms += 1'000;
  look(first);
  look(second);
  EXPECT_EQ(asked(first), 2u);
  EXPECT_EQ(asked(second), 2u);
  deliver(first);
  deliver(second);
  node->settle();
  EXPECT_TRUE(has_entry(id(3)));
  EXPECT_TRUE(has_entry(id(4)));
  EXPECT_EQ(alerts().size(), 2u);
}

TEST_F(recovery_test, a_repair_that_nobody_needs_changes_nothing) {
  begin();
  const auto before = stored(id(0))->version();
  v1::RecoverBatch batch;
  batch.add_items()->set_task_number(stored(id(0))->number());
  batch.mutable_items(0)->set_repair(true);
  node->shell.recover(batch);
  node->settle();
  EXPECT_EQ(stored(id(0))->version(), before);
  EXPECT_TRUE(alerts().empty());
}

TEST_F(recovery_test, an_entry_without_a_task_is_taken_out) {
  begin();
  archive_rows damage;
  damage.rows.epoch = node->shell.epoch();
  const auto stray = store::keys::due(store::default_namespace, time.now_ms + 90'000, 987'654);
  damage.rows.put(store::table::due, stray, {});
  node->shell.archive(damage);
  node->settle();
  time.now_ms += 1'000;
  look(first);
  ASSERT_EQ(asked(first), 1u);
  deliver(first);
  node->settle();
  EXPECT_FALSE((*store.read()->get(store::table::due, stray)).has_value());
  time.now_ms += 1'000;
  look(first);
  EXPECT_EQ(asked(first), 0u);
}

}  // namespace
}  // namespace fairlead::testing
