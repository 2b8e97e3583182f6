// Alerts and outboxes: sound ones are found sound, each kind of planted damage is found and named.

#include "store/rows/alert_rows.hpp"
#include "store/rows/service_rows.hpp"
#include "tests/store/check/check_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

/// Beside the tasks: an open alert about task 4, an acknowledged one and a resolved one; three status events of two tasks for one client.
struct checked_notices : checked_store {
  std::string address;

  void SetUp() override {
    checked_store::SetUp();
    shard.change(4, [](v1::TaskRecord& task) { task.set_alert(1); });
    auto alert = alert_of(1, v1::ALERT_STATE_OPEN);
    alert.set_task_id("o-4");
    put(alert);
    put(alert_of(2, v1::ALERT_STATE_ACKNOWLEDGED));
    put(alert_of(3, v1::ALERT_STATE_RESOLVED));
    v1::ReplyAddressRecord row;
    row.mutable_address()->set_client("shop");
    address = reply_address_hash(row.address());
    plant([&](batch& one) { one.put(table::reply_address, keys::reply_address(1, address), row.SerializeAsString()); });
    shard.change(1, [](v1::TaskRecord& task) { task.set_status_sequence(3); });
    shard.change(2, [](v1::TaskRecord& task) { task.set_status_sequence(1); });
    plant([&](batch& one) {
      put_event(one, 11, "o-1", 2);
      put_event(one, 12, "o-2", 1);
      put_event(one, 13, "o-1", 3);
      shard.state().set_next_alert(3);
      shard.state().set_unresolved_alerts(2);
      shard.state().set_next_position(13);
      shard.state().set_outbox_events(3);
    });
  }

  static v1::AlertRecord alert_of(std::uint64_t number, v1::AlertState state) {
    v1::AlertRecord out;
    out.set_number(number);
    out.set_state(state);
    return out;
  }

  void put(const v1::AlertRecord& alert) {
    plant([&](batch& one) { put_alert(one, alert); });
  }

  void put_event(batch& one, std::uint64_t position, const std::string& id, std::uint64_t sequence) {
    v1::StatusEvent event;
    event.set_position(position);
    event.set_task_id(id);
    event.set_sequence(sequence);
    event.mutable_to()->set_client("shop");
    one.put(table::outbox, keys::outbox(1, address, position), event.SerializeAsString());
  }
};

TEST_F(checked_notices, are_found_sound) {
  const auto found = report();
  EXPECT_TRUE(found.clean()) << found.findings.front();
}

TEST_F(checked_notices, damaged_values) {
  const std::pair<table, std::string> values[] = {
      {table::alert, keys::alert(1, 1).str()},
      {table::unresolved_alert, keys::unresolved_alert(1, 1).str()},
      {table::outbox, keys::outbox(1, address, 12).str()},
      {table::reply_address, keys::reply_address(1, address).str()},
  };
  for (const auto& [where, key] : values) {
    ASSERT_TRUE(it.damage(where, key)) << keys::describe(where, key);
    expect_found(table_name(where), keys::describe(where, key), "checksum");
    ASSERT_TRUE(it.damage(where, key));
  }
  EXPECT_TRUE(report().clean());
}

TEST_F(checked_notices, values_that_do_not_parse) {
  plant([&](batch& one) {
    one.put(table::alert, keys::alert(1, 2), "\xff");
    one.put(table::outbox, keys::outbox(1, address, 12), "\xff");
    one.put(table::reply_address, keys::reply_address(1, address), "\xff");
  });
  expect_found("alert", "alert 2", "does not parse");
  expect_found("outbox", "event 12", "does not parse");
  expect_found("reply_address", to_hex(address), "does not parse");
}

TEST_F(checked_notices, an_alert_under_another_number_or_in_no_state) {
  plant([](batch& one) {
    one.put(table::alert, keys::alert(1, 2), alert_of(8, v1::ALERT_STATE_OPEN).SerializeAsString());
    one.put(table::alert, keys::alert(1, 3), alert_of(3, v1::ALERT_STATE_UNSPECIFIED).SerializeAsString());
  });
  expect_found("alert", "alert 2", "says it is alert 8");
  expect_found("alert", "alert 3", "no known state");
}

TEST_F(checked_notices, an_index_of_alerts_that_lacks_one_or_has_one_too_many) {
  plant([](batch& one) {
    one.erase(table::unresolved_alert, keys::unresolved_alert(1, 1));
    one.put(table::unresolved_alert, keys::unresolved_alert(1, 3), "");
    one.put(table::unresolved_alert, keys::unresolved_alert(1, 2), "x");
    one.put(table::unresolved_alert, keys::unresolved_alert(1, 77), "");
  });
  expect_found("alert", "alert 1", "lacks its entry");
  expect_found("unresolved_alert", "unresolved_alert 3", "is resolved");
  expect_found("unresolved_alert", "unresolved_alert 2", "1 bytes");
  expect_found("unresolved_alert", "unresolved_alert 77", "no such alert");
}

TEST_F(checked_notices, what_is_kept_of_a_service_is_its_own_and_worth_keeping) {
  v1::ServiceRecord open;
  open.set_agent("payment");
  open.set_breaker(v1::BREAKER_STATE_OPEN);
  open.set_breaker_alert(1);
  plant([&](batch& one) { put_service(one, open); });
  EXPECT_TRUE(report().clean()) << report().findings.front();
  v1::ServiceRecord idle;
  idle.set_agent("idle");
  auto settled = open;
  settled.set_breaker_alert(3);
  plant([&](batch& one) {
    one.put(table::service, keys::service(1, "other"), open.SerializeAsString());
    one.put(table::service, keys::service(1, "idle"), idle.SerializeAsString());
    one.put(table::service, keys::service(1, "payment"), settled.SerializeAsString());
    one.put(table::service, keys::service(1, "torn"), "\xff");
  });
  expect_found("service", "service `other`", "says it is service `payment`");
  expect_found("service", "service `idle`", "is empty");
  expect_found("service", "service `payment`", "alert 3 of it is resolved or not there");
  expect_found("service", "service `torn`", "does not parse");
}

TEST_F(checked_notices, a_task_that_names_an_alert_that_is_none_of_its_own) {
  plant_row(4, [](v1::TaskRecord& task) { task.set_alert(2); });
  expect_found("task", "key 4", "alert 2, which is about another task");
  plant_row(4, [](v1::TaskRecord& task) { task.set_alert(3); });
  expect_found("task", "key 4", "alert 3, which is resolved");
  plant_row(4, [](v1::TaskRecord& task) { task.set_alert(77); });
  expect_found("task", "key 4", "alert 77, which is not in table alert");
}

TEST_F(checked_notices, a_status_event_that_names_no_address_or_another_than_its_key) {
  for (const auto* name : {"", "else"}) {
    plant([&](batch& one) {
      v1::StatusEvent event;
      event.set_position(11);
      event.set_task_id("o-1");
      event.set_sequence(2);
      event.mutable_to()->set_client(name);
      one.put(table::outbox, keys::outbox(1, address, 11), event.SerializeAsString());
    });
    expect_found("outbox", "event 11", "is for another address");
  }
}

TEST_F(checked_notices, an_address_under_the_hash_of_another) {
  v1::ReplyAddressRecord row;
  row.mutable_address()->set_webhook("shop");
  plant([&](batch& one) { one.put(table::reply_address, keys::reply_address(1, address), row.SerializeAsString()); });
  expect_found("reply_address", to_hex(address), "another address");
  plant([&](batch& one) { one.put(table::reply_address, keys::reply_address(1, content_hash("c")), ""); });
  expect_found("reply_address", to_hex(content_hash("c")), "another address");
}

TEST_F(checked_notices, a_status_event_that_is_missing_doubled_or_out_of_place) {
  plant([&](batch& one) { put_event(one, 13, "o-1", 4); });
  expect_found("outbox", "event 13", "status event 4 of task `o-1` follows 2");
  plant([&](batch& one) { put_event(one, 13, "o-1", 2); });
  expect_found("outbox", "event 13", "status event 2 of task `o-1` follows 2");
  plant([&](batch& one) { one.erase(table::outbox, keys::outbox(1, address, 13)); });
  expect_found("reply_address", to_hex(address), "ends with status event 2 of task `o-1`, whose row says 3");
  plant([&](batch& one) {
    v1::StatusEvent event;
    event.set_position(14);
    one.put(table::outbox, keys::outbox(1, address, 13), event.SerializeAsString());
  });
  expect_found("outbox", "event 13", "is at 14");
  plant([&](batch& one) { put_event(one, 13, "ghost", 1); });
  expect_found("outbox", "event 13", "there is no task `ghost`");
}

TEST_F(checked_notices, counters_that_do_not_count) {
  auto& state = shard.state();
  state.set_paused(77);
  state.set_due_entries(78);
  state.set_undo_held(79);
  state.set_unresolved_alerts(80);
  state.set_outbox_events(81);
  state.set_next_alert(2);
  state.set_next_position(12);
  plant([](batch&) {});
  expect_found("meta", "progress", "the counter paused is 77, counted were 1");
  expect_found("meta", "progress", "the counter due_entries is 78, counted were 2");
  expect_found("meta", "progress", "the counter undo_held is 79, counted were 0");
  expect_found("meta", "progress", "the counter unresolved_alerts is 80, counted were 2");
  expect_found("meta", "progress", "the counter outbox_events is 81, counted were 3");
  expect_found("meta", "progress", "the last alert is 2, but 3 exists");
  expect_found("meta", "progress", "the last outbox position is 12, but 13 exists");
}

TEST_F(checked_notices, counters_that_the_last_writer_did_not_know_are_no_finding) {
  auto one = shard.next();
  auto state = shard.state();
  state.set_paused(77);
  one.shard_state = state.SerializeAsString();
  ASSERT_TRUE(it.commit({one}).ok());
  EXPECT_TRUE(report().clean());
}

}  // namespace
}  // namespace fairlead::store
