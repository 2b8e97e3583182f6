// Starts of stores that had no journal before, and shards that stand still beside others.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/journaled/applier.hpp"
#include "tests/eventually.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

/// A shard as an earlier release left it: rows in its tables, and no journal.
void begin_without_journal(memory_store& below, const std::string& value) {
  test_shard shard(below);
  for (int i = 0; i < 5; ++i) {
    auto one = shard.next();
    one.put(table::task, "key " + std::to_string(i), value);
    shard.expect_committed(std::move(one));
  }
}

void expect_rows(const snapshot& shown, const std::string& value) {
  EXPECT_EQ(shown.get_progress().sequence, 5u);
  for (int i = 0; i < 5; ++i) {
    const auto found = shown.get(table::task, "key " + std::to_string(i));
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ(**found, value);
  }
}

/// Starts once, and ends at some moment of it; the next start has everything, and goes on.
template <class Plan>
void migrate_and_end(std::uint64_t seed, const Plan& end_somewhere) {
  interrupted_tables first, second;
  memory_disk disk(seed);
  begin_without_journal(first.own, "first");
  begin_without_journal(second.own, "second");
  const auto open = [&] {
    return journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "first", &first}, {1, "second", &second}}, small_journal());
  };
  end_somewhere(disk, first, second);
  try {
    (void)open();
  } catch (const disk_crash&) {
  }
  for (int start = 0; start < 2; ++start) {
    disk.reboot();
    auto stores = open();
    ASSERT_TRUE(stores.ok()) << stores.failure().sentence;
    expect_rows(*(*stores)->at(0).read(), "first");
    expect_rows(*(*stores)->at(1).read(), "second");
    const auto before = (*stores)->at(0).read()->get_progress().epoch;
    const auto epoch = (*stores)->at(0).raise_epoch();
    ASSERT_TRUE(epoch.ok()) << epoch.failure().sentence;
    EXPECT_GT(*epoch, before);
  }
}

TEST(journaled_start, of_stores_of_an_earlier_release_may_end_at_each_operation_of_the_disk) {
  for (std::uint64_t operations = 1; operations <= 15; ++operations) {
    SCOPED_TRACE("crash at operation " + std::to_string(operations));
    migrate_and_end(operations, [&](memory_disk& disk, auto&, auto&) { disk.crash_after(operations); });
  }
}

TEST(journaled_start, of_stores_of_an_earlier_release_may_end_behind_each_transaction) {
  migrate_and_end(1, [](memory_disk&, interrupted_tables& first, auto&) { first.crash_after_applies = 1; });
  migrate_and_end(2, [](memory_disk&, auto&, interrupted_tables& second) { second.crash_after_applies = 1; });
}

TEST(journaled_shards, that_stand_still_hold_up_no_commit_of_another) {
  interrupted_tables stuck, other;
  memory_disk disk;
  auto options = small_journal();
  auto stores = std::move(
      journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "stuck", &stuck}, {1, "other", &other}}, std::move(options)).value());
  std::atomic<bool> stands{true}, reached{false};
  stuck.before_apply = [&] {
    reached = true;
    while (stands) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  const applier behind(*stores, {std::chrono::milliseconds{5}, 4'096, 64}, [](const error& why) { ADD_FAILURE() << why.sentence; });
  test_shard slow(stores->at(0)), quick(stores->at(1));
  auto one = slow.next();
  one.put(table::task, "key", "value");
  slow.expect_committed(std::move(one));
  ASSERT_TRUE(eventually([&] { return reached.load(); }));
  for (int i = 0; i < 300; ++i) {
    auto next = quick.next();
    next.put(table::task, "key", "value " + std::to_string(i));
    quick.expect_committed(std::move(next));
  }
  auto again = slow.next();
  again.put(table::task, "key", "another value");
  slow.expect_committed(std::move(again));
  stands = false;
  EXPECT_TRUE(eventually([&] { return stores->at(0).unapplied_operations() + stores->at(1).unapplied_operations() == 0; }));
}

TEST(journaled_shards, whose_tables_hang_are_told_and_end_the_process) {
  interrupted_tables stuck;
  memory_disk disk;
  auto stores = std::move(journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "stuck", &stuck}}, small_journal()).value());
  std::atomic<bool> stands{true}, told{false}, ended{false};
  stuck.before_apply = [&] {
    while (stands) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  applier_options options;
  options.watch_period = options.apply_told_after = std::chrono::milliseconds{10};
  options.apply_fatal_after = std::chrono::milliseconds{50};
  test_shard shard(stores->at(0));
  const applier behind(
      *stores, options,
      [&](const error& why) {
        EXPECT_EQ(why.code, v1::ERROR_CODE_DISK);
        ended = true;
      },
      [&](bool warning, const std::string& sentence) {
        if (warning && sentence.find("A write to a store has taken") != std::string::npos) told = true;
      });
  auto one = shard.next();
  one.put(table::task, "key", "value");
  shard.expect_committed(std::move(one));
  EXPECT_TRUE(eventually([&] { return told && ended; }));
  stands = false;
}

}  // namespace
}  // namespace fairlead::store
