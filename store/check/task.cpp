#include "store/check/task.hpp"

#include <algorithm>

#include "messages/holds.hpp"
#include "messages/items.hpp"
#include "messages/payloads.hpp"
#include "store/content_hash.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/counters.hpp"
#include "store/rows/history_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead::store {

namespace {

bool known_state(v1::TaskState state) { return state >= v1::TASK_STATE_PENDING && state <= v1::TASK_STATE_FAILED; }

bool wants_due(const v1::TaskRecord& record) {
  if (record.scheduled()) return true;
  return !has_ended(record.state()) && record.state() != v1::TASK_STATE_PENDING && !sleeps(record);
}

// While a parked or paused task has an attempt in progress, the end of its lease is awaited.
bool may_due(const v1::TaskRecord& record) {
  if (wants_due(record)) return true;
  if (has_ended(record.state()) || record.state() == v1::TASK_STATE_PENDING) return false;
  return std::any_of(record.steps().begin(), record.steps().end(),
                     [](const v1::StepRecord& step) { return step.state() == v1::STEP_STATE_RUNNING || step.complete_by_unix_ms() != 0; });
}

}  // namespace

void for_each_index_entry(const v1::TaskRecord& record, const std::function<void(table, std::string_view)>& visit) {
  const auto number = record.number();
  visit(table::by_workflow, keys::by_workflow(default_namespace, record.workflow(), number));
  std::set<std::string> labels;  // the same label twice is one entry
  for (const auto& label : record.labels()) labels.insert(keys::by_label(default_namespace, label.key(), label.value(), number));
  for (const auto& key : labels) visit(table::by_label, key);
  if (record.due_indexed_unix_ms() != 0) visit(table::due, keys::due(default_namespace, record.due_indexed_unix_ms(), number));
  if (const auto state = index_state_of(record); waits_its_turn(state))
    visit(table::pending, keys::pending(default_namespace, state.pending_order, number));
  for (const auto& one : holds)
    if (one.index != 0 && one.on(record)) visit(table::held, keys::held(default_namespace, held_why{one.index}, number));
  if (has_ended(record.state())) {
    visit(table::finished,
          keys::finished(default_namespace, static_cast<std::uint8_t>(record.state()), record.finished_at_unix_ms(), number));
  }
}

std::optional<v1::TaskRecord> task_check::parse(number_key key, std::string_view payload) {
  std::optional<v1::TaskRecord> record(std::in_place);
  if (!record->ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    report_("Table task, key " + std::to_string(key.number) + ": the row does not parse.");
    return std::nullopt;
  }
  if (record->number() != key.number || key.ns != default_namespace) {
    report_("Table task, key " + std::to_string(key.number) + ": the row says it is task " + std::to_string(record->number()) + ".");
    return std::nullopt;
  }
  if (!known_state(record->state())) finding(*record, "has no known state");
  if (record->scheduled() && record->state() != v1::TASK_STATE_PENDING) finding(*record, "waits for its start and is not pending");
  return record;
}

void task_check::look_at(number_key key, std::string_view payload) {
  const auto record = parse(key, payload);
  if (!record) return;
  greatest_number_ = std::max(greatest_number_, key.number);
  check_id(*record);
  check_entries(*record);
  check_due(*record);
  check_history(*record);
  check_payloads(*record);
  check_definition(*record);
  check_alert(*record);
  check_family(*record);
  // The counters have it among the archived tasks already.
  if (!moves(*record)) move_counters(counted_, {}, index_state_of(*record));
}

std::optional<v1::TaskRecord> task_check::look_at_archived(number_key key, std::string_view payload) {
  auto record = parse(key, payload);
  if (!record) return record;
  if (!has_ended(record->state())) finding(*record, "is archived but not finished");
  check_history(*record);
  check_payloads(*record);
  return record;
}

void task_check::finding(const v1::TaskRecord& record, std::string_view what) {
  report_("Table task, key " + std::to_string(record.number()) + ": task `" + record.id() + "` " + std::string(what) + ".");
}

// A damaged value counts as present: the scan of its own table reports it.
bool task_check::present(table where, std::string_view key) {
  auto found = of_.get(where, key);
  return !found || found->has_value();
}

/// A move to an archive is committed and not done yet. A damaged row is reported by its own scan.
bool task_check::moves(const v1::TaskRecord& record) {
  const auto moving = is_moving(of_, record.number());
  return moving && *moving;
}

void task_check::check_id(const v1::TaskRecord& record) {
  ++expected_[static_cast<std::size_t>(table::task_id)];
  auto tombstone = find_task(of_, record.id());
  if (!tombstone) return;
  if (!tombstone->has_value()) return finding(record, "has no entry in table task_id");
  const auto& found = **tombstone;
  if (found.number() != record.number()) {
    finding(record, "has an entry in table task_id that names task " + std::to_string(found.number()));
  } else if (found.archived_day() != 0 && !moves(record)) {
    finding(record, "has an entry in table task_id that says it is archived");
  } else if (found.content_hash() != record.content_hash()) {
    finding(record, "has an entry in table task_id with another content hash");
  }
}

void task_check::check_entries(const v1::TaskRecord& record) {
  for_each_index_entry(record, [&](table where, std::string_view key) {
    ++expected_[static_cast<std::size_t>(where)];
    if (!present(where, key)) finding(record, "lacks its entry " + keys::describe(where, key) + " in table " + table_name(where));
  });
}

void task_check::check_due(const v1::TaskRecord& record) {
  const auto due = record.due_unix_ms();
  const auto indexed = record.due_indexed_unix_ms();
  if (wants_due(record) && due == 0) finding(record, "is live and has no next wake-up");
  if (!may_due(record) && due != 0) finding(record, "has a wake-up that its state does not allow");
  if (due != 0 && indexed == 0) finding(record, "has a wake-up but no entry in table due");
  if (due != 0 && indexed > due) finding(record, "is in table due later than its wake-up");
  if (due == 0 && indexed != 0) finding(record, "is in table due without a wake-up");
}

void task_check::check_history(const v1::TaskRecord& record) {
  // Up to the folded sequence there are the kept events, and the others are counted.
  const auto* folded = folded_events(record);
  const auto through = folded != nullptr ? folded->sequence() : 0;
  std::uint64_t last = 0;
  std::uint64_t kept = 0;
  bool whole = true;
  const auto follow = [&](const v1::HistoryEvent& event) {
    if (event.sequence() <= through)
      ++kept;
    else
      last = std::max(last, through);
    whole = whole && (event.sequence() <= through ? event.sequence() > last : event.sequence() == last + 1);
    last = event.sequence();
  };
  if (of_.count(table::history) != 0) {
    const auto first = keys::task(default_namespace, record.number());
    // A damaged chunk ends this scan; the scan of table history reports it.
    const auto done = of_.scan(table::history, first, keys::after(first), [&](std::string_view key, std::string_view payload) {
      v1::HistoryChunk chunk;
      const auto decoded = keys::decode_history(key);
      ++expected_[static_cast<std::size_t>(table::history)];
      whole = whole && decoded && chunk.ParseFromArray(payload.data(), static_cast<int>(payload.size())) && !chunk.events().empty();
      if (!whole) return true;
      const auto begins = chunk.events(0).sequence();
      whole = decoded->chunk > last && (begins <= through ? decoded->chunk <= begins : decoded->chunk == begins);
      for (const auto& event : chunk.events()) follow(event);
      return true;
    });
    if (!done) return;
  }
  for (const auto& event : record.recent())
    if (&event != folded) follow(event);
  whole = whole && (folded == nullptr || kept + folded_count(*folded) == through);
  if (!whole || std::max(last, through) != record.history_size()) finding(record, "has a gap in its history (tables task and history)");
}

void task_check::check_payloads(const v1::TaskRecord& record) {
  for_each_payload(record, [&](const v1::Payload& payload) {
    if (payload.slot() == 0) return;
    const auto key = keys::payload(default_namespace, record.number(), payload.slot());
    auto found = of_.get(table::payload, key);
    if (!found) return;
    if (!found->has_value()) {
      finding(record, "lacks its " + keys::describe(table::payload, key) + " in table payload");
    } else if ((*found)->size() != payload.size()) {
      finding(record, "has a " + keys::describe(table::payload, key) + " of " + std::to_string((*found)->size()) + " bytes instead of " +
                          std::to_string(payload.size()));
    }
    if (payload.slot() >= record.next_slot())
      finding(record, "uses payload slot " + std::to_string(payload.slot()) + " as if it were free");
  });
}

void task_check::check_definition(const v1::TaskRecord& record) {
  if (has_ended(record.state())) return;
  auto key = keys::workflow_version(default_namespace, record.workflow(), record.workflow_hash());
  if (known_definitions_.count(key) != 0) return;
  if (!present(table::workflow_version, key)) {
    return finding(record,
                   "runs `" + record.workflow() + "` " + to_hex(record.workflow_hash()) + ", which is not in table workflow_version");
  }
  known_definitions_.insert(std::move(key));
}

// Tasks of an earlier release have no alert: 0. A named alert must be unresolved for as long as the task names it.
void task_check::check_alert(const v1::TaskRecord& record) {
  if (record.alert() == 0) return;
  const auto name = "alert " + std::to_string(record.alert());
  auto found = load_alert(of_, record.alert());
  if (!found) return;
  if (!found->has_value()) {
    finding(record, "names " + name + ", which is not in table alert");
  } else if (!is_unresolved(**found)) {
    finding(record, "names " + name + ", which is resolved");
  } else if ((*found)->task_id() != record.id()) {
    finding(record, "names " + name + ", which is about another task");
  }
}

// A child ends before its parent, and stays in the store as long as the parent.
void task_check::check_family(const v1::TaskRecord& record) {
  for (const auto& step : record.steps()) {
    if (!child_out(step)) continue;
    for (const auto& id : children_out_of(record, step)) {
      const auto child = find_task(of_, id);
      if (!child) continue;
      if (!*child || !present(table::task, keys::task(default_namespace, (*child)->number())))
        finding(record, "waits for task `" + id + "`, which is not in table task");
    }
  }
  // One that has failed may be undone after its parent has left.
  const auto performs = record.state() == v1::TASK_STATE_PENDING || record.state() == v1::TASK_STATE_RUNNING;
  if (!record.has_parent() || !performs) return;
  if (!present(table::task, keys::task(default_namespace, record.parent().number())))
    finding(record, "is a part of task `" + record.parent().id() + "`, which is not in table task");
}

}  // namespace fairlead::store
