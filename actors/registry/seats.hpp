#pragma once
// The agent instances that a Scheduler speaks with: their handles, what their clocks show, and whether they can be reached. The Scheduler's
// actor keeps them; what they hold is the registry's.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/agent_clock.hpp"
#include "actors/protocol/handles.hpp"

namespace fairlead {

/// An agent on another node of which nothing is heard for so long is away. (It sends beacons six times as often.)
inline constexpr duration longest_silence = std::chrono::seconds{3};

struct agent_seat {
  agent_actor handle;
  std::uint64_t incarnation = 0;
  bool local = false;  // in this process: its clock is ours, and its silence means nothing
  bool away = false;
  core::agent_clock clock;
};

class agent_seats {
 public:
  explicit agent_seats(const clock& time) : time_(time) {}

  /// Null: nobody of the name has registered.
  agent_seat* find(const std::string& instance);

  /// What the instance's messages come through is not what it was: a connection has been lost in between.
  bool reconnects(const std::string& instance, const caf::strong_actor_ptr& who);

  /// It has registered. Gives the handle that it had before, when that is another one.
  agent_actor take(const v1::RegisterAgent& what, const caf::strong_actor_ptr& who, bool local);

  /// The seat of whom a beacon is from; null: whoever sent it has to register anew.
  agent_seat* heard(const v1::Beacon& what, const caf::strong_actor_ptr& sender);

  /// By the handle; null: it is of nobody, or not the latest one.
  const std::string* instance_at(const caf::actor_addr& address) const;

  /// Those on other nodes that have been silent for too long. To be asked about every `look_period`: where that was much longer, this process
  /// stood still, and nobody could be heard.
  std::vector<std::string> silent();
  static constexpr duration look_period = std::chrono::milliseconds{250};
  /// Some instance on another node is there.
  bool any_remote() const;
  /// The instances in this process.
  std::vector<std::string> local() const;

  /// Says when a message to it leaves.
  template <class Message>
  void stamp(const agent_seat& to, Message& what) const {
    // In this order: what passes between the two readings ends a lease too early, never too late.
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
