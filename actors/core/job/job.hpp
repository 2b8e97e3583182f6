#pragma once
// What becomes of a job: its nominal times, its launches, and what operators ask. Pure; rows and starts come out as values.
//
// A job has a high-water mark: every nominal time up to it has exactly one launch or one recorded skip. A decision moves the mark and says what
// is to be recorded for each time that it passes, and its caller writes both in one batch, with the tasks of the launches that start at once.
// So whoever decides next, under whatever epoch, goes on from the mark. (The idea of a mark over time ranges is that of Temporal's Scheduler.)

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

/// Open launches of one job; what comes beyond is skipped.
inline constexpr int max_open_launches = 1000;
/// Nominal times decided at a time; more of them come with the next event.
inline constexpr int max_times_a_decision = 1000;
/// Skips in a row that are recorded one by one; a longer row for one reason is one record.
inline constexpr int max_single_skips = 32;
/// A time that passed less than this ago is on time: no catch-up policy is asked.
inline constexpr std::int64_t on_time_ms = 10'000;
inline constexpr std::int64_t default_catch_up_window_ms = 3'600'000;
inline constexpr std::uint32_t default_keep_launches = 1000;
/// With `needs` and no start window of its own, a launch waits this long for its agents.
inline constexpr std::int64_t default_needs_window_ms = 600'000;
/// The index of due jobs has each at least this often, so that another zone database counts from a restart on.
inline constexpr std::int64_t job_recheck_ms = 24LL * 3'600'000;

class zone_source {
 public:
  virtual ~zone_source() = default;
  /// Null: there is none of that name. The empty name is UTC. Valid for ever.
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
  /// With `go` the launch counts as started: against the cap and the rate.
  virtual launch_verdict admit(const v1::JobRecord& job, const v1::OpenLaunch& launch) = 0;
};

/// The records of one job's launches, with those that are on their way to the disk.
class launch_rows {
 public:
  virtual ~launch_rows() = default;
  virtual result<std::optional<v1::LaunchRecord>> at(std::int64_t nominal_unix_ms) const = 0;
  /// Oldest first: those that end at this time or later, runs of skips that began before included.
  virtual result<std::vector<v1::LaunchRecord>> from(std::int64_t unix_ms) const = 0;
  /// The oldest ones, at most `limit`.
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

/// Its entry in the index has come up, or its turn in the queue of those that could start.
struct job_due {};

/// The task of a launch has ended.
struct launch_ended {
  std::int64_t nominal_unix_ms = 0;
  bool completed = false;  // false: undone
};

/// Its owner gives it another specification, which has been checked.
struct job_changed {
  v1::JobSpec spec;
  std::string content_hash;
  std::string who;
};

/// An operator asks for something other than to delete it.
struct job_operated {
  v1::JobAction action;
};

using job_event = std::variant<job_due, launch_ended, job_changed, job_operated>;

// ---- what comes out ----

/// A task to be created in the batch that records its launch. Its number belongs into the job's open launch and into the row.
struct launch_start {
  std::int64_t nominal_unix_ms = 0;
  std::string task_id;
  std::string input;  // JSON text
  v1::LaunchOf launch;
  std::int64_t deadline_unix_ms = 0;  // 0: none
};

/// A running task that gives way to a later launch.
struct launch_cancel {
  std::uint64_t task_number = 0;
  std::string reason;
};

struct job_decision {
  bool changed = false;                   // the record must be written
  bool more = false;                      // there are nominal times left that have come: another job_due at once
  std::vector<v1::LaunchRecord> rows;     // to be written, in order
  std::vector<std::int64_t> erased_rows;  // nominal times, before `rows` are written
  std::vector<launch_start> starts;
  std::vector<launch_cancel> cancels;
  std::uint64_t skipped = 0;             // nominal times
  std::optional<v1::AlertRecord> alert;  // to be raised: kind, subject, sentence and remedy
  bool resolve_alert = false;            // what was raised about it is over
  std::optional<error> refused;          // of what was asked; nothing has changed
  v1::JobOperateResult answer;           // of job_operated, but name and error
  std::optional<error> fatal;            // a read of the store failed: the node must stop
};

/// A new job: its mark is now, so that it fires from the next nominal time on. `spec` has been checked.
v1::JobRecord create_job(v1::JobSpec spec, std::string content_hash, const std::string& who, const job_context& ctx);

/// Changes `record`, due_indexed_unix_ms included. A refused event changes nothing.
job_decision decide(v1::JobRecord& record, const job_event& what, const job_context& ctx);

/// What becomes of a job that no decision can be made about, for a bug: it is paused, with an alert, and nothing about it comes up any more until
/// somebody resumes it. `ended` names those of its started launches whose tasks have ended, which is told once and may have been lost with the
/// decision that failed. Does not read the schedule: the bug may lie there.
job_decision give_up(v1::JobRecord& record, const std::vector<launch_ended>& ended, const job_context& ctx);

/// Its times are skipped from now on.
void pause(v1::JobRecord& record, const std::string& who, const std::string& reason, moment now);
void unpause(v1::JobRecord& record);

/// About a job that is not launched as it should be.
v1::AlertRecord failing_alert(const v1::JobSpec& spec, const std::string& sentence, const std::string& remedy);

/// `job@2026-03-29T01:00:00Z`; with milliseconds where there are some.
std::string launch_id(std::string_view job, std::int64_t nominal_unix_ms);

/// How long after its time, or after it was found to be missing, a launch may start. Nothing: whenever it can.
std::optional<std::int64_t> start_window_of(const v1::JobSpec& spec);

/// Unspecified is vixie.
dst_policy dst_of(v1::DstPolicy policy);

/// The first nominal time after `after_unix_ms`; nullopt: there is none, or the zone is not known any more.
std::optional<std::int64_t> next_nominal(const v1::JobSpec& spec, const zone_source& zones, std::int64_t after_unix_ms);

}  // namespace fairlead::core
