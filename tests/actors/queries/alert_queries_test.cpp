#include "actors/queries/alert_queries.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"
#include "store/rows/alert_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {
namespace {

using numbers = std::vector<std::uint64_t>;

class alert_queries_test : public ::testing::Test {
 protected:
  void raise(std::uint64_t number, v1::AlertState state, const std::string& task = "") {
    v1::AlertRecord alert;
    alert.set_number(number);
    alert.set_state(state);
    alert.set_task_id(task);
    auto batch = shard.next();
    store::put_alert(batch, alert);
    shard.expect_committed(std::move(batch));
  }

  v1::AlertListReply list(const v1::AlertListRequest& what = {}) {
    auto out = list_alerts(what, *store.read());
    EXPECT_EQ(out.error().sentence(), "");
    return out;
  }

  static numbers of(const v1::AlertListReply& reply) {
    numbers out;
    for (const auto& one : reply.items()) out.push_back(one.number());
    return out;
  }

  store::memory_store store;
  store::testing::test_shard shard{store};
};

TEST_F(alert_queries_test, lists_what_is_open_or_acknowledged_newest_first) {
  raise(1, v1::ALERT_STATE_OPEN);
  raise(2, v1::ALERT_STATE_RESOLVED);
  raise(3, v1::ALERT_STATE_ACKNOWLEDGED);
  const auto reply = list();
  EXPECT_EQ(of(reply), (numbers{3, 1}));
  EXPECT_EQ(reply.before(), 0u);
}

TEST_F(alert_queries_test, lists_by_state_and_by_task) {
  raise(1, v1::ALERT_STATE_OPEN, "a");
  raise(2, v1::ALERT_STATE_RESOLVED, "a");
  raise(3, v1::ALERT_STATE_ACKNOWLEDGED, "b");
  v1::AlertListRequest what;
  what.add_states(v1::ALERT_STATE_RESOLVED);
  EXPECT_EQ(of(list(what)), numbers{2});
  what.add_states(v1::ALERT_STATE_OPEN);
  EXPECT_EQ(of(list(what)), (numbers{2, 1}));
  what.clear_states();
  what.add_states(v1::ALERT_STATE_ACKNOWLEDGED);
  EXPECT_EQ(of(list(what)), numbers{3});
  what.clear_states();
  what.set_task_id("a");
  EXPECT_EQ(of(list(what)), numbers{1});
  what.set_task_id("c");
  EXPECT_TRUE(of(list(what)).empty());
}

TEST_F(alert_queries_test, pages_end_exactly_where_the_alerts_do) {
  for (std::uint64_t i = 1; i <= 6; ++i) raise(i, i == 4 ? v1::ALERT_STATE_RESOLVED : v1::ALERT_STATE_OPEN);
  v1::AlertListRequest what;
  what.set_page_size(2);
  auto page = list(what);
  EXPECT_EQ(of(page), (numbers{6, 5}));
  EXPECT_EQ(page.before(), 5u);
  what.set_before(page.before());
  what.set_page_size(3);
  page = list(what);
  EXPECT_EQ(of(page), (numbers{3, 2, 1}));
  EXPECT_EQ(page.before(), 0u);
}

TEST_F(alert_queries_test, looks_at_a_bounded_number_of_rows_and_goes_on_from_there) {
  for (std::uint64_t i = 1; i <= 20'002; ++i) raise(i, v1::ALERT_STATE_OPEN, i == 1 ? "rare" : "common");
  v1::AlertListRequest what;
  what.set_task_id("rare");
  auto page = list(what);
  EXPECT_TRUE(of(page).empty());
  EXPECT_EQ(page.before(), 3u);
  what.set_before(page.before());
  page = list(what);
  EXPECT_EQ(of(page), numbers{1});
  EXPECT_EQ(page.before(), 0u);
}

TEST_F(alert_queries_test, gives_at_most_a_thousand_and_a_hundred_unless_asked) {
  for (std::uint64_t i = 1; i <= 1'002; ++i) raise(i, v1::ALERT_STATE_OPEN);
  EXPECT_EQ(list().items_size(), 100);
  v1::AlertListRequest what;
  what.set_page_size(5'000);
  EXPECT_EQ(list(what).items_size(), 1'000);
}

TEST_F(alert_queries_test, shows_one_alert_or_says_that_there_is_none) {
  raise(7, v1::ALERT_STATE_RESOLVED, "a");
  v1::AlertShowRequest what;
  what.set_number(7);
  EXPECT_EQ(show_alert(what, *store.read()).alert().task_id(), "a");
  what.set_number(8);
  const auto none = show_alert(what, *store.read());
  EXPECT_EQ(none.error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(none.error().sentence(), "there is no alert 8");
}

TEST_F(alert_queries_test, an_acknowledgement_names_some_alerts_but_not_too_many) {
  v1::AlertAckRequest what;
  what.set_who("ana");
  EXPECT_FALSE(check_acknowledgement(what).ok());
  for (std::uint64_t i = 1; i <= 1'000; ++i) what.add_numbers(i);
  EXPECT_TRUE(check_acknowledgement(what).ok());
  what.add_numbers(1'001);
  EXPECT_FALSE(check_acknowledgement(what).ok());
  what.mutable_numbers()->Truncate(1);
  what.set_note(std::string(4'097, 'a'));
  EXPECT_FALSE(check_acknowledgement(what).ok());
}

}  // namespace
}  // namespace fairlead::testing
