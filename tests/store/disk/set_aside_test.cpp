// Damaged stores are set aside: what goes, what stays, and that it can be repeated.

#include "store/disk/set_aside.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;
namespace fs = std::filesystem;

struct set_aside_test : ::testing::Test {
  temporary_directory place;

  std::vector<found_part> parts() const {
    auto found = parts_of_store(place.path());
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : std::vector<found_part>{};
  }
  void all_aside() const {
    for (const auto& one : parts()) EXPECT_TRUE(set_aside(one).ok());
  }

  std::vector<std::string> names() {
    std::vector<std::string> out;
    for (const auto& one : parts()) out.push_back(fs::path(one.path).filename().string());
    return out;
  }
};

TEST_F(set_aside_test, a_store_goes_with_its_archives_and_the_data_file_last) {
  write_text(place / "data.mdb", "damaged");
  write_text(place / "lock.mdb", "");
  write_text(place / "node", "stays");
  fs::create_directories(place / "archive/2026-11-20");
  write_text(place / "archive/2026-11-20/data.mdb", "old");
  EXPECT_EQ(names(), (std::vector<std::string>{"archive", "lock.mdb", "data.mdb"}));
  all_aside();
  EXPECT_TRUE(names().empty());
  EXPECT_EQ(text_of(place / "node"), "stays");
  EXPECT_EQ(text_of(place / "set-aside/data.mdb"), "damaged");
  EXPECT_EQ(text_of(place / "set-aside/archive/2026-11-20/data.mdb"), "old");
}

TEST_F(set_aside_test, what_has_taken_the_place_of_a_part_stays) {
  write_text(place / "data.mdb", "damaged");
  const auto parts = parts_of_store(place.path());
  ASSERT_EQ(parts->size(), 1U);
  ASSERT_TRUE(set_aside(parts->front()).ok());
  write_text(place / "data.mdb", "new");
  EXPECT_TRUE(set_aside(parts->front()).ok());
  EXPECT_EQ(text_of(place / "data.mdb"), "new");
}

TEST_F(set_aside_test, a_part_does_not_replace_one_that_was_set_aside_before) {
  for (const auto* text : {"first", "second"}) {
    write_text(place / "data.mdb", text);
    all_aside();
  }
  EXPECT_EQ(text_of(place / "set-aside/data.mdb"), "first");
  EXPECT_EQ(text_of(place / "set-aside/data.mdb.2"), "second");
}

TEST_F(set_aside_test, of_a_journal_the_segments_go) {
  EXPECT_TRUE(parts_of_journal(place / "journal")->empty());
  fs::create_directory(place / "journal");
  write_text(place / "journal/0000000000000002.seg", "two");
  write_text(place / "journal/0000000000000001.seg", "one");
  write_text(place / "journal/0000000000000001.seg.lost", "stays");
  const auto parts = parts_of_journal(place / "journal");
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ(fs::path(parts->front().path).filename(), "0000000000000001.seg");
  for (const auto& one : *parts) ASSERT_TRUE(set_aside(one).ok());
  EXPECT_EQ(text_of(place / "journal/set-aside/0000000000000002.seg"), "two");
  EXPECT_TRUE(fs::exists(fs::path(place / "journal/0000000000000001.seg.lost")));
}

TEST_F(set_aside_test, tells_when_something_was_set_aside_last_until_that_is_forgotten) {
  EXPECT_FALSE(last_set_aside(place.path()));
  write_text(place / "data.mdb", "damaged");
  all_aside();
  ASSERT_TRUE(last_set_aside(place.path()));
  EXPECT_LT(fs::file_time_type::clock::now() - *last_set_aside(place.path()), std::chrono::minutes(10));
  ASSERT_TRUE(forget_set_aside(place.path()).ok());
  EXPECT_FALSE(last_set_aside(place.path()));
  EXPECT_TRUE(forget_set_aside(place.path()).ok());
}

}  // namespace
}  // namespace fairlead::store
