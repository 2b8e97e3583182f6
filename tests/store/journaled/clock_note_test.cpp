// How far the clock of a replicated shard is ahead, as a start finds it: in the tables, or in a record of the journal, whichever is newer.

#include <gtest/gtest.h>

#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct clock_note_test : ::testing::Test {
  clock_note_test() { open(); }
  void open() {
    stores.reset();
    disk.reboot();
    stores = std::move(
        journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below, nullptr, true}}, small_journal()).value());
    ASSERT_TRUE(stores->log().stage(4).ok()) << "with few files a start applies everything first";
    it().take_log();
  }
  journaled_store& it() { return stores->at(0); }
  log_record entry(std::uint64_t index, std::uint64_t term) { return {record_type::epoch, index, term, 1'000, nullptr}; }
  /// As a replica notes it before what it writes next.
  log_record note(std::int64_t ahead_ms) { return {record_type::clock, it().written_index(), 5'000, ahead_ms, nullptr}; }
  void write(const std::vector<log_record>& what) { ASSERT_TRUE(it().write(what).ok()); }
  std::int64_t found() {
    open();
    return it().noted_clock() ? it().noted_clock()->ahead_ms : 0;
  }

  memory_store below;
  memory_disk disk;
  std::unique_ptr<journaled_stores> stores;
};

TEST_F(clock_note_test, a_record_behind_the_last_apply_counts) {
  write({entry(1, 1)});
  it().note_clock_ahead(100);
  ASSERT_TRUE(it().show(entry(1, 1)).ok());
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_EQ(found(), 100);
  write({note(300), entry(2, 1)});
  EXPECT_EQ(found(), 300);
}

TEST_F(clock_note_test, an_apply_behind_the_last_record_counts) {
  write({note(300), entry(1, 1)});
  it().note_clock_ahead(100);
  ASSERT_TRUE(it().show(entry(1, 1)).ok());
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_EQ(found(), 100);
}

TEST_F(clock_note_test, a_record_of_a_log_that_was_cut_is_not_taken_for_a_newer_one) {
  write({entry(1, 1), entry(2, 1)});
  write({note(1'468)});
  const log_record cut{record_type::cut, 2, 1, 0, nullptr};
  write({cut, note(1'135), entry(2, 3)});
  EXPECT_EQ(found(), 1'135);
  it().note_clock_ahead(1'140);
  for (const auto& one : {entry(1, 1), entry(2, 3)}) ASSERT_TRUE(it().show(one).ok());
  ASSERT_TRUE(it().apply_all().ok());
  EXPECT_EQ(found(), 1'140);
}

}  // namespace
}  // namespace fairlead::store
