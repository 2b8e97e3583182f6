// A sound store is found sound, and each kind of planted damage is found and named.

#include "store/check/check.hpp"

#include <set>
#include <tuple>

#include "store/meta_rows.hpp"
#include "store/rows/worker_rows.hpp"
#include "tests/store/check/check_fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

TEST_F(checked_store, is_found_sound) {
  const auto found = report();
  EXPECT_TRUE(found.clean()) << found.findings.front();
  EXPECT_EQ(found.tasks, 6u);
  EXPECT_GE(found.values, 30u);
}

TEST_F(checked_store, tells_how_far_the_check_is) {
  std::set<table> seen;
  check(*it.read(), [&](table where, std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    seen.insert(where);
  });
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(table_count));
}

TEST_F(checked_store, a_damaged_value_in_any_table) {
  const auto version = definition_hash(order_definition());
  const std::pair<table, std::string> values[] = {
      {table::meta, keys::meta(meta::boot_row)},
      {table::task, keys::task(1, 1).str()},
      {table::task_id, keys::task_id(1, "o-1")},
      {table::due, keys::due(1, 10'000, 1).str()},
      {table::pending, keys::pending(1, pending_order(1'000, 0), 3).str()},
      {table::held, keys::held(1, held_why::parked, 4).str()},
      {table::finished, keys::finished(1, v1::TASK_STATE_COMPLETED, 5'000, 6).str()},
      {table::by_workflow, keys::by_workflow(1, "order", 1)},
      {table::by_label, keys::by_label(1, "shop", "berlin", 2)},
      {table::history, keys::history(1, 2, 1).str()},
      {table::payload, keys::payload(1, 2, 1).str()},
      {table::workflow, keys::workflow(1, "order")},
      {table::workflow_version, keys::workflow_version(1, "order", version)},
  };
  for (const auto& [where, key] : values) {
    ASSERT_TRUE(it.damage(where, key)) << keys::describe(where, key);
    expect_found(table_name(where), keys::describe(where, key), "checksum");
    ASSERT_TRUE(it.damage(where, key));  // the same bit turned back
  }
  EXPECT_TRUE(report().clean());
}

TEST_F(checked_store, a_key_that_is_none) {
  for (auto where : {table::task, table::due, table::held, table::by_label, table::history, table::workflow_version, table::meta}) {
    plant([&](batch& one) { one.put(where, "\xff\xff", ""); });
    expect_found(table_name(where), "0xffff", "the key is none");
    plant([&](batch& one) { one.erase(where, "\xff\xff"); });
  }
}

TEST_F(checked_store, a_value_that_does_not_parse) {
  plant([](batch& one) {
    one.put(table::task, keys::task(1, 1), "\xff");
    one.put(table::task_id, keys::task_id(1, "o-2"), "\xff");
    one.put(table::history, keys::history(1, 2, 1), "\xff");
    one.put(table::held, keys::held(1, held_why::parked, 4), "long ago, it seems");
    one.put(table::workflow, keys::workflow(1, "order"), "short");
    one.put(table::workflow_version, keys::workflow_version(1, "order", definition_hash(order_definition())), "\xff");
  });
  expect_found("task", "key 1", "does not parse");
  expect_found("task_id", "`o-2`", "does not parse");
  expect_found("history", "chunk 1 of task 2", "does not parse");
  expect_found("held", "parked of task 4", "18 bytes");
  expect_found("workflow", "`order`", "no content hash");
  expect_found("workflow_version", "`order`", "does not parse");
}

TEST_F(checked_store, a_row_under_another_number) {
  plant([&](batch& one) { one.put(table::task, keys::task(1, 9), running_order(8, "o-8").SerializeAsString()); });
  expect_found("task", "key 9", "task 8");
}

TEST_F(checked_store, an_index_entry_that_is_missing) {
  const auto order = pending_order(1'000, 0);
  const std::tuple<table, std::string, std::string> entries[] = {
      {table::task_id, keys::task_id(1, "o-1"), "key 1"},
      {table::due, keys::due(1, 10'000, 1).str(), "key 1"},
      {table::pending, keys::pending(1, order, 3).str(), "key 3"},
      {table::held, keys::held(1, held_why::parked, 4).str(), "key 4"},
      {table::held, keys::held(1, held_why::paused, 5).str(), "key 5"},
      {table::finished, keys::finished(1, v1::TASK_STATE_COMPLETED, 5'000, 6).str(), "key 6"},
      {table::by_workflow, keys::by_workflow(1, "order", 1), "key 1"},
      {table::by_label, keys::by_label(1, "shop", "berlin", 2), "key 2"},
  };
  for (const auto& [where, key, task] : entries) {
    const auto value = *value_of(it, where, key);
    plant([&, &where = where, &key = key](batch& one) { one.erase(where, key); });
    expect_found("task", task, std::string("in table ") + table_name(where));
    plant([&, &where = where, &key = key](batch& one) { one.put(where, key, value); });
  }
  EXPECT_TRUE(report().clean());
}

TEST_F(checked_store, an_index_entry_too_many) {
  const std::pair<table, std::string> entries[] = {
      {table::due, keys::due(1, 9'000, 1).str()},
      {table::pending, keys::pending(1, 5, 1).str()},
      {table::held, keys::held(1, held_why::parked, 1).str()},
      {table::finished, keys::finished(1, v1::TASK_STATE_COMPLETED, 5'000, 1).str()},
      {table::by_workflow, keys::by_workflow(1, "other", 1)},
      {table::by_label, keys::by_label(1, "shop", "paris", 2)},
  };
  for (const auto& [where, key] : entries) {
    const auto value = where == table::held ? meta::encode_u64(1) : std::string();
    plant([&, &where = where, &key = key](batch& one) { one.put(where, key, value); });
    expect_found(table_name(where), keys::describe(where, key), "does not say so");
    plant([&, &where = where, &key = key](batch& one) { one.erase(where, key); });
  }
  plant([](batch& one) { one.put(table::due, keys::due(1, 9'000, 77), ""); });
  expect_found("due", "task 77", "no such task");
}

TEST_F(checked_store, an_id_that_leads_nowhere_or_astray) {
  const auto names = [](std::uint64_t number) {
    v1::TaskTombstone out;
    out.set_number(number);
    return out.SerializeAsString();
  };
  plant([&](batch& one) {
    one.put(table::task_id, keys::task_id(1, "ghost"), names(77));
    one.put(table::task_id, keys::task_id(1, "alias"), names(1));
    one.put(table::task_id, keys::task_id(1, "o-2"), names(2));
    one.put(table::task_id, keys::task_id(1, "o-3"), names(4));
  });
  expect_found("task_id", "`ghost`", "there is no task 77");
  expect_found("task_id", "`alias`", "has another id");
  expect_found("task", "key 2", "another content hash");
  expect_found("task", "key 3", "names task 4");
}

TEST_F(checked_store, a_live_task_without_a_wake_up_or_with_one_too_late) {
  plant_row(1, [](v1::TaskRecord& task) { task.set_due_unix_ms(0); });
  expect_found("task", "key 1", "no next wake-up");
  plant_row(1, [](v1::TaskRecord& task) { task.set_due_unix_ms(9'999); });
  expect_found("task", "key 1", "later than its wake-up");
  plant_row(1, [](v1::TaskRecord& task) {
    task.set_due_unix_ms(10'000);
    task.set_due_indexed_unix_ms(0);
  });
  expect_found("task", "key 1", "no entry in table due");
  plant_row(6, [](v1::TaskRecord& task) { task.set_due_unix_ms(1); });
  expect_found("task", "key 6", "does not allow");
}

TEST_F(checked_store, a_gap_in_a_history) {
  plant_row(1, [](v1::TaskRecord& task) { task.mutable_recent()->DeleteSubrange(0, 1); });
  expect_found("task", "key 1", "gap in its history");
  plant([](batch& one) { one.erase(table::history, keys::history(1, 2, 1)); });
  expect_found("task", "key 2", "gap in its history");
  plant([](batch& one) { one.put(table::history, keys::history(1, 77, 1), ""); });
  expect_found("history", "task 77", "no such task");
}

TEST_F(checked_store, a_payload_that_is_missing_cut_or_ownerless) {
  plant([](batch& one) { put_payload(one, 2, 1, "[1,2]"); });
  expect_found("task", "key 2", "5 bytes instead of 2");
  plant([](batch& one) { one.erase(table::payload, keys::payload(1, 2, 1)); });
  expect_found("task", "key 2", "slot 1 of task 2");
  plant([](batch& one) { put_payload(one, 77, 1, "[]"); });
  expect_found("payload", "task 77", "no such task");
  plant_row(2, [](v1::TaskRecord& task) { task.set_next_slot(1); });
  expect_found("task", "key 2", "as if it were free");
}

TEST_F(checked_store, a_definition_that_a_live_task_needs) {
  plant([](batch& one) { one.erase(table::workflow_version, keys::workflow_version(1, "order", definition_hash(order_definition()))); });
  expect_found("task", "key 1", "which is not in table workflow_version");
  expect_found("workflow", "`order`", "is not in table workflow_version");
}

TEST_F(checked_store, counters_that_do_not_count) {
  shard.state().set_running(77);
  shard.state().set_next_task_number(3);
  plant([](batch&) {});
  expect_found("meta", "progress", "the counter running is 77");
  expect_found("meta", "progress", "next task number is 3, but task 6 exists");
}

TEST_F(checked_store, a_meta_row_that_is_missing) {
  plant([](batch& one) { one.erase(table::meta, keys::meta(meta::schema_row)); });
  expect_found("meta", "schema_version", "missing");
}

TEST_F(checked_store, a_worker_and_a_key_that_do_not_parse) {
  v1::WorkerRecord sound;
  sound.set_agent("payment");
  sound.set_incarnation(7);
  plant([&](batch& one) { put_worker(one, "w/1", sound); });
  EXPECT_TRUE(report().findings.empty());
  plant([](batch& one) {
    put_worker(one, "w/2", {});
    put_work_key(one, {});
    one.put(table::meta, keys::meta(std::string{meta::worker_rows} + "w/3"), "\xff");
  });
  expect_found("meta", "worker/w/2", "the row has no incarnation");
  expect_found("meta", "worker/w/3", "the value does not parse");
  expect_found("meta", "work_key", "the row has no key");
}

TEST_F(checked_store, lists_no_more_findings_than_it_was_asked_for) {
  plant([](batch& one) {
    for (std::uint64_t i = 100; i < 200; ++i) one.put(table::due, keys::due(1, 1, i), "");
  });
  const auto found = check(*it.read(), {}, 10);
  EXPECT_EQ(found.findings.size(), 10u);
  EXPECT_EQ(found.findings_left_out, 90u);
}

}  // namespace
TEST_F(checked_store, a_child_that_is_missing_and_one_whose_parent_is) {
  shard.change(1, [](v1::TaskRecord& task) {
    auto& step = *task.mutable_steps(0);
    step.set_kind(v1::STEP_KIND_WORKFLOW);
    step.set_state(v1::STEP_STATE_RUNNING);
    step.mutable_child()->set_id("o-2");
  });
  EXPECT_TRUE(report().clean());
  plant_row(1, [](v1::TaskRecord& task) { task.mutable_steps(0)->mutable_child()->set_id("o-1/pay~1"); });
  plant_row(5, [](v1::TaskRecord& task) {
    task.mutable_parent()->set_number(77);
    task.mutable_parent()->set_id("o-77");
  });
  // Nothing depends on the parent of a task that has ended.
  plant_row(6, [](v1::TaskRecord& task) { task.mutable_parent()->set_number(77); });
  expect_found("task", "key 1", "waits for task `o-1/pay~1`");
  expect_found("task", "key 5", "is a part of task `o-77`");
  EXPECT_EQ(report().findings.size(), 2u);
}

}  // namespace fairlead::store
