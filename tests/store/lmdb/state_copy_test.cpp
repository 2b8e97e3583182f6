// A copy of a store's data file goes out, comes in, and takes the place of another one's.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/disk/working_mark.hpp"
#include "store/journaled/run.hpp"
#include "store/lmdb/store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;
namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

struct state_copy_test : ::testing::Test {
  static std::unique_ptr<lmdb_store> open(const std::string& directory, std::uint64_t bytes = most_bytes) {
    auto opened = lmdb_store::open({directory, bytes, false}, true);
    EXPECT_TRUE(opened.ok()) << opened.failure().sentence;
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  static void write(tables& to, const std::string& value, int rows = 100) {
    batch all;
    for (int i = 0; i < rows; ++i) all.put(table::task, "key " + std::to_string(i), value + std::string(1'000, 'x'));
    ASSERT_TRUE(to.apply(run::of(all)->operations()).ok());
  }
  static std::string value_in(const snapshot& from) {
    const auto row = from.get(table::task, "key 7");
    return row.ok() && *row ? std::string{(**row).substr(0, (**row).find('x'))} : "none";
  }
  static std::unique_ptr<incoming_copy> bring(const tables_copy& what, lmdb_store& to) {
    auto out = to.receive(what.bytes());
    EXPECT_TRUE(out.ok()) << out.failure().sentence;
    while ((*out)->bytes() < what.bytes()) EXPECT_TRUE((*out)->write(*what.read((*out)->bytes(), 10'000)).ok());
    return std::move(*out);
  }

  temporary_directory place;
  std::unique_ptr<lmdb_store> from = open(place / "from");
  std::unique_ptr<lmdb_store> to = open(place / "to");
};

TEST_F(state_copy_test, is_of_one_moment_while_others_write) {
  write(*from, "first ");
  const auto copy = from->copy();
  ASSERT_TRUE(copy.ok()) << copy.failure().sentence;
  write(*from, "second ");
  EXPECT_EQ(value_in(*(*copy)->read_tables()), "first ");
  EXPECT_EQ((*copy)->bytes(), fs::file_size(place / "from/outgoing/data.mdb"));
  EXPECT_EQ((*copy)->read((*copy)->bytes(), 10)->size(), 0U);
}

TEST_F(state_copy_test, takes_the_place_of_what_was_there_while_readers_go_on_with_that) {
  write(*from, "the copy's ");
  write(*to, "former ");
  const auto copied = from->copy();
  ASSERT_TRUE(copied.ok());
  auto reader = to->read();
  {
    const auto incoming = bring(**copied, *to);
    ASSERT_TRUE(incoming->open().ok());
    EXPECT_EQ(value_in(*to->read()), "former ") << "nothing has changed yet";
    ASSERT_TRUE(incoming->take_over().ok());
    EXPECT_EQ(value_in(*reader), "former ");
  }
  EXPECT_EQ(value_in(*to->read()), "the copy's ");
  write(*to, "later ");
  EXPECT_EQ(value_in(*reader), "former ");
  EXPECT_EQ(value_in(*to->read()), "later ");
  EXPECT_FALSE(fs::exists(place / "to/incoming"));
  const auto second = lmdb_store::open({place / "to", most_bytes, false}, true);
  EXPECT_EQ(second.failure().code, v1::ERROR_CODE_STORE_IN_USE) << "the lock has moved along";
  to.reset();
  reader.reset();
  EXPECT_NE(open(place / "to"), nullptr);
}

TEST_F(state_copy_test, is_there_after_a_start) {
  write(*from, "the copy's ");
  const auto copied = from->copy();
  {
    const auto incoming = bring(**copied, *to);
    ASSERT_TRUE(incoming->open().ok());
    ASSERT_TRUE(incoming->take_over().ok());
  }
  to.reset();
  to = open(place / "to");
  EXPECT_EQ(value_in(*to->read()), "the copy's ");
}

TEST_F(state_copy_test, that_is_not_put_in_place_leaves_nothing) {
  write(*from, "the copy's ");
  write(*to, "former ");
  auto copied = from->copy();
  bring(**copied, *to).reset();
  copied->reset();
  EXPECT_EQ(value_in(*to->read()), "former ");
  EXPECT_FALSE(fs::exists(place / "to/incoming"));
  EXPECT_FALSE(fs::exists(place / "from/outgoing"));
}

TEST_F(state_copy_test, of_a_process_that_has_ended_is_removed_by_a_start) {
  for (const auto* name : {"to/incoming", "to/outgoing"}) {
    fs::create_directory(place / name);
    std::ofstream(place / name + "/data.mdb") << "half a copy";
  }
  to.reset();
  to = open(place / "to");
  EXPECT_FALSE(fs::exists(place / "to/incoming"));
  EXPECT_FALSE(fs::exists(place / "to/outgoing"));
}

TEST_F(state_copy_test, that_is_cut_or_no_copy_at_all_is_refused) {
  write(*from, "the copy's ");
  write(*to, "former ");
  const auto copied = from->copy();
  for (const auto bytes : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{5'000}, (*copied)->bytes() - 4'096}) {
    SCOPED_TRACE(bytes);
    auto incoming = to->receive((*copied)->bytes());
    ASSERT_TRUE((*incoming)->write(*(*copied)->read(0, bytes)).ok());
    EXPECT_FALSE((*incoming)->open().ok());
  }
  auto incoming = to->receive((*copied)->bytes());
  ASSERT_TRUE((*incoming)->write(std::string((*copied)->bytes(), 'z')).ok());
  EXPECT_FALSE((*incoming)->open().ok());
  EXPECT_EQ(value_in(*to->read()), "former ");
}

TEST_F(state_copy_test, that_is_larger_than_the_store_may_be_is_refused_by_name) {
  const auto refused = to->receive(most_bytes + 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_STORE_FULL);
  EXPECT_NE(refused.failure().remedy.find("store.max_size"), std::string::npos);
}

TEST_F(state_copy_test, that_the_disk_has_no_room_for_is_not_begun) {
  auto large = open(place / "large", std::uint64_t{1} << 44);
  const auto refused = large->receive(std::uint64_t{1} << 43);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_DISK);
  EXPECT_NE(refused.failure().remedy.find("Make room"), std::string::npos);
}

TEST_F(state_copy_test, moves_the_mark_by_which_a_copy_made_by_hand_is_known) {
  write(*from, "the copy's ");
  const auto directory = place / "to";
  mark_working(directory);
  to->on_other_file([&](const std::string& that_in) { mark_working(directory, that_in != directory ? that_in : std::string{}); });
  const auto copied = from->copy();
  {
    const auto incoming = bring(**copied, *to);
    ASSERT_TRUE(incoming->open().ok());
    mark_working(directory, place / "to/incoming");
    EXPECT_TRUE(check_not_copied(directory).ok()) << "the process may end before the copy is in place";
    ASSERT_TRUE(incoming->take_over().ok());
  }
  EXPECT_TRUE(check_not_copied(directory).ok());
  fs::copy(place / "to", place / "by hand");
  EXPECT_EQ(check_not_copied(place / "by hand").failure().code, v1::ERROR_CODE_CORRUPT);
}

}  // namespace
}  // namespace fairlead::store
