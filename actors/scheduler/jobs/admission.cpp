// Admission of launches: due jobs found by the cron, launches that wait for room or for agents, and the check of the clock.

#include <algorithm>
#include <set>
#include <utility>

#include "actors/scheduler/jobs/launches.hpp"
#include "store/keys.hpp"

namespace fairlead {

namespace {

constexpr std::size_t ready_chunk = 256;        // launches that wait for room, read ahead
constexpr std::size_t agents_chunk = 256;       // jobs with launches that wait for agents, decided about in one turn
constexpr std::size_t agents_entries = 16'384;  // index entries read for them
constexpr int most_rounds = 50;                 // further decisions in one turn about jobs with many missed times
constexpr std::int64_t clock_tolerance_ms = 1000;
constexpr duration agents_look_period = std::chrono::seconds{1};

bool waits_for_room(const v1::JobRecord& job, std::int64_t nominal_ms) {
  return std::any_of(job.open().begin(), job.open().end(), [&](const v1::OpenLaunch& one) {
    return one.nominal_unix_ms() == nominal_ms && one.state() == v1::LAUNCH_STATE_WAITING && one.waits_for() == v1::LAUNCH_WAIT_ROOM;
  });
}

}  // namespace

void launches::due(const due_jobs& what) {
  if (world_.tasks->draining() || world_.tasks->failed()) return;
  // Jobs left over still have their index entry and come again.
  for (int more_rounds = most_rounds; const auto& name : what.names) {
    do {
      const auto made = decide(name, core::job_due{});
      world_.tasks->flush_if_large();
      if (!made || !made->more) break;
    } while (more_rounds-- > 0);
    if (world_.tasks->failed()) return;
  }
  if (!what.look) return;
  watch_clock();
  // Launches that came since may go before those read ahead.
  ready_ahead_.clear();
  admit();
  look_for_agents();
}

bool launches::flight_has_room(std::uint64_t more) const {
  return most_in_flight_ == 0 || world_.batches->counts().launches_in_flight() + more < most_in_flight_;
}

void launches::admit() {
  const auto room = [this] { return flight_has_room() && !world_.tasks->refuse_new() && launch_rate_.has_room(world_.time->now()); };
  while (!world_.tasks->draining() && !world_.tasks->failed() && world_.batches->counts().launches_waiting_room() != 0 && room()) {
    if (ready_ahead_.empty()) {
      const auto prefix = store::keys::launch_ready_prefix(store::default_namespace, store::ready_for::room);
      const auto scanned =
          committed().scan(store::table::launch_ready, prefix, store::keys::after(prefix), [this](std::string_view key, std::string_view) {
            const auto entry = store::keys::decode_launch_ready(key);
            if (!entry) return true;
            std::string job{entry->job};
            // A launch whose job is in the book may have been admitted; only the erasure of its index entry is not durable yet.
            const auto newer = jobs_.entries().find(job);
            const auto waits = newer == jobs_.entries().end() ||
                               (!newer->second->crashed && waits_for_room(newer->second->record, entry->nominal_unix_ms));
            if (waits) ready_ahead_.emplace_back(std::move(job), entry->nominal_unix_ms);
            return ready_ahead_.size() < ready_chunk;
          });
      if (!scanned.ok()) {
        world_.tasks->fail(scanned.failure());
        return;
      }
      if (ready_ahead_.empty()) return;  // the waiting launches are not durable yet
    }
    turn_ = std::move(ready_ahead_.front());
    ready_ahead_.pop_front();
    decide(turn_.first, core::job_due{});
    turn_ = {};
    world_.tasks->flush_if_large();
  }
}

void launches::look_for_agents() {
  const auto now = world_.time->now();
  if (world_.batches->counts().launches_waiting_agents() == 0 || (now < next_agents_look_ && next_agents_look_ - now <= agents_look_period))
    return;
  next_agents_look_ = now + agents_look_period;
  const auto prefix = store::keys::launch_ready_prefix(store::default_namespace, store::ready_for::agents);
  const std::string begin{std::string_view{prefix}};
  // Each job is decided about once, however many of its launches wait: one decision covers all of them.
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
    world_.tasks->fail(scanned.failure());
    return;
  }
  agents_from_ = seen < agents_entries && names.size() < agents_chunk ? std::string{} : last + '\0';
  for (const auto& name : names) {
    decide(name, core::job_due{});
    world_.tasks->flush_if_large();
  }
}

void launches::watch_clock() {
  const auto now_ms = to_unix_ms(world_.time->now());
  if (world_.batches->counts().clock_alert() != 0) {
    if (now_ms < world_.batches->counts().latest_mark_unix_ms() || faults_.keep_clock_alert) return;
    const auto resolved = world_.alerts->resolve(world_.batches->counts().clock_alert(), world_.batches->page(), committed());
    if (!resolved.ok()) world_.tasks->fail(resolved.failure());
    world_.batches->counts().set_clock_alert(0);
    return;
  }
  const auto behind = [&] { return now_ms + clock_tolerance_ms < world_.batches->counts().latest_mark_unix_ms(); };
  if (!behind() || faults_.lose_clock_alert) return;
  // The counter changes when marks move; the job with the latest mark may have been deleted since.
  find_latest_mark();
  if (world_.tasks->failed() || !behind()) return;
  v1::AlertRecord draft;
  draft.set_kind(v1::ALERT_KIND_CLOCK_BEHIND);
  draft.set_sentence("the clock of the node showed " + format_utc(now_ms) + " when jobs had been launched for times up to " +
                     format_utc(world_.batches->counts().latest_mark_unix_ms()) +
                     ": these jobs are not launched until the clock has passed that time");
  draft.set_remedy("correct the clock if it is wrong; if it is right now, run fairlead job rewind to launch jobs from now on");
  world_.batches->counts().set_clock_alert(world_.alerts->raise(std::move(draft), world_.batches->page()));
  world_.log->on_note(note_level::warning, "scheduler", "the clock is behind times that jobs have been launched for");
  if (faults_.mend_far_mark && world_.batches->counts().latest_mark_unix_ms() > now_ms + 60'000) {
    v1::JobAction unasked;
    unasked.set_verb(v1::JOB_VERB_REWIND);
    v1::JobOperateReply to_nobody;
    rewind_all({}, unasked, to_nobody);
  }
}

bool launches::for_each_job(const std::function<void(const v1::JobRecord&)>& visit) {
  const auto scanned = store::for_each_job(committed(), {}, [&](const v1::JobRecord& record) {
    // The record in memory is not used if a decision about it threw: it may be half changed.
    const auto newer = jobs_.entries().find(record.spec().name());
    if (newer == jobs_.entries().end() || newer->second->crashed) visit(record);
    return true;
  });
  if (!scanned.ok()) return world_.tasks->fail(scanned.failure());
  for (const auto& [name, job] : jobs_.entries())
    if (job->there && !job->crashed) visit(job->record);
  return true;
}

void launches::find_latest_mark() {
  std::int64_t latest_ms = 0;
  if (for_each_job([&latest_ms](const v1::JobRecord& record) { latest_ms = std::max(latest_ms, record.mark_unix_ms()); }))
    world_.batches->counts().set_latest_mark_unix_ms(latest_ms);
}

std::optional<std::string> launches::job_of(const std::string& workflow) {
  std::string out;
  const auto read = for_each_job([&](const v1::JobRecord& record) {
    if (record.spec().workflow() == workflow) out = record.spec().name();
  });
  return read ? std::optional{out} : std::nullopt;
}

}  // namespace fairlead
