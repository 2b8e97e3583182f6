// Messages of the node's own actors (Supervisor, expression worker, archiver, couriers), and work that no message starts: tasks that wait
// for a slot or wait in vain, pending tasks, tasks that ran before a start, and repair of wake-ups. And what leaves the store: archived and
// deleted tasks.

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/task/record.hpp"
#include "actors/core/task/task.hpp"
#include "actors/core/text/text.hpp"
#include "actors/scheduler/books/deletions.hpp"
#include "actors/scheduler/books/payload_reader.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/checksum.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/rows/archive_rows.hpp"
#include "store/rows/counters.hpp"

namespace fairlead {

namespace {

constexpr std::size_t sentence_limit = 1024;  // bytes kept of the sentence of a failure
constexpr std::size_t pending_chunk = 256;    // pending tasks read ahead
constexpr std::ptrdiff_t go_on_at_once = 32;  // steps that go on between two looks at what may begin

// Asking anew does not mend a wait that is in vain again and again: an operator must look.
constexpr unsigned most_mendings = 3;

std::string words_for(const v1::TaskRecord& record, const core::step_wait& wait) {
  if (wait.what == core::awaited::output) return std::string{"the task waited for "} + core::awaited_words(wait.what);
  return "step " + record.steps(static_cast<int>(wait.step)).path() + " waited for " + core::awaited_words(wait.what) +
         (wait.what == core::awaited::input && wait.direction == v1::DIRECTION_UNDO ? " to be undone" : "");
}

constexpr auto ns = store::default_namespace;

}  // namespace

void scheduler::recover(const v1::RecoverBatch& what) {
  std::vector<std::uint64_t> repairs;
  for (const auto& item : what.items()) {
    if (item.repair()) {
      repairs.push_back(item.task_number());
      continue;
    }
    auto* task = load(item.task_number());
    if (task == nullptr) continue;
    if (item.step() == 0)
      apply(*task, core::task_due{});
    else
      apply(*task, core::recovery_requested{item.step() - 1, item.attempt(), item.failure_count(), item.direction()});
    forget_if_idle(item.task_number());
    if (fatal_) return;
    flush_if_large();
  }
  if (!repairs.empty()) repair(repairs);
  serve_waiting();
}

void scheduler::take_hints(core::decision& made) {
  const auto now_ms = to_unix_ms(world_.time->now());
  for (auto& hint : made.hints) {
    if (hint.due_unix_ms() <= now_ms)
      going_on_.push_back({batches_.sequence(), std::move(*hint.mutable_recover())});
    else
      *batches_.after().hints.add_items() = std::move(hint);
  }
}

/// What was too much for one decision goes on once that is durable, behind the messages that came meanwhile. If this process ends before,
/// the Supervisor finds the step in the due index.
void scheduler::go_on() {
  const auto is_due = [this](const due_step& one) { return batches_.durable(one.sequence); };
  // Where there are many lists, the others have their turn behind the next commit, and messages theirs before that.
  while (!draining_ && !fatal_ && families_.may_begin() && !going_on_.empty() && is_due(going_on_.front())) {
    const auto first = going_on_.begin();
    const auto last = std::find_if_not(first, first + std::min<std::ptrdiff_t>(go_on_at_once, std::ssize(going_on_)), is_due);
    // Lists of one task share what may begin in a commit: another one is first each time.
    std::rotate(first, first + static_cast<std::ptrdiff_t>(turns_++ % static_cast<std::uint64_t>(last - first)), last);
    v1::RecoverBatch due;
    std::for_each(first, last, [&due](due_step& one) { *due.add_items() = std::move(one.what); });
    going_on_.erase(first, last);
    recover(due);
  }
}

void scheduler::evaluated(v1::EvaluateReply what) {
  // The ticket alone identifies the input: the worker need not know it.
  if (const auto whose = evaluations_.answered(what.ticket())) take_expressions(*whose, what);
  while (!fatal_) {
    const auto number = evaluations_.next_waiting();
    if (!number) break;
    if (auto* waiting = load(*number)) apply(*waiting, core::slot_freed{});
    forget_if_idle(*number);
    flush_if_large();
  }
  serve_waiting();
  // Each answer may begin children, and many may have come at once.
  flush_if_large();
}

void scheduler::take_expressions(const evaluations::wanted& whose, v1::EvaluateReply& what) {
  auto* task = find(whose.task);
  if (task == nullptr || task->evaluating.erase(core::evaluation_key(whose.step, whose.part)) == 0) return;
  core::expressions_evaluated e;
  e.step = whose.step;
  e.part = whose.part;
  e.item = whose.item;
  if (what.has_error() && what.error().code() != v1::ERROR_CODE_OK) e.failure = error::from_proto(what.error());
  if (e.failure) e.failure->sentence = core::clean_text(e.failure->sentence, sentence_limit);
  for (auto& text : *what.mutable_results()) e.results.push_back(std::move(text));
  apply(*task, e);
  if (e.failure && e.failure->code == v1::ERROR_CODE_UNAVAILABLE && evaluations_.unavailable(whose.task, world_.time->now()))
    world_.log->on_note(note_level::warning, "scheduler",
                        "steps wait because their expressions cannot be evaluated: " + e.failure->sentence);
  forget_if_idle(whose.task);
}

void scheduler::archive(const archive_rows& what) {
  if (what.rows.epoch != epoch()) return;
  if (what.rows.empty()) return batches_.put_retention_forward();
  const archive_ledger::chosen chosen{what.numbers, what.read_at_sequence};
  const auto lives = [this](std::uint64_t number) {
    const auto* task = find(number);
    return task != nullptr && !has_ended(task->record.state());
  };
  if (!faults_.archive_reopened && (archive_.out_of_date(chosen) || std::any_of(what.numbers.begin(), what.numbers.end(), lives))) return;
  const auto is_gone = [this](std::uint64_t number) {
    const auto moving = store::is_moving(committed(), number);
    if (!moving || *moving) return true;
    const auto record = store::load_task(committed(), number);
    return !record || !*record;
  };
  if (archive_.asked_twice(chosen, is_gone)) return;
  if (!what.numbers.empty()) archive_.move(chosen, batches_.sequence());
  for (const auto number : what.numbers) live_.erase(number);
  batches_.rows().append(what.rows);
  auto& counts = batches_.counts();
  for (const auto& [state, tasks] : what.ended) store::move_to_archive(counts, state, tasks);
}

/// On its way to an archive. That it moves is known here until it is durable, and stands in the store until it is done.
bool scheduler::is_leaving(std::uint64_t number) {
  if (archive_.leaving(number)) return true;
  for (const bool again : {false, true}) {
    // A move is done without a commit, so what was read before may still show it.
    if (again) batches_.look_again();
    const auto moving = store::is_moving(committed(), number);
    if (!moving) fail(moving.failure());
    if (!moving || !*moving) return false;
  }
  return true;
}

/// A task that is in the store no more cannot be changed.
error scheduler::gone(const std::string& id) {
  const auto tombstone = store::find_task(committed(), id);
  const auto deleted = tombstone.ok() && *tombstone && (*tombstone)->deleted_at_unix_ms() != 0;
  return {
      v1::ERROR_CODE_WRONG_STATE,
      "task " + id +
          (deleted ? " has ended and was deleted, so it cannot be changed" : " has ended and is in the archive, so it cannot be changed"),
      deleted ? "submit another task with another id"
              : "fairlead task show " + id + " shows it, fairlead task delete " + id + " deletes its record"};
}

std::optional<error> scheduler::delete_task(const std::string& id, std::uint64_t number, const v1::OperatorAction& action,
                                            v1::OperateResult& out) {
  const error leaving{v1::ERROR_CODE_UNAVAILABLE, "task " + id + " is being written, archived or deleted at this moment",
                      "try again in a moment"};
  if (is_leaving(number)) return leaving;
  const deletion by{action.who(), world_.time->now()};
  if (auto* task = load(number); task != nullptr) {
    const auto& record = task->record;
    if (!has_ended(record.state()) && !faults_.delete_alive)
      return error{v1::ERROR_CODE_WRONG_STATE,
                   "task " + id + " is " + core::state_word(record.state()) + ", and only an ended task can be deleted",
                   "end it first: fairlead task cancel " + id + ", or fairlead task terminate " + id};
    if (record.has_parent() && !faults_.delete_before_parent) {
      const auto parent = store::load_task(committed(), record.parent().number());
      if (!parent) fail(parent.failure());
      if (!parent || *parent)
        return error{v1::ERROR_CODE_WRONG_STATE, "task " + id + " is a part of task " + record.parent().id() + ", whose record is there",
                     "fairlead task delete " + record.parent().id() + " first"};
    }
    // Rows that the snapshot does not hold yet would stay.
    if (!batches_.durable(task->last_sequence)) return leaving;
    out.set_state(record.state());
    if (const auto erased = by.of_stored(record, committed(), batches_.counts(), batches_.rows()); !erased.ok()) fail(erased.failure());
    live_.erase(number);
  } else {
    if (fatal_) return fatal_;
    auto tombstone = store::find_task(committed(), id);
    if (!tombstone) fail(tombstone.failure());
    if (fatal_) return fatal_;
    // Nothing more is decided about a task while a crashed decision about it is dealt with.
    if (!*tombstone || !has_ended((*tombstone)->final_state())) return leaving;
    out.set_state((*tombstone)->final_state());
    if ((*tombstone)->deleted_at_unix_ms() != 0) {
      out.set_repeated(true);
      return std::nullopt;
    }
    by.of_archived(id, std::move(**tombstone), batches_.counts(), batches_.rows());
  }
  archive_.deleted(number, batches_.sequence());
  world_.log->on_note(
      note_level::info, "scheduler",
      "the record of task " + id + " was deleted by " + action.who() + (action.reason().empty() ? "" : ": " + action.reason()));
  return std::nullopt;
}

void scheduler::delivered(courier_rows what) {
  // Rows of an earlier epoch: their erasures from the outbox are ignored, and the courier makes them again.
  if (what.delivered_events > 0 && what.rows.epoch != epoch() && !faults_.take_old_rows) {
    store::batch rest;
    what.rows.for_each([&](const store::operation& op) {
      if (op.where == store::table::outbox) return;
      const auto payload = store::verified_payload(op.where, op.key, op.value);
      if (op.what == store::operation::kind::erase)
        rest.erase(op.where, op.key);
      else if (payload)
        rest.put(op.where, op.key, *payload);
    });
    what.rows = std::move(rest);
    what.delivered_events = 0;
  }
  batches_.rows().append(what.rows);
  batches_.counts().set_outbox_events(batches_.counts().outbox_events() -
                                      std::min(what.delivered_events, batches_.counts().outbox_events()));
  for (auto& draft : what.alerts) alerts_.raise(std::move(draft), batches_.page());
}

void scheduler::serve_waiting() {
  if (draining_) return;
  while (!fatal_) {
    const auto number = slots_.next_waiting();
    if (!number) return;
    auto* task = load(*number);
    if (task == nullptr) continue;
    apply(*task, core::slot_freed{});
    forget_if_idle(*number);
    flush_if_large();
  }
}

void scheduler::admit_pending() {
  while (!draining_ && !fatal_ && queued_tasks() > 0 && active_tasks() < limits_.running_tasks) {
    if (pending_ahead_.empty()) {
      const auto scanned = committed().scan(store::table::pending, {}, {}, [this](std::string_view key, std::string_view) {
        const auto entry = store::keys::decode_pending(key);
        // A live task has been admitted already; only the erasure of its index entry is not durable yet.
        if (entry && find(entry->number) == nullptr) pending_ahead_.push_back(entry->number);
        return pending_ahead_.size() < pending_chunk;
      });
      if (!scanned.ok()) {
        fail(scanned.failure());
        return;
      }
      if (pending_ahead_.empty()) return;  // pending tasks are not durable yet
    }
    const auto number = pending_ahead_.front();
    pending_ahead_.pop_front();
    auto* task = load(number);
    if (task == nullptr) continue;
    apply(*task, core::task_admitted{});
    // An operator may have ended the task before its turn came.
    forget_if_idle(number);
    flush_if_large();
  }
}

bool scheduler::resume_some() {
  if (!sweep_.under_way() || fatal_) return false;
  const auto chunk = sweep_.next(committed());
  if (!chunk) return fail(chunk.failure());
  for (const auto number : chunk->numbers) {
    load(number);
    forget_if_idle(number);
    if (fatal_) return false;
  }
  if (!chunk->last && !faults_.stop_at_chunk) return true;
  world_.log->on_note(note_level::info, "scheduler", "loaded " + std::to_string(sweep_.end()) + " open tasks");
  slots_.hold_back(false);
  watch_room();
  serve_waiting();
  admit_pending();
  return false;
}

void scheduler::look_at_waits(const waiting_tasks& what) {
  // The sweep has still to take tasks up; a draining shard leaves waits to the next start.
  if (sweep_.under_way() || draining_) return;
  auto numbers = std::exchange(suspects_, {});
  const auto suspected = numbers;
  numbers.insert(what.numbers.begin(), what.numbers.end());
  const auto asked = evaluations_.asked();
  for (const auto number : numbers) {
    auto* task = load(number);
    if (fatal_) return;
    if (task == nullptr) continue;
    try {
      if (core::noted_ahead(task->record, to_unix_ms(world_.time->now()))) apply(*task, core::clock_set_back{});
      if (fatal_) return;
      const auto wait = task->poison.empty() ? vain_wait_of(*task, asked) : std::nullopt;
      // An answer that was on its way at the first check has arrived by the second.
      if (wait && suspected.count(number) != 0)
        mend_wait(*task, *wait);
      else if (wait)
        suspects_.insert(number);
    } catch (const std::exception& bug) {
      poison(*task, bug_sentence(bug));
    }
    forget_if_idle(number);
    if (fatal_) return;
  }
  serve_waiting();
}

std::optional<core::step_wait> scheduler::vain_wait_of(const live_task& task, const evaluations::asked_parts& asked) {
  const auto number = task.record.number();
  for (const auto& wait : core::waits_of(task.record, *task.definition, *world_.engine, slots_)) {
    if (wait.what == core::awaited::child) {
      if (families_.is_told_of(task.record, task.record.steps(static_cast<int>(wait.step)))) continue;
      return wait;
    }
    // A step to be undone may turn out to have a look-up: the answer for its undo's input shows that.
    const auto direction = wait.direction == v1::DIRECTION_LOOKUP ? v1::DIRECTION_UNDO : wait.direction;
    const auto part = core::awaited_part(wait);
    const auto with_worker =
        asked.of_tasks.count(number) != 0 ||
        asked.of_steps.count({number, core::evaluation_key(wait.step, part.value_or(core::part_of_input(direction)))}) != 0;
    const auto outstanding = part ? with_worker : wait.what == core::awaited::instance && (with_worker || slots_.waits(number));
    if (!outstanding) return wait;
  }
  return std::nullopt;
}

void scheduler::mend_wait(live_task& task, const core::step_wait& wait) {
  const auto words = words_for(task.record, wait);
  if (wait.what == core::awaited::child) {
    raise_stalled(task.record, words);
    return families_.tell_of_children(task.record.number(), wait.step);
  }
  world_.log->on_note(note_level::warning, "scheduler",
                      "task " + task.record.id() + ": " + words + ", but nothing will trigger this; it is requested again");
  evaluations_.forget(task.record.number());
  task.evaluating.clear();
  const auto times = ++mended_[task.record.number()];
  if (times <= most_mendings) apply(task, core::wait_lost{});
  // A crashed decision parks the task.
  if (fatal_ || !task.poison.empty()) return;
  if (times > most_mendings || vain_wait_of(task, evaluations_.asked()))
    apply(task, core::task_poisoned{words + ", and requesting it again did not help"});
  else
    raise_stalled(task.record, words);
}

void scheduler::raise_stalled(const v1::TaskRecord& record, const std::string& words) {
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_STALLED);
  draft.set_task_id(record.id());
  draft.set_workflow(record.workflow());
  draft.set_sentence("task " + record.id() + " made no progress: " + words +
                     ", but nothing would have triggered this; it has been requested again");
  draft.set_remedy("nothing is lost; fairlead task show " + record.id() + " shows its progress. Please report this as a bug");
  alerts_.raise(std::move(draft), batches_.page());
}

void scheduler::repair(const std::vector<std::uint64_t>& numbers) {
  std::set<std::uint64_t> strays;
  for (const auto number : numbers) {
    auto* task = load(number);
    if (fatal_) return;
    if (task == nullptr) {
      if (find(number) == nullptr) strays.insert(number);
      continue;
    }
    // An uncommitted version may have repaired the entry already; the next scan will show it.
    if (!batches_.durable(task->last_sequence)) continue;
    if (!repair_entry(*task)) strays.insert(number);
    forget_if_idle(number);
  }
  if (!strays.empty()) erase_strays(strays);
}

/// True if the task's own entry was wrong.
bool scheduler::repair_entry(live_task& task) {
  auto& record = task.record;
  const auto indexed = record.due_indexed_unix_ms();
  if (indexed != 0) {
    const auto key = store::keys::due(ns, indexed, record.number());
    const auto entry = committed().get(store::table::due, key);
    if (!entry) return fail(entry.failure());
    if (!entry->has_value()) {
      batches_.rows().put(store::table::due, key, {});
      task.last_sequence = batches_.sequence();
      batches_.after().changed.push_back(record.number());
      tell_of_repair(record.number(), "was missing in the due index", &record);
      return true;
    }
  }
  // A row with no wake-up, or a wrong one, is repaired by a decision about the task.
  const auto version = record.version();
  apply(task, core::task_due{});
  if (record.version() == version || record.due_indexed_unix_ms() == indexed) return false;
  tell_of_repair(record.number(), "was wrong in its row", &record);
  return true;
}

/// One pass over the index for all numbers: such entries should not exist, so the cost does not matter.
void scheduler::erase_strays(const std::set<std::uint64_t>& numbers) {
  std::vector<std::pair<std::string, std::uint64_t>> found;
  const auto scanned = committed().scan(store::table::due, {}, {}, [&](std::string_view key, std::string_view) {
    const auto entry = store::keys::decode_due(key);
    if (!entry || numbers.count(entry->number) == 0) return true;
    const auto* task = find(entry->number);
    v1::TaskRecord stored;
    const auto* record = task != nullptr ? &task->record : nullptr;
    if (record == nullptr) {
      auto loaded = store::load_task(committed(), entry->number);
      if (!loaded) return fail(loaded.failure());
      if (*loaded) {
        stored = std::move(**loaded);
        record = &stored;
      }
    }
    if (record == nullptr || record->due_indexed_unix_ms() != entry->due_unix_ms) found.emplace_back(key, entry->number);
    return true;
  });
  if (!scanned.ok()) fail(scanned.failure());
  if (fatal_) return;
  for (const auto& [key, number] : found) {
    // A repair asked for twice before the erasure is durable raises one alert.
    if (!erasing_strays_.emplace(key, batches_.sequence()).second) continue;
    batches_.rows().erase(store::table::due, key);
    const auto* task = find(number);
    tell_of_repair(number, "was in the due index without need", task != nullptr ? &task->record : nullptr);
  }
}

void scheduler::tell_of_repair(std::uint64_t number, const std::string& what, const v1::TaskRecord* record) {
  const auto name = record != nullptr ? record->id() : "number " + std::to_string(number) + ", which is not there";
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_WAKE_UP_LOST);
  if (record != nullptr) {
    draft.set_task_id(record->id());
    draft.set_workflow(record->workflow());
  }
  draft.set_sentence("a wake-up of task " + name + " " + what + " and has been repaired");
  draft.set_remedy("nothing is lost; when convenient, stop the node and run fairlead store check. Please report this as a bug");
  alerts_.raise(std::move(draft), batches_.page());
}

// ---- the tasks of families ----

const v1::TaskRecord* scheduler::newest(std::uint64_t number) {
  const auto* task = has_crashed(number) ? find(number) : load(number);
  return task == nullptr ? nullptr : &task->record;
}

result<std::optional<std::uint64_t>> scheduler::number_of(const std::string& id) {
  const auto known = lookup(id);
  if (!known) return known.failure();
  return *known ? std::optional{(*known)->number} : std::nullopt;
}

result<std::string> scheduler::text_of(std::uint64_t number, const v1::Payload& payload) {
  if (payload.slot() == 0) return payload.json();
  const auto& task = *find(number);
  const payload_reader payloads{task.fresh_payloads, *world_.reads};
  const auto text = payloads.load(task.record, payload.slot());
  if (!text) return text.failure();
  return std::string{*text};
}

std::optional<error> scheduler::decide_about(std::uint64_t number, const core::event& what) {
  auto* task = load(number);
  return task == nullptr ? std::nullopt : apply(*task, what).refused;
}

void scheduler::create_child(v1::Submission& item, core::child_order& order, v1::ParentOf parent, workflow_catalog::handle definition) {
  const auto* by = find(parent.number());
  const auto& of = by == nullptr ? v1::TaskRecord::default_instance() : by->record;
  auto hash = store::submission_hash(order.workflow, order.input, item.labels(), item.priority(), nullptr);
  create(item, std::move(order.input), std::move(hash), std::move(definition), 0,
         {std::nullopt, order.deadline_unix_ms, std::move(parent), of.restored_from_unix_ms(), std::move(order.item_json),
          of.first_restored_from_unix_ms()});
}

result<workflow_catalog::handle> scheduler::pinned_to(std::uint64_t number, std::uint32_t call_of) {
  return catalog_.call_of(find(number)->definition, call_of - 1);
}

}  // namespace fairlead
