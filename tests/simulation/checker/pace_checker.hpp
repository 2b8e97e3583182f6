#pragma once
// The judge of how often and how soon: attempts, pauses between them, and recoveries whose time has come, by what the workflow says.
//
// Rules:
//   attempts        more attempts than the workflow allows, those not counted that were made before an operator asked for more. Where a
//                   parent has the undo of its child begin again, one more is made though none may be left
//   gave_up_early   given up with attempts left, or before retry_for is over
//   retried_too_long  retried although retry_for is over
//   backoff         a pause that is not in the upper half of what the workflow says, or not what the service or the long wait asks for
//   early_recovery  the next attempt is decided before the pause that follows the end of the one before is over
//   round_early     a step is repeated before the pause between two rounds is over
//   late_recovery   a pause or a lease is over, and long after that nothing has come of it

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/task.pb.h"
#include "tests/simulation/checker/own/rule_tally.hpp"
#include "tests/simulation/plans/workflows.hpp"
#include "tests/simulation/world/clocks.hpp"
#include "tests/simulation/world/ledger.hpp"

namespace fairlead::simulation {

class pace_checker {
 public:
  pace_checker(world& in, const host_clock& of_shard) : world_(in), clock_(of_shard) {}

  /// It is durable that nobody has begun an attempt.
  struct unbegun_attempt {
    std::uint64_t task_number = 0;
    std::uint32_t step = 0;
    v1::Direction direction = v1::DIRECTION_PERFORM;
    std::uint32_t attempt = 0;
  };
  std::function<void(const unbegun_attempt&)> on_return;

  /// The Scheduler hears an operator's order.
  void hears(const v1::OperateRequest& what);
  void outcome_arrived(const step_name& of, const v1::Outcome& what);
  /// Its acknowledgement leaves.
  void accepted(const step_name& of, const v1::OutcomeAck& what);

  /// Before it leaves.
  void decided(const step_name& of, v1::Direction direction, std::uint32_t attempt);
  /// For the first time. `decided_ms`: by the shard's clock.
  void handed_over(const v1::Perform& what, const v1::TaskRecord& record, const shape& plan, std::int64_t decided_ms);
  /// The breaker of a service has become open, or is closed again.
  void breaker_moved(const std::string& agent, bool keeps_waiting);
  void became_durable(const v1::TaskRecord* before, const v1::TaskRecord& now, const shape& plan);
  /// `since_us`: since when this Scheduler is there.
  void look_for_late(const v1::TaskRecord& record, std::int64_t since_us);

 private:
  struct series {
    std::uint32_t attempt = 0;    // the newest that was handed over
    std::uint32_t excused = 0;    // so many of them do not count
    std::uint32_t unbegun = 0;    // so many of them were never begun: they do not count either, and no pause grows by them
    std::uint32_t rounds = 0;     // so many of them were made in rounds that have ended
    std::uint64_t orders = 0;     // heard of the task until then
    std::int64_t decided_ms = 0;  // what was given back does not count
    std::int64_t before_ms = 0;   // the same of the one before
    std::uint64_t order = 0;      // among all hand-overs of the step
    // How it ended, as far as its agent has said.
    std::uint32_t ended = 0;
    v1::FaultKind fault = v1::FAULT_KIND_UNSPECIFIED;
    std::int64_t retry_after_ms = 0;
    std::int64_t ended_ms = 0;   // by the shard's clock
    std::int64_t waited_ms = 0;  // for further attempts, since an operator's last order
    std::int64_t unseen_ms = 0;  // so much more at most: waits that were over in the commit in which they began
    bool accepted = false;
    bool out_of_rounds = false;       // since its last attempt the step has failed for want of rounds
    std::uint32_t bad_ends = 0;       // of its last attempt; a callback may bring a second one
    std::uint32_t more_ends = 0;      // so many attempts have had two, of this round
    std::uint32_t returned = 0;       // the last attempt that nobody has begun
    std::uint32_t mild_ends = 0;      // so many were accepted, and ended by what an operator or a look-up said, of this round
    bool accepted_for_later = false;  // the last attempt was accepted, and a callback is to come
    bool called = false;              // a callback has come since
    rule_tally ruled;                 // of a step with rules
    // Attempts behind which the parent or an operator has begun the undo of the task again, and none has followed that was handed over.
    std::set<std::uint32_t> anew_after;
  };
  struct bounds {
    std::int64_t least_ms = 0;
    std::int64_t most_ms = 0;
  };

  series& of(const step_name& step, v1::Direction direction) { return steps_[{step, direction}]; }
  std::uint64_t orders_of(const std::string& task) const;
  /// What a pause depends on.
  struct pause_place {
    v1::Direction direction = v1::DIRECTION_PERFORM;
    int rule = rule_tally::no_rule;
    std::uint32_t least_ends = 1;  // bad ends that count, this one included
    std::uint32_t most_ends = 1;
  };
  bounds pause_after(const v1::StepDefinition& step, const shape& plan, const v1::TaskRecord& record, const pause_place& at,
                     std::int64_t retry_after_ms) const;
  pause_place place_of(const v1::StepDefinition& step, v1::Direction direction, const series& past, std::uint32_t attempt,
                       std::uint32_t ends, bool is_ordered) const;
  std::int64_t waited_ms(const v1::StepDefinition& step, v1::Direction direction, const series& past, int rule) const;
  std::int64_t most_waited_ms(const v1::StepDefinition& step, v1::Direction direction, const series& past, int rule) const;
  /// `sequence`: of the event with which it begins.
  void note_undone_anew(const v1::TaskRecord& now, std::uint64_t sequence);
  void note_unseen_wait(const v1::TaskRecord& now, const v1::HistoryEvent& end, const v1::HistoryEvent& next, const shape& plan);
  void judge_count(const v1::Perform& what, const series& past, const v1::StepDefinition& step, const shape& plan,
                   std::int64_t decided_ms) const;
  void judge_early(const v1::Perform& what, const series& past, const v1::TaskRecord& record, const shape& plan,
                   std::int64_t decided_ms) const;
  void judge_pause(const v1::TaskRecord& now, std::uint32_t index, const v1::HistoryEvent& why, const shape& plan);
  void judge_patience(const v1::TaskRecord& now, std::uint32_t index, const v1::HistoryEvent& why, std::int64_t waits_ms, int rule,
                      bounds& pause, const shape& plan);
  std::int64_t blocked_ms(const std::string& agent) const;
  void judge_given_up(const v1::TaskRecord& now, const v1::HistoryEvent& what, const v1::HistoryEvent* before, const shape& plan);

  world& world_;
  const host_clock& clock_;
  std::map<std::pair<step_name, v1::Direction>, series> steps_;
  std::map<step_name, std::uint64_t> hand_overs_;
  struct blocked_service {
    std::int64_t us = 0;        // kept steps waiting, until `since_us`
    std::int64_t since_us = 0;  // 0: it does not now
  };
  std::map<std::string, blocked_service> blocked_;
  std::map<std::string, std::uint64_t> orders_;                                                  // heard, by task
  std::map<std::tuple<step_name, v1::Direction, std::uint32_t>, std::uint64_t> decided_orders_;  // heard when an attempt was decided
  std::map<std::string, std::int64_t> stopped_us_;  // when the task was seen last with something that stops it
};

}  // namespace fairlead::simulation
