#pragma once
// The jobs of a shard: decisions of the core about jobs become rows, tasks and alerts of the Scheduler's open batch. launches.cpp decides
// and writes, admission.cpp admits launches, orders.cpp does the requests of owners and operators. One thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/alerts/book.hpp"
#include "actors/core/job/job.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/cron/job_book.hpp"
#include "actors/cron/start_rate.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/registry/registry.hpp"
#include "actors/scheduler/books/workflow_catalog.hpp"
#include "actors/scheduler/commit/pipeline.hpp"
#include "actors/scheduler/commit/store_watch.hpp"

namespace fairlead {

/// Limits of launches for the whole cluster; each shard keeps to its part.
struct cron_limits {
  std::uint64_t in_flight = 10'000;     // tasks of launches that have neither ended nor parked; 0: no limit
  std::uint32_t starts_per_second = 0;  // 0: no limit
};

/// The Scheduler's tasks, as launches use them.
class launch_tasks {
 public:
  virtual ~launch_tasks() = default;

  /// Why no new task is taken at the moment; nullopt: new tasks are taken.
  virtual std::optional<error> refuse_new() const = 0;
  /// Whether a task of this id exists or existed.
  virtual result<bool> has_task(const std::string& id) = 0;
  /// Returns the number of the new task. The caller has checked the arguments.
  virtual std::uint64_t create_launch(v1::Submission& item, std::string input, workflow_catalog::handle definition, v1::LaunchOf launch,
                                      std::int64_t deadline_unix_ms, std::int64_t restored_from_unix_ms) = 0;
  /// The task is undone, or terminated if it cannot be undone.
  virtual void cancel_launch(std::uint64_t number, const std::string& reason) = 0;
  /// State of a task in memory, in the store or, by its id, in the archive; unspecified: its end is not known.
  virtual v1::TaskState final_state_of(std::uint64_t number, const std::string& id) = 0;
  virtual bool draining() const = 0;
  /// The node must stop. Returns false, which ends a scan.
  virtual bool fail(const error& why) = 0;
  virtual bool failed() const = 0;
  virtual void flush() = 0;
  virtual void flush_if_large() = 0;
};

class launches {
 public:
  struct ports {
    const clock* time = nullptr;
    const core::zone_source* zones = nullptr;
    observer* log = nullptr;
    commit_pipeline* batches = nullptr;
    alert_book* alerts = nullptr;
    store_watch* room = nullptr;
    workflow_catalog* workflows = nullptr;
    const registry* agents = nullptr;
    launch_tasks* tasks = nullptr;
  };
  struct limits {
    cron_limits cron;
    std::uint32_t shard = 0;
    std::uint32_t shard_count = 1;
    std::uint64_t input_bytes = 0;  // of one launch
  };

  launches(ports world, limits most, const core::planted_faults& planted);

  /// The cron has found jobs whose time has come.
  void due(const due_jobs& what);
  /// Admits launches that wait for room, while there is some.
  void admit();
  /// A task that was a launch has ended in the open batch; `settle` tells its job.
  void ended(const v1::TaskRecord& record) { moved(record); }
  /// A task that was a launch has been parked in the open batch, or goes on.
  void held(const v1::TaskRecord& record) { moved(record); }
  /// The launches of a job that run now and count beside the task, which is one of its launches, by id.
  std::vector<std::string> beside(const v1::TaskRecord& record);
  void settle();
  /// An operator has acknowledged it in the open batch.
  void acknowledged(const v1::AlertRecord& alert);
  void committed_up_to(std::uint64_t sequence) { jobs_.committed_up_to(sequence); }

  /// The name of a job that launches the workflow; empty: none; nullopt: the store could not be read.
  std::optional<std::string> job_of(const std::string& workflow);
  v1::JobApplyReply apply(const v1::JobApplyRequest& what);
  v1::JobOperateReply operate(const v1::JobOperateRequest& what);

 private:
  class gate;
  void moved(const v1::TaskRecord& record);
  const store::snapshot& committed() { return world_.batches->committed(); }
  core::job_context context_for(gate& admission, const core::launch_rows& rows) const;
  /// nullopt: there is no such job (any more), or no decision about it is possible now.
  std::optional<core::job_decision> decide(const std::string& name, const core::job_event& what);
  void create(const v1::JobSpec& spec, std::string hash, const std::string& who, job_book::entry& job);
  void carry_out(const std::string& name, job_book::entry& job, const store::job_index_state& before, core::job_decision& made);
  void write_alert(v1::JobRecord& record, core::job_decision& made);
  void write_missed_alert(v1::JobRecord& record, const v1::MissedTimes& now);
  void leave_missed_alert(v1::JobRecord& record);
  /// The number of the alert that jobs share; it counts one more.
  std::uint64_t share_missed_alert(const std::string& first);
  bool change_missed_alert(std::uint64_t number, const std::function<void(v1::AlertRecord&)>& how);
  void give_up(const std::string& name, job_book::entry& job);
  void forget_if_durable(const std::string& name) { jobs_.forget_if_durable(name, world_.batches->committed_sequence()); }

  /// Whether this shard's part of `in_flight` has room, with `more` launches that are not counted yet.
  bool flight_has_room(std::uint64_t more = 0) const;
  void look_for_agents();
  void watch_clock();
  /// The newest version of each job, committed or not. False: the store could not be read.
  bool for_each_job(const std::function<void(const v1::JobRecord&)>& visit);
  void find_latest_mark();

  std::optional<error> refuse_next_input(const v1::JobSpec& spec, const core::workflow& of) const;
  v1::JobApplyResult apply_one(const v1::JobSpec& spec, const std::string& who, const v1::JobApplyRequest& how);
  v1::JobOperateResult operate_one(const std::string& name, const v1::JobAction& action);
  void note_operated(const std::string& name, const v1::JobAction& action);
  std::optional<error> erase(const std::string& name, job_book::entry& job);
  void rewind_all(const std::string& after, const v1::JobAction& action, v1::JobOperateReply& out);

  ports world_;
  const core::planted_faults& faults_;
  std::uint64_t input_bytes_;
  job_book jobs_;
  std::uint64_t most_in_flight_;       // this shard's part of in_flight; 0: no limit
  std::deque<moment> missed_raised_;   // steady; when the latest alerts about missed times were raised
  std::uint64_t missed_shared_ = 0;    // number of the latest alert that several such jobs share
  start_rate launch_rate_;             // this shard's part of starts_per_second
  std::vector<v1::TaskRecord> moved_;  // launches that ended, were parked or go on in the open batch; their jobs are not told yet
  std::deque<std::pair<std::string, std::int64_t>> ready_ahead_;  // next launches that wait for room, read ahead from their index
  std::pair<std::string, std::int64_t> turn_;                     // the launch that is being admitted
  std::string agents_from_;                                       // index key where the round over launches that wait for agents goes on
  moment next_agents_look_{};
};

}  // namespace fairlead
