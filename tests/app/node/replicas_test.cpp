#include "app/node/replicas.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "messages/lineage.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::app {
namespace {

namespace fs = std::filesystem;

struct replicas_test : ::testing::Test {
  store::testing::temporary_directory place;
  node_config config;
  node_notes notes{place.path()};
  peers_asked peers{config};

  replicas_test() {
    config.name = "n1";
    config.store_path = place / "store";
    config.data_path = place.path();
    config.journal_path = place / "journal";
    config.store_max_bytes = std::uint64_t{1} << 28;
    config.journal_segment_bytes = std::uint64_t{1} << 20;
    config.journal_max_bytes = std::uint64_t{16} << 20;
  }
  std::unique_ptr<store::disk_stores> open() {
    auto opened = store::disk_stores::open(stores_of(config));
    EXPECT_TRUE(opened.ok()) << opened.failure().sentence;
    return opened ? std::move(*opened) : nullptr;
  }
};

TEST_F(replicas_test, a_copy_whose_recovery_was_cut_short_does_not_start) {
  auto stores = open();
  auto& store = stores->at(0);
  ASSERT_TRUE(store.claim_shard(0, 1, "id").ok());
  ASSERT_TRUE(store.claim_lineage(first_lineage(5, 6)).ok());
  ASSERT_TRUE(store.begin_restore(7).ok());
  ASSERT_TRUE(be_first_of_several(store, config).ok());
  const auto refused = check_replica(store, config, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.failure().sentence.find("has begun but is not complete"), std::string::npos) << refused.failure().sentence;
  EXPECT_NE(refused.failure().remedy.find("fairlead cluster recover"), std::string::npos);
}

TEST_F(replicas_test, a_shard_that_several_others_hold_is_not_claimed_alone_again) {
  auto stores = open();
  auto& store = stores->at(0);
  const auto claimed = claim_alone(store, config, 0, notes, peers, 1'000);
  ASSERT_TRUE(claimed.ok()) << claimed.failure().sentence;
  auto theirs = first_lineage(500, 8);
  theirs.set_several(true);
  ASSERT_TRUE(notes.note_later(0, theirs).ok());
  const auto refused = claim_alone(store, config, 0, notes, peers, 2'000);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_NE(refused.failure().remedy.find("fairlead cluster join"), std::string::npos);
  // A restore begins a lineage that counts more.
  ASSERT_TRUE(store.end_restore(next_lineage(theirs, 3'000, 9), 0, 1).ok());
  EXPECT_TRUE(claim_alone(store, config, 0, notes, peers, 4'000).ok());
}

TEST_F(replicas_test, a_copy_from_before_others_could_join_is_not_claimed_alone_again) {
  auto stores = open();
  const auto claimed = claim_alone(stores->at(0), config, 0, notes, peers, 1'000);
  ASSERT_TRUE(claimed.ok());
  auto theirs = claimed->lineage();
  theirs.set_several(true);
  ASSERT_TRUE(notes.note_later(0, theirs).ok());
  EXPECT_FALSE(claim_alone(stores->at(0), config, 0, notes, peers, 2'000).ok());
}

TEST_F(replicas_test, a_node_that_is_to_join_makes_no_store_before_the_others_have_agreed) {
  std::uint64_t replica = 0;
  {
    auto joining = replicas_to_be::open(config);
    ASSERT_TRUE(joining.ok()) << joining.failure().sentence;
    const auto asked = joining->ask_to_join();
    ASSERT_TRUE(asked.ok());
    ASSERT_EQ(asked->size(), 1U);
    EXPECT_FALSE(fs::exists(config.store_path));
    EXPECT_FALSE(fs::exists(config.journal_path));
    replica = asked->front().node().replica();
    v1::ShardNodes nodes;
    nodes.set_version(3);
    *nodes.add_nodes() = asked->front().node();
    const auto joined = joining->join({{0, nodes}});
    ASSERT_TRUE(joined.ok()) << joined.failure().sentence;
    ASSERT_TRUE(joining->close().ok());
  }
  auto again = replicas_to_be::open(config);
  ASSERT_TRUE(again.ok()) << again.failure().sentence;
  const auto repeated = again->ask_to_join();
  ASSERT_TRUE(repeated.ok());
  EXPECT_EQ(repeated->front().node().replica(), replica) << "it asks under the same name again";
}

}  // namespace
}  // namespace fairlead::app
