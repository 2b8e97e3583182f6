#pragma once
// A sound store for the tests of a check to damage.

#include <string>

#include "store/check/check.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store::testing {

/// Two running orders (the second with a label, chunks of history and a payload), a pending, a parked, a paused and a completed one.
struct checked_store : ::testing::Test {
  memory_store it;
  test_shard shard{it};

  void SetUp() override {
    shard.deploy_order();
    shard.create(running_order(1, "o-1"));
    auto two = running_order(2, "o-2");
    auto* label = two.add_labels();
    label->set_key("shop");
    label->set_value("berlin");
    two.set_next_slot(2);
    two.mutable_input()->set_slot(1);
    two.mutable_input()->set_size(2);
    for (int i = 0; i < 40; ++i) add_event(two, v1::EVENT_KIND_STEP_RETRIED, i);
    shard.create(two);
    plant([](batch& one) { put_payload(one, 2, 1, "[]"); });
    shard.create(pending_order_task(3, "o-3"));
    shard.create(running_order(4, "o-4"));
    shard.change(4, [](v1::TaskRecord& task) { park(task, 4'000); });
    shard.create(running_order(5, "o-5"));
    shard.change(5, [](v1::TaskRecord& task) {
      task.set_paused(true);
      task.set_due_unix_ms(0);
    });
    shard.create(running_order(6, "o-6"));
    shard.change(6, [](v1::TaskRecord& task) { complete(task, 5'000); });
  }

  template <class Write>
  void plant(Write&& write) {
    auto one = shard.next();
    write(one);
    shard.expect_committed(std::move(one));
  }

  /// Writes a changed row and nothing else.
  template <class Change>
  void plant_row(std::uint64_t number, Change&& change) {
    auto record = **load_task(*it.read(), number);
    change(record);
    plant([&](batch& one) { one.put(table::task, keys::task(1, number), record.SerializeAsString()); });
  }

  check_report report() { return check(*it.read()); }

  void expect_found(const std::string& table_word, const std::string& key_word, const std::string& what) {
    const auto all = report().findings;
    bool found = false;
    for (const auto& one : all) {
      found =
          found || (one.find("Table " + table_word) == 0 && one.find(key_word) != std::string::npos && one.find(what) != std::string::npos);
    }
    std::string listed;
    for (const auto& one : all) listed += "\n  " + one;
    EXPECT_TRUE(found) << "wanted: " << table_word << ", " << key_word << ", " << what << "; found:" << listed;
  }
};

}  // namespace fairlead::store::testing
