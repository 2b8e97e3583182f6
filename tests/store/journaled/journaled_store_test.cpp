// A store behind its journal: readers see one committed state whatever has been applied, and nothing that was acknowledged is lost.

#include <gtest/gtest.h>

#include "store/journaled/applier.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

TEST(journaled_store, shows_one_committed_state_whatever_is_applied_and_when) {
  for (std::uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) live_and_look(seed);
}

TEST(journaled_store, hands_on_the_error_of_a_table_that_cannot_be_written) { fail_an_apply(); }

TEST(journaled_store, has_a_settled_state_that_follows) {
  journaled_world here(7);
  here.commit();
  EXPECT_EQ(here.it().read()->get_progress().sequence, here.sequence);
  EXPECT_EQ(here.it().read_settled()->get_progress().sequence, 0u);
  ASSERT_TRUE(here.it().apply().ok());
  EXPECT_EQ(here.it().read_settled()->get_progress().sequence, here.sequence);
  EXPECT_EQ(here.it().unapplied_bytes(), 0u);
}

TEST(journaled_store, counts_what_is_not_applied_as_used) {
  journaled_world here(8);
  here.commit();
  EXPECT_GT(here.it().unapplied_bytes(), 0u);
  EXPECT_GE(here.it().get_usage().used_bytes, here.below.tables_usage().used_bytes + 2 * here.it().unapplied_bytes());
}

TEST(journaled_store, keeps_its_commits_on_a_disk_over_a_restart) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  ASSERT_TRUE(here.open().ok());
  EXPECT_EQ(here.get("a"), "value");
  {
    applier threads(*here.stores, {std::chrono::milliseconds{5}, 1, 1, std::chrono::milliseconds{10}},
                    [](const error& why) { ADD_FAILURE() << why.sentence; });
    for (int i = 0; i < 50; ++i) here.put("b" + std::to_string(i));
    while (here.stores->at(0).unapplied_operations() != 0) std::this_thread::yield();
  }
  ASSERT_TRUE(here.stores->close().ok());
  ASSERT_TRUE(here.open().ok());
  EXPECT_EQ(here.get("b49"), "value");
  EXPECT_EQ(here.stores->at(0).unapplied_operations(), 0u);
}

TEST(journaled_store, refuses_a_journal_that_is_missing_or_of_another_store) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  const auto missing = here.open("store", "elsewhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_NE(missing.failure().sentence.find("is missing"), std::string::npos);
  const auto foreign = here.open("another store", "journal");
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.failure().sentence.find("never belonged to it"), std::string::npos) << foreign.failure().sentence;
  ASSERT_TRUE(here.open().ok()) << "and nothing was harmed";
  EXPECT_EQ(here.get("a"), "value");
}

TEST(journaled_store, is_refused_by_whoever_knows_no_journal) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  here.stores.reset();
  here.tables.reset();
  const auto alone = lmdb_store::open({place / "store", std::uint64_t{1} << 30, false});
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.failure().code, v1::ERROR_CODE_STORE_NEWER);
}

TEST(journaled_store, refuses_a_data_file_that_is_older_or_newer_than_its_journal) {
  const temporary_directory place;
  on_disk here{place.path(), {}, {}};
  ASSERT_TRUE(here.open().ok());
  here.put("a");
  ASSERT_TRUE(here.stores->close().ok());
  here.stores.reset();
  here.tables.reset();
  std::filesystem::copy(place / "journal", place / "older journal");
  ASSERT_TRUE(here.open().ok());
  here.put("b");
  ASSERT_TRUE(here.stores->close().ok());
  const auto refused = here.open("store", "older journal");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("ends before what the store"), std::string::npos) << refused.failure().sentence;
  ASSERT_TRUE(here.open().ok());
}

TEST(journaled_store, refuses_to_leave_out_a_shard_that_has_work_in_the_journal) {
  const temporary_directory place;
  memory_store first, second;
  const auto open = [&](const std::vector<journaled_stores::member>& members) {
    return journaled_stores::open(disk_files::in(place / "journal").value(), members, small_journal());
  };
  const journaled_stores::member zero{0, "zero", &first}, one{1, "one", &second};
  {
    auto both = open({zero, one});
    ASSERT_TRUE(both.ok()) << both.failure().sentence;
    for (const std::size_t at : {0, 1}) ASSERT_TRUE((*both)->at(at).raise_epoch().ok());
  }
  const auto refused = open({zero});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("work of shard 1"), std::string::npos) << refused.failure().sentence;
  {
    auto both = open({zero, one});
    ASSERT_TRUE(both.ok()) << both.failure().sentence;
    ASSERT_TRUE((*both)->close().ok());
  }
  ASSERT_TRUE(open({zero, one}).ok());  // the checkpoint of this opening says that everything is applied
  auto alone = open({zero});
  ASSERT_TRUE(alone.ok()) << alone.failure().sentence;
}

}  // namespace
}  // namespace fairlead::store
