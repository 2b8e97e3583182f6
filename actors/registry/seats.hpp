#pragma once
// The agent instances that a Scheduler talks to: their handles and clocks, and whether they can be reached. The Scheduler's actor keeps the
// seats; the registry keeps the attempts of the instances.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/agent_clock.hpp"
#include "actors/protocol/handles.hpp"

namespace fairlead {

/// An agent on another node that is silent for so long is away. (It sends beacons six times as often.)
inline constexpr duration longest_silence = std::chrono::seconds{3};

struct agent_seat {
  agent_actor handle;
  std::uint64_t incarnation = 0;
  bool local = false;  // in this process: its clock is ours, and its silence means nothing
  bool away = false;
  bool outlives = false;  // a worker over HTTP: its attempts go on when this process has ended
  core::agent_clock clock;
};

class agent_seats {
 public:
  explicit agent_seats(const clock& time) : time_(time) {}

  /// Null: no instance of that name has registered.
  agent_seat* find(const std::string& instance);

  /// The instance's handle is a new one: a connection was lost in between.
  bool reconnects(const std::string& instance, const caf::strong_actor_ptr& who);

  /// Takes a registration. Returns the instance's earlier handle, if it was another one.
  agent_actor take(const v1::RegisterAgent& what, const caf::strong_actor_ptr& who, bool local);

  /// The seat of a beacon's sender; null: the sender must register anew.
  agent_seat* heard(const v1::Beacon& what, const caf::strong_actor_ptr& sender);

  /// The instance with this handle; null: no instance, or not its latest handle.
  const std::string* instance_at(const caf::actor_addr& address) const;

  /// The instances on other nodes that have been silent for too long. Call about every `look_period`: if the last call is much longer ago,
  /// this process stood still and could hear no one.
  std::vector<std::string> silent();
  static constexpr duration look_period = std::chrono::milliseconds{250};
  /// Whether an instance on another node is present.
  bool any_remote() const;
  /// The instances in this process whose attempts end with it.
  std::vector<std::string> local() const;

  /// Sets the sending time of a message to the instance.
  template <class Message>
  void stamp(const agent_seat& to, Message& what) const {
    // In this order: time that passes between the two readings ends a lease too early, never too late.
    const auto steady = time_.steady();
    what.set_anchor_ms(to.local ? to_unix_ms(steady) : to.clock.anchor_ms(steady));
    what.set_sent_unix_ms(to_unix_ms(time_.now()));
  }

 private:
  using address = const caf::actor_control_block*;
  static address of(const agent_actor& handle);

  const clock& time_;
  moment looked_{};
  std::unordered_map<std::string, agent_seat> seats_;   // by instance
  std::unordered_map<address, std::string> instances_;  // by the latest handle, which keeps its address from being used again
};

}  // namespace fairlead
