#pragma once
// The inside of a registry: services, instances, what steps demand of them, and who holds what.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/registry/breaker.hpp"
#include "actors/core/registry/instance_health.hpp"
#include "actors/core/registry/limit_book.hpp"
#include "actors/registry/registry.hpp"
#include "actors/registry/waiting_room.hpp"

namespace fairlead {

class registry::state final : public waiting_room::door {
 public:
  using label = std::pair<std::string, std::string>;
  struct service;
  struct instance;

  enum class blocker { none, breaker, limit, capacity };

  /// What a step needs of an instance: a call, and labels. All steps with the same needs stand in one line.
  struct demand : waiting_room::line {
    service* of = nullptr;
    std::string call;
    bool lookup = false;  // only instances that can look the call up will do, where there are any
    std::vector<label> labels;
    std::vector<instance*> instances;         // that may be handed such a step
    std::vector<core::limit_bucket*> common;  // that all such steps count against
    bool counted_by_input = false;            // and others by a value in their input
    blocker blocked_by = blocker::none;       // when last looked at
    core::limit_bucket* blocked_at = nullptr;
  };

  struct instance {
    service* of = nullptr;
    std::string name;
    std::string kind;
    std::string node;
    std::vector<std::string> calls;
    std::vector<std::string> lookups;
    std::vector<label> labels;
    std::uint64_t incarnation = 0;
    std::uint64_t revision = 0;
    std::uint32_t capacity = 0;
    std::uint32_t held = 0;
    bool away = false;
    bool drains_itself = false;
    bool drained = false;  // by an operator
    core::instance_health health;
    moment next_trickle{};
    moment heard{};
    std::uint64_t handed_over = 0;
    std::uint64_t last_given = 0;  // place in the order of all hand-overs
    std::vector<demand*> demands;  // that it may serve

    bool carries(const google::protobuf::RepeatedPtrField<v1::Label>& wanted) const {
      return std::all_of(wanted.begin(), wanted.end(), [this](const v1::Label& one) {
        return std::binary_search(labels.begin(), labels.end(), label{one.key(), one.value()});
      });
    }
    bool draining() const { return drains_itself || drained; }
    bool takes_work() const { return !away && !draining(); }
    std::uint32_t free() const { return capacity > held ? capacity - held : 0; }
  };

  struct string_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  template <class T>
  using by_name = std::unordered_map<std::string, T, string_hash, std::equal_to<>>;

  struct service {
    explicit service(moment now) : breaker(now) {}
    std::string agent;
    v1::ServiceRecord record;  // without the breaker's part
    core::breaker breaker;
    core::limit_book limits;
    std::vector<std::pair<std::string, std::int64_t>> keys_valid_for_ms;  // by call
    std::vector<instance*> instances;
    by_name<std::unique_ptr<demand>> demands;
    std::uint64_t lines_ready = 0;
    std::uint64_t lines_occupied = 0;
    std::uint64_t lines_absent = 0;  // of those that are occupied: without any instance
    moment absence_kept_until{};     // what a restart found is not taken back before what waits has shown up again
    bool changed = false;
  };

  struct holding {
    service* of = nullptr;
    instance* at = nullptr;  // null: was not known
    std::uint64_t incarnation = 0;
    core::breaker::ticket ticket;
    moment since;
    std::vector<core::limit_bucket*> buckets;
  };
  struct holder_hash {
    std::size_t operator()(const core::slot_holder& of) const noexcept {
      auto mixed = (of.task_number * 0x9e3779b97f4a7c15ULL) ^ (of.step * 0xc2b2ae3d27d4eb4fULL);
      return static_cast<std::size_t>(mixed ^ (mixed >> 32));
    }
  };

  state(const clock& time, registry_policy policy) : time_(time), policy_(policy), room_(*this) {}

  // registry.cpp
  void restore(const v1::ServiceRecord& record);
  arrival add(const v1::RegisterAgent& what);
  bool set_away(std::string_view instance, std::uint64_t incarnation);
  std::optional<presence> find_instance(std::string_view instance) const;

  // slots.cpp
  core::slot_answer claim(const core::slot_request& what);
  void hold(std::string_view instance, const core::slot_request& what);
  void release(const core::slot_holder& holder, const core::slot_outcome& outcome);

  // service.cpp
  void wake();
  void hold_back(bool on);
  v1::AgentOperateReply operate(const v1::AgentOperateRequest& what);
  std::vector<service_change> take_changes();

  // describe.cpp
  void describe(v1::StatusReply& out) const;

  // waiting_room::door
  bool lets_through(waiting_room::line& which, moment now) override;
  void occupied(waiting_room::line& which, moment now) override;

  const service* find(std::string_view agent) const;
  bool any_lists(std::string_view agent, std::string_view call, std::vector<std::string> instance::*in) const;
  static std::uint64_t waiting(const service& of);
  static std::string labels_text(const std::vector<label>& labels);
  static std::string why_absent(const demand& what);

  bool planted(bool core::planted_faults::*which) const { return planted_ != nullptr && planted_->*which; }
  service& service_of(std::string_view agent);
  demand& demand_of(service& of, const core::slot_request& what);
  instance* choose(const demand& what, moment now, bool canary);
  void take_slot(instance& at, moment now);
  void let_go(holding& what, const core::slot_outcome& outcome, moment now);
  void judge(instance& which);
  std::optional<double> peers_latency(const instance& of);
  void find_instances(demand& of);
  void rebuild(service& of, moment now);
  bool set_limits(service& of, const v1::RegisterAgent& what, moment now);
  void lose_canary(const instance& at, moment now);
  void advance(service& of, moment now);
  void breaker_changed(service& of, moment now);
  void unblock_all(service& of);
  void mark(service& of);
  void check_absence(service& of, moment now);
  bool absence_is_due(const service& of, moment now) const;
  service_change change_of(service& of, moment now);
  std::optional<error> drain(const v1::AgentOperateRequest& what, bool on, v1::AgentOperateReply& out);
  std::optional<error> move_breaker(const v1::AgentOperateRequest& what, bool open, v1::AgentOperateReply& out);

  const clock& time_;
  registry_policy policy_;
  const core::planted_faults* planted_ = nullptr;
  // The nodes of both maps stay where they are, so pointers into them hold; nothing is ever taken off.
  by_name<instance> instances_;
  by_name<service> services_;
  std::unordered_map<core::slot_holder, holding, holder_hash> holders_;
  waiting_room room_;
  alarms<demand> retries_;  // lines that a rate or a trickle lets go on
  alarms<service> breakers_;
  alarms<service> absences_;
  std::vector<service*> changed_;
  std::vector<double> scratch_;
  std::uint64_t serving_ = 0;  // the task that `next_waiting` named last
  std::uint64_t given_ = 0;
  std::uint64_t lines_made_ = 0;
  bool limits_changed_ = false;  // by the last registration
  bool held_back_ = false;
  bool closed_ = false;
};

}  // namespace fairlead
