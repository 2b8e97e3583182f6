#pragma once
// A shard whose due index can be damaged on purpose.

#include <gtest/gtest.h>

#include <string>

#include "store/memory/memory_store.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::testing {

class wake_up_world : public ::testing::Test {
 protected:
  static std::string name(std::uint64_t number) { return "t" + std::to_string(number); }

  /// A running task with an attempt out, due at 10,000; `how` makes something else of it.
  template <class Change>
  void create(std::uint64_t number, Change&& how) {
    auto record = store::testing::running_order(number, name(number));
    record.mutable_steps(0)->set_attempt(1);
    record.mutable_steps(0)->set_complete_by_unix_ms(record.due_unix_ms());
    how(record);
    shard.create(record);
  }
  void create(std::uint64_t number) {
    create(number, [](v1::TaskRecord&) {});
  }

  /// What no batch of a Scheduler does: the entry goes, the row and the counters stay.
  void lose_entry(std::uint64_t number, std::int64_t due_ms = 10'000) {
    auto one = shard.next();
    one.erase(store::table::due, store::keys::due(store::default_namespace, due_ms, number));
    shard.expect_committed(std::move(one));
  }
  void add_entry(std::uint64_t number, std::int64_t due_ms) {
    auto one = shard.next();
    one.put(store::table::due, store::keys::due(store::default_namespace, due_ms, number), {});
    shard.expect_committed(std::move(one));
  }
  /// As the Scheduler would repair it.
  void put_back_entry(std::uint64_t number, std::int64_t due_ms = 10'000) { add_entry(number, due_ms); }

  store::memory_store store;
  store::testing::test_shard shard{store};
};

}  // namespace fairlead::testing
