// Jobs in the Scheduler: what their decisions say becomes rows, tasks and alerts of one batch.

#include <algorithm>
#include <utility>

#include "actors/core/text/text.hpp"
#include "actors/scheduler/scheduler.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t ready_chunk = 256;        // launches that wait for room, read ahead
constexpr std::size_t agents_chunk = 256;       // jobs with launches that wait for agents, looked at in one turn,
constexpr std::size_t agents_entries = 16'384;  // and entries of their index that are read for that
constexpr int most_rounds = 50;                 // further decisions in one turn about jobs with many times to catch up with
constexpr std::int64_t clock_tolerance_ms = 1000;
constexpr duration agents_look_period = std::chrono::seconds{1};

bool waits_for_room(const v1::JobRecord& job, std::int64_t nominal_ms) {
  return std::any_of(job.open().begin(), job.open().end(), [&](const v1::OpenLaunch& one) {
    return one.nominal_unix_ms() == nominal_ms && one.state() == v1::LAUNCH_STATE_WAITING && one.waits_for() == v1::LAUNCH_WAIT_ROOM;
  });
}

}  // namespace

/// Lets launches in while there is room.
class scheduler::launch_door final : public core::launch_gate {
 public:
  explicit launch_door(scheduler& of) : of_(of) {}

  core::launch_verdict admit(const v1::JobRecord& job, const v1::OpenLaunch& launch) override {
    const auto& spec = job.spec();
    // First what is known without a look into the store: a job may have a thousand launches that wait, and all of them are asked about.
    if (!agents_are_there(spec)) return wait_for(v1::LAUNCH_WAIT_AGENTS);
    const auto in_turn = launch.nominal_unix_ms() == of_.turn_.second && spec.name() == of_.turn_.first;
    if (of_.draining_ || !of_.flight_has_room(admitted_) || (!in_turn && of_.batches_.counts().launches_waiting_room() != 0) ||
        of_.refuse_new() || !of_.launch_rate_.has_room(of_.world_.time->now()))
      return wait_for(v1::LAUNCH_WAIT_ROOM);
    const auto id = core::launch_id(spec.name(), launch.nominal_unix_ms());
    const auto known = of_.lookup(id);
    if (!known) {
      of_.fail(known.failure());
      return wait_for(v1::LAUNCH_WAIT_ROOM);
    }
    if (*known) return skip(v1::SKIP_REASON_ID_TAKEN, "there was a task " + id + " already");
    const auto definition = of_.catalog_.current(spec.workflow(), of_.committed());
    if (!definition) {
      if (definition.failure().code == v1::ERROR_CODE_NOT_FOUND)
        return skip(v1::SKIP_REASON_NO_WORKFLOW, "its workflow " + spec.workflow() + " is not deployed");
      if (workflow_catalog::is_refusal(definition.failure())) return skip(v1::SKIP_REASON_NO_WORKFLOW, definition.failure().sentence);
      of_.fail(definition.failure());
      return wait_for(v1::LAUNCH_WAIT_ROOM);
    }
    of_.launch_rate_.take();
    ++admitted_;
    return {};
  }

 private:
  static core::launch_verdict wait_for(v1::LaunchWait what) { return {core::launch_verdict::kind::wait, what, {}, {}}; }
  static core::launch_verdict skip(v1::SkipReason why, std::string reason) {
    return {core::launch_verdict::kind::skip, {}, why, std::move(reason)};
  }

  /// Nothing is handed over within a decision, so one answer is good for all of the job's launches.
  bool agents_are_there(const v1::JobSpec& spec) {
    if (!agents_are_there_)
      agents_are_there_ = std::all_of(spec.needs().begin(), spec.needs().end(), [this](const v1::AgentNeed& need) {
        return of_.slots_.free_slots(need.agent(), need.labels()) >= need.slots();
      });
    return *agents_are_there_;
  }

  scheduler& of_;
  std::uint64_t admitted_ = 0;            // by this decision, not yet among those in flight
  std::optional<bool> agents_are_there_;  // of the one job that this decides about
};

core::job_context scheduler::job_context_for(launch_door& door, const core::launch_rows& rows) const {
  core::job_context ctx;
  ctx.now = world_.time->now();
  ctx.zones = world_.zones;
  ctx.gate = &door;
  ctx.rows = &rows;
  ctx.planted = &faults_;
  return ctx;
}

std::optional<core::job_decision> scheduler::decide_job(const std::string& name, const core::job_event& what) {
  if (fatal_) return std::nullopt;
  const auto found = jobs_.find(name, committed());
  if (!found) {
    fail(found.failure());
    return std::nullopt;
  }
  auto& job = **found;
  if (!job.there || job.crashed) {
    jobs_.forget_if_durable(name, batches_.committed_sequence());
    return std::nullopt;
  }
  if (jobs_.has_crashed(name)) {
    give_up_job(name, job);
    return std::nullopt;
  }
  const auto before = store::index_state_of(job.record);
  launch_door door{*this};
  const job_launches rows{name, job, committed()};
  const auto ctx = job_context_for(door, rows);
  core::job_decision made;
  try {
    made = core::decide(job.record, what, ctx);
  } catch (const std::exception& bug) {
    // The record may be half changed: it is thrown away and, once all its written versions are durable, read anew and paused.
    world_.log->on_note(note_level::error, "scheduler",
                        "job " + name + ": internal error while deciding about it: " + core::clean_text(bug.what(), 500));
    jobs_.crashed(name, job, batches_.committed_sequence());
    return std::nullopt;
  }
  if (made.fatal) {
    fail(*made.fatal);
    return std::nullopt;
  }
  if (made.changed) carry_out(name, job, before, made);
  jobs_.forget_if_durable(name, batches_.committed_sequence());
  return made;
}

void scheduler::create_job(const v1::JobSpec& spec, std::string hash, const std::string& who, job_book::entry& job) {
  launch_door door{*this};
  const job_launches rows{spec.name(), job, committed()};
  job.record = core::create_job(spec, std::move(hash), who, job_context_for(door, rows));
  job.there = true;
  core::job_decision made;
  made.changed = true;
  carry_out(spec.name(), job, store::job_index_state{}, made);
}

void scheduler::carry_out(const std::string& name, job_book::entry& job, const store::job_index_state& before, core::job_decision& made) {
  auto& record = job.record;
  for (auto& start : made.starts) {
    auto definition = catalog_.current(record.spec().workflow(), committed());
    if (!definition) {
      // The door has seen it a moment ago.
      fail(definition.failure());
      return;
    }
    v1::Submission item;
    item.set_id(start.task_id);
    item.set_workflow(record.spec().workflow());
    *item.mutable_labels() = record.spec().labels();
    item.set_priority(record.spec().priority());
    auto hash = store::submission_hash(item.workflow(), start.input, item.labels(), item.priority(), nullptr);
    const launch_part part{std::move(start.launch), start.deadline_unix_ms};
    const auto number = create(item, std::move(start.input), std::move(hash), std::move(*definition), 0, &part);
    for (auto& open : *record.mutable_open())
      if (open.nominal_unix_ms() == start.nominal_unix_ms) open.set_task_number(number);
    for (auto& row : made.rows)
      if (row.nominal_unix_ms() == start.nominal_unix_ms) row.set_task_number(number);
    if (record.last().nominal_unix_ms() == start.nominal_unix_ms) record.mutable_last()->set_task_number(number);
  }
  if (faults_.split_launch && !made.starts.empty()) flush();
  for (const auto nominal_ms : made.erased_rows) {
    store::erase_launch(batches_.rows(), name, nominal_ms);
    job.launches[nominal_ms] = std::nullopt;
  }
  for (auto& row : made.rows) {
    store::put_launch(batches_.rows(), row);
    job.launches[row.nominal_unix_ms()] = std::move(row);
  }
  write_job_alert(record, made);
  store::put_job(batches_.rows(), before, record);
  store::move_job_counters(batches_.counts(), before, store::index_state_of(record));
  batches_.counts().set_launches(batches_.counts().launches() + made.starts.size());
  batches_.counts().set_launches_skipped(batches_.counts().launches_skipped() + made.skipped);
  batches_.counts().set_latest_mark_unix_ms(std::max(batches_.counts().latest_mark_unix_ms(), record.mark_unix_ms()));
  jobs_.written(name, job, batches_.sequence());
  if (record.due_indexed_unix_ms() != 0 && record.due_indexed_unix_ms() != before.due_indexed_unix_ms)
    batches_.after().job_due(record.due_indexed_unix_ms());
  for (const auto& cancel : made.cancels) {
    auto* task = load(cancel.task_number);
    if (task == nullptr) continue;
    v1::OperatorAction action;
    action.set_verb(v1::OPERATOR_VERB_CANCEL);
    action.set_who("cron");
    action.set_reason(cancel.reason);
    // One that is past its pivot cannot be cancelled: the later launch waits for it then.
    apply(*task, core::operated{action});
    forget_if_idle(cancel.task_number);
  }
}

void scheduler::write_job_alert(v1::JobRecord& record, core::job_decision& made) {
  if (made.resolve_alert || (made.alert && record.alert() != 0)) {
    const auto resolved = alerts_.resolve(record.alert(), batches_.page(), committed());
    if (!resolved.ok()) fail(resolved.failure());
    record.clear_alert();
  }
  if (made.alert) record.set_alert(alerts_.raise(std::move(*made.alert), batches_.page()));
}

void scheduler::give_up_job(const std::string& name, job_book::entry& job) {
  const auto before = store::index_state_of(job.record);
  std::vector<core::launch_ended> ended;
  for (const auto& launch : job.record.open()) {
    if (launch.state() != v1::LAUNCH_STATE_STARTED) continue;
    const auto state = final_state_of(launch.task_number(), core::launch_id(name, launch.nominal_unix_ms()));
    if (store::is_finished(state)) ended.push_back({launch.nominal_unix_ms(), state == v1::TASK_STATE_COMPLETED});
  }
  launch_door door{*this};
  const job_launches rows{name, job, committed()};
  auto made = core::give_up(job.record, ended, job_context_for(door, rows));
  if (made.fatal) {
    fail(*made.fatal);
    return;
  }
  jobs_.taken_up(name);
  carry_out(name, job, before, made);
}

v1::TaskState scheduler::final_state_of(std::uint64_t number, const std::string& id) {
  if (const auto* live = find(number); live != nullptr) return live->poison.empty() ? live->record.state() : v1::TASK_STATE_UNSPECIFIED;
  const auto stored = store::load_task(committed(), number);
  if (stored.ok() && *stored) return (*stored)->state();
  const auto gone = store::find_task(committed(), id);
  return gone.ok() && *gone ? (*gone)->final_state() : v1::TASK_STATE_UNSPECIFIED;
}

// ---- what comes from the cron ----

void scheduler::launch_due(const due_jobs& what) {
  if (draining_ || fatal_) return;
  // What is left over has its entry in the index still, and comes again.
  for (int more_rounds = most_rounds; const auto& name : what.names) {
    do {
      const auto made = decide_job(name, core::job_due{});
      flush_if_large();
      if (!made || !made->more) break;
    } while (more_rounds-- > 0);
    if (fatal_) return;
  }
  if (!what.look) return;
  watch_clock();
  // What has come since may go before what was read ahead.
  ready_ahead_.clear();
  admit_launches();
  look_for_agents();
}

bool scheduler::flight_has_room(std::uint64_t more) const {
  return most_in_flight_ == 0 || batches_.counts().launches_in_flight() + more < most_in_flight_;
}

void scheduler::admit_launches() {
  const auto room = [this] { return flight_has_room() && !refuse_new() && launch_rate_.has_room(world_.time->now()); };
  while (!draining_ && !fatal_ && batches_.counts().launches_waiting_room() != 0 && room()) {
    if (ready_ahead_.empty()) {
      const auto prefix = store::keys::launch_ready_prefix(store::default_namespace, store::ready_for::room);
      const auto scanned =
          committed().scan(store::table::launch_ready, prefix, store::keys::after(prefix), [this](std::string_view key, std::string_view) {
            const auto entry = store::keys::decode_launch_ready(key);
            if (!entry) return true;
            std::string job{entry->job};
            // One that is in the book may have been let in; its index entry only has not been erased durably yet.
            const auto newer = jobs_.entries().find(job);
            const auto waits = newer == jobs_.entries().end() ||
                               (!newer->second->crashed && waits_for_room(newer->second->record, entry->nominal_unix_ms));
            if (waits) ready_ahead_.emplace_back(std::move(job), entry->nominal_unix_ms);
            return ready_ahead_.size() < ready_chunk;
          });
      if (!scanned.ok()) {
        fail(scanned.failure());
        return;
      }
      if (ready_ahead_.empty()) return;  // those that wait are not durable yet
    }
    turn_ = std::move(ready_ahead_.front());
    ready_ahead_.pop_front();
    decide_job(turn_.first, core::job_due{});
    turn_ = {};
    flush_if_large();
  }
}

void scheduler::look_for_agents() {
  const auto now = world_.time->now();
  if (batches_.counts().launches_waiting_agents() == 0 || (now < next_agents_look_ && next_agents_look_ - now <= agents_look_period))
    return;
  next_agents_look_ = now + agents_look_period;
  const auto prefix = store::keys::launch_ready_prefix(store::default_namespace, store::ready_for::agents);
  const std::string begin{std::string_view{prefix}};
  // Each job once, however many of its launches wait: one decision looks at all of them.
  std::set<std::string> names;
  std::string last;
  std::size_t seen = 0;
  const auto scanned = committed().scan(store::table::launch_ready, std::max(agents_from_, begin), store::keys::after(prefix),
                                        [&](std::string_view key, std::string_view) {
                                          last.assign(key);
                                          if (const auto entry = store::keys::decode_launch_ready(key)) names.emplace(entry->job);
                                          return ++seen < agents_entries && names.size() < agents_chunk;
                                        });
  if (!scanned.ok()) {
    fail(scanned.failure());
    return;
  }
  agents_from_ = seen < agents_entries && names.size() < agents_chunk ? std::string{} : last + '\0';
  for (const auto& name : names) {
    decide_job(name, core::job_due{});
    flush_if_large();
  }
}

void scheduler::watch_clock() {
  const auto now_ms = to_unix_ms(world_.time->now());
  if (batches_.counts().clock_alert() != 0) {
    if (now_ms < batches_.counts().latest_mark_unix_ms() || faults_.keep_clock_alert) return;
    const auto resolved = alerts_.resolve(batches_.counts().clock_alert(), batches_.page(), committed());
    if (!resolved.ok()) fail(resolved.failure());
    batches_.counts().set_clock_alert(0);
    return;
  }
  const auto behind = [&] { return now_ms + clock_tolerance_ms < batches_.counts().latest_mark_unix_ms(); };
  if (!behind() || faults_.lose_clock_alert) return;
  // It is noted when marks move: the job that had it may have been deleted since.
  find_latest_mark();
  if (fatal_ || !behind()) return;
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_CLOCK_BEHIND);
  draft.set_sentence("the clock reads " + format_utc(now_ms) + ", but jobs have been launched for times up to " +
                     format_utc(batches_.counts().latest_mark_unix_ms()) + ": they are not launched until the clock has passed that");
  draft.set_remedy("set the clock right if it is wrong; if it is right now, fairlead job rewind lets jobs go on from it");
  batches_.counts().set_clock_alert(alerts_.raise(std::move(draft), batches_.page()));
  world_.log->on_note(note_level::warning, "scheduler", "the clock reads earlier than times that jobs have been launched for");
  if (faults_.mend_far_mark && batches_.counts().latest_mark_unix_ms() > now_ms + 60'000) {
    v1::JobAction unasked;
    unasked.set_verb(v1::JOB_VERB_REWIND);
    v1::JobOperateReply to_nobody;
    rewind_all({}, unasked, to_nobody);
  }
}

// ---- what comes from tasks ----

void scheduler::launch_ended(const v1::TaskRecord& record) {
  auto& kept = ended_launches_.emplace_back();
  *kept.mutable_launch() = record.launch();
  kept.set_state(record.state());
}

void scheduler::settle_launches() {
  // One that starts may end at once.
  while (!ended_launches_.empty() && !fatal_)
    for (const auto& record : std::exchange(ended_launches_, {}))
      decide_job(record.launch().job(), core::launch_ended{record.launch().nominal_unix_ms(), record.state() == v1::TASK_STATE_COMPLETED});
}

}  // namespace fairlead
