#include "store/rows/alert_rows.hpp"

#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct alert_rows : ::testing::Test {
  memory_store it;
  test_shard shard{it};

  static v1::AlertRecord alert(std::uint64_t number, v1::AlertState state) {
    v1::AlertRecord out;
    out.set_number(number);
    out.set_kind(v1::ALERT_KIND_TASK_PARKED);
    out.set_state(state);
    out.set_sentence("task o-" + std::to_string(number) + " is parked");
    return out;
  }

  void put(std::uint64_t number, v1::AlertState state) {
    auto one = shard.next();
    put_alert(one, alert(number, state));
    shard.expect_committed(std::move(one));
  }

  std::vector<std::uint64_t> unresolved() {
    std::vector<std::uint64_t> out;
    const auto done = for_each_unresolved(*it.read(), [&](const v1::AlertRecord& record) {
      out.push_back(record.number());
      return true;
    });
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return out;
  }
};

TEST_F(alert_rows, are_found_by_number) {
  put(7, v1::ALERT_STATE_OPEN);
  const auto found = load_alert(*it.read(), 7);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->sentence(), "task o-7 is parked");
  EXPECT_FALSE(load_alert(*it.read(), 8)->has_value());
}

TEST_F(alert_rows, of_alerts_that_are_not_resolved_stand_in_the_index_oldest_first) {
  put(300, v1::ALERT_STATE_ACKNOWLEDGED);
  put(2, v1::ALERT_STATE_OPEN);
  put(3, v1::ALERT_STATE_RESOLVED);
  EXPECT_EQ(unresolved(), (std::vector<std::uint64_t>{2, 300}));
}

TEST_F(alert_rows, leave_the_index_when_the_alert_is_resolved_and_stay_otherwise) {
  put(1, v1::ALERT_STATE_OPEN);
  put(1, v1::ALERT_STATE_ACKNOWLEDGED);
  EXPECT_EQ(unresolved(), (std::vector<std::uint64_t>{1}));
  put(1, v1::ALERT_STATE_RESOLVED);
  EXPECT_TRUE(unresolved().empty());
  EXPECT_EQ((*load_alert(*it.read(), 1))->state(), v1::ALERT_STATE_RESOLVED);
}

TEST_F(alert_rows, go_with_their_entry) {
  put(1, v1::ALERT_STATE_OPEN);
  auto one = shard.next();
  erase_alert(one, 1);
  shard.expect_committed(std::move(one));
  EXPECT_FALSE(load_alert(*it.read(), 1)->has_value());
  EXPECT_EQ(it.read()->count(table::unresolved_alert), 0u);
}

TEST_F(alert_rows, a_walk_ends_where_it_is_told_to) {
  put(1, v1::ALERT_STATE_OPEN);
  put(2, v1::ALERT_STATE_OPEN);
  int seen = 0;
  ASSERT_TRUE(for_each_unresolved(*it.read(), [&](const v1::AlertRecord&) { return ++seen < 1; }).ok());
  EXPECT_EQ(seen, 1);
}

TEST_F(alert_rows, a_damaged_row_is_named_and_an_entry_without_its_alert_hides_no_other) {
  put(1, v1::ALERT_STATE_OPEN);
  auto one = shard.next();
  one.put(table::alert, keys::alert(1, 1), "\xff");
  shard.expect_committed(std::move(one));
  EXPECT_NE(load_alert(*it.read(), 1).failure().sentence.find("alert 1"), std::string::npos);
  one = shard.next();
  one.erase(table::alert, keys::alert(1, 1));
  shard.expect_committed(std::move(one));
  put(2, v1::ALERT_STATE_OPEN);
  EXPECT_EQ(unresolved(), std::vector<std::uint64_t>{2});
}

}  // namespace
}  // namespace fairlead::store
