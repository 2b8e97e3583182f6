// The store of one of several copies of a shard: how it becomes that, and what is left when it is taken out of its journal.

#include <gtest/gtest.h>

#include "messages/lineage.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "tests/store/journaled/checks.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

const std::string members = "these members";

struct replica_store_test : ::testing::Test {
  void open(bool replicated) {
    stores.reset();
    disk.reboot();
    stores = std::move(
        journaled_stores::open(std::make_unique<lent_disk>(disk), {{0, "in memory", &below, nullptr, replicated}}, small_journal())
            .value());
    ASSERT_TRUE(stores->log().stage(4).ok()) << "with few files a start applies everything first";
  }
  journaled_store& it() { return stores->at(0); }
  void work(int batches) {
    for (int i = 0; i < batches; ++i) {
      batch what;
      what.put(table::task, "key " + std::to_string(it().sequence() + 1), "value");
      what.sequence = it().sequence() + 1;
      what.epoch = it().epoch();
      ASSERT_TRUE(it().commit({what}).ok());
    }
  }
  std::size_t rows() {
    std::size_t out = 0;
    EXPECT_TRUE(it().read()->scan_all(table::task, [&](std::string_view, std::optional<std::string_view>) { return ++out > 0; }).ok());
    return out;
  }

  memory_store below;
  memory_disk disk;
  std::unique_ptr<journaled_stores> stores;
};

TEST_F(replica_store_test, of_a_shard_that_lived_on_one_node_has_all_of_its_log_and_begins_another) {
  open(false);
  ASSERT_TRUE(it().claim_shard(0, 1, "store").ok());
  ASSERT_TRUE(it().claim_lineage(first_lineage(5, 5)).ok());
  ASSERT_TRUE(it().raise_epoch().ok());
  work(10);
  ASSERT_TRUE(it().apply().ok());
  work(10);
  open(true);
  ASSERT_TRUE(it().be_replica(7, members).ok());
  EXPECT_EQ(rows(), 20U);
  const auto index = it().written_index();
  for (int starts = 0; starts < 2; ++starts) {
    open(true);
    EXPECT_EQ(it().replica()->members, members);
    const auto end = it().log_end();
    EXPECT_EQ(end.index, index);
    EXPECT_EQ(end.members, members);
    EXPECT_TRUE(it().take_log().entries.empty()) << "of the log before";
    EXPECT_EQ(rows(), 20U);
  }
}

TEST_F(replica_store_test, that_is_settled_asks_for_a_restore) {
  open(true);
  ASSERT_TRUE(it().be_replica(7).ok());
  ASSERT_TRUE(it().begin_shard(members, {0, 1, "store"}, first_lineage(5, 5)).ok());
  ASSERT_TRUE(it().claim_lineage({}).ok());
  ASSERT_TRUE(it().settle().ok());
  stores.reset();
  const auto alone = journaled_store::open(below, {0, "in memory", nullptr, {}, {}, true}).value();
  EXPECT_FALSE(alone->replica());
  const auto claimed = alone->claim_lineage({});
  ASSERT_FALSE(claimed.ok());
  EXPECT_NE(claimed.failure().sentence.find("not complete"), std::string::npos) << claimed.failure().sentence;
}

}  // namespace
}  // namespace fairlead::store
