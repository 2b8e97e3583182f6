#pragma once
// Which agent instances a Scheduler knows, how many attempts each holds, and which tasks wait for a slot. One thread.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/core/decision.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"

namespace fairlead {

class agent_slots final : public core::agent_directory {
 public:
  enum class arrival { fresh, same, replaced, stale };

  /// An instance reports. `replaced`: its name was held by a lower incarnation, whose attempts are lost. `stale`: a higher one is known.
  arrival add(const v1::RegisterAgent& what);

  /// The instance with the most free slots.
  std::optional<core::agent_instance> claim(std::string_view agent) override;
  bool looks_up(std::string_view agent, std::string_view call) const override;
  std::optional<std::uint64_t> incarnation_of(std::string_view instance) const override;
  void hold(std::string_view instance) override;
  void release(std::string_view instance, std::uint64_t incarnation) override;

  /// The task has a ready step that found no slot. What is to be undone goes before what is to be performed: it holds goods and money that
  /// others wait for.
  void wait(const std::string& agent, std::uint64_t task_number, bool undoing);

  /// The task that has waited longest for an agent which has a free slot now; taken off the queue.
  std::optional<std::uint64_t> next_waiting();

  /// Whether any instance of `agent` that is there now knows `call`.
  bool offers(const std::string& agent, const std::string& call) const;

  /// Gives no slot any more: the node is draining.
  void close() noexcept { closed_ = true; }

  /// Attempts out at all instances.
  std::uint64_t held() const;

  void describe(v1::StatusReply& out) const;

 private:
  struct instance {
    std::string agent;
    std::string name;
    std::string kind;
    std::vector<std::string> calls;
    std::vector<std::string> lookups;
    std::uint64_t incarnation = 0;
    std::uint32_t capacity = 0;
    std::uint32_t held = 0;
  };
  /// Tasks in the order in which they came, each once.
  class line {
   public:
    bool empty() const noexcept { return order_.empty(); }
    std::size_t size() const noexcept { return order_.size(); }
    void push(std::uint64_t number) {
      if (there_.insert(number).second) order_.push_back(number);
    }
    std::uint64_t pop() {
      const auto number = order_.front();
      order_.pop_front();
      there_.erase(number);
      return number;
    }

   private:
    std::deque<std::uint64_t> order_;
    std::unordered_set<std::uint64_t> there_;
  };
  struct service {
    std::vector<instance*> instances;
    line queue;
    line undoing;
    std::size_t waiting() const { return queue.size() + undoing.size(); }
  };
  struct string_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  template <class T>
  using by_name = std::unordered_map<std::string, T, string_hash, std::equal_to<>>;

  bool any_knows(std::string_view agent, std::string_view call, std::vector<std::string> instance::*among) const;
  static instance* freest(const service& of);
  void offer(service& to);

  by_name<instance> instances_;  // nodes stay where they are, so pointers to them hold
  by_name<service> services_;
  bool closed_ = false;
  std::vector<service*> offered_;  // services that may have both a free slot and a waiting task
};

}  // namespace fairlead
