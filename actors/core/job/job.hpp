#pragma once
// Decisions about a job: its nominal times, its launches, and operators' actions. Pure; rows and starts come out as values.
//
// A job has a high-water mark: every nominal time up to it has exactly one launch or one recorded skip. A decision moves the mark and
// returns a record for each time that it passes. The caller writes both in one batch, with the tasks of the launches that start at once. So
// the next decision, under any epoch, goes on from the mark. (The idea of a mark over time ranges is that of Temporal's Scheduler.)

#include <cctz/time_zone.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "actors/core/cron/next.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/job.pb.h"
#include "messages/time.hpp"

namespace fairlead::core {

struct planted_faults;

/// Open launches of one job, parked ones not counted; further ones are skipped.
inline constexpr int max_open_launches = 1000;
/// With so many parked launches a job pauses itself.
inline constexpr int max_parked_launches = 100;
/// So many launches that complete resolve the alert about missed times.
inline constexpr std::uint32_t completed_after_missed = 3;
/// Nominal times in one decision; further ones come with the next event.
inline constexpr int max_times_a_decision = 1000;
/// Consecutive skips recorded one by one; a longer run for one reason is one record.
inline constexpr int max_single_skips = 32;
/// A time that passed less than this ago is on time: no catch-up policy applies.
inline constexpr std::int64_t on_time_ms = 10'000;
inline constexpr std::int64_t default_catch_up_window_ms = 3'600'000;
inline constexpr std::uint32_t default_keep_launches = 1000;
/// With `needs` and no start window of its own, a launch waits this long for its agents.
inline constexpr std::int64_t default_needs_window_ms = 600'000;
/// Every job is due at least this often, so that a new zone database takes effect after a restart.
inline constexpr std::int64_t job_recheck_ms = 24LL * 3'600'000;

class zone_source {
 public:
  virtual ~zone_source() = default;
  /// Null: there is no zone of this name. The empty name is UTC. The pointer is valid for ever.
  virtual const cctz::time_zone* find(std::string_view name) const = 0;
};

/// Whether a launch may start now.
struct launch_verdict {
  enum class kind { go, wait, skip };
  kind what = kind::go;
  v1::LaunchWait waits_for = v1::LAUNCH_WAIT_UNSPECIFIED;  // room or agents
  v1::SkipReason skip = v1::SKIP_REASON_UNSPECIFIED;
  std::string reason;  // of a skip, one sentence
};

class launch_gate {
 public:
  virtual ~launch_gate() = default;
  /// With `go` the launch counts as started, against the cap and the rate.
  virtual launch_verdict admit(const v1::JobRecord& job, const v1::OpenLaunch& launch) = 0;
  /// Why a launch cannot have this input, which is JSON; nullopt: it can, or the workflow is missing.
  virtual std::optional<error> refuse_input(const v1::JobSpec& job, std::string_view input) = 0;
};

/// The records of one job's launches, uncommitted ones included.
class launch_rows {
 public:
  virtual ~launch_rows() = default;
  virtual result<std::optional<v1::LaunchRecord>> at(std::int64_t nominal_unix_ms) const = 0;
  /// Records that end at this time or later, oldest first; runs of skips that began earlier are included.
  virtual result<std::vector<v1::LaunchRecord>> from(std::int64_t unix_ms) const = 0;
  /// The oldest records, at most `limit`.
  virtual result<std::vector<v1::LaunchRecord>> oldest(std::size_t limit) const = 0;
};

struct job_context {
  moment now;
  const zone_source* zones = nullptr;
  launch_gate* gate = nullptr;
  const launch_rows* rows = nullptr;
  const planted_faults* planted = nullptr;  // null in production
};

// ---- events ----

/// The job's index entry is due, or it is the job's turn in the queue of launches that could start.
struct job_due {};

/// The task of a launch has ended.
struct launch_ended {
  std::int64_t nominal_unix_ms = 0;
  v1::TaskState end = v1::TASK_STATE_COMPLETED;  // or undone, or failed
};

/// The task of a launch has been parked, or goes on.
struct launch_held {
  std::int64_t nominal_unix_ms = 0;
  bool parked = false;
};

/// The owner changes the specification; the caller has checked the new one.
struct job_changed {
  v1::JobSpec spec;
  std::string content_hash;
  std::string who;
};

/// An operator's action other than delete.
struct job_operated {
  v1::JobAction action;
  std::string content_hash{};  // of the action without its conditions, if it has a token
};

/// The launch that the record remembers under the token of the action, which gives no time; null: none.
const v1::RunDone* find_run(const v1::JobRecord& record, const v1::JobAction& action);

/// An operator has acknowledged the alert about the job's missed times.
struct missed_seen {
  std::uint64_t alert = 0;  // its number
};

using job_event = std::variant<job_due, launch_ended, launch_held, job_changed, job_operated, missed_seen>;

// ---- the result ----

/// A task to create in the batch that records its launch. Its number goes into the job's open launch and into the row.
struct launch_start {
  std::int64_t nominal_unix_ms = 0;
  std::string task_id;
  std::string input;  // JSON text
  v1::LaunchOf launch;
  std::int64_t deadline_unix_ms = 0;       // 0: none
  std::int64_t restored_from_unix_ms = 0;  // of a backup since which there may have been this task; 0: none
};

/// A running task to cancel for a later launch.
struct launch_cancel {
  std::uint64_t task_number = 0;
  std::string reason;
};

struct job_decision {
  bool changed = false;                   // the record must be written
  bool more = false;                      // nominal times that have come are left: send another job_due at once
  std::vector<v1::LaunchRecord> rows;     // to be written, in order
  std::vector<std::int64_t> erased_rows;  // nominal times; erase them before `rows` are written
  std::vector<launch_start> starts;
  std::vector<launch_cancel> cancels;
  std::uint64_t skipped = 0;                // nominal times
  std::optional<v1::AlertRecord> alert;     // to be raised: kind, subject, sentence and remedy
  std::optional<v1::AlertRecord> restated;  // what the job's alert says now
  bool resolve_alert = false;               // the job's alert is over
  bool missed_changed = false;              // JobRecord.missed: its alert is to be raised, changed or resolved
  v1::MissedTimes missed_now;               // of this decision
  std::optional<error> refused;             // why the request is refused; nothing has changed
  v1::JobOperateResult answer;              // of job_operated, without name and error
  std::optional<error> fatal;               // a read of the store failed: the node must stop
};

/// A new job. Its mark is now, so it launches from the next nominal time on. The caller has checked `spec`.
v1::JobRecord create_job(v1::JobSpec spec, std::string content_hash, const std::string& who, const job_context& ctx);

/// Changes `record`, due_indexed_unix_ms included. A refused event changes nothing.
job_decision decide(v1::JobRecord& record, const job_event& what, const job_context& ctx);

/// For a job about which a bug prevents every decision: pauses the job, with an alert, and takes it out of the index until an operator
/// resumes it. `ended` names started launches whose tasks have ended: such an end is reported once, and may have been lost with the failed
/// decision. Does not read the schedule, since the bug may lie there.
job_decision give_up(v1::JobRecord& record, const std::vector<launch_ended>& ended, const job_context& ctx);

/// From now on the job's times are skipped.
void pause(v1::JobRecord& record, const std::string& who, const std::string& reason, moment now);
void unpause(v1::JobRecord& record);

/// The alert about a job that is not launched as it should be.
v1::AlertRecord failing_alert(const v1::JobSpec& spec, const std::string& sentence, const std::string& remedy);

/// The alert about JobRecord.missed.
v1::AlertRecord missed_alert(const v1::JobRecord& job);

/// `job@2026-03-29T01:00:00Z`; with milliseconds if there are any.
std::string launch_id(std::string_view job, std::int64_t nominal_unix_ms);

/// How long after its time, or after it was found missing, a launch may start; nullopt: without limit.
std::optional<std::int64_t> start_window_of(const v1::JobSpec& spec);

/// Unspecified is vixie.
dst_policy dst_of(v1::DstPolicy policy);

/// The first nominal time after `after_unix_ms`; nullopt: there is none, or the zone is unknown.
std::optional<std::int64_t> next_nominal(const v1::JobSpec& spec, const zone_source& zones, std::int64_t after_unix_ms);

}  // namespace fairlead::core
