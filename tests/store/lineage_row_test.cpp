// The lineage of a store: given once, replaced by a restore as a whole.

#include "store/rows/counters.hpp"
#include "tests/store/any_store.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

v1::Lineage lineage(std::int64_t made_unix_ms) {
  v1::Lineage out;
  out.set_made_unix_ms(made_unix_ms);
  out.set_bits(5);
  return out;
}

template <class Kind>
struct lineage_row : any_store<Kind> {};
TYPED_TEST_SUITE(lineage_row, store_kinds);

TYPED_TEST(lineage_row, is_given_once_also_to_a_store_that_an_earlier_release_made) {
  auto& it = *this->it;
  EXPECT_EQ(it.claim_lineage(lineage(1'000))->made_unix_ms(), 1'000);
  EXPECT_EQ(it.claim_lineage(lineage(2'000))->made_unix_ms(), 1'000);
  EXPECT_EQ(it.claim_lineage(lineage(2'000))->bits(), 5u);
}

TYPED_TEST(lineage_row, is_replaced_whole_and_meanwhile_no_node_takes_the_store) {
  auto& it = *this->it;
  EXPECT_EQ(*it.raise_epoch(), 1u);
  ASSERT_TRUE(it.claim_lineage(lineage(1'000)).ok());
  ASSERT_TRUE(it.begin_restore(5'000).ok());
  const auto half = it.claim_lineage(lineage(9'000));
  ASSERT_FALSE(half.ok());
  EXPECT_NE(half.failure().sentence.find("has begun but is not complete"), std::string::npos) << half.failure().sentence;
  // Cut short, it is begun anew.
  ASSERT_TRUE(it.begin_restore(5'500).ok());
  ASSERT_TRUE(it.end_restore(lineage(6'000), 100, 50).ok());
  EXPECT_EQ(it.claim_lineage(lineage(9'000))->made_unix_ms(), 6'000);
  EXPECT_GT(*it.raise_epoch(), 100u);
}

TYPED_TEST(lineage_row, of_a_recovery_that_was_cut_short_what_had_counted_before_it_still_counts) {
  auto& it = *this->it;
  EXPECT_EQ(*it.raise_epoch(), 1u);
  const auto write = [&](std::uint64_t sequence, std::int64_t at_unix_ms) {
    v1::ShardState shard;
    shard.set_latest_write_unix_ms(at_unix_ms);
    batch next;
    next.sequence = sequence;
    next.epoch = 1;
    seal_counters(next, shard);
    EXPECT_TRUE(it.commit({next}).ok());
  };
  write(1, 3'000);
  EXPECT_EQ(*it.counted_until(), std::nullopt);
  ASSERT_TRUE(it.begin_recovery(5'000).ok());
  write(2, 4'000);
  ASSERT_TRUE(it.begin_recovery(5'500).ok());
  ASSERT_TRUE(it.begin_restore(5'600).ok());
  EXPECT_EQ(*it.counted_until(), 3'000);
  ASSERT_TRUE(it.end_restore(lineage(6'000), 100, 50).ok());
  EXPECT_EQ(*it.counted_until(), std::nullopt);
}

TYPED_TEST(lineage_row, and_the_epoch_never_falls_with_it) {
  auto& it = *this->it;
  EXPECT_EQ(*it.raise_epoch(), 1u);
  ASSERT_TRUE(it.end_restore(lineage(7'000), 0, 0).ok());
  const auto raised = *it.raise_epoch();
  EXPECT_GT(raised, 1u);
  // What is written next is of the epoch that is in force.
  batch next;
  next.sequence = 1;
  next.epoch = raised;
  EXPECT_TRUE(it.commit({next}).ok());
}

struct lineage_row_on_disk : ::testing::Test {
  temporary_directory here;

  std::unique_ptr<lmdb_store> open() {
    auto opened = lmdb_store::open({here / "store", std::uint64_t{1} << 28, false});
    EXPECT_TRUE(opened.ok()) << opened.failure().sentence;
    return opened.ok() ? std::move(*opened) : nullptr;
  }
};

TEST_F(lineage_row_on_disk, stands_at_each_opening_with_the_numbers_that_came_with_it) {
  EXPECT_EQ(*open()->raise_epoch(), 1u);
  ASSERT_TRUE(open()->claim_lineage(lineage(1'000)).ok());
  ASSERT_TRUE(open()->begin_restore(5'000).ok());
  EXPECT_FALSE(open()->claim_lineage(lineage(9'000)).ok());
  ASSERT_TRUE(open()->end_restore(lineage(6'000), 100, 50).ok());
  EXPECT_EQ(open()->claim_lineage(lineage(9'000))->made_unix_ms(), 6'000);
  EXPECT_EQ(*open()->raise_epoch(), 101u);
  EXPECT_EQ(*open()->boot(), 50u);
}

TEST_F(lineage_row_on_disk, and_incarnations_never_fall_with_it) {
  ASSERT_TRUE(open()->end_restore(lineage(7'000), 0, 9).ok());
  ASSERT_TRUE(open()->end_restore(lineage(8'000), 0, 0).ok());
  EXPECT_EQ(*open()->boot(), 9u);
}

}  // namespace
}  // namespace fairlead::store
