// Tasks whose submission gave a start.

#include "actors/core/task/reason.hpp"
#include "actors/core/task/record.hpp"
#include "actors/core/task/restore.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core::testing {
namespace {

constexpr std::int64_t delay_hour_ms = 3'600'000;

world delayed(std::int64_t by_ms, v1::WorkflowDefinition definition = graph({step("a")})) {
  world w{std::move(definition)};
  w.delay_ms = by_ms;
  w.submit();
  return w;
}

TEST(task_start, waits_for_its_moment_and_then_for_its_turn) {
  auto w = delayed(delay_hour_ms);
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_PENDING);
  EXPECT_TRUE(w.record.scheduled());
  EXPECT_EQ(w.record.start_at_unix_ms(), start_ms + delay_hour_ms);
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + delay_hour_ms);
  EXPECT_EQ(why_of(w.record), "starts at " + format_utc(start_ms + delay_hour_ms));
  EXPECT_FALSE(w.apply(task_admitted{}).changed) << "room alone does not start it";
  w.advance_ms(delay_hour_ms - 1);
  EXPECT_FALSE(w.apply(task_due{}).changed);
  w.advance_ms(1);
  EXPECT_TRUE(w.apply(task_due{}).changed);
  EXPECT_FALSE(w.record.scheduled());
  EXPECT_EQ(w.record.state(), v1::TASK_STATE_PENDING);
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  EXPECT_EQ(w.apply(task_admitted{}).performs.size(), 1u);
}

TEST(task_start, starts_at_once_when_its_moment_has_passed) {
  world w{graph({step("a")})};
  w.start_at_unix_ms = start_ms - 1;
  w.submit();
  EXPECT_FALSE(w.record.scheduled());
  EXPECT_EQ(w.record.due_unix_ms(), 0);
  EXPECT_EQ(w.apply(task_admitted{}).performs.size(), 1u);
}

TEST(task_start, begins_the_timeout_of_the_task) {
  auto definition = graph({step("a")});
  definition.set_timeout_ms(60'000);
  auto w = delayed(delay_hour_ms, definition);
  EXPECT_EQ(times_out_at(w.record, w.definition().definition()), start_ms + delay_hour_ms + 60'000);
  w.advance_ms(delay_hour_ms);
  w.apply(task_due{});
  EXPECT_EQ(w.apply(task_admitted{}).performs.size(), 1u) << "it has not timed out while it waited";
}

TEST(task_start, leaves_to_operators_only_its_end) {
  for (const auto verb : {v1::OPERATOR_VERB_RETRY, v1::OPERATOR_VERB_PAUSE, v1::OPERATOR_VERB_RESUME}) {
    auto w = delayed(delay_hour_ms);
    const auto refused = w.operate(verb).refused;
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->sentence, "task t1 has not started: it starts at " + format_utc(start_ms + delay_hour_ms));
  }
  auto skipped = delayed(delay_hour_ms);
  EXPECT_TRUE(skipped.operate(v1::OPERATOR_VERB_SKIP, "a").refused);
  auto cancelled = delayed(delay_hour_ms);
  EXPECT_TRUE(cancelled.operate(v1::OPERATOR_VERB_CANCEL).ended);
  EXPECT_EQ(cancelled.record.state(), v1::TASK_STATE_UNDONE);
  EXPECT_FALSE(cancelled.record.scheduled());
  auto terminated = delayed(delay_hour_ms);
  EXPECT_TRUE(terminated.operate(v1::OPERATOR_VERB_TERMINATE).ended);
  EXPECT_EQ(terminated.record.state(), v1::TASK_STATE_FAILED);
}

TEST(task_start, counts_a_delay_anew_when_the_clock_was_set_back) {
  auto w = delayed(delay_hour_ms);
  EXPECT_FALSE(noted_ahead(w.record, w.now_ms));
  w.advance_ms(-10 * delay_hour_ms);
  EXPECT_TRUE(noted_ahead(w.record, w.now_ms));
  EXPECT_TRUE(w.apply(clock_set_back{}).changed);
  EXPECT_EQ(w.record.start_at_unix_ms(), w.now_ms + delay_hour_ms);
  EXPECT_EQ(w.record.due_unix_ms(), w.now_ms + delay_hour_ms);
}

TEST(task_start, keeps_a_moment_and_the_timeout_behind_it_when_the_clock_was_set_back) {
  auto definition = graph({step("a")});
  definition.set_timeout_ms(60'000);
  world w{definition};
  w.start_at_unix_ms = start_ms + delay_hour_ms;
  w.submit();
  w.advance_ms(-10 * delay_hour_ms);
  w.apply(clock_set_back{});
  EXPECT_EQ(w.record.start_at_unix_ms(), start_ms + delay_hour_ms);
  EXPECT_TRUE(w.record.scheduled());
  w.advance_ms(11 * delay_hour_ms);
  w.apply(task_due{});
  EXPECT_EQ(w.apply(task_admitted{}).performs.size(), 1u) << "it has not timed out";
}

TEST(task_start, is_not_in_doubt_after_a_restore_before_it) {
  auto w = delayed(delay_hour_ms);
  ASSERT_TRUE(restore_task(w.record, start_ms + 1'000, from_unix_ms(start_ms + 60'000), {}));
  EXPECT_FALSE(w.at(0).doubtful());
  EXPECT_EQ(w.record.due_unix_ms(), start_ms + delay_hour_ms);
  auto late = delayed(delay_hour_ms);
  ASSERT_TRUE(restore_task(late.record, start_ms + 1'000, from_unix_ms(start_ms + 2 * delay_hour_ms), {}));
  EXPECT_TRUE(late.at(0).doubtful()) << "it may have started in the lost time";
}

TEST(task_start, that_crashed_is_taken_back_as_if_it_had_never_begun) {
  world w{graph({step("a"), step("b", {"a"})})};
  w.reply.emplace().set_client("shop");
  w.reply->set_steps(true);
  w.submit();
  const auto created = w.record;
  w.apply(task_admitted{});
  auto half_changed = w.record;
  ASSERT_GT(half_changed.status_sequence(), created.status_sequence());
  take_back_start(half_changed, w.context_for(w.agents));
  half_changed.set_version(created.version());
  half_changed.set_due_unix_ms(created.due_unix_ms());
  half_changed.set_due_indexed_unix_ms(created.due_indexed_unix_ms());
  EXPECT_EQ(half_changed.DebugString(), created.DebugString());
}

}  // namespace
}  // namespace fairlead::core::testing
