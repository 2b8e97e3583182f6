#include "store/journal/log_standing.hpp"

#include <gtest/gtest.h>

#include "store/journaled/store.hpp"
#include "store/memory/memory_store.hpp"

namespace fairlead::store {
namespace {

// Which members they are does not matter here.
const std::string former = "former members", later = "later members";

journal_record record(record_type type, std::uint64_t index, std::string_view payload) {
  journal_record out;
  out.type = type;
  out.index = index;
  out.term = 2;
  out.payload = payload;
  return out;
}

/// The head of a segment behind an entry with this index.
std::string head_of_segment(std::string_view members) { return std::string(2 * sizeof(std::uint64_t), '\1') + std::string{members}; }

TEST(log_standing, says_which_members_were_named_last) {
  log_standing log;
  ASSERT_TRUE(log.take(record(record_type::members, 3, former)));
  ASSERT_TRUE(log.take(record(record_type::batch, 4, "")));
  ASSERT_TRUE(log.take(record(record_type::members, 5, later)));
  EXPECT_EQ(log.members(), later);
  ASSERT_TRUE(log.take(record(record_type::cut, 5, "")));
  EXPECT_EQ(log.members(), former);
}

TEST(log_standing, that_begins_at_a_segment_keeps_its_members_when_entries_are_cut_that_they_are_older_than) {
  log_standing log;
  const auto head = head_of_segment(former);
  ASSERT_TRUE(log.take(record(record_type::standing, 105, head)));
  ASSERT_TRUE(log.take(record(record_type::cut, 104, "")));
  EXPECT_EQ(log.members(), former);
}

TEST(log_standing, that_begins_at_a_segment_takes_from_a_cut_which_members_are_left) {
  log_standing log;
  const auto head = head_of_segment(later);
  ASSERT_TRUE(log.take(record(record_type::standing, 103, head)));
  ASSERT_TRUE(log.take(record(record_type::cut, 103, former)));
  EXPECT_EQ(log.members(), former);
  ASSERT_TRUE(log.take(record(record_type::batch, 103, "")));
  log.settled(103);
  EXPECT_EQ(log.members(), former);
}

TEST(log_standing, of_a_store_that_begins_at_a_segment_does_not_go_by_members_that_were_cut_away) {
  memory_store tables;
  const auto store = journaled_store::open(tables, {0, "in memory", nullptr, {}, {}, true}).value();
  const auto head = head_of_segment(later);
  ASSERT_TRUE(store->replay(record(record_type::standing, 103, head), 7));
  EXPECT_EQ(store->log_end().members, later);
  ASSERT_TRUE(store->replay(record(record_type::cut, 103, former), 8));
  EXPECT_EQ(store->log_end().members, former);
  EXPECT_EQ(store->log_end().index, 102U);
}

}  // namespace
}  // namespace fairlead::store
