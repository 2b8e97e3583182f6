// Damage to a journal: what was acknowledged and cannot be read any more is refused by name, and what never was is left out.

#include <gtest/gtest.h>

#include "tests/store/journal/journal_world.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

constexpr auto first_segment = "0000000000000001.seg";

/// Twelve entries of shard 0, each a group of one block; with an empty group behind them if `sealed`.
struct damaged : ::testing::Test {
  damaged() {
    EXPECT_TRUE(world.open().ok());
    for (int i = 0; i < 12; ++i) EXPECT_TRUE(world.append(0, world.payload(100)).ok());
    world.applied[0] = 0;
  }

  /// Block 0 is the segment's header, block 1 its first group, a checkpoint; entry N is in block N + 1.
  static std::uint64_t offset_of(std::uint64_t entry) { return (entry + 1) * journal_block_bytes; }

  journal_world world;
};

TEST_F(damaged, a_changed_bit_in_any_byte_of_an_acknowledged_group_is_refused_by_name) {
  // Header, chain, record header and payload; what follows are zeros up to the next block.
  for (std::uint64_t at = 0; at < group_header_bytes + record_header_bytes + 100; ++at) {
    world.disk.rot(first_segment, offset_of(5) + at, at % 8);
    const auto refused = world.open();
    ASSERT_FALSE(refused.ok()) << "byte " << at;
    EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CORRUPT) << refused.failure().sentence;
    const auto expected = "the entries 5 to 5 of shard 0 are missing before group 7: group 6 in " + std::string(first_segment) +
                          " at offset " + std::to_string(offset_of(5)) + " is unreadable (the last good record before it is of 1970";
    EXPECT_TRUE(refused.failure().sentence.find(expected) != std::string::npos) << refused.failure().sentence;
    world.disk.rot(first_segment, offset_of(5) + at, at % 8);
  }
  EXPECT_TRUE(world.open().ok());
}

TEST_F(damaged, a_changed_bit_in_what_is_applied_is_only_noted) {
  world.applied[0] = 7;
  world.disk.rot(first_segment, offset_of(5) + 10);
  ASSERT_TRUE(world.open().ok());
  ASSERT_EQ(world.recovered.damages.size(), 1u);
  EXPECT_EQ(world.recovered.damages[0].offset, offset_of(5));
  EXPECT_EQ(world.found_above(), world.owed());
}

TEST(journal_damage, of_the_first_entry_of_all_is_refused) {
  journal_world world;
  world.applied[0] = 0;  // so the first checkpoint says that nothing was before it
  ASSERT_TRUE(world.open().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.append(0, world.payload(100)).ok());
  world.disk.rot(first_segment, std::uint64_t{2} * journal_block_bytes + 10);
  const auto refused = world.open();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("the entries 1 to 1 of shard 0 are missing"), std::string::npos) << refused.failure().sentence;
}

TEST_F(damaged, zeros_behind_the_records_of_a_group_mean_nothing) {
  world.disk.rot(first_segment, offset_of(6) - 1);
  ASSERT_TRUE(world.open().ok());
  EXPECT_EQ(world.found, world.acknowledged);
  EXPECT_TRUE(world.recovered.damages.empty());
}

TEST_F(damaged, the_last_group_counts_as_torn_until_another_one_says_that_it_was_durable) {
  journal_world sealed;
  ASSERT_TRUE(sealed.open().ok());
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(sealed.append(0, sealed.payload(100)).ok());
  ASSERT_TRUE(sealed.it->seal().ok());
  sealed.applied[0] = 0;
  for (auto* one : {&world, &sealed}) one->disk.rot(first_segment, offset_of(12) + 80);
  EXPECT_EQ(sealed.open().failure().code, v1::ERROR_CODE_CORRUPT);
  ASSERT_TRUE(world.open().ok());
  EXPECT_TRUE(world.recovered.end.torn);
  EXPECT_EQ(world.found.size(), 11u);
}

TEST_F(damaged, an_end_that_was_accepted_once_stays) {
  world.disk.rot(first_segment, offset_of(12) + 80);
  ASSERT_TRUE(world.open().ok());
  world.last_index[0] = 11;
  world.acknowledged.pop_back();
  ASSERT_TRUE(world.append(0, "another twelfth entry").ok());
  world.disk.rot(first_segment, offset_of(12) + 80);  // the bit flips back, and the torn group is whole again
  ASSERT_TRUE(world.open().ok());
  EXPECT_EQ(world.found, world.acknowledged);
}

TEST_F(damaged, a_segment_that_is_cut_short_is_refused) {
  auto& bytes = world.disk.bytes_of(first_segment);
  bytes.resize(offset_of(9));
  const auto refused = world.open();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("bytes that it should have"), std::string::npos) << refused.failure().sentence;
}

TEST_F(damaged, a_segment_that_is_missing_is_refused) {
  ASSERT_TRUE(world.open().ok());
  ASSERT_TRUE(world.append(0, "in the second segment").ok());
  ASSERT_TRUE(world.disk.remove(first_segment).ok());
  const auto refused = world.open();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find(std::string(first_segment) + " is missing"), std::string::npos) << refused.failure().sentence;
}

TEST_F(damaged, a_changed_bit_in_the_header_of_a_segment_is_refused) {
  for (std::uint64_t at = 0; at < 128; ++at) {
    world.disk.rot(first_segment, at, at % 8);
    const auto refused = world.open();
    EXPECT_FALSE(refused.ok()) << "byte " << at;
    world.disk.rot(first_segment, at, at % 8);
  }
  EXPECT_TRUE(world.open().ok());
}

TEST_F(damaged, a_journal_of_another_store_is_refused) {
  world.expected = journal_id{1, 2};
  const auto refused = world.open();
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_WRONG_STATE);
}

TEST(journal_damage, a_write_that_went_elsewhere_or_nowhere_is_refused_or_harmless) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    journal_world world(seed);
    ASSERT_TRUE(world.open().ok());
    world.applied[0] = 0;
    (seed % 2 == 0 ? world.disk.misdirect_write(5) : world.disk.lose_write(5));
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(world.append(0, world.payload(100)).ok());
    const auto opened = world.open();
    if (opened.ok()) {
      EXPECT_EQ(world.found_above(), world.owed());
    } else {
      ++refused;
      EXPECT_EQ(opened.failure().code, v1::ERROR_CODE_CORRUPT);
    }
  }
  EXPECT_GE(refused, 50);
}

TEST(journal_damage, of_any_kind_is_refused_or_harmless_and_never_silent) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    journal_world world(seed);
    ASSERT_TRUE(world.open().ok());
    world.applied[0] = world.applied[1] = 0;
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(world.append(static_cast<std::uint16_t>(i % 2), world.payload(world.pick(6'000))).ok());
    ASSERT_TRUE(world.open().ok());  // the next segment says where the last one ended
    world.it.reset();
    const auto names = *world.disk.list();
    auto& bytes = world.disk.bytes_of(names[world.pick(names.size())]);
    const auto at = world.pick(bytes.size()), other = world.pick(bytes.size());
    const auto some = std::min<std::size_t>(1 + world.pick(9'000), bytes.size() - std::max(at, other));
    switch (world.pick(5)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << world.pick(8))); break;
      case 1: bytes.resize(at); break;
      case 2: std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), some, '\0'); break;
      case 3: bytes.replace(at, some, world.payload(some)); break;
      default: bytes.replace(at, some, std::string(bytes, other, some)); break;
    }
    const auto opened = world.open();
    if (!opened.ok()) {
      ++refused;
      EXPECT_FALSE(opened.failure().sentence.empty());
      continue;
    }
    EXPECT_TRUE(world.found_above() == world.owed());
  }
  EXPECT_GE(refused, 200);
}

TEST(journal_damage, nothing_of_an_earlier_use_of_a_file_comes_back) {
  // Files are used again with their old groups behind the new ones, at any place.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    journal_world world(seed);
    ASSERT_TRUE(world.open().ok());
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(world.append(0, world.payload(world.pick(5'000))).ok());
      ASSERT_TRUE(world.it->stage().ok());
      if (i % 20 == 0) world.apply(0, world.last_index[0]);
      if (world.pick(25) != 0) continue;
      world.disk.reboot();
      ASSERT_TRUE(world.open().ok());
      ASSERT_EQ(world.found_above(), world.owed());
    }
  }
}

}  // namespace
}  // namespace fairlead::store
