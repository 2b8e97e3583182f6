#include "actors/scheduler.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/claim_journal.hpp"
#include "actors/core/expression.hpp"
#include "actors/core/task.hpp"
#include "actors/core/text.hpp"
#include "actors/payload_reader.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t code_limit = 64;                // bytes kept of a fault's code
constexpr std::size_t sentence_limit = 1024;          // and of what is said about it
// A batch is closed when it has grown to this, though more messages wait: the store then works on it while the next one fills.
constexpr std::size_t flush_at_bytes = 256U << 10;
constexpr std::uint64_t usage_every_commits = 64;     // how often the store's fill is looked at
constexpr std::uint64_t usage_every_share = 256;      // and after how large a part of it has been written
constexpr std::uint64_t max_evaluating_bytes = 64U << 20;  // documents at the expression worker; further steps wait
constexpr std::size_t resume_chunk = 512;             // tasks of the sweep taken up at a time
constexpr std::size_t pending_chunk = 256;            // pending tasks read ahead

std::uint64_t input_bytes(const v1::TaskRecord& record) {
  return record.input().slot() != 0 ? record.input().size() : record.input().json().size();
}

bool any_running(const v1::TaskRecord& record) {
  for (const auto& step : record.steps())
    if (step.state() == v1::STEP_STATE_RUNNING) return true;
  return false;
}

}  // namespace

scheduler::scheduler(ports world, scheduler_limits limits, planted_faults faults) : world_(world), limits_(limits), faults_(faults) {}

scheduler::~scheduler() = default;

status scheduler::open(std::uint64_t epoch) {
  epoch_ = epoch;
  const auto& now_committed = committed();
  const auto progress = now_committed.get_progress();
  next_sequence_ = progress.sequence + 1;
  committed_sequence_ = progress.sequence;
  shard_ = progress.shard;
  committed_shard_ = shard_;
  if (shard_.next_task_number() == 0) shard_.set_next_task_number(1);
  sweep_before_ = shard_.next_task_number();
  // Also when nothing is due: the end of the sweep is what admits pending tasks.
  sweeping_ = true;
  look_at_usage();
  const auto opened = catalog_.open(now_committed);
  // An attempt that was out is due before its step's timeout has passed, and a step that waited for a slot or an input before the task
  // would have been looked at again. What is due later waits for its moment and needs nothing now: the Supervisor will find it.
  const auto latest = to_unix_ms(world_.time->now()) + std::max(catalog_.longest_timeout_ms(), core::waiting_recheck_ms);
  sweep_to_ = store::keys::due(store::default_namespace, latest + 1, 0).str();
  return opened;
}

const store::snapshot& scheduler::committed() {
  if (!snapshot_) snapshot_ = world_.reads->read();
  return *snapshot_;
}

bool scheduler::fail(const error& why) {
  if (!fatal_) {
    fatal_ = why;
    world_.log->on_note(note_level::error, "scheduler", why.sentence);
  }
  return false;
}

// ---- records ----

scheduler::live_task* scheduler::find(std::uint64_t number) {
  const auto found = live_.find(number);
  return found == live_.end() ? nullptr : found->second.get();
}

scheduler::live_task* scheduler::load(std::uint64_t number) {
  if (auto* there = find(number)) return there->poison.empty() ? there : nullptr;
  auto record = store::load_task(committed(), number);
  if (!record) {
    fail(record.failure());
    return nullptr;
  }
  if (!*record) return nullptr;
  auto task = std::make_unique<live_task>();
  task->record = std::move(**record);
  auto definition = catalog_.pinned(task->record.workflow(), task->record.workflow_hash(), committed());
  if (!definition) {
    fail(definition.failure());
    return nullptr;
  }
  task->definition = std::move(*definition);
  auto& kept = *live_.emplace(number, std::move(task)).first->second;
  if (sweeping_ && number < sweep_before_ && kept.record.state() == v1::TASK_STATE_RUNNING && taken_up_.insert(number).second) {
    active_input_bytes_ += input_bytes(kept.record);
    apply(kept, core::task_resumed{});
  }
  return kept.poison.empty() ? &kept : nullptr;
}

void scheduler::forget_if_idle(std::uint64_t number) {
  const auto found = live_.find(number);
  if (found == live_.end()) return;
  auto& task = *found->second;
  if (task.last_sequence > committed_sequence_) return;
  task.fresh_payloads.clear();
  if (!task.poison.empty()) {
    const auto reason = task.poison;
    live_.erase(found);
    if (auto* again = load(number)) apply(*again, core::task_poisoned{reason});
    return;
  }
  if (!task.evaluating.empty() || any_running(task.record)) return;
  live_.erase(found);
}

// ---- decide ----

core::context scheduler::context_for(const live_task& task, const core::payload_source& payloads, core::agent_directory& slots) {
  core::context ctx;
  ctx.now = world_.time->now();
  ctx.epoch = epoch_;
  ctx.definition = task.definition.get();
  ctx.engine = world_.engine;
  ctx.agents = &slots;
  ctx.payloads = &payloads;
  ctx.evaluating = &task.evaluating;
  return ctx;
}

bool scheduler::apply(live_task& task, const core::event& what) {
  if (fatal_ || !task.poison.empty()) return false;
  const payload_reader payloads{task.fresh_payloads, *world_.reads};
  claim_journal slots{slots_};
  const auto ctx = context_for(task, payloads, slots);
  const auto before = store::index_state_of(task.record);
  core::decision made;
  try {
    made = core::decide(task.record, what, ctx);
  } catch (const std::exception& bug) {
    slots.undo();
    // The record may be half changed: it is thrown away and, once all its written versions are durable, read anew and parked.
    task.poison = "internal error while deciding about this task: " + core::clean_text(bug.what(), 500);
    world_.log->on_note(note_level::error, "scheduler", "task " + task.record.id() + ": " + task.poison);
    const auto number = task.record.number();
    gathering_.changed.push_back(number);
    return false;
  }
  if (made.fatal) return fail(*made.fatal);
  if (made.changed) write(task, before, made, std::holds_alternative<core::task_due>(what));
  gather(task, made);
  return made.accepted;
}

void scheduler::write(live_task& task, const store::task_index_state& before, core::decision& made, bool exact_due) {
  for (auto& payload : made.payloads) {
    store::put_payload(open_, task.record.number(), payload.slot, payload.json);
    task.fresh_payloads[payload.slot] = std::move(payload.json);
  }
  for (const auto slot : made.dropped_slots) {
    open_.erase(store::table::payload, store::keys::payload(store::default_namespace, task.record.number(), slot));
    task.fresh_payloads.erase(slot);
  }
  store::put_task(open_, before, task.record, exact_due);
  task.last_sequence = next_sequence_;
  gathering_.changed.push_back(task.record.number());
  count(before, task.record);
}

void scheduler::count(const store::task_index_state& before, const v1::TaskRecord& after) {
  const auto add = [this](v1::TaskState state, std::int64_t by) {
    const auto moved = [by](std::uint64_t value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value) + by); };
    switch (state) {
      case v1::TASK_STATE_PENDING: shard_.set_pending(moved(shard_.pending())); break;
      case v1::TASK_STATE_RUNNING: shard_.set_running(moved(shard_.running())); break;
      case v1::TASK_STATE_COMPLETED: shard_.set_completed(moved(shard_.completed())); break;
      case v1::TASK_STATE_UNDOING: shard_.set_undoing(moved(shard_.undoing())); break;
      case v1::TASK_STATE_UNDONE: shard_.set_undone(moved(shard_.undone())); break;
      default: break;
    }
  };
  if (before.exists) add(before.state, -1);
  add(after.state(), 1);
  const auto active = [](v1::TaskState state) { return state == v1::TASK_STATE_RUNNING || state == v1::TASK_STATE_UNDOING; };
  if (active(after.state()) && !active(before.state)) active_input_bytes_ += input_bytes(after);
  if (!active(after.state()) && active(before.state)) active_input_bytes_ -= std::min(active_input_bytes_, input_bytes(after));
  const auto was_parked = before.exists && before.parked;
  if (after.parked() != was_parked) shard_.set_parked(shard_.parked() + (after.parked() ? 1 : -1));
}

void scheduler::gather(live_task& task, core::decision& made) {
  for (auto& out : made.performs) *gathering_.performs[out.instance].add_items() = std::move(out.message);
  for (auto& hint : made.hints) *gathering_.hints.add_items() = std::move(hint);
  for (auto& request : made.evaluations) {
    if (task.evaluating.count(request.step()) != 0) continue;
    if (evaluating_bytes_ >= max_evaluating_bytes) {
      waiting_to_evaluate_.push_back(task.record.number());
      continue;
    }
    task.evaluating.insert(request.step());
    request.set_ticket(next_ticket_++);
    evaluating_bytes_ += evaluations_.emplace(request.ticket(), request.document().size()).first->second;
    world_.out->evaluate(std::move(request));
  }
  for (const auto& agent : made.waiting_for) slots_.wait(agent, task.record.number());
  if (world_.log->wants_transitions()) {
    for (auto& noted : made.transitions) {
      auto& told = gathering_.transitions.emplace_back();
      told.task_id = task.record.id();
      if (noted.step > 0) told.step = task.record.steps(static_cast<int>(noted.step) - 1).path();
      told.what = std::move(noted);
    }
  }
  if (made.ended || made.parked) {
    const auto found = subscribers_.find(task.record.number());
    if (found == subscribers_.end()) return;
    auto* end = gathering_.notices[found->second].add_items();
    end->set_id(task.record.id());
    end->set_state(task.record.state());
    end->set_parked(task.record.parked());
    end->set_reason(task.record.parked_reason());
    if (made.ended) subscribers_.erase(found);
  }
}

// ---- messages in ----

bool scheduler::add_agent(const v1::RegisterAgent& what) {
  const auto arrival = slots_.add(what);
  if (arrival == agent_slots::arrival::stale) return false;
  // Also for a name that is new to this Scheduler: records may know an earlier incarnation of it.
  if (arrival == agent_slots::arrival::fresh || arrival == agent_slots::arrival::replaced) {
    std::vector<std::uint64_t> holders;
    for (const auto& [number, task] : live_)
      if (any_running(task->record)) holders.push_back(number);
    for (const auto number : holders)
      if (auto* task = load(number)) apply(*task, core::agent_replaced{what.instance(), what.incarnation()});
  }
  serve_waiting();
  return true;
}

void scheduler::outcomes(v1::OutcomeBatch what) {
  for (auto& item : *what.mutable_items()) {
    core::attempt_ended e;
    e.step = item.step();
    e.direction = item.direction();
    e.attempt = item.attempt();
    e.tries = item.tries();
    if (item.has_fault()) {
      auto& fault = e.fault.emplace(std::move(*item.mutable_fault()));
      fault.set_code(core::clean_text(fault.code(), code_limit));
      fault.set_message(core::clean_text(fault.message(), sentence_limit));
    } else {
      e.output = std::move(*item.mutable_output());
      e.fault = fault_of_output(e.output);
    }
    auto* task = load(item.task_number());
    const auto accepted = task != nullptr && apply(*task, e);
    // A poisoned task is about to be parked: the outcome is neither recorded nor refused, so that the agent offers it again.
    if (const auto* there = find(item.task_number()); there != nullptr && !there->poison.empty()) continue;
    if (task != nullptr && !accepted) forget_if_idle(item.task_number());
    auto* ack = gathering_.acknowledged[what.instance()].add_items();
    ack->set_task_number(item.task_number());
    ack->set_step(item.step());
    ack->set_direction(item.direction());
    ack->set_attempt(item.attempt());
    ack->set_accepted(accepted);
    if (fatal_) return;
    flush_if_large();
  }
  serve_waiting();
  admit_pending();
}

std::optional<v1::Fault> scheduler::fault_of_output(const std::string& output) const {
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_IN_DOUBT);
  if (output.size() > limits_.output_bytes) {
    fault.set_code("output_too_large");
    fault.set_message("the output has " + std::to_string(output.size()) + " bytes, the limit is " + std::to_string(limits_.output_bytes));
    return fault;
  }
  if (output.empty()) return std::nullopt;
  const auto checked = core::check_json(output);
  if (checked.ok()) return std::nullopt;
  fault.set_code("output_not_json");
  fault.set_message(checked.failure().sentence);
  return fault;
}

void scheduler::recover(const v1::RecoverBatch& what) {
  for (const auto& item : what.items()) {
    auto* task = load(item.task_number());
    if (task == nullptr) continue;
    if (item.step() == 0)
      apply(*task, core::task_due{});
    else
      apply(*task, core::recovery_requested{item.step() - 1, item.attempt(), item.failure_count()});
    forget_if_idle(item.task_number());
    if (fatal_) return;
    flush_if_large();
  }
  serve_waiting();
}

void scheduler::evaluated(v1::EvaluateReply what) {
  const auto asked = evaluations_.find(what.ticket());
  if (asked != evaluations_.end()) {
    evaluating_bytes_ -= asked->second;
    evaluations_.erase(asked);
  }
  auto* task = find(what.task_number());
  if (task != nullptr && task->evaluating.erase(what.step()) != 0) {
    core::input_evaluated e;
    e.step = what.step();
    if (what.has_error() && what.error().code() != v1::ERROR_CODE_OK) e.failure = error::from_proto(what.error());
    if (e.failure) e.failure->sentence = core::clean_text(e.failure->sentence, sentence_limit);
    if (e.failure && e.failure->code == v1::ERROR_CODE_UNAVAILABLE) note_unavailable(e.failure->sentence);
    for (auto& text : *what.mutable_results()) e.results.push_back(std::move(text));
    apply(*task, e);
    forget_if_idle(what.task_number());
  }
  while (!waiting_to_evaluate_.empty() && evaluating_bytes_ < max_evaluating_bytes && !fatal_) {
    const auto number = waiting_to_evaluate_.front();
    waiting_to_evaluate_.pop_front();
    if (auto* waiting = load(number)) apply(*waiting, core::slot_freed{});
    forget_if_idle(number);
  }
  serve_waiting();
}

void scheduler::note_unavailable(const std::string& sentence) {
  const auto now = world_.time->now();
  if (now < next_unavailable_note_) return;
  next_unavailable_note_ = now + std::chrono::minutes{1};
  world_.log->on_note(note_level::warning, "scheduler", "steps wait because their expressions cannot be evaluated: " + sentence);
}

void scheduler::archive(store::batch erasures, std::uint64_t tasks) {
  open_.append(erasures);
  shard_.set_completed(shard_.completed() - std::min(tasks, shard_.completed()));
  shard_.set_archived(shard_.archived() + tasks);
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
  while (!draining_ && !fatal_ && shard_.pending() > 0 && active_tasks() < limits_.running_tasks) {
    if (pending_ahead_.empty()) {
      const auto scanned = committed().scan(store::table::pending, {}, {}, [this](std::string_view key, std::string_view) {
        const auto entry = store::keys::decode_pending(key);
        // A task that is live has been admitted already; its index entry only has not been erased durably yet.
        if (entry && find(entry->number) == nullptr) pending_ahead_.push_back(entry->number);
        return pending_ahead_.size() < pending_chunk;
      });
      if (!scanned.ok()) {
        fail(scanned.failure());
        return;
      }
      if (pending_ahead_.empty()) return;  // what is pending is not durable yet
    }
    const auto number = pending_ahead_.front();
    pending_ahead_.pop_front();
    auto* task = load(number);
    if (task == nullptr) continue;
    apply(*task, core::task_admitted{});
    flush_if_large();
  }
}

bool scheduler::resume_some() {
  if (!sweeping_ || fatal_) return false;
  std::vector<std::uint64_t> found;
  std::string last;
  const auto scanned = committed().scan(store::table::due, sweep_from_, sweep_to_, [&](std::string_view key, std::string_view) {
    last.assign(key);
    const auto entry = store::keys::decode_due(key);
    if (entry && entry->number < sweep_before_) found.push_back(entry->number);
    return found.size() < resume_chunk;
  });
  if (!scanned.ok()) return fail(scanned.failure());
  for (const auto number : found) {
    load(number);
    forget_if_idle(number);
    if (fatal_) return false;
  }
  if (found.size() < resume_chunk) {
    sweeping_ = false;
    resumed_tasks_ = std::exchange(taken_up_, {}).size();
    world_.log->on_note(note_level::info, "scheduler", "took up " + std::to_string(resumed_tasks_) + " tasks that were running");
    admit_pending();
    return false;
  }
  sweep_from_ = last + '\0';
  return true;
}

// ---- commit, act ----

void scheduler::flush_if_large() {
  if (open_.bytes().size() >= flush_at_bytes) flush();
}

bool scheduler::wants_flush() const { return !open_.empty() || !gathering_.empty(); }

void scheduler::flush() {
  if (fatal_) return;
  if (open_.empty()) {
    if (gathering_.empty()) return;
    // Nothing to write, but what leaves may rest on versions that are still on their way.
    if (sent_.empty())
      act(std::exchange(gathering_, {}));
    else
      sent_.back().after.append(std::exchange(gathering_, {}));
    return;
  }
  open_.sequence = next_sequence_++;
  open_.epoch = epoch_;
  open_.shard_state = shard_.SerializeAsString();
  auto& sent = sent_.emplace_back();
  sent.counts = shard_;
  sent.sequence = open_.sequence;
  sent.bytes = open_.bytes().size();
  sent.after = std::exchange(gathering_, {});
  sent_bytes_ += sent.bytes;
  bytes_since_usage_ += sent.bytes;
  if (faults_.act_before_commit) {
    auto early = sent.after;
    early.release(epoch_, *world_.out, *world_.log);
    sent.after.drop_messages();
  }
  world_.commits->commit(std::exchange(open_, {}));
}

void scheduler::act(effects after) {
  after.release(epoch_, *world_.out, *world_.log);
  for (const auto& id : after.new_ids) recent_ids_.erase(id);
  std::vector<watches::answer> answers;
  for (const auto number : after.changed) {
    if (watches_.has(number)) watches_.look(number, committed(), answers);
    forget_if_idle(number);
  }
  for (auto& answer : answers) world_.out->reply(answer.ticket, std::move(answer.reply));
}

void scheduler::on_committed(std::uint64_t sequence) {
  snapshot_.reset();
  committed_sequence_ = sequence;
  while (!sent_.empty() && sent_.front().sequence <= sequence) {
    auto done = std::move(sent_.front());
    sent_.pop_front();
    sent_bytes_ -= done.bytes;
    committed_shard_ = done.counts;
    act(std::move(done.after));
  }
  if (++commits_since_usage_ >= usage_every_commits || bytes_since_usage_ >= usage_.max_bytes / usage_every_share) look_at_usage();
  admit_pending();
}

void scheduler::look_at_usage() {
  usage_ = world_.reads->get_usage();
  bytes_since_usage_ = sent_bytes_;
  commits_since_usage_ = 0;
}

bool scheduler::store_full() const {
  // What has been written since can have taken up to twice its size; what runs will still write its steps' inputs and outputs.
  const auto expected = usage_.used_bytes + 2 * (bytes_since_usage_ + open_.bytes().size()) + 2 * active_input_bytes_;
  return expected >= usage_.max_bytes / 100 * limits_.full_percent;
}

std::uint64_t scheduler::active_tasks() const { return shard_.running() + shard_.undoing() - shard_.parked(); }

bool scheduler::settled() const { return sent_.empty() && !wants_flush(); }

void scheduler::drain() {
  draining_ = true;
  slots_.close();
}

}  // namespace fairlead
