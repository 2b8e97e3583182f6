#include "actors/gateway/reads_here.hpp"

#include <gtest/gtest.h>

#include "actors/core/cluster/alert_numbers.hpp"
#include "actors/core/cluster/routing.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/archive_fixture.hpp"

namespace fairlead::testing {
namespace {

namespace fixture = store::testing;

/// A node with two shards of three.
class reads_here_test : public ::testing::Test {
 protected:
  reads_here_test() : archives(std::make_shared<store::archive>(folder / "archive")) {
    for (auto* one : {&first, &second}) one->deploy_order();
    for (std::uint64_t number = 1; number <= 30; ++number) {
      const auto id = "t" + std::to_string(number);
      const auto shard = core::shard_of_task(id, 3);
      if (shard > 1) {
        elsewhere.push_back(id);
        continue;
      }
      auto task = fixture::running_order(number, id);
      task.set_alert(number);
      (shard == 0 ? first : second).create(task);
      here.push_back(id);
    }
  }

  reads_here reads(std::uint32_t count = 3) const {
    std::vector<shard_desk> desks(2);
    for (std::uint32_t i = 0; i < 2; ++i) {
      desks[i].shard = i;
      desks[i].reads = &stores[i];
      desks[i].archives = archives;
      desks[i].seat = i == 1 ? &seat : nullptr;
    }
    return {std::move(desks), count};
  }

  fixture::temporary_directory folder;
  std::shared_ptr<store::archive> archives;
  store::memory_store stores[2];
  fixture::test_shard first{stores[0]}, second{stores[1]};
  std::atomic<replica_seat*> seat = nullptr;
  std::vector<std::string> here, elsewhere;
};

TEST_F(reads_here_test, shows_a_task_with_the_number_that_its_alert_has_in_the_cluster) {
  for (const auto& id : here) {
    v1::TaskShowRequest what;
    what.set_id(id);
    const auto shown = reads().read(what);
    ASSERT_TRUE(shown) << id;
    EXPECT_EQ(shown->task().id(), id);
    const auto number = std::stoull(id.substr(1));
    EXPECT_EQ(shown->task().alert(), core::alert_number({core::shard_of_task(id, 3), number}, 3));
  }
}

TEST_F(reads_here_test, says_itself_that_there_is_no_such_task) {
  v1::TaskShowRequest what;
  for (int i = 0; what.id().empty(); ++i)
    if (const auto id = "none" + std::to_string(i); core::shard_of_task(id, 3) == 0) what.set_id(id);
  const auto shown = reads().read(what);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->error().code(), v1::ERROR_CODE_NOT_FOUND);
}

TEST_F(reads_here_test, puts_the_states_of_several_shards_together_in_the_order_of_the_request) {
  v1::StatesRequest what;
  for (const auto& id : here) what.add_ids(id);
  const auto states = reads().read(what);
  ASSERT_TRUE(states);
  ASSERT_EQ(states->items_size(), static_cast<int>(here.size()));
  for (int i = 0; i < states->items_size(); ++i) EXPECT_EQ(states->items(i).id(), here[static_cast<std::size_t>(i)]);
}

TEST_F(reads_here_test, leaves_to_the_gateway_what_other_nodes_hold_what_is_at_fault_and_what_is_not_known_yet) {
  ASSERT_FALSE(elsewhere.empty());
  v1::TaskShowRequest show;
  show.set_id(std::string(10'000, 'x'));
  EXPECT_FALSE(reads().read(show)) << "no task can have that id";
  show.set_id(elsewhere.front());
  EXPECT_FALSE(reads().read(show));
  show.set_id(here.front());
  EXPECT_FALSE(reads(0).read(show)) << "how many shards the cluster has is not known yet";
  show.set_shard(0);
  EXPECT_FALSE(reads().read(show)) << "another gateway asks, which may be wrong about the shard";
  v1::StatesRequest states;
  states.add_ids(here.front());
  states.add_ids(elsewhere.front());
  EXPECT_FALSE(reads().read(states));
}

TEST_F(reads_here_test, a_shard_that_other_nodes_hold_too_is_left_to_the_gateway_which_asks_who_leads) {
  v1::TaskShowRequest what;
  for (const auto& id : here)
    if (core::shard_of_task(id, 3) == 1) what.set_id(id);
  ASSERT_FALSE(what.id().empty());
  EXPECT_TRUE(reads().read(what));
  int other_nodes = 0;
  seat = reinterpret_cast<replica_seat*>(&other_nodes);  // only whether there is one counts here
  EXPECT_FALSE(reads().read(what));
}

}  // namespace
}  // namespace fairlead::testing
