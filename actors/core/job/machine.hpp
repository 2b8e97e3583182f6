#pragma once
// Only for this room: one decision about one job. Files: times.cpp (nominal times), launches.cpp (open launches), operator.cpp and
// stretches.cpp (operators' actions).

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/cron/expression.hpp"
#include "actors/core/cron/next.hpp"
#include "actors/core/job/job.hpp"

namespace fairlead::core {

/// The source of nominal times.
struct time_table {
  cron_expression schedule;
  const cctz::time_zone* zone = nullptr;
  dst_policy dst = dst_policy::vixie;

  /// nullopt: the expression cannot be read, or the database has no such zone.
  static std::optional<time_table> of(const std::string& job, const std::string& schedule, const std::string& zone, v1::DstPolicy dst,
                                      const zone_source& zones);
  static std::optional<time_table> of(const v1::JobSpec& spec, const zone_source& zones) {
    return of(spec.name(), spec.schedule(), spec.zone(), spec.dst(), zones);
  }

  /// The first nominal time after `unix_ms`.
  std::optional<std::int64_t> next_after(std::int64_t unix_ms) const;
};

class job_machine {
 public:
  job_machine(v1::JobRecord& record, const job_context& ctx);

  void due();
  void ended(const launch_ended& what);
  void held(const launch_held& what);
  void seen(const missed_seen& what);
  void change(const job_changed& what);
  void operate(const job_operated& what);

  /// Returns the decision; sets when the job is due next.
  job_decision finish();

 private:
  struct skipped_time {
    std::int64_t nominal_ms = 0;
    v1::SkipReason why = v1::SKIP_REASON_UNSPECIFIED;
    std::string reason;
  };

  // Nominal times.
  void read_schedule() { table_ = time_table::of(record_.spec(), *ctx_.zones); }
  /// Decides the nominal times up to now; false: there are more than one decision takes.
  bool advance();
  void note_missed(std::int64_t nominal_ms);
  void pass(std::int64_t nominal_ms, std::optional<std::int64_t> successor_ms);
  bool decided_before(std::int64_t nominal_ms);
  void skip_time(std::int64_t nominal_ms, v1::SkipReason why, std::string reason);
  /// Whether a time between these was recorded before a rewind, perhaps by another schedule.
  bool is_decided_between(std::int64_t after_ms, std::int64_t before_ms);
  void record_skips();
  std::int64_t start_by(std::int64_t start_at_ms, std::int64_t nominal_ms) const;
  v1::OpenLaunch opened(std::int64_t nominal_ms, v1::LaunchTrigger trigger) const;
  std::int64_t jitter_of(std::int64_t nominal_ms) const;
  std::int32_t utc_offset_at(std::int64_t nominal_ms) const { return utc_offset_in(record_.spec().zone(), nominal_ms); }
  std::int32_t utc_offset_in(const std::string& zone, std::int64_t nominal_ms) const;

  // Launches.
  void add_open(v1::OpenLaunch launch);
  void give_way(const std::string& later);
  void settle();
  /// Starts or skips the launch if this can be decided now; a skipped launch leaves the list.
  void try_to_start(int index);
  /// Whether an open launch counts for overlap, max_in_flight and the limit of open launches.
  bool counts(const v1::OpenLaunch& launch) const { return !launch.parked() || record_.spec().count_parked(); }
  /// The first open launch that counts; null: none.
  const v1::OpenLaunch* first_counted() const;
  int count_open() const;
  bool held_by_pause(const v1::OpenLaunch& launch) const;
  /// Launches that wait for the job to be resumed.
  std::vector<std::int64_t> held() const;
  bool blocked(const v1::OpenLaunch& launch) const;
  /// Returns the reason if the input of the launch cannot be made or does not fit.
  std::optional<std::string> start(v1::OpenLaunch& launch);
  void skip_open(int index, v1::SkipReason why, std::string reason);
  std::int64_t deadline_of(const v1::OpenLaunch& launch) const;
  v1::LaunchRecord row_of(const v1::OpenLaunch& launch) const;
  void write_row(v1::LaunchRecord row, bool is_new);
  void count_bad(const std::string& sentence);
  void count_good();
  void pause_if_many_parked();
  void trim();

  // Operators.
  void refuse(error_code code, std::string sentence, std::string remedy = {});
  bool caught_up();
  void pause(const v1::JobAction& what);
  void resume(const v1::JobAction& what);
  void run(const job_operated& asked);
  void run_again(const v1::RunDone& done, const job_operated& asked);
  void answer_run(const v1::LaunchRecord& row);
  void backfill(const v1::JobAction& what);
  /// A backfill has launched so many of the times that were missed.
  void forget_missed(std::int64_t from_ms, std::int64_t to_ms, std::uint64_t launched);
  using run_times = std::map<std::int64_t, std::vector<std::int64_t>>;  // of runs of skips, by the first time
  void rewind(const v1::JobAction& what);
  /// Answers what a rewind would do, and changes nothing. `rows`: those that end after now.
  void foresee_rewind(std::int64_t to_ms, const std::vector<v1::LaunchRecord>& rows, const run_times& runs);
  void skip_waiting(const v1::JobAction& what);
  /// The times of a run, oldest first; nullopt: unknown, because the zone database has changed, or the schedule of an older record.
  std::optional<std::vector<std::int64_t>> times_of(const v1::LaunchRecord& run) const;
  /// Replaces a run of skips by records for those of its `times` that are not `launched`. No record reaches over a launched time.
  void cut_run(const v1::LaunchRecord& run, const std::vector<std::int64_t>& times, const std::vector<std::int64_t>& launched);

  bool fail(const error& why);
  std::string id_of(std::int64_t nominal_ms) const { return launch_id(record_.spec().name(), nominal_ms); }

  v1::JobRecord& record_;
  const job_context& ctx_;
  const std::int64_t now_ms_;
  std::optional<time_table> table_;                   // of the present specification
  const std::int64_t decided_until_ms_;               // when this decision began
  std::optional<std::vector<std::int64_t>> decided_;  // nominal times ahead of the mark that have records; read at first need
  std::vector<skipped_time> skips_;                   // of this decision, not yet rows
  std::map<std::int64_t, v1::LaunchRecord> rows_;     // to be written
  std::uint32_t started_ = 0;                         // while open launches are gone through: number of those with a task
  bool waits_earlier_ = false;                        // while open launches are gone through: whether an earlier one waits
  job_decision out_;
};

/// Counts the end of a launch's task.
void count_end(v1::JobRecord& record, v1::TaskState end);

/// As in launch ids.
std::string utc_text(std::int64_t unix_ms);

/// The fields of a specification, with defaults for those left out.
v1::OverlapPolicy overlap_of(const v1::JobSpec& spec);
v1::CatchUpPolicy catch_up_of(const v1::JobSpec& spec);
std::int64_t catch_up_window_of(const v1::JobSpec& spec);

}  // namespace fairlead::core
