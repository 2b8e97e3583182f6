#pragma once
// The rows of a registry: services, instances, demands of steps, and holders of slots.

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
#include "actors/registry/wait_queues.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"

namespace fairlead::registered {

using label = std::pair<std::string, std::string>;
struct service;
struct instance;

enum class blocker { none, breaker, limit, capacity };

/// The needs of a step: a call, and labels of an instance. All steps with the same needs wait in one queue.
struct demand : wait_queues::queue {
  service* of = nullptr;
  std::string call;
  bool lookup = false;  // only instances that can look the call up, if there are any
  std::vector<label> labels;
  std::vector<instance*> instances;         // instances that may be handed such a step
  std::vector<core::limit_bucket*> common;  // buckets that all such steps count against
  bool counted_by_input = false;            // such steps also count against buckets chosen by their input
  blocker blocked_by = blocker::none;       // at the last look
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
  bool silent = false;   // of a worker over HTTP: its host has not heard of it for a while
  bool leaves = false;   // for good, once it has no attempts
  bool drained = false;  // by an operator
  core::instance_health health;
  moment next_trickle{};
  moment heard{};
  std::uint64_t handed_over = 0;
  std::uint64_t last_given = 0;  // place in the order of all hand-overs
  std::vector<demand*> demands;  // demands that it may serve

  bool carries(const google::protobuf::RepeatedPtrField<v1::Label>& wanted) const {
    return std::all_of(wanted.begin(), wanted.end(), [this](const v1::Label& one) {
      return std::binary_search(labels.begin(), labels.end(), label{one.key(), one.value()});
    });
  }
  /// The host of a silent worker takes no work for it, which is no drain: it does again once the worker is heard.
  bool draining() const { return (drains_itself && !silent) || drained; }
  bool takes_work() const { return !away && !drains_itself && !drained; }
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
  std::uint64_t queues_ready = 0;
  std::uint64_t queues_occupied = 0;
  std::uint64_t queues_absent = 0;        // occupied queues without any instance
  duration blocked{};                     // by the breaker since the start of the process, until `blocked_since`
  std::optional<moment> blocked_since{};  // steady; the breaker keeps steps waiting, and there are instances
  moment absence_kept_until{};            // an absence from before a restart is kept until waiting steps have shown up again
  bool changed = false;
};

struct holding {
  service* of = nullptr;
  instance* at = nullptr;  // null: the instance was not known
  std::uint64_t incarnation = 0;
  core::breaker::ticket ticket;
  moment since;
  std::vector<core::limit_bucket*> buckets;
  std::optional<moment> counted_since{};  // when it took from the rates of these buckets; empty: it never has
};
struct holder_hash {
  std::size_t operator()(const core::slot_holder& of) const noexcept {
    auto mixed = (of.task_number * 0x9e3779b97f4a7c15ULL) ^ (of.step * 0xc2b2ae3d27d4eb4fULL);
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

/// Tasks that wait for the service.
std::uint64_t waiting(const service& of);
/// Why there is no instance for the demand, as a phrase.
std::string why_absent(const demand& what);

}  // namespace fairlead::registered
