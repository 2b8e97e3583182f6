// How much room a store says that it has, and what happens without any.

#include "tests/store/lmdb/lmdb_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

TEST_F(lmdb, a_full_store_refuses_what_does_not_fit_writes_nothing_of_it_and_goes_on) {
  auto it = open(1 << 20);
  const auto epoch = *it->raise_epoch();
  std::uint64_t sequence = 0;
  status done = nothing{};
  while ((done = it->commit({with_row(sequence + 1, epoch, "key" + std::to_string(sequence), std::string(20'000, 'x'))})).ok()) {
    ASSERT_LT(++sequence, 100u);
  }
  EXPECT_EQ(done.failure().code, v1::ERROR_CODE_STORE_FULL);
  EXPECT_GT(sequence, 20u);
  EXPECT_EQ(it->read()->get_progress().sequence, sequence);
  EXPECT_EQ(it->read()->count(table::task), sequence);
  EXPECT_TRUE(it->commit({with_row(sequence + 1, epoch, "small", "x")}).ok());
  batch room;
  room.epoch = epoch;
  room.sequence = sequence + 2;
  for (std::uint64_t i = 0; i < sequence; ++i) room.erase(table::task, "key" + std::to_string(i));
  ASSERT_TRUE(it->commit({room}).ok());
  // LMDB uses freed pages again from the second transaction on.
  ASSERT_TRUE(it->commit({with_row(sequence + 3, epoch, "small", "y")}).ok());
  for (std::uint64_t i = 4; i < 4 + sequence / 2; ++i) {
    ASSERT_TRUE(it->commit({with_row(sequence + i, epoch, "again" + std::to_string(i), std::string(20'000, 'x'))}).ok()) << i;
  }
}

TEST_F(lmdb, pages_that_became_free_are_not_counted_as_used) {
  auto it = open(4 << 20);
  const auto epoch = *it->raise_epoch();
  ASSERT_TRUE(it->commit({with_row(1, epoch, "big", std::string(3'500'000, 'x'))}).ok());
  EXPECT_GT(it->get_usage().used_bytes, 3'400'000u);
  batch room;
  room.epoch = epoch;
  room.sequence = 2;
  room.erase(table::task, "big");
  ASSERT_TRUE(it->commit({room}).ok());
  it.reset();
  it = open(4 << 20);  // the count of free pages is cached for some commits
  EXPECT_LT(it->get_usage().used_bytes, 500'000u);
}

TEST_F(lmdb, free_pages_that_a_reader_keeps_count_as_used) {
  auto it = open(8 << 20);
  const auto epoch = *it->raise_epoch();
  ASSERT_TRUE(it->commit({with_row(1, epoch, "big", std::string(3'500'000, 'x'))}).ok());
  auto reader = it->read();
  ASSERT_TRUE(it->commit({with_row(2, epoch, "big", std::string(3'500'000, 'y'))}).ok());
  EXPECT_GT(it->get_usage().used_bytes, 7'000'000u) << "the reader still sees the former value";
  reader.reset();
  ASSERT_TRUE(it->commit({with_row(3, epoch, "small", "x")}).ok());
  EXPECT_LT(it->get_usage().used_bytes, 4'000'000u);
}

}  // namespace
}  // namespace fairlead::store
