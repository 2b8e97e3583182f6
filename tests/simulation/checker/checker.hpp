#pragma once
// The judge of one shard of a run. It sees what leaves the Scheduler at the moment it leaves, what is durable at that moment, what the services did, what
// clients were told, and each task as a reader sees it after each commit. It shares no code with what it judges but the functions that
// readers use. The first broken rule ends the run.
//
// Rules, by the name under which they are reported (numbers: docs/guarantees):
//   durable_before_effect   what a hand-over, an acknowledgement or a reply says is in the store by then
//   one_task                an acknowledged submission is one task, and the same id always the same one
//   attempt_falls, attempt_reused, epoch_falls, stale_start    each hand-over is newer than the one before
//   overlapping_leases      no hand-over while another agent may hold the step
//   lease_cut               a lease that is made shorter does not end before its agent may believe it does
//   not_sent_again          what an instance holds is sent to it once more when it registers anew
//   try_differs, try_past_lease                                every try of an attempt is the same, and none begins too late
//   checkpoint              an attempt gets the newest checkpoint that an earlier one was told is kept
//   fence, accepted_twice   an outcome counts once, and not once its recovery was decided
//   impossible_step, impossible_task, register_goes_back       each task moves along its state machine only, for every reader
//   key                     one key for one step, direction and generation; a new one only when nothing under the old can stand
//   expired_key             nothing is performed again in doubt under a key that its service honours no longer
//   repeated_in_doubt       nothing is performed again that is to stay in doubt (own/doubts.hpp)
//   breaker                 nothing is handed over while a breaker is open, and single attempts while it is half open
//   label, drained, limit, order                               who may get a step, how many at a time, and which step goes first
//   two_effects             never more than one standing effect of a step
//   no_agent                nothing is handed over of a step that no agent carries out
//   needs                   performed only when what it needs is durably over
//   join_early              performed only when its join is durably met
//   dropped, dropped_standing, end_before_dropped              what a join does not need is undone before the task ends, and nothing else is dropped
//   finally_early, finally_skipped, after_failure_early        when steps of the end are performed, and that they are
//   perform_after_undo, not_drained, wrong_order, undo_twice, undo_of_nothing, pivot_undone    the rules of undo
//   undo_of_failed, failed_not_undone                          what has failed is undone where its workflow says so, and only there
//   completed_without_effect, skipped_with_effect, passed_over_with_effect, undone_but_standing, passed_over_doubt, end_failed
//                                                                                              what an end means
//   lost_alert, stale_alert, no_wake_up, wake_up_lost, stalled, unresolvable, store_check      nobody waits unseen
//   child_*, end_before_child, not_cancelled, item_*           steps that are tasks of their own, or lists of them (own/child_book.hpp)
//   status_order, status_lost, status_wrong                    what the submitter is told

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/items.hpp"
#include "messages/task.pb.h"
#include "store/store.hpp"
#include "tests/simulation/agents/agents.hpp"
#include "tests/simulation/checker/alert_checker.hpp"
#include "tests/simulation/checker/archive_checker.hpp"
#include "tests/simulation/checker/content_checker.hpp"
#include "tests/simulation/checker/job_checker.hpp"
#include "tests/simulation/checker/own/child_book.hpp"
#include "tests/simulation/checker/pace_checker.hpp"
#include "tests/simulation/checker/restore_judge.hpp"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/bugs.hpp"
#include "tests/simulation/world/clocks.hpp"
#include "tests/simulation/world/ledger.hpp"

namespace fairlead::simulation {

/// The step needs nothing more.
/// Steps that need it may start.
inline bool over(const v1::StepRecord& step) {
  return step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_SKIPPED || step.passed_over();
}

class checker {
 public:
  checker(world& in, const host_clock& of_shard, const ledger& book);

  void connect(agents& staff, const services& behind, const store::store& reads, std::uint32_t shard) {
    pace_.on_return = [this, &staff, shard](const pace_checker::unbegun_attempt& which) {
      world_.count("attempts that are given back");
      staff.judge_return({which.task_number, which.step, which.direction, which.attempt, shard, 0});
    };
    agents_ = &staff;
    shard_ = shard;
    reads_ = &reads;
    restores_.connect(staff);
    contents_.connect(
        behind, [this](const step_name& of) { return perform_key(of); },
        [this](const std::string& id) {
          const auto number = numbers_.find(id);
          const auto seen = number == numbers_.end() ? seen_.end() : seen_.find(number->second);
          return seen == seen_.end() ? content_checker::seen_task{} : content_checker::seen_task{&seen->second, shape_of(seen->second)};
        });
  }

  /// Another node leads the shard from now on. What one before it still says is what had counted before, and is fenced where it arrives.
  void led_under(std::uint64_t epoch) { led_under_ = epoch; }

  /// So many tasks may run at a time from now on; others wait for their turn.
  void runs_at_most(std::uint64_t tasks) { most_running_ = tasks; }

  /// No child begins once so many tasks live below its top-level task, by one process at least.
  void has_families_of(std::uint64_t tasks) { least_family_ = std::min(least_family_, tasks); }

  // What leaves the Scheduler.
  void handed_over(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what);
  void acknowledged(const std::string& instance, std::uint64_t epoch, const v1::OutcomeAck& what);
  void submission_acknowledged(const v1::SubmitResult& what, const store::snapshot& durable);
  void noticed(const v1::TaskEnd& what, std::uint64_t epoch, const store::snapshot& durable);
  /// Somebody wants to be told of the end of a task, by the Scheduler that hears it.
  void subscription_heard(std::uint64_t ticket, const std::string& id, std::uint64_t epoch);
  void submission_answered(std::uint64_t ticket, const v1::SubmitReply& what);
  void recovery_asked(const v1::Recover& what);
  void renewed(const v1::HeartbeatAck& what);

  // What agents do.
  void heartbeat_sent(const v1::Heartbeat& what);
  void try_begins(const agent_site& where, std::uint64_t incarnation, const v1::Perform& what);

  /// It has decided this, which goes to the disk.
  void decided(const store::batch& what);

  // What reaches it.
  /// `anew`: the Scheduler had no address of it.
  void registered(const v1::RegisterAgent& what, std::uint64_t epoch, bool anew);
  void outcome_arrived(std::uint64_t epoch, const v1::Outcome& what);

  // What readers see after a commit.
  void committed(const std::vector<store::batch>& group, const store::snapshot& durable);

  // What a client knows.
  void expects_task(const std::string& id, const std::string& workflow) { expected_[id] = workflow; }
  /// It has learnt that the task is lost.
  void gives_up(const std::string& id) { expected_.erase(id); }
  /// An operator's order that may have been taken.
  void ordered(const std::string& id, const v1::OperatorAction& what) { orders_[id].push_back(what); }

  void status_event(const std::string& task, std::uint64_t sequence, v1::StatusKind kind, v1::TaskState state);

  /// Now and then, while the node is up: nobody waits for an absent agent without an alert.
  void look_for_absent(std::uint64_t epoch, const store::snapshot& durable);
  /// Now and then: what is over by the clock has been looked at.
  void look_for_late(std::uint64_t epoch);
  /// At a moment when nothing that is decided waits: who has registered anew has what it holds.
  void look_for_unsent(std::uint64_t epoch, const store::snapshot& durable);
  /// At such a moment: who wanted to be told of an end has been.
  void look_for_untold(std::uint64_t epoch);
  /// After the last fault: what lives has got on within the time that a guarantee gives.
  void progress(const store::snapshot& durable);
  /// Nothing is under way any more.
  void at_end(const store::snapshot& durable);

  /// Who judges what becomes of jobs.
  job_checker& of_jobs() { return jobs_; }
  const job_checker& of_jobs() const { return jobs_; }
  /// Who judges what becomes of ended tasks, and of alerts on their way.
  archive_checker& of_archives() { return archives_; }
  alert_checker& of_alerts() { return alerts_; }
  /// Who judges what becomes of a shard of which an earlier moment is put back. From then on this one is silent, but for what ends mean and that tasks come to one.
  restore_judge& of_restores() { return restores_; }
  void restored(const v1::Lineage& to, const store::snapshot& durable);
  /// What has crashed on purpose.
  bug_book& of_bugs() { return bugs_; }
  /// An operator's order reaches the Scheduler, and its answer leaves.
  void order_heard(std::uint64_t ticket, const v1::OperateRequest& what);
  void order_answered(std::uint64_t ticket, const v1::OperateReply& what);
  void submits(const v1::Submission& what) { contents_.submits(what); }
  /// A submission leaves, perhaps not for the first time.
  void sends(const std::string& id) {
    first_sent_ms_.emplace(id, clock_.now_ms());
    contents_.sends(id);
  }

  /// The newest key under which the step was handed over to be performed; empty: never.
  std::string perform_key(const step_name& of) const;
  const std::map<std::uint64_t, v1::TaskRecord>& seen() const { return seen_; }
  /// A version of a workflow that may be deployed.
  void knows(const v1::WorkflowDefinition& version);
  /// The version that a task is pinned to.
  const shape* shape_of(const v1::TaskRecord& task) const;

 private:
  struct hand_over {
    std::uint32_t attempt = 0;
    v1::Direction direction = v1::DIRECTION_PERFORM;
    std::uint64_t epoch = 0;
    std::string instance;
    std::uint64_t incarnation = 0;
    std::int64_t complete_by_ms = 0;
    std::int64_t heartbeat_ms = 0;
    std::int64_t lease_ms = 0;    // until when the agent may believe that it holds the step: complete_by, or earlier with a heartbeat
    std::int64_t decided_ms = 0;  // by the Scheduler's clock
    std::int64_t decided_us = 0;  // in true time; 0: not known
    std::map<std::uint64_t, std::int64_t> beats;  // when each heartbeat was sent, in true time
    std::int64_t sent_us = 0;                     // last
    std::int64_t believed_us = 0;  // until when its agent may believe in the lease, in true time; 0: the clock was set on the way
    std::string call;
    std::string input;
    std::string key;
    std::int64_t at_us = 0;
    bool late = false;       // by a former leader, and by no other yet
    bool arrived = false;    // its outcome has reached the Scheduler
    bool abandoned = false;  // its task was terminated meanwhile: no row follows the lease any more
    bool succeeded = false;
    bool accepted = false;
    bool given_back = false;  // perhaps in vain
  };
  struct checkpoint {
    std::uint32_t attempt = 0;
    std::uint64_t sequence = 0;
    std::string text;
  };
  struct checkpoints {
    std::vector<checkpoint> sent;  // in order
    std::size_t begin = 0;         // those before it are of other work, under another key
    std::size_t kept = 0;          // so many of them are known to be kept, or older than one that is
    std::string key;
  };
  /// An attempt that a commit has made durable.
  struct beginning {
    std::uint64_t number = 0;
    std::uint32_t step = 0;
    v1::Direction direction = v1::DIRECTION_PERFORM;
    std::uint32_t attempt = 0;
    std::string agent;
    std::string instance;
    std::uint64_t incarnation = 0;
    std::uint64_t epoch = 0;
  };
  struct known_service {
    v1::ServiceRecord record;
    std::vector<beginning> canaries;  // begun while it was half open
  };
  struct known_process {
    std::uint64_t incarnation = 0;
    std::uint64_t epoch = 0;                  // of the Scheduler that knows it
    std::optional<std::int64_t> draining_ms;  // since when that has known so
    bool again = false;                       // it has registered with it more than once
  };
  struct wait {
    std::int64_t since_us = 0;
    std::uint64_t order = 0;
    std::uint32_t attempt = 0;  // made before
  };
  struct history {
    std::vector<hand_over> all;  // in order
    bool undone = false;
    std::set<std::string> perform_keys;
    std::map<std::string, std::int64_t> keys_since_ms;  // of performs: when it was first handed over
    std::map<v1::Direction, checkpoints> progress;
    /// When attempts were decided, by direction, number and complete_by: a clock that is set shows one moment twice, and does not say when.
    std::map<std::tuple<v1::Direction, std::uint32_t, std::int64_t>, std::int64_t> decided_us;
    std::optional<wait> waited;     // before the newest attempt
    std::uint64_t begun_epoch = 0;  // of the Scheduler that decided it,
    std::int64_t begun_us = 0;      // and when that became durable
  };
  struct told {
    std::uint64_t last = 0;
    v1::StatusKind kind = v1::STATUS_KIND_UNSPECIFIED;
    v1::TaskState state = v1::TASK_STATE_UNSPECIFIED;
  };

  hand_over made_of(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what) const;
  void handed_over_late(const std::string& instance, std::uint64_t incarnation, std::uint64_t epoch, const v1::Perform& what);
  hand_over* find(std::uint64_t number, std::uint32_t step, v1::Direction direction, std::uint32_t attempt);
  bool closed(const hand_over& one) const;
  bool may_be_sent_again(const hand_over& one) const;
  /// A place in the line for an agent: who undoes goes before who performs, then the least order.
  using place_in_line = std::tuple<bool, std::uint64_t, std::uint64_t>;
  static place_in_line place_of(const v1::TaskRecord& record);
  void note_turns(const v1::TaskRecord* before, const v1::TaskRecord& record, const shape& plan);
  std::int64_t line_moved_us(const v1::TaskRecord& record) const;
  std::int64_t longest_turn_us() const;
  void judge_order(const step_name& of, const history& past, const hand_over& next) const;
  void judge_key(const step_name& of, const history& past, const v1::Perform& what, std::size_t open_effects);
  void judge_perform(const step_name& of, const shape& plan, const v1::TaskRecord& record) const;
  void judge_start(const std::string& id) const;
  // Steps of the end (own/ends.cpp).
  void judge_end_perform(const step_name& of, const hand_over& next, const shape& plan, const v1::TaskRecord& record,
                         const history& past) const;
  void judge_ends_of(const v1::TaskRecord& record, const shape& plan) const;
  bool brought_forward(const std::string& id) const;
  bool waits_for_start(const v1::TaskRecord& record) const;
  void judge_undo(const step_name& of, const shape& plan, const v1::TaskRecord& record, const history& past) const;
  void judge_undo_of_failed(const step_name& of, const v1::Perform& what, const shape& plan, const v1::TaskRecord& record) const;
  void judge_failed_undone(const v1::TaskRecord& record, std::uint32_t index) const;
  void judge_checkpoint(const step_name& of, history& past, const v1::Perform& what);
  void judge_expiry(const step_name& of, const history& past, const hand_over& next, const agent_site& site, bool in_doubt) const;
  void judge_place(const step_name& of, const hand_over& next, const agent_site& site, const v1::StepDefinition& step) const;
  void follow_lease(history& past, const v1::StepRecord& step);
  void expect_again(const v1::RegisterAgent& what, std::uint64_t epoch);
  void judge_limits(const step_name& of, const hand_over& next, const agent_site& site);
  void judge_order_of_waiting(const step_name& of, const hand_over& next, const shape& plan, const v1::TaskRecord& record,
                              const history& past) const;
  bool still_out(const step_name& of, const hand_over& one, const store::snapshot& durable) const;
  void note_beginnings(const v1::TaskRecord& record);
  void note_waits(const v1::TaskRecord& record);
  void judge_services(const std::set<std::string>& touched, const store::snapshot& durable);
  void judge_beginning(const beginning& what, bool touched, const v1::ServiceRecord& before);
  bool out_now(const beginning& what) const;
  void judge_service_alert(const v1::ServiceRecord& record, const store::snapshot& durable) const;
  void observe(const v1::TaskRecord& record, const store::snapshot& durable);
  void observe_restored(const v1::TaskRecord& record, const store::snapshot& durable);
  void follow_version(v1::TaskRecord& before, const v1::TaskRecord& after);
  void judge_moves(const v1::TaskRecord& before, const v1::TaskRecord& after) const;
  void judge_wake_up(const v1::TaskRecord& record, const store::snapshot& durable) const;
  void judge_alert(const v1::TaskRecord& record, const store::snapshot& durable) const;
  void judge_gone(std::uint64_t alert, v1::AlertKind kind, const std::string& cause, const store::snapshot& durable) const;
  void judge_alerts_of(const v1::TaskRecord& record, const store::snapshot& durable);
  void judge_alerts_of(const v1::ServiceRecord& before, const v1::ServiceRecord& now, const store::snapshot& durable) const;
  void judge_shard(const store::snapshot& durable);
  void forget_rates(const hand_over& one);
  void judge_refused(const std::string& instance, const v1::OutcomeAck& what);
  void judge_leases(const v1::TaskRecord* before, const v1::TaskRecord& record, const shape& plan) const;
  void note_end(const v1::TaskEnd& what, std::uint64_t epoch);
  void judge_completed(const v1::TaskRecord& record) const;
  void judge_undone(const v1::TaskRecord& record) const;
  // Steps with joins (own/joins.cpp).
  void judge_dropped(const v1::TaskRecord* before, const v1::TaskRecord& now, const shape& plan) const;
  void judge_dropped_end(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) const;
  // Steps that are tasks of their own (own/children.cpp).
  void judge_children(const v1::TaskRecord* was, const v1::TaskRecord& record, const store::snapshot& durable);
  void judge_child(const v1::TaskRecord* was, const v1::TaskRecord& record, const store::snapshot& durable);
  void judge_child_begins(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name,
                          const store::snapshot& durable);
  void note_child_moves(const v1::TaskRecord& was, const v1::TaskRecord& record, const v1::TaskRecord& parent, const v1::StepRecord& step);
  void judge_agreement(const v1::TaskRecord& parent, const v1::StepRecord& step, const v1::TaskRecord& child) const;
  void judge_none_stands(const v1::TaskRecord& child) const;
  void judge_nothing_left(const v1::TaskRecord& record, std::uint32_t index, const shape& plan, const store::snapshot& durable) const;
  void judge_child_step(const v1::StepRecord* was, const v1::TaskRecord& record, std::uint32_t index, const shape& plan) const;
  void judge_children_at_end(const store::snapshot& durable) const;
  void note_deployments(const store::snapshot& durable);
  bool ordered_above(const std::string& id, const std::function<bool(const v1::OperatorAction&)>& is_one) const;
  bool is_undone_alone(const v1::TaskRecord& parent, const v1::StepRecord& step, const v1::TaskRecord& child) const;
  bool is_undo_terminated(const v1::TaskRecord& parent, const v1::TaskRecord& child) const;
  bool launched_above(const v1::TaskRecord& record) const;
  void judge_inherited(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name) const;
  static bool child_lives(const v1::TaskRecord& record, const v1::StepRecord& step, const store::snapshot& durable);
  // Items of lists (own/items.cpp).
  void judge_items(const v1::StepRecord* was, const v1::TaskRecord& record, std::uint32_t index, const shape& plan,
                   const store::snapshot& durable, family_view& view);
  void judge_item_begins(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name,
                         const store::snapshot& durable);
  void judge_item_moves(const v1::TaskRecord& was, const v1::TaskRecord& record, const v1::TaskRecord& parent,
                        const child_name& name) const;
  void judge_item(const v1::TaskRecord& parent, const child_name& name, const v1::TaskRecord& child) const;
  bool is_item_undone_alone(const v1::TaskRecord& parent, const child_name& name, const v1::TaskRecord& child) const;
  void judge_no_item_left(const v1::TaskRecord& record, std::uint32_t index, const shape& plan, const store::snapshot& durable) const;
  void judge_item_order(const v1::TaskRecord& record, const v1::TaskRecord& parent, const child_name& name, const shape& plan) const;
  void judge_refused_item(const v1::TaskRecord& record, std::uint32_t index, std::uint32_t item, const shape& plan,
                          const store::snapshot& durable) const;
  std::uint64_t lived_around(const std::string& id, const store::snapshot& durable) const;
  void judge_failing_alert(const v1::TaskRecord& record, const store::snapshot& durable) const;
  void judge_failed(const v1::TaskRecord& record) const;
  void judge_failing(const v1::TaskRecord& before, const v1::TaskRecord& after) const;
  /// Whether an ended task means what it says.
  void judge_end(const v1::TaskRecord& record) const;
  void judge_alerts_at_end(const store::snapshot& durable) const;
  void judge_lists(const store::snapshot& durable) const;
  signal_book::task signaled_task(const std::string& id) const;
  callback_book::task called_task(const std::string& id) const;
  /// How many effects of the step stand, but for those of rounds that have ended.
  std::size_t open_effects(const v1::TaskRecord& record, std::uint32_t index) const;
  bool settled_by_operator(const std::string& id, const std::string& step) const;
  /// An operator may have said that its undo is to be passed over.
  bool passed_over_by_operator(const std::string& id, const std::string& step) const;

  world& world_;
  const host_clock& clock_;
  const ledger& ledger_;
  job_checker jobs_;
  content_checker contents_;
  pace_checker pace_;
  archive_checker archives_;
  alert_checker alerts_;
  bug_book bugs_;
  restore_judge restores_;
  child_book children_;
  const agents* agents_ = nullptr;
  std::uint32_t shard_ = 0;
  const store::store* reads_ = nullptr;
  std::map<std::string, shape> shapes_;                                   // by content hash
  mutable std::map<std::pair<std::string, std::uint32_t>, shape> calls_;  // of items: by content hash, and the step's index plus one
  std::map<step_name, history> steps_;
  std::map<std::uint64_t, std::string> ids_;      // by number
  std::map<std::string, std::uint64_t> numbers_;  // by id
  std::map<std::string, std::pair<step_name, v1::Direction>> keys_;
  std::map<std::uint64_t, v1::TaskRecord> seen_;
  std::set<std::string> undo_began_;  // tasks of which some step was handed over to be undone
  std::map<std::string, std::string> expected_;
  std::map<std::string, std::vector<v1::OperatorAction>> orders_;
  std::set<std::string> created_;
  std::map<std::string, told> told_;
  std::map<std::uint64_t, std::uint64_t> parked_alerts_;  // by task, the alert that said so
  std::uint64_t brake_alert_ = 0;
  std::map<std::uint64_t, std::pair<std::string, std::uint64_t>> subscribing_;  // by ticket: task, and the epoch of who has heard it
  std::map<std::string, std::uint64_t> following_;                              // tasks whose ends are to be told, by which epoch
  std::map<std::string, std::uint64_t> told_ends_;                              // by which epoch
  std::map<std::string, std::int64_t> told_parked_;                             // when
  std::map<std::uint64_t, std::pair<std::string, v1::EventKind>> heard_;        // orders, by ticket
  std::map<std::pair<std::string, v1::EventKind>, std::uint64_t> confirmed_;    // so many of a task
  std::map<std::string, known_service> services_;                               // by agent, as durable
  /// Attempts that an instance held when it registered anew.
  struct expectation {
    std::int64_t since_us = 0;
    std::uint64_t epoch = 0;
    std::uint64_t incarnation = 0;
    std::vector<std::pair<step_name, std::pair<v1::Direction, std::uint32_t>>> attempts;
  };
  std::map<std::string, expectation> unsent_;                                               // by instance
  std::map<std::string, known_process> processes_;                                          // by instance
  std::vector<beginning> begun_;                                                            // by the commit that is looked at
  std::map<step_name, wait> waits_;                                                         // steps that have been ready since then
  std::map<std::string, std::int64_t> first_sent_ms_;                                       // submissions by id, by the clock of the shard
  std::map<std::pair<std::string, std::uint64_t>, std::vector<std::int64_t>> handed_over_;  // rates: by limit and epoch, when
  std::uint64_t led_under_ = 0;                                                             // 0: one node holds the shard
  std::uint64_t epoch_ = 0;
  std::int64_t epoch_since_us_ = 0;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::int64_t>> progressed_;  // number -> history size, when
  std::int64_t any_progress_us_ = 0;                                            // when any task got on last
  std::map<std::string, std::map<place_in_line, std::int64_t>> turns_;          // by agent: when it was given an attempt of a task last
  std::uint64_t most_running_ = 0;
  std::uint64_t least_family_ = std::numeric_limits<std::uint64_t>::max();
};

/// `perform of t3/s1 attempt 2`.
std::string describe(const v1::Perform& what);

}  // namespace fairlead::simulation
