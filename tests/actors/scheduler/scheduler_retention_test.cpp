// How a Scheduler keeps retention time: with the batches that it writes anyway, and else only when it is asked to.

#include "tests/actors/scheduler/scheduler_world.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

constexpr std::int64_t second_ms = 1'000, day_ms = 86'400'000;

class retention_test : public scheduler_fixture {
 protected:
  retention_test() { deploy(workflow_of({step("a")})); }

  std::int64_t stored_retention() const { return store.read()->get_progress().shard.retention_unix_ms(); }
  std::uint64_t written() const { return store.read()->get_progress().sequence; }
  /// Another batch, for whatever reason.
  void write() { submit(submission("t" + std::to_string(next_ticket))); }
  /// What the archiver sends when something ages.
  void ask() {
    archive_rows what;
    what.rows.epoch = node->shell.epoch();
    node->shell.archive(what);
    node->settle();
  }
};

TEST_F(retention_test, goes_with_every_batch) {
  EXPECT_EQ(stored_retention(), start_ms);
  time.now_ms += 10 * second_ms;
  write();
  EXPECT_EQ(stored_retention(), start_ms + 10 * second_ms);
}

TEST_F(retention_test, is_put_forward_by_minutes_while_the_clock_is_a_month_ahead_for_ten_seconds) {
  time.jump(31 * day_ms);
  write();
  EXPECT_EQ(stored_retention(), start_ms);
  time.now_ms += 10 * second_ms;
  write();
  EXPECT_EQ(stored_retention(), start_ms + 240 * second_ms);
  time.jump(-31 * day_ms);
  write();
  EXPECT_EQ(stored_retention(), start_ms + 240 * second_ms) << "never back";
  time.now_ms += 1'000 * second_ms;
  write();
  EXPECT_EQ(stored_retention(), start_ms + 1'010 * second_ms);
}

TEST_F(retention_test, goes_on_where_it_was_after_a_restart_under_a_clock_that_is_wrong_from_the_start) {
  node.reset();
  time.jump(31 * day_ms);
  restart();
  sweep();
  write();
  EXPECT_EQ(stored_retention(), start_ms);
}

TEST_F(retention_test, begins_at_what_an_earlier_release_wrote_last) {
  node.reset();
  store::testing::test_shard earlier{store};
  earlier.state().clear_retention_unix_ms();
  earlier.state().set_latest_write_unix_ms(start_ms);
  earlier.expect_committed(earlier.next());
  store.sync();
  time.jump(31 * day_ms);
  restart();
  sweep();
  write();
  EXPECT_EQ(stored_retention(), start_ms);
}

TEST_F(retention_test, is_made_durable_when_asked_for_though_nothing_else_is_written) {
  time.now_ms += 60 * second_ms;
  const auto before = written();
  ask();
  EXPECT_EQ(stored_retention(), start_ms + 60 * second_ms);
  EXPECT_EQ(written(), before + 1);
  ask();
  EXPECT_EQ(written(), before + 1) << "it has not gone on since";
}

TEST_F(retention_test, is_not_written_by_a_shard_that_nobody_asks) {
  const auto before = written();
  for (int hour = 0; hour < 24; ++hour) {
    time.now_ms += 3'600 * second_ms;
    node->shell.offer();
    node->shell.expire_watches();
    node->settle();
  }
  EXPECT_EQ(written(), before);
}

TEST_F(retention_test, does_not_begin_under_a_clock_that_nobody_has_set) {
  node.reset();
  store::testing::test_shard fresh{store};
  fresh.state().clear_retention_unix_ms();
  fresh.state().clear_latest_write_unix_ms();
  fresh.expect_committed(fresh.next());
  store.sync();
  time.jump(600'000 - time.now_ms);
  restart();
  sweep();
  write();
  EXPECT_EQ(stored_retention(), 0);
  time.jump(start_ms - time.now_ms);
  write();
  EXPECT_EQ(stored_retention(), start_ms);
}

}  // namespace
}  // namespace fairlead::testing
