#pragma once
// The judge of one shard's jobs. It works out the nominal times of each job from what its owners have said of it and from when the shard took that
// over, and follows every row of jobs and launches, batch by batch, since a batch is what a crash can cut off. Of the system under test it uses only
// core::next_instant, which has an oracle of its own.
//
// Rules, by the name under which they are reported:
//   job_missed      a nominal time up to the mark has neither a launch nor a recorded skip
//   job_surplus     it has two records, or a record stands for a time that is none; a launch goes back, or is launched again
//   job_batch       a launch's task, its record and the mark of its job are not in one batch
//   job_skip        a time is skipped for a reason that does not hold
//   job_catch_up    a time that is too long ago, or that a later one stands for, is launched
//   job_paused      a paused job is launched by its schedule or to fill a stretch, or what it holds is said to wait for something else; or it
//                   pauses unasked
//   job_overlap     a launch starts beside one, or before one, that it has to wait for
//   job_early       before its time
//   job_cap         more launches are in flight, or start in a second, than may
//   job_mark        a mark goes back unasked, or is ahead of what the clock has shown
//   job_answer      what somebody was told about a job is not in the store
//   job_late        a time that has come is not decided, after the last fault, or under a Scheduler and a clock that have been left alone
//   clock_untold    marks are ahead of the clock, and no alert says so
//   stale_alert     the clock has passed all marks, and an alert says that it is behind
//   job_stalled     after the last fault a launch waits for nothing that it should wait for

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/job.pb.h"
#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"
#include "tests/simulation/world/bugs.hpp"
#include "tests/simulation/world/clocks.hpp"

namespace fairlead::simulation {

/// Null: the job has no such open launch.
const v1::OpenLaunch* open_of(const v1::JobRecord& job, std::int64_t nominal_ms);

class job_checker {
 public:
  job_checker(world& in, const host_clock& of_shard, const bug_book& bugs) : world_(in), clock_(of_shard), bugs_(bugs) {}

  /// A Scheduler begins under these limits (0: none).
  void starts_under(std::uint64_t in_flight, std::uint32_t a_second);

  // What owners and operators ask for; it may arrive, also twice.
  void applied(const v1::JobSpec& what);
  void ordered(const std::string& name, const v1::JobAction& what);

  // What leaves the Scheduler.
  void answered(const v1::JobApplyReply& what) const;
  void answered(const v1::JobOperateReply& what, const store::snapshot& durable) const;

  /// These batches, in this order, are durable.
  void committed(const std::vector<store::batch>& group);

  /// Of the whole content of the store: each nominal time of each job, from its creation on.
  void whole(const store::snapshot& durable) const;
  /// Long enough after the last fault: what has come is decided.
  void in_time() const;
  /// At a moment when nothing that is decided waits. Once the same Scheduler has been there long enough, by a clock that nobody has set meanwhile,
  /// people are told that the clock is behind, or not any more, and what has come is decided.
  void look_around(const store::snapshot& durable);
  /// Why some launch may still get on by itself; nullopt: none does.
  std::optional<std::string> under_way() const;

  /// Jobs there are.
  std::vector<std::string> names() const;
  std::vector<std::int64_t> times_of(const std::string& name) const;
  bool any() const { return !asked_.empty(); }
  /// Some mark is ahead of the clock.
  bool ahead() const { return ahead_by_ms() > 0; }

 private:
  /// What was asked of a job by name; the shard may hear it at any time after.
  struct wishes {
    std::set<std::string> specs;  // serialized, without `paused`
    bool pause = false;
    bool rewind = false;
    bool deletion = false;
    bool skip = false;
    bool goes_on = false;  // resume, or a deployment that says so
    std::vector<v1::JobAction> runs;
    std::vector<v1::JobAction> fills;
  };
  /// A stretch of time under one specification: behind `from_ms`, up to `to_ms`.
  struct stretch {
    v1::JobSpec spec;
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 0;
  };
  /// What was right when a launch was opened.
  struct opening {
    v1::JobSpec spec;
    std::int64_t recorded_ms = 0;
    std::int64_t at_us = 0;
  };
  struct known_job {
    std::uint64_t generation = 0;
    v1::JobRecord record;
    std::map<std::int64_t, v1::LaunchRecord> rows;
    std::vector<stretch> stretches;
    std::set<std::int64_t> beside;  // times of rows that belong to no stretch any more: backfilled, or kept when a mark went back
    std::map<std::int64_t, opening> openings;
    std::set<std::int64_t> forgotten;  // times of launches by hand that were skipped, and whose records a rewind has erased
  };
  struct known_task {
    std::string id;
    std::string job;
    std::uint64_t generation = 0;
    std::int64_t nominal_ms = 0;
    v1::TaskState state = v1::TASK_STATE_PENDING;
    bool parked = false;
    bool counts() const;
  };
  /// Rows of one decision, which ends with the row of its job.
  struct decision {
    std::string job;
    std::vector<std::int64_t> erased;
    std::vector<v1::LaunchRecord> put;
  };
  /// What one decision has to be judged against.
  struct judgement {
    const v1::JobRecord& before;
    const v1::JobRecord& after;
    std::set<std::int64_t> times;                  // between both marks
    std::map<std::int64_t, v1::LaunchRecord> old;  // the rows before
    const decision& made;
  };

  void take_batch(const store::batch& one);
  void take_task(const v1::TaskRecord& record);
  void judge_flight(std::uint64_t starts) const;
  void decide(const decision& made, std::optional<v1::JobRecord> after);
  void create(const std::string& name, const v1::JobRecord& record);
  void move_stretches(known_job& job, const v1::JobRecord& before, const v1::JobRecord& after);
  void judge_record(const known_job& job, const v1::JobRecord& after) const;
  void judge_erased(const judgement& of, std::int64_t nominal_ms) const;
  void judge_new(known_job& job, const judgement& of, const v1::LaunchRecord& row);
  void judge_new_skip(const judgement& of, const v1::LaunchRecord& row) const;
  void judge_scheduled(const judgement& of, const v1::LaunchRecord& row) const;
  void judge_asked(const judgement& of, const v1::LaunchRecord& row) const;
  void judge_move(known_job& job, const judgement& of, const v1::LaunchRecord& old, const v1::LaunchRecord& row);
  void judge_late_skip(const known_job& job, const judgement& of, const v1::LaunchRecord& row) const;
  void judge_start(const known_job& job, const judgement& of, const v1::LaunchRecord& row);
  static void judge_held(const v1::JobRecord& before, const v1::JobRecord& after);
  void judge_rate(const v1::LaunchRecord& row);
  void judge_coverage(const known_job& job, const judgement& of) const;
  bool counts(const v1::JobRecord& job, std::int64_t nominal_ms) const;
  bool opens_before(const judgement& of, std::int64_t nominal_ms) const;
  /// The latest mark, by how much the clock has not reached it; negative: it has passed all of them.
  std::int64_t ahead_by_ms() const;
  const wishes& asked(const std::string& name) const;

  /// A decision about it has crashed, and nothing is decided until somebody lets it go on.
  static bool stands_still(const v1::JobRecord& job) { return job.paused_reason() == "internal error"; }

  world& world_;
  const host_clock& clock_;
  const bug_book& bugs_;
  std::map<std::string, wishes> asked_;
  std::map<std::string, known_job> jobs_;
  std::map<std::uint64_t, known_task> tasks_;      // of launches, by number
  std::map<std::string, std::uint64_t> task_ids_;  // of all launches there ever were
  std::uint64_t latest_number_ = 0;
  std::uint64_t generations_ = 0;
  std::map<std::uint64_t, std::int64_t> unclaimed_;  // tasks of the batch whose launch has not been seen: number -> nominal time
  std::uint64_t starts_ = 0;                         // in the batch
  std::uint64_t rises_ = 0;                          // of what is in flight for another reason, in the batch
  std::uint64_t most_in_flight_ = 0;
  std::uint32_t most_a_second_ = 0;
  std::deque<std::int64_t> started_;  // by this Scheduler, while nobody has set its clock
  std::int64_t up_since_us_ = 0;      // it
  std::int64_t passed_since_us_ = 0;  // the clock has been seen behind no mark
  std::uint64_t clock_settings_ = 0;
};

// ---- worked out here, apart from what is judged ----

/// The nominal times behind `after_ms` up to `to_ms`.
std::vector<std::int64_t> nominal_times(const v1::JobSpec& spec, std::int64_t after_ms, std::int64_t to_ms);
/// The first one behind `after_ms`.
std::optional<std::int64_t> nominal_time_after(const v1::JobSpec& spec, std::int64_t after_ms);
/// `job@2026-03-29T01:00:00Z`.
std::string name_of_launch(const std::string& job, std::int64_t nominal_ms);
/// How long after its time a launch may start; nullopt: whenever it can.
std::optional<std::int64_t> window_of(const v1::JobSpec& spec);
inline std::int64_t end_of(const v1::LaunchRecord& row) { return std::max(row.nominal_unix_ms(), row.last_nominal_unix_ms()); }
/// A time of the schedule that has been opened, and nothing has been done for it: a rewind may take it back.
inline bool is_undecided(const v1::LaunchRecord& row) {
  return row.state() == v1::LAUNCH_STATE_WAITING && row.trigger() != v1::LAUNCH_TRIGGER_OPERATOR;
}
inline bool is_open(const v1::LaunchRecord& row) {
  return row.state() == v1::LAUNCH_STATE_WAITING || row.state() == v1::LAUNCH_STATE_STARTED;
}

}  // namespace fairlead::simulation
