// The clock of a shard: it never falls, goes with the boot clock, and follows the wall clock slowly.

#include "store/journaled/shard_time.hpp"

#include <gtest/gtest.h>

#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

constexpr std::int64_t hour_ms = 3'600'000;

TEST(shard_time, begins_at_the_later_of_its_last_stamp_and_the_wall_clock) {
  EXPECT_EQ(shard_time{}.read(5'000, 100), 5'000);
  EXPECT_EQ(shard_time{7'000}.read(5'000, 100), 7'000);
  shard_time it{1'000};
  it.seen(9'000);
  it.seen(8'000);
  EXPECT_EQ(it.last_ms(), 9'000);
  EXPECT_EQ(it.read(5'000, 100), 9'000);
}

TEST(shard_time, goes_with_the_boot_clock_and_follows_the_wall_clock_by_a_thousandth) {
  shard_time it;
  it.read(5'000, 100);
  EXPECT_EQ(it.read(6'000, 1'100), 6'000) << "both agree";
  EXPECT_EQ(it.read(7'001, 2'100), 7'001) << "a thousandth is followed at once";
  EXPECT_EQ(it.read(hour_ms, 3'100), 8'002) << "the wall clock was set far ahead";
  EXPECT_EQ(it.read(0, 4'100), 9'001) << "and far back";
  EXPECT_EQ(it.read(0, 4'100), 9'001) << "no time has passed";
}

TEST(shard_time, meets_a_wall_clock_that_was_set_back_after_a_thousand_times_as_long) {
  shard_time it;
  it.read(hour_ms, 0);
  // The wall clock is set back by a second, and read ten times a second.
  auto behind_ms = std::int64_t{1'000};
  for (std::int64_t at = 100; at <= 999'000; at += 100) {
    const auto now = it.read(hour_ms + at - 1'000, at);
    EXPECT_LE(now - (hour_ms + at - 1'000), behind_ms);
    behind_ms = now - (hour_ms + at - 1'000);
  }
  EXPECT_EQ(behind_ms, 1);
}

TEST(shard_time, counts_fractions_of_a_millisecond) {
  shard_time it;
  it.read(1'000'000, 0);
  for (std::int64_t at = 1; at <= 10'000; ++at) it.read(0, at);
  EXPECT_EQ(it.last_ms(), 1'000'000 + 10'000 - 10);
}

TEST(shard_time, never_falls_though_the_boot_clock_does) {
  shard_time it;
  it.read(5'000, 1'000);
  EXPECT_EQ(it.read(5'000, 400), 5'000);
  EXPECT_EQ(it.read(5'100, 1'100), 5'100);
}

/// A store whose two clocks a test sets.
struct timed_store {
  memory_store below;
  memory_disk disk;
  std::int64_t wall_ms = 100 * hour_ms, boot_ms = 1'000;
  std::unique_ptr<journaled_stores> stores;

  timed_store() { open(); }
  void open() {
    stores.reset();
    disk.reboot();
    auto options = small_journal();
    options.now_unix_ms = [this] { return wall_ms; };
    options.boot_ms = [this] { return boot_ms; };
    stores = std::move(journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below}}, std::move(options)).value());
  }
  /// Commits, and returns the stamp of the entry.
  std::int64_t commit() {
    test_shard shard(stores->at(0));
    shard.expect_committed(shard.next());
    return stores->at(0).shard_time_ms();
  }
};

TEST(shard_time, stands_in_the_entries_and_goes_on_behind_them_after_a_crash) {
  for (const bool applied : {false, true}) {
    timed_store it;
    it.wall_ms += 50 * hour_ms;
    it.open();
    const auto last = it.commit();
    EXPECT_EQ(last, it.wall_ms);
    if (applied) {
      ASSERT_TRUE(it.stores->at(0).apply_all().ok());
    }
    std::int64_t in_journal = 0;
    ASSERT_TRUE(recover_journal(it.disk, std::nullopt, [&](const journal_record& one, std::uint64_t) -> status {
                  if (is_entry(one.type)) in_journal = one.stamp_ms;
                  return nothing{};
                }).ok());
    EXPECT_EQ(in_journal, last);
    // Another boot, and a wall clock that was set right meanwhile.
    it.wall_ms -= 50 * hour_ms;
    it.boot_ms = 10;
    it.open();
    EXPECT_EQ(it.commit(), last);
    it.boot_ms += 2'000;
    EXPECT_EQ(it.commit(), last + 1'998);
    EXPECT_EQ(it.stores->at(0).ahead_ms(), last + 1'998 - it.wall_ms);
  }
}

TEST(shard_time, outlives_the_journal) {
  timed_store it;
  const auto last = it.commit();
  ASSERT_TRUE(it.stores->at(0).settle().ok());
  it.stores.reset();
  const auto names = it.disk.list().value();
  for (const auto& name : names) ASSERT_TRUE(it.disk.remove(name).ok());
  ASSERT_TRUE(it.disk.sync().ok());
  it.wall_ms -= 20 * hour_ms;
  it.open();
  EXPECT_EQ(it.commit(), last);
}

}  // namespace
}  // namespace fairlead::store
