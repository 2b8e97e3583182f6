// What a batch says about archives is done by whoever applies it: at whatever moment the process ends, a task is in the store or in its
// archive, and what people see of it is one state.

#include <gtest/gtest.h>

#include "store/failpoint.hpp"
#include "store/rows/deletion_rows.hpp"
#include "tests/store/journaled/archive_world.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

constexpr std::int64_t day = archive_day_number;

struct archive_work : ::testing::Test, archive_world {
  void SetUp() override { begin(); }
};

TEST_F(archive_work, is_done_with_the_batch_and_not_before) {
  finished(1);
  finished(2);
  move(1);
  EXPECT_TRUE(in_store(1));
  EXPECT_TRUE(*is_moving(*it().read(), 1));
  EXPECT_FALSE(*is_moving(*it().read(), 2));
  EXPECT_EQ((*find_task(*it().read(), "o-1"))->archived_day(), day);
  EXPECT_FALSE(archived(1));
  expect_sound();
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_FALSE(in_store(1));
  EXPECT_FALSE(*is_moving(*it().read(), 1));
  EXPECT_TRUE(archived(1));
  EXPECT_TRUE(in_store(2));
  EXPECT_FALSE(archived(2));
  expect_sound();
}

TEST_F(archive_work, of_a_task_that_was_deleted_meanwhile_is_sound_before_it_is_done_and_after) {
  finished(1);
  move(1);
  // As the leader does it, which has done the move.
  auto one = shard->next();
  auto tombstone = **find_task(*it().read(), "o-1");
  tombstone.clear_archived_day();
  tombstone.set_deleted_at_unix_ms(4'000);
  put_tombstone(one, "o-1", tombstone);
  put_deletion(one, 1);
  shard->state().set_archived(0);
  shard->expect_committed(std::move(one));
  EXPECT_TRUE(in_store(1));
  expect_sound();
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_FALSE(in_store(1));
  expect_sound();
}

TEST_F(archive_work, takes_the_task_as_the_same_generation_has_it) {
  finished(1);
  ASSERT_TRUE(it().apply_all().ok());
  finished(2);
  move(1);
  move(2, 90);
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_TRUE(archived(1));
  EXPECT_TRUE(archived(2, 90));
  EXPECT_EQ((*archives.load(day, task_number(2), 90))->recent_size(), 3);
  expect_sound();
}

TEST_F(archive_work, that_a_crash_cuts_short_is_done_again) {
  finished(1);
  move(1);
  ASSERT_TRUE(set_failpoints("apply.archived=error").ok());
  EXPECT_FALSE(it().apply().ok());
  ASSERT_TRUE(set_failpoints("").ok());
  EXPECT_TRUE(archived(1));
  EXPECT_TRUE(in_store(1)) << "it is in both, and never in neither";
  open();
  EXPECT_TRUE(in_store(1));
  expect_sound();
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_FALSE(in_store(1));
  EXPECT_TRUE(archived(1));
  expect_sound();
}

TEST_F(archive_work, is_done_when_a_store_is_settled) {
  finished(1);
  move(1);
  ASSERT_TRUE(it().settle().ok());
  EXPECT_TRUE(archived(1));
  EXPECT_FALSE(load_task(*below.read(), 1)->has_value());
  EXPECT_FALSE(*is_moving(*below.read(), 1)) << "releases without a journal know no such row";
}

TEST_F(archive_work, drops_what_is_not_kept_once_the_row_is_applied) {
  finished(1);
  finished(2);
  move(1);
  move(2, 90);
  ASSERT_TRUE(it().apply_all().ok());
  auto one = shard->next();
  put_drop(one, 90, day + 1);
  shard->expect_committed(std::move(one));
  EXPECT_TRUE(archived(2, 90));
  open();
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_FALSE(archived(2, 90));
  EXPECT_TRUE(archived(1)) << "that is another retention";
  EXPECT_EQ(*dropped_before(*it().read(), 90), day + 1);
  EXPECT_EQ(*dropped_before(*it().read(), 0), 0);
  expect_sound();
}

TEST_F(archive_work, drops_what_the_batch_says_and_not_what_was_said_before) {
  auto one = shard->next();
  put_drop(one, 0, day + 1);
  shard->expect_committed(std::move(one));
  ASSERT_TRUE(it().apply_all().ok());
  finished(1);
  finished(2);
  move(1);  // put back by an operator, who keeps more now
  move(2, 90);
  ASSERT_TRUE(it().apply_all().ok());
  auto other = shard->next();
  put_drop(other, 90, day + 1);
  shard->expect_committed(std::move(other));
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_TRUE(archived(1));
  EXPECT_FALSE(archived(2, 90));
}

TEST_F(archive_work, that_cannot_be_dropped_stops_nobody) {
  struct stuck final : archives_below {
    status erase(const std::vector<std::uint64_t>&) override { return nothing{}; }
    status carry_out(const snapshot&, batch&) override { return nothing{}; }
    status drop_before(std::int64_t, std::uint32_t) override { return error{v1::ERROR_CODE_DISK, "Nobody may write there.", {}}; }
  } stuck_archives;
  stores.reset();
  disk.reboot();
  stores = std::move(
      journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below, &stuck_archives}}, small_journal()).value());
  shard.emplace(it());
  auto one = shard->next();
  put_drop(one, 0, day);
  shard->expect_committed(std::move(one));
  EXPECT_TRUE(it().apply_all().ok());
}

TEST_F(archive_work, without_archives_stops_the_store_and_loses_nothing) {
  finished(1);
  move(1);
  stores.reset();
  disk.reboot();
  stores = std::move(journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, small_journal()).value());
  EXPECT_EQ(it().apply().failure().code, v1::ERROR_CODE_INTERNAL);
  open();
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_TRUE(archived(1));
}

TEST_F(archive_work, of_a_task_that_lives_stops_the_store) {
  shard->create(running_order(1, "o-1"));
  auto one = shard->next();
  put_move(one, **load_task(*it().read(), 1), {day, 0});
  shard->expect_committed(std::move(one));
  EXPECT_EQ(it().apply().failure().code, v1::ERROR_CODE_INTERNAL);
  EXPECT_FALSE(archived(1));
}

TEST_F(archive_work, whose_row_is_damaged_or_names_nobody_is_found_by_a_check) {
  auto one = shard->next();
  one.put(table::meta, keys::meta(meta::numbered_row(meta::move_rows, 7)), "short");
  shard->expect_committed(std::move(one));
  EXPECT_FALSE(check(*it().read()).clean());
  auto other = shard->next();
  other.put(table::meta, keys::meta(meta::numbered_row(meta::move_rows, 7)), meta::encode_u64(1) + meta::encode_u32(0));
  shard->expect_committed(std::move(other));
  const auto report = check(*it().read());
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings.front(), "Table meta: the row of task 7, which moves, names no task.");
}

}  // namespace
}  // namespace fairlead::store
