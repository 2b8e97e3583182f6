#include "store/rows/task_rows.hpp"

#include "messages/payloads.hpp"
#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/history_rows.hpp"

namespace fairlead::store {

namespace {

void put_creation(batch& out, const v1::TaskRecord& record) {
  v1::TaskTombstone tombstone;
  tombstone.set_number(record.number());
  tombstone.set_content_hash(record.content_hash());
  if (!record.submitted_by().empty()) tombstone.set_submitted_by(record.submitted_by());
  put_tombstone(out, record.id(), tombstone);
  out.put(table::by_workflow, keys::by_workflow(default_namespace, record.workflow(), record.number()), {});
  for (const auto& label : record.labels())
    out.put(table::by_label, keys::by_label(default_namespace, label.key(), label.value(), record.number()), {});
}

void move_due(batch& out, const task_index_state& before, v1::TaskRecord& after, bool exact) {
  const auto old = before.due_indexed_unix_ms;
  const auto due = after.due_unix_ms();
  const bool keep = due != 0 && old != 0 && (exact ? old == due : old <= due);
  if (keep) {
    after.set_due_indexed_unix_ms(old);
    return;
  }
  if (old != 0) out.erase(table::due, keys::due(default_namespace, old, after.number()));
  if (due != 0) out.put(table::due, keys::due(default_namespace, due, after.number()), {});
  after.set_due_indexed_unix_ms(due);
}

void move_pending(batch& out, const task_index_state& before, const task_index_state& now, std::uint64_t number) {
  const bool was = before.exists && waits_its_turn(before);
  const bool is = waits_its_turn(now);
  if (was && is && before.pending_order == now.pending_order) return;
  if (was) out.erase(table::pending, keys::pending(default_namespace, before.pending_order, number));
  if (is) out.put(table::pending, keys::pending(default_namespace, now.pending_order, number), {});
}

void move_finished(batch& out, const task_index_state& before, const task_index_state& now, std::uint64_t number) {
  const bool was = before.exists && has_ended(before.state);
  const bool is = has_ended(now.state);
  if (was && is && before.state == now.state && before.finished_at_unix_ms == now.finished_at_unix_ms) return;
  const auto key = [&](const task_index_state& of) {
    return keys::finished(default_namespace, static_cast<std::uint8_t>(of.state), of.finished_at_unix_ms, number);
  };
  if (was) out.erase(table::finished, key(before));
  if (is) out.put(table::finished, key(now), {});
}

// A task is held since its newest event: parking and pausing are events.
void move_held(batch& out, bool was, bool is, held_why why, const v1::TaskRecord& after) {
  if (was == is) return;
  const auto key = keys::held(default_namespace, why, after.number());
  if (!is) return out.erase(table::held, key);
  const auto since = after.recent().empty() ? after.created_at_unix_ms() : after.recent(after.recent_size() - 1).at_unix_ms();
  out.put(table::held, key, meta::encode_u64(static_cast<std::uint64_t>(since)));
}

}  // namespace

task_index_state index_state_of(const v1::TaskRecord& record) {
  task_index_state out;
  out.exists = true;
  out.state = record.state();
  out.held = holds_of(record);
  out.launch = record.has_launch();
  out.scheduled = record.scheduled();
  out.due_indexed_unix_ms = record.due_indexed_unix_ms();
  out.pending_order = pending_order(wanted_since_unix_ms(record), record.priority());
  out.finished_at_unix_ms = record.finished_at_unix_ms();
  return out;
}

void put_task(batch& out, const task_index_state& before, v1::TaskRecord& after, bool refresh_due) {
  move_events(out, after);
  move_due(out, before, after, refresh_due);
  const auto now = index_state_of(after);
  thread_local std::string row;  // keeps its capacity from task to task
  row.clear();
  after.AppendToString(&row);
  out.put(table::task, keys::task(default_namespace, after.number()), row);
  if (!before.exists) put_creation(out, after);
  move_pending(out, before, now, after.number());
  for (std::size_t i = 0; i < std::size(holds); ++i)
    if (holds[i].index != 0) move_held(out, (before.held >> i & 1U) != 0, (now.held >> i & 1U) != 0, held_why{holds[i].index}, after);
  move_finished(out, before, now, after.number());
}

status erase_task(batch& out, const v1::TaskRecord& record, const snapshot& from, const row_visitor& each_row) {
  const auto number = record.number();
  const auto first = keys::task(default_namespace, number);
  for (const auto where : {table::task, table::history, table::payload}) {
    auto scanned = from.scan(where, first, keys::after(first), [&](std::string_view key, std::string_view payload) {
      if (each_row) each_row(where, key, payload);
      out.erase(where, key);
      return true;
    });
    if (!scanned.ok()) return scanned;
  }
  out.erase(table::by_workflow, keys::by_workflow(default_namespace, record.workflow(), number));
  for (const auto& label : record.labels())
    out.erase(table::by_label, keys::by_label(default_namespace, label.key(), label.value(), number));
  out.erase(table::finished,
            keys::finished(default_namespace, static_cast<std::uint8_t>(record.state()), record.finished_at_unix_ms(), number));
  for (const auto& one : holds)
    if (one.index != 0 && one.on(record)) out.erase(table::held, keys::held(default_namespace, held_why{one.index}, number));
  if (record.due_indexed_unix_ms() != 0) out.erase(table::due, keys::due(default_namespace, record.due_indexed_unix_ms(), number));
  return nothing{};
}

v1::TaskTombstone tombstone_of(const v1::TaskRecord& record) {
  v1::TaskTombstone out;
  out.set_number(record.number());
  out.set_content_hash(record.content_hash());
  out.set_final_state(record.state());
  if (!record.submitted_by().empty()) out.set_submitted_by(record.submitted_by());
  return out;
}

void put_tombstone(batch& out, std::string_view id, const v1::TaskTombstone& tombstone) {
  out.put(table::task_id, keys::task_id(default_namespace, id), tombstone.SerializeAsString());
}

void put_payload(batch& out, std::uint64_t number, std::uint32_t slot, std::string_view json) {
  out.put(table::payload, keys::payload(default_namespace, number, slot), json);
}

result<std::optional<v1::TaskRecord>> load_task(const snapshot& from, std::uint64_t number) {
  return load<v1::TaskRecord>(from, table::task, keys::task(default_namespace, number));
}

result<std::optional<v1::TaskTombstone>> find_task(const snapshot& from, std::string_view id) {
  return load<v1::TaskTombstone>(from, table::task_id, keys::task_id(default_namespace, id));
}

result<std::string> load_payload(const snapshot& from, std::uint64_t number, const v1::Payload& payload) {
  if (payload.slot() == 0) return payload.json();
  const auto key = keys::payload(default_namespace, number, payload.slot());
  auto bytes = from.get(table::payload, key);
  if (!bytes) return bytes.failure();
  if (!bytes->has_value()) {
    return error{v1::ERROR_CODE_INCONSISTENT, "The value of " + keys::describe(table::payload, key) + " is missing.",
                 "Stop the node, run `fairlead store check` and restore the store from a backup."};
  }
  return std::string(**bytes);
}

status load_whole(const snapshot& from, v1::TaskRecord& record) {
  auto history = load_history(from, record);
  if (!history) return history.failure();
  record.mutable_recent()->Assign(history->begin(), history->end());
  status outcome = nothing{};
  for_each_payload(record, [&](v1::Payload& payload) {
    if (payload.slot() == 0 || !outcome) return;
    auto json = load_payload(from, record.number(), payload);
    if (!json) {
      outcome = json.failure();
      return;
    }
    payload.set_json(std::move(*json));
    payload.clear_slot();
    payload.clear_size();
  });
  return outcome;
}

}  // namespace fairlead::store
