#include "actors/archiver.hpp"

#include <gtest/gtest.h>

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
    shard.expect_committed(std::move(one));
    return moved->moved->tasks;
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
  EXPECT_EQ(again->moved->tasks, 1u);
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

}  // namespace
}  // namespace fairlead::testing
