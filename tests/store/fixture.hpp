#pragma once
// What the tests of the store share: a directory that goes away, records to store, and a small shard that keeps sequence and counters.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/task_rows.hpp"
#include "store/store.hpp"
#include "tests/eventually.hpp"

namespace fairlead::store::testing {

class temporary_directory {
 public:
  temporary_directory() {
    auto pattern = (std::filesystem::temp_directory_path() / "fairlead-store-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~temporary_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_directory(const temporary_directory&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void write_text(const std::string& path, const std::string& text) { std::ofstream{path, std::ios::trunc} << text; }
inline std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream{path}.rdbuf();
  return out.str();
}

inline v1::WorkflowDefinition order_definition() {
  v1::WorkflowDefinition out;
  out.set_name("order");
  for (const auto* name : {"reserve", "charge", "ship"}) {
    auto* step = out.add_steps();
    step->set_name(name);
    step->set_agent("shop");
    step->set_call(name);
  }
  return out;
}

inline void add_event(v1::TaskRecord& record, v1::EventKind kind, std::int64_t at) {
  record.set_history_size(record.history_size() + 1);
  auto* event = record.add_recent();
  event->set_sequence(record.history_size());
  event->set_at_unix_ms(at);
  event->set_kind(kind);
}

/// A running order of three steps that is due at 10,000.
inline v1::TaskRecord running_order(std::uint64_t number, const std::string& id) {
  v1::TaskRecord out;
  out.set_number(number);
  out.set_id(id);
  out.set_name_space("default");
  out.set_workflow("order");
  out.set_workflow_hash(definition_hash(order_definition()));
  out.set_content_hash(content_hash(id));
  out.set_state(v1::TASK_STATE_RUNNING);
  out.mutable_input()->set_json(R"({"amount_cents":1200})");
  for (int i = 0; i < 3; ++i) {
    auto* step = out.add_steps();
    step->set_path(order_definition().steps(i).name());
    step->set_state(i == 0 ? v1::STEP_STATE_RUNNING : v1::STEP_STATE_PENDING);
    step->set_definition(static_cast<std::uint32_t>(i));
  }
  out.set_created_at_unix_ms(1'000);
  out.set_due_unix_ms(10'000);
  out.set_next_slot(1);
  add_event(out, v1::EVENT_KIND_TASK_SUBMITTED, 1'000);
  add_event(out, v1::EVENT_KIND_TASK_STARTED, 1'000);
  return out;
}

inline v1::TaskRecord pending_order_task(std::uint64_t number, const std::string& id, std::int32_t priority = 0) {
  auto out = running_order(number, id);
  out.set_state(v1::TASK_STATE_PENDING);
  out.set_priority(priority);
  out.set_due_unix_ms(0);
  return out;
}

inline void complete(v1::TaskRecord& record, std::int64_t at) {
  record.set_state(v1::TASK_STATE_COMPLETED);
  record.set_due_unix_ms(0);
  record.set_finished_at_unix_ms(at);
  add_event(record, v1::EVENT_KIND_TASK_COMPLETED, at);
}

inline void park(v1::TaskRecord& record, std::int64_t at) {
  record.set_parked(true);
  record.set_due_unix_ms(0);
  add_event(record, v1::EVENT_KIND_TASK_PARKED, at);
}

/// Writes to a store as a shard does: in sequence, under its epoch, with counters.
class test_shard {
 public:
  explicit test_shard(store& to) : store_(to), epoch_(*to.raise_epoch()), sequence_(to.read()->get_progress().sequence) {
    state_ = to.read()->get_progress().shard;
    if (state_.next_task_number() == 0) state_.set_next_task_number(1);
  }

  batch next() {
    batch out;
    out.epoch = epoch_;
    out.sequence = ++sequence_;
    return out;
  }

  status commit(batch what) {
    seal_counters(what, state_);
    auto done = store_.commit({what});
    if (!done) --sequence_;
    return done;
  }

  void deploy_order() {
    v1::DeployedWorkflow deployed;
    *deployed.mutable_definition() = order_definition();
    deployed.set_content_hash(definition_hash(order_definition()));
    auto one = next();
    one.put(table::workflow, keys::workflow(1, "order"), deployed.content_hash());
    one.put(table::workflow_version, keys::workflow_version(1, "order", deployed.content_hash()), deployed.SerializeAsString());
    expect_committed(std::move(one));
  }

  void create(v1::TaskRecord record) {
    auto one = next();
    put_task(one, {}, record);
    move_counters(state_, {}, index_state_of(record));
    state_.set_next_task_number(std::max(state_.next_task_number(), record.number() + 1));
    expect_committed(std::move(one));
  }

  /// Loads, changes and stores a task.
  template <class Change>
  void change(std::uint64_t number, Change&& how, bool refresh_due = false) {
    auto record = load_task(*store_.read(), number);
    ASSERT_TRUE(record.ok() && record->has_value());
    auto& task = **record;
    const auto before = index_state_of(task);
    how(task);
    auto one = next();
    put_task(one, before, task, refresh_due);
    move_counters(state_, before, index_state_of(task));
    expect_committed(std::move(one));
  }

  void expect_committed(batch one) {
    auto done = commit(std::move(one));
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
  }

  v1::ShardState& state() { return state_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t sequence() const { return sequence_; }

 private:
  store& store_;
  std::uint64_t epoch_;
  std::uint64_t sequence_;
  v1::ShardState state_;
};

inline std::optional<std::string> value_of(const store& from, table where, std::string_view key) {
  const auto now = from.read();
  auto found = now->get(where, key);
  if (!found.ok() || !found->has_value()) return std::nullopt;
  return std::string(**found);
}

}  // namespace fairlead::store::testing
