// The backfill that `job show` offers is one that a node takes.

#include "app/files/job_stretch.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

constexpr std::int64_t now_ms = 1'774'746'000'000;  // 2026-03-29T01:00:00Z
constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t minute_ms = 60'000;

v1::JobShowReply every_minute() {
  v1::JobShowReply out;
  auto& job = *out.mutable_job();
  job.mutable_spec()->set_name("report");
  job.mutable_spec()->set_schedule("* * * * *");
  job.set_mark_unix_ms(now_ms);
  return out;
}

/// Newest first, as a node names them.
v1::LaunchRecord& skip(v1::JobShowReply& in, v1::SkipReason why, std::int64_t at_ms) {
  auto& out = *in.add_latest();
  out.set_state(v1::LAUNCH_STATE_SKIPPED);
  out.set_skip(why);
  out.set_nominal_unix_ms(at_ms);
  return out;
}

void run_of_skips(v1::JobShowReply& in, v1::SkipReason why, std::int64_t from_ms, std::int64_t to_ms, std::uint64_t count) {
  auto& out = skip(in, why, from_ms);
  out.set_last_nominal_unix_ms(to_ms);
  out.set_count(count);
}

TEST(job_stretch, is_nothing_where_nothing_was_skipped) {
  auto reply = every_minute();
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms));
  skip(reply, v1::SKIP_REASON_PAUSED, now_ms);
  skip(reply, v1::SKIP_REASON_SUPERSEDED, now_ms - minute_ms);
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms)) << "these were meant";
}

TEST(job_stretch, goes_past_launches_and_stops_at_skips_that_were_meant) {
  auto reply = every_minute();
  skip(reply, v1::SKIP_REASON_PAUSED, now_ms);
  skip(reply, v1::SKIP_REASON_OVERLAP, now_ms - minute_ms);
  auto& launched = *reply.add_latest();
  launched.set_state(v1::LAUNCH_STATE_COMPLETED);
  launched.set_nominal_unix_ms(now_ms - 2 * minute_ms);
  skip(reply, v1::SKIP_REASON_NO_AGENTS, now_ms - 3 * minute_ms);
  skip(reply, v1::SKIP_REASON_SUPERSEDED, now_ms - 4 * minute_ms);
  skip(reply, v1::SKIP_REASON_OVERLAP, now_ms - 5 * minute_ms);
  const auto found = stretch_to_backfill(reply, now_ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from_unix_ms, now_ms - 3 * minute_ms);
  EXPECT_EQ(found->to_unix_ms, now_ms - minute_ms);
  EXPECT_TRUE(found->whole);
}

TEST(job_stretch, holds_no_more_than_a_node_takes_at_once) {
  auto reply = every_minute();
  run_of_skips(reply, v1::SKIP_REASON_OUTSIDE_WINDOW, now_ms - 4'999 * minute_ms, now_ms, 5'000);
  const auto found = stretch_to_backfill(reply, now_ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->to_unix_ms, now_ms);
  EXPECT_GT(found->from_unix_ms, now_ms - 1'000 * minute_ms) << "that would be one more";
  EXPECT_LE(found->from_unix_ms, now_ms - 999 * minute_ms);
  EXPECT_FALSE(found->whole);
}

TEST(job_stretch, holds_exactly_as_many_as_a_node_takes_where_there_are_no_more) {
  auto reply = every_minute();
  run_of_skips(reply, v1::SKIP_REASON_OUTSIDE_WINDOW, now_ms - 999 * minute_ms, now_ms, 1'000);
  const auto found = stretch_to_backfill(reply, now_ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from_unix_ms, now_ms - 999 * minute_ms);
  EXPECT_TRUE(found->whole);
}

TEST(job_stretch, leaves_room_for_the_launches_that_are_open) {
  auto reply = every_minute();
  run_of_skips(reply, v1::SKIP_REASON_OVERLAP, now_ms - 99 * minute_ms, now_ms, 100);
  for (int i = 0; i < 990; ++i) reply.mutable_job()->add_open();
  const auto found = stretch_to_backfill(reply, now_ms);
  ASSERT_TRUE(found);
  EXPECT_GT(found->from_unix_ms, now_ms - 10 * minute_ms);
  EXPECT_LE(found->from_unix_ms, now_ms - 9 * minute_ms);
  for (int i = 0; i < 10; ++i) reply.mutable_job()->add_open();
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms));
}

TEST(job_stretch, ends_now_at_the_latest_and_is_nothing_while_the_mark_is_ahead) {
  auto reply = every_minute();
  run_of_skips(reply, v1::SKIP_REASON_OVERLAP, now_ms - 40 * minute_ms, now_ms + 40 * minute_ms, 81);
  const auto found = stretch_to_backfill(reply, now_ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->to_unix_ms, now_ms);
  reply.mutable_job()->set_mark_unix_ms(now_ms + 40 * minute_ms);
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms)) << "first a rewind";
  reply = every_minute();
  skip(reply, v1::SKIP_REASON_OVERLAP, now_ms + minute_ms);
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms));
}

TEST(job_stretch, is_about_times_of_the_schedule) {
  auto reply = every_minute();
  skip(reply, v1::SKIP_REASON_OVERLAP, now_ms - 250).set_trigger(v1::LAUNCH_TRIGGER_OPERATOR);
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms)) << "what an operator asked for is no such time";
  skip(reply, v1::SKIP_REASON_OVERLAP, now_ms - 30 * second_ms);
  EXPECT_FALSE(stretch_to_backfill(reply, now_ms)) << "the schedule was changed, and has no time there any more";
}

TEST(job_stretch, counts_whole_rows_where_the_times_cannot_be_told) {
  auto reply = every_minute();
  reply.mutable_job()->mutable_spec()->set_zone("Nowhere/AtAll");
  run_of_skips(reply, v1::SKIP_REASON_OVERLAP, now_ms - 99 * minute_ms, now_ms, 100);
  run_of_skips(reply, v1::SKIP_REASON_OVERLAP, now_ms - 1'000 * minute_ms, now_ms - 100 * minute_ms, 901);
  const auto found = stretch_to_backfill(reply, now_ms);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from_unix_ms, now_ms - 99 * minute_ms);
  EXPECT_FALSE(found->whole);
}

}  // namespace
}  // namespace fairlead::app
