// Decisions about jobs become rows, tasks and alerts of one batch.

#include <algorithm>
#include <utility>

#include "actors/core/cluster/limit_part.hpp"
#include "actors/core/text/text.hpp"
#include "actors/scheduler/jobs/launches.hpp"
#include "store/content_hash.hpp"
#include "store/keys.hpp"
#include "store/rows/alert_rows.hpp"
#include "store/rows/task_rows.hpp"

namespace fairlead {

namespace {

constexpr std::size_t most_missed_alerts = 20;
constexpr duration missed_window = std::chrono::minutes{1};

}  // namespace

launches::launches(ports world, limits most, const core::planted_faults& planted)
    : world_(world),
      faults_(planted),
      input_bytes_(most.input_bytes),
      most_in_flight_(core::part_of_limit(most.cron.in_flight, most.shard, most.shard_count)),
      launch_rate_(most.cron.starts_per_second, most.shard_count) {}

/// Admits launches while there is room.
class launches::gate final : public core::launch_gate {
 public:
  explicit gate(launches& of) : of_(of) {}

  core::launch_verdict admit(const v1::JobRecord& job, const v1::OpenLaunch& launch) override {
    const auto& spec = job.spec();
    // First the checks that need no read of the store: a job may have a thousand waiting launches, and each one is checked.
    if (!agents_are_there(spec)) return wait_for(v1::LAUNCH_WAIT_AGENTS);
    const auto in_turn = launch.nominal_unix_ms() == of_.turn_.second && spec.name() == of_.turn_.first;
    if (of_.world_.tasks->draining() || !of_.flight_has_room(admitted_) ||
        (!in_turn && of_.world_.batches->counts().launches_waiting_room() != 0) || of_.world_.tasks->refuse_new() ||
        !of_.launch_rate_.has_room(of_.world_.time->now()))
      return wait_for(v1::LAUNCH_WAIT_ROOM);
    const auto id = core::launch_id(spec.name(), launch.nominal_unix_ms());
    const auto known = of_.world_.tasks->has_task(id);
    if (!known) {
      of_.world_.tasks->fail(known.failure());
      return wait_for(v1::LAUNCH_WAIT_ROOM);
    }
    if (*known) return skip(v1::SKIP_REASON_ID_TAKEN, "there was a task " + id + " already");
    const auto definition = of_.world_.workflows->current(spec.workflow(), of_.committed());
    if (!definition) {
      if (definition.failure().code == v1::ERROR_CODE_NOT_FOUND)
        return skip(v1::SKIP_REASON_NO_WORKFLOW, "its workflow " + spec.workflow() + " is not deployed");
      if (workflow_catalog::is_refusal(definition.failure())) return skip(v1::SKIP_REASON_NO_WORKFLOW, definition.failure().sentence);
      of_.world_.tasks->fail(definition.failure());
      return wait_for(v1::LAUNCH_WAIT_ROOM);
    }
    of_.launch_rate_.take();
    ++admitted_;
    return {};
  }

  std::optional<error> refuse_input(const v1::JobSpec& spec, std::string_view input) override {
    if (of_.faults_.ignore_schema) return std::nullopt;
    const auto definition = of_.world_.workflows->current(spec.workflow(), of_.committed());
    return definition ? (*definition)->refuse_input(input) : std::nullopt;
  }

 private:
  static core::launch_verdict wait_for(v1::LaunchWait what) { return {core::launch_verdict::kind::wait, what, {}, {}}; }
  static core::launch_verdict skip(v1::SkipReason why, std::string reason) {
    return {core::launch_verdict::kind::skip, {}, why, std::move(reason)};
  }

  /// Nothing is handed over within a decision, so one answer serves all launches of the job.
  bool agents_are_there(const v1::JobSpec& spec) {
    if (!agents_are_there_)
      agents_are_there_ = std::all_of(spec.needs().begin(), spec.needs().end(), [this](const v1::AgentNeed& need) {
        return of_.world_.agents->free_slots(need.agent(), need.labels()) >= need.slots();
      });
    return *agents_are_there_;
  }

  launches& of_;
  std::uint64_t admitted_ = 0;            // by this decision, not yet counted as in flight
  std::optional<bool> agents_are_there_;  // for the one job of this decision
};

core::job_context launches::context_for(gate& admission, const core::launch_rows& rows) const {
  core::job_context ctx;
  ctx.now = world_.time->now();
  ctx.zones = world_.zones;
  ctx.gate = &admission;
  ctx.rows = &rows;
  ctx.planted = &faults_;
  return ctx;
}

std::optional<core::job_decision> launches::decide(const std::string& name, const core::job_event& what) {
  if (world_.tasks->failed()) return std::nullopt;
  const auto found = jobs_.find(name, committed());
  if (!found) {
    world_.tasks->fail(found.failure());
    return std::nullopt;
  }
  auto& job = **found;
  if (!job.there || job.crashed) {
    forget_if_durable(name);
    return std::nullopt;
  }
  if (jobs_.has_crashed(name)) {
    give_up(name, job);
    return std::nullopt;
  }
  const auto before = store::index_state_of(job.record);
  gate admission{*this};
  const job_launches rows{name, job, committed()};
  const auto ctx = context_for(admission, rows);
  core::job_decision made;
  try {
    made = core::decide(job.record, what, ctx);
  } catch (const std::exception& bug) {
    // The record may be half changed. It is discarded; once all its written versions are durable it is read anew and paused.
    world_.log->on_note(note_level::error, "scheduler", "job " + name + ": internal error: " + core::clean_text(bug.what(), 500));
    jobs_.crashed(name, job, world_.batches->committed_sequence());
    return std::nullopt;
  }
  if (made.fatal) {
    world_.tasks->fail(*made.fatal);
    return std::nullopt;
  }
  if (made.changed) carry_out(name, job, before, made);
  forget_if_durable(name);
  return made;
}

void launches::create(const v1::JobSpec& spec, std::string hash, const std::string& who, job_book::entry& job) {
  gate admission{*this};
  const job_launches rows{spec.name(), job, committed()};
  job.record = core::create_job(spec, std::move(hash), who, context_for(admission, rows));
  job.there = true;
  core::job_decision made;
  made.changed = true;
  carry_out(spec.name(), job, store::job_index_state{}, made);
}

void launches::carry_out(const std::string& name, job_book::entry& job, const store::job_index_state& before, core::job_decision& made) {
  auto& record = job.record;
  for (auto& start : made.starts) {
    auto definition = world_.workflows->current(record.spec().workflow(), committed());
    if (!definition) {
      // The gate has found the workflow a moment ago.
      world_.tasks->fail(definition.failure());
      return;
    }
    v1::Submission item;
    item.set_id(start.task_id);
    item.set_workflow(record.spec().workflow());
    *item.mutable_labels() = record.spec().labels();
    item.set_priority(record.spec().priority());
    const auto number = world_.tasks->create_launch(item, std::move(start.input), std::move(*definition), std::move(start.launch),
                                                    start.deadline_unix_ms, start.restored_from_unix_ms);
    for (auto& open : *record.mutable_open())
      if (open.nominal_unix_ms() == start.nominal_unix_ms) open.set_task_number(number);
    for (auto& row : made.rows)
      if (row.nominal_unix_ms() == start.nominal_unix_ms) row.set_task_number(number);
    if (record.last().nominal_unix_ms() == start.nominal_unix_ms) record.mutable_last()->set_task_number(number);
  }
  if (faults_.split_launch && !made.starts.empty()) world_.tasks->flush();
  for (const auto nominal_ms : made.erased_rows) {
    store::erase_launch(world_.batches->rows(), name, nominal_ms);
    job.launches[nominal_ms] = std::nullopt;
  }
  for (auto& row : made.rows) {
    store::put_launch(world_.batches->rows(), row);
    job.launches[row.nominal_unix_ms()] = std::move(row);
  }
  write_alert(record, made);
  store::put_job(world_.batches->rows(), before, record);
  store::move_job_counters(world_.batches->counts(), before, store::index_state_of(record));
  world_.batches->counts().set_launches(world_.batches->counts().launches() + made.starts.size());
  world_.batches->counts().set_launches_skipped(world_.batches->counts().launches_skipped() + made.skipped);
  world_.batches->counts().set_latest_mark_unix_ms(std::max(world_.batches->counts().latest_mark_unix_ms(), record.mark_unix_ms()));
  jobs_.written(name, job, world_.batches->sequence());
  if (record.due_indexed_unix_ms() != 0 && record.due_indexed_unix_ms() != before.due_indexed_unix_ms)
    world_.batches->after().job_due(record.due_indexed_unix_ms());
  for (const auto& cancel : made.cancels) world_.tasks->cancel_launch(cancel.task_number, cancel.reason);
}

void launches::write_alert(v1::JobRecord& record, core::job_decision& made) {
  if (made.resolve_alert || (made.alert && record.alert() != 0)) {
    const auto resolved = world_.alerts->resolve(record.alert(), world_.batches->page(), committed());
    if (!resolved.ok()) world_.tasks->fail(resolved.failure());
    record.clear_alert();
  }
  if (made.restated && !made.alert)
    if (const auto done = world_.alerts->restate(record.alert(), *made.restated, world_.batches->page(), committed()); !done)
      world_.tasks->fail(done.failure());
  if (made.missed_changed) write_missed_alert(record, made.missed_now);
  if (made.alert) record.set_alert(world_.alerts->raise(std::move(*made.alert), world_.batches->page()));
}

void launches::acknowledged(const v1::AlertRecord& alert) {
  // One that several jobs share has no job, and `job list --failing` goes on naming these.
  if (alert.kind() == v1::ALERT_KIND_JOB_MISSED && !alert.job().empty()) decide(alert.job(), core::missed_seen{alert.number()});
}

/// False: the alert is unknown or resolved.
bool launches::change_missed_alert(std::uint64_t number, const std::function<void(v1::AlertRecord&)>& how) {
  bool open = false;
  const auto done = world_.alerts->change(number, world_.batches->page(), committed(), [&](v1::AlertRecord& alert) {
    open = store::is_unresolved(alert);
    if (open) how(alert);
  });
  if (!done.ok()) world_.tasks->fail(done.failure());
  return open;
}

/// One alert a job, and one for all jobs beyond the first twenty of a minute: after an outage a thousand jobs may have missed their times.
/// The shared one names no job.
void launches::write_missed_alert(v1::JobRecord& record, const v1::MissedTimes& now) {
  if (!record.has_missed()) return leave_missed_alert(record);
  if (record.missed_alert() != 0) {
    const auto open = change_missed_alert(record.missed_alert(), [&](v1::AlertRecord& alert) {
      if (alert.job().empty()) return;
      const auto draft = core::missed_alert(record);
      alert.set_sentence(draft.sentence());
      alert.set_remedy(draft.remedy());
    });
    // An operator has acknowledged the earlier ones, and what is left of them needs no other alert.
    if (open || now.count() == 0) return;
    *record.mutable_missed() = now;
  }
  const auto at = world_.time->steady();
  while (!missed_raised_.empty() && at - missed_raised_.front() > missed_window) missed_raised_.pop_front();
  if (missed_raised_.size() < most_missed_alerts) {
    missed_raised_.push_back(at);
    record.set_missed_alert(world_.alerts->raise(core::missed_alert(record), world_.batches->page()));
  } else {
    record.set_missed_alert(share_missed_alert(record.spec().name()));
  }
}

void launches::leave_missed_alert(v1::JobRecord& record) {
  bool over = false;
  change_missed_alert(record.missed_alert(), [&](v1::AlertRecord& alert) {
    const auto is_shared = alert.job().empty();
    if (is_shared) alert.set_tasks(alert.tasks() - std::min<std::uint64_t>(alert.tasks(), 1));
    over = !is_shared || alert.tasks() == 0;
  });
  if (over) {
    const auto resolved = world_.alerts->resolve(record.missed_alert(), world_.batches->page(), committed());
    if (!resolved.ok()) world_.tasks->fail(resolved.failure());
  }
  record.clear_missed_alert();
}

std::uint64_t launches::share_missed_alert(const std::string& first) {
  const auto open =
      missed_shared_ != 0 && change_missed_alert(missed_shared_, [](v1::AlertRecord& alert) { alert.set_tasks(alert.tasks() + 1); });
  if (open) return missed_shared_;
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_JOB_MISSED);
  draft.set_tasks(1);
  draft.set_sentence("more jobs than have alerts of their own missed times, job " + first + " first");
  draft.set_remedy("fairlead job list --failing lists them; fairlead job show NAME has the command that launches what was missed");
  missed_shared_ = world_.alerts->raise(std::move(draft), world_.batches->page());
  return missed_shared_;
}

void launches::give_up(const std::string& name, job_book::entry& job) {
  const auto before = store::index_state_of(job.record);
  std::vector<core::launch_ended> ended;
  for (const auto& launch : job.record.open()) {
    if (launch.state() != v1::LAUNCH_STATE_STARTED) continue;
    const auto state = world_.tasks->final_state_of(launch.task_number(), core::launch_id(name, launch.nominal_unix_ms()));
    if (has_ended(state)) ended.push_back({launch.nominal_unix_ms(), state});
  }
  gate admission{*this};
  const job_launches rows{name, job, committed()};
  auto made = core::give_up(job.record, ended, context_for(admission, rows));
  if (made.fatal) {
    world_.tasks->fail(*made.fatal);
    return;
  }
  jobs_.taken_up(name);
  carry_out(name, job, before, made);
}

// ---- ends of launches ----

void launches::moved(const v1::TaskRecord& record) {
  const auto same = std::find_if(moved_.begin(), moved_.end(), [&](const v1::TaskRecord& one) {
    return one.number() == record.number() && has_ended(one.state()) == has_ended(record.state());
  });
  auto& kept = same == moved_.end() ? moved_.emplace_back() : *same;
  kept.set_number(record.number());
  *kept.mutable_launch() = record.launch();
  kept.set_state(record.state());
  kept.set_parked(record.parked());
}

std::vector<std::string> launches::beside(const v1::TaskRecord& record) {
  std::vector<std::string> out;
  const auto job = jobs_.find(record.launch().job(), committed());
  if (!job || !(*job)->there) return out;
  for (const auto& one : (*job)->record.open())
    if (one.state() == v1::LAUNCH_STATE_STARTED && !one.parked() && one.task_number() != record.number())
      out.push_back(core::launch_id(record.launch().job(), one.nominal_unix_ms()));
  forget_if_durable(record.launch().job());
  return out;
}

void launches::settle() {
  // A launch that starts may end at once.
  while (!moved_.empty() && !world_.tasks->failed())
    for (const auto& record : std::exchange(moved_, {})) {
      const auto nominal_ms = record.launch().nominal_unix_ms();
      if (has_ended(record.state()))
        decide(record.launch().job(), core::launch_ended{nominal_ms, record.state()});
      else
        decide(record.launch().job(), core::launch_held{nominal_ms, record.parked()});
    }
}

}  // namespace fairlead
