#pragma once
// The registry of a shard: its agents and their health, the attempts that each holds, the waiting steps and why they wait. Decides which
// instance a step goes to. Used only on the Scheduler's thread.
//
// A service is all instances of one agent name: it has a breaker and limits (actors/core/registry/breaker.hpp, limit_book.hpp). An instance
// has slots, labels and health (instance_health.hpp). A step that cannot be handed over waits in a queue (wait_queues.hpp), ordered by a
// key that never changes: nothing starves and nothing is sorted again.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/planted_faults.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/registry/alarms.hpp"
#include "actors/registry/registered.hpp"
#include "actors/registry/wait_queues.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/time.hpp"

namespace fairlead {

struct registry_policy {
  /// Steps that wait this long for an agent without any instance raise an alert.
  duration absent_alert_after = std::chrono::minutes{1};
  /// The shard's number and the number of shards: each shard enforces its part of a limit.
  std::uint32_t shard = 0;
  std::uint32_t shard_count = 1;
};

/// Limit of instances, and of services: a registry never drops either.
inline constexpr std::size_t max_instances = 10'000;

/// A change of a service that must become durable.
struct service_change {
  v1::ServiceRecord record;
  std::optional<v1::AlertRecord> breaker_alert;  // to be raised: kind, subject, sentence and remedy
  std::optional<v1::AlertRecord> absent_alert;
  std::vector<std::uint64_t> resolved;                              // numbers of alerts to resolve
  std::vector<std::pair<std::uint64_t, v1::AlertRecord>> restated;  // what open alerts say now, by number
};

class registry final : public core::agent_directory, private wait_queues::admission {
 public:
  enum class arrival { fresh, same, replaced, stale, outdated, refused };

  registry(const clock& time, registry_policy policy) : time_(time), policy_(policy), queues_(*this) {}

  /// Faults that tests switch on; never in production.
  void plant(const core::planted_faults& faults) { planted_ = &faults; }

  /// Restores the durable record of a service at the Scheduler's start. Call before everything else.
  void restore(const v1::ServiceRecord& record);

  /// An instance registers. `replaced`: a lower incarnation, whose attempts are lost, had its name. `stale`: a higher incarnation is known.
  /// `outdated`: a newer registration of the same process is known; nothing has changed. `refused`: there is no room for one more.
  arrival add(const v1::RegisterAgent& what);
  /// Whether the last registration changed its service's limits: attempts in progress must be held anew to count against them.
  bool limits_changed() const noexcept { return limits_changed_; }

  /// The instance cannot be reached: it gets nothing until it registers again, and keeps its attempts. One that leaves is forgotten once it
  /// has none. False: it was away already, or another process has its name.
  bool set_away(std::string_view instance, std::uint64_t incarnation);

  struct presence {
    std::uint64_t incarnation = 0;
    std::uint64_t revision = 0;  // of its registration
    std::uint32_t capacity = 0;
    std::uint32_t held = 0;
    bool away = false;
    std::uint64_t waiting = 0;  // steps that wait for its service
    bool worker = false;        // over HTTP
    bool silent = false;
    std::string_view agent{};
  };
  /// Nullopt: the instance has never registered.
  std::optional<presence> find(std::string_view instance) const;

  /// The incarnation of a worker over HTTP; nullopt: the instance is none.
  std::optional<std::uint64_t> worker_at(std::string_view instance) const;

  /// The workers over HTTP that have left and were forgotten since the last call, with their incarnations.
  std::vector<std::pair<std::string, std::uint64_t>> take_left() { return std::exchange(left_, {}); }

  core::slot_answer claim(const core::slot_request& what) override;
  bool wants_input(std::string_view agent, std::string_view call) const override;
  bool looks_up(std::string_view agent, std::string_view call) const override;
  std::int64_t key_valid_for_ms(std::string_view agent, std::string_view call) const override;
  std::int64_t blocked_ms(std::string_view agent) const override;
  std::optional<std::uint64_t> incarnation_of(std::string_view instance) const override;
  void hold(std::string_view instance, const core::slot_request& what) override;
  void release(const core::slot_holder& holder, const core::slot_outcome& outcome) override;

  /// A decision begins. If it crashes, `undo_claims` gives back the slots that it has taken. Slots that it gave back stay free: their agent
  /// is through with the attempt, or the lease is over.
  void begin_claims() noexcept { claimed_.clear(); }
  void undo_claims();

  /// The task has a ready step that found no instance; `queue` is as `claim` returned it. The least `order` goes first. Steps to be undone
  /// go before steps to be performed: they hold goods and money that others wait for.
  void wait(std::uint64_t queue, std::uint64_t task_number, std::uint64_t order, bool undoing);

  /// The task is over or stopped: it waits for nothing any more. Without this call it would count as waiting until its turn comes.
  void forget(std::uint64_t task_number);

  /// Whether some step of the task waits for an instance.
  bool waits(std::uint64_t task_number) const { return queues_.waits(task_number); }

  /// The first task in order with a step that may find an instance now; taken out of its queue. Call this until it returns none, after
  /// every event that may have made room: until then other tasks get no slot of the services that it names tasks for.
  std::optional<std::uint64_t> next_waiting();

  /// Whether any present instance of `agent` knows `call`.
  bool offers(std::string_view agent, std::string_view call) const;

  /// Whether a present instance of `agent` carries all of `labels`; true if none is present.
  bool carries(std::string_view agent, const google::protobuf::RepeatedPtrField<v1::Label>& labels) const;

  /// The attempts that may be handed over now, by capacity: the sum over the present instances that carry all of `labels`. 0 while the
  /// breaker of the service is not closed.
  std::uint64_t free_slots(std::string_view agent, const google::protobuf::RepeatedPtrField<v1::Label>& labels) const;
  /// Whether an instance of `agent` is present.
  bool is_there(std::string_view agent) const;

  /// The instance has given a sign of life other than an outcome.
  void heard(std::string_view instance);

  /// Gives no slot for now: not all attempts in progress are known yet.
  void hold_back(bool on);

  /// Gives no slot any more: the node is draining.
  void close() noexcept { closed_ = true; }

  /// Attempts in progress at all instances.
  std::uint64_t held() const;
  /// Attempts in progress at one instance.
  std::uint64_t held_by(std::string_view instance) const;

  /// The next moment at which time alone may change something (a canary, a rate, a trickle, an alert about absence); nullopt: none.
  std::optional<moment> next_wake() const;
  /// The moment of `next_wake` may have come. Afterwards `next_waiting` and `take_changes` may have something.
  void wake();

  /// Carries out an operator's action. An error changes nothing.
  v1::AgentOperateReply operate(const v1::AgentOperateRequest& what);

  /// Whether `take_changes` or `take_left` has something.
  bool changed() const noexcept { return !changed_.empty() || !left_.empty(); }
  /// The changes since the last call, which must become durable. The caller raises the alerts, reports their numbers and writes the
  /// records.
  std::vector<service_change> take_changes();
  /// The numbers of a service's raised alerts; 0: unchanged. Call before the record is written.
  void alerts_raised(std::string_view agent, std::uint64_t breaker_alert, std::uint64_t absent_alert);

  void describe(v1::StatusReply& out) const;

 private:
  using label = registered::label;
  using demand = registered::demand;
  using instance = registered::instance;
  using service = registered::service;
  using holding = registered::holding;
  using blocker = registered::blocker;

  // wait_queues::admission
  bool admits(wait_queues::queue& which, moment now) override;
  void occupied(wait_queues::queue& which, moment now) override;

  const service* find_service(std::string_view agent) const;
  bool any_lists(std::string_view agent, std::string_view call, std::vector<std::string> instance::*in) const;

  bool planted(bool core::planted_faults::*which) const { return planted_ != nullptr && planted_->*which; }
  service& service_of(std::string_view agent);
  demand& demand_of(service& of, const core::slot_request& what);
  instance* choose(const demand& what, moment now, bool canary);
  void take_slot(instance& at, moment now);
  void let_go(holding& what, const core::slot_outcome& reported, moment now);
  void judge(instance& which);
  std::optional<double> peers_latency(const instance& of);
  void find_instances(demand& of);
  void rebuild(service& of, moment now);
  bool set_limits(service& of, const v1::RegisterAgent& what, moment now);
  void forget(instance& which);
  void lose_canary(const instance& at, moment now);
  void advance(service& of, moment now);
  void breaker_changed(service& of, moment now);
  void count_blocked(service& of);
  void unblock_all(service& of);
  void unblock_due(moment now);
  void mark(service& of);
  void check_absence(service& of, moment now);
  bool absence_is_due(const service& of, moment now) const;
  service_change change_of(service& of, moment now);
  std::optional<error> drain(const v1::AgentOperateRequest& what, bool on, v1::AgentOperateReply& out);
  std::optional<error> move_breaker(const v1::AgentOperateRequest& what, bool open, v1::AgentOperateReply& out);

  const clock& time_;
  const registry_policy policy_;
  const core::planted_faults* planted_ = nullptr;
  // Both maps have stable nodes, so pointers into them stay valid; only `forget` erases an instance.
  registered::by_name<instance> instances_;
  registered::by_name<service> services_;
  std::unordered_map<core::slot_holder, holding, registered::holder_hash> holders_;
  std::vector<core::slot_holder> claimed_;  // since begin_claims
  wait_queues queues_;
  alarms<demand> retries_;  // queues that a rate or a trickle will unblock
  alarms<service> breakers_;
  alarms<service> absences_;
  std::vector<service*> changed_;
  std::vector<std::pair<std::string, std::uint64_t>> left_;
  std::vector<double> scratch_;
  std::optional<wait_queues::turn> serving_;  // as `next_waiting` named it last
  std::uint64_t given_ = 0;
  std::uint64_t queues_made_ = 0;
  bool met_worker_ = false;      // over HTTP, ever
  bool limits_changed_ = false;  // by the last registration
  bool held_back_ = false;
  bool closed_ = false;
};

}  // namespace fairlead
