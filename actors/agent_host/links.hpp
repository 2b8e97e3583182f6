#pragma once
// The shards with which an agent instance is registered, and the messages that are due to them. Knows no clock and sends nothing; actor.cpp
// does.
//
// An instance registers with each shard that it has a route to. It registers anew when the Scheduler there has ended, does not know the
// instance, does not answer, or must be told something else. It tries again, less and less often, for as long as there is a route. A
// registered shard gets a beacon every half second. core::shares divides the instance's capacity among the shards.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "actors/agents/carried.hpp"
#include "actors/core/registry/shares.hpp"
#include "messages/agent.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class agent_links {
 public:
  /// The fields of a registration that change.
  struct registration {
    std::uint32_t shard = 0;
    std::uint64_t revision = 0;
    std::uint32_t capacity = 0;
    bool draining = false;
    bool leaving = false;
    bool silent = false;
  };
  struct work {
    std::vector<registration> registrations;
    std::vector<std::uint32_t> beacons;
  };

  /// `held`: number of attempts of a shard in progress here. Revisions of registrations count up from `revision`.
  agent_links(std::uint32_t capacity, std::function<std::uint32_t(std::uint32_t shard)> held, std::uint64_t revision = 0)
      : held_(std::move(held)), capacity_(capacity), shares_(capacity), revision_(revision) {}

  // Events.

  /// There is a route to the shard, and it is a new one.
  void routed(std::uint32_t shard, moment now);
  /// There is no route to the shard any more.
  void unrouted(std::uint32_t shard);
  /// The answer to registration `revision`. False: the answer is not awaited any more.
  bool welcomed(std::uint64_t revision, const v1::AgentWelcome& what, moment now);
  /// The registration was not answered in time, or its receiver could not pass it on.
  void unanswered(std::uint32_t shard, std::uint64_t revision, moment now);
  /// The shard refuses this instance. False: the answer is not awaited any more.
  bool refused(std::uint32_t shard, std::uint64_t revision, moment now);
  /// The Scheduler of the registration has ended.
  void down(std::uint32_t shard, moment now);
  void acknowledged(const v1::BeaconAck& what, moment now);
  /// The instance takes no more work, or takes work again: every shard must know.
  void drain(bool on);
  /// The instance takes no more work and ends with its last attempt, or stays after all: every shard must know.
  void leave(bool on);
  /// The instance is another one by its node file: every shard must know.
  void redefined(std::uint32_t capacity);
  /// What a backend that lives with its host wants of its instance now: every shard must know what has changed.
  void keep(const agents::carried_backend::wish& what, std::uint32_t capacity);

  // Due work.

  /// The work that is due; it counts as done.
  work due(moment now);
  /// The latest moment at which `due` has work; nullopt: there is no shard.
  std::optional<moment> next() const;

  /// Whether there ever was a route to the shard.
  bool knows(std::uint32_t shard) const { return links_.count(shard) != 0; }
  bool registered(std::uint32_t shard) const;
  /// Some reachable shard has not answered the latest registration. Or the instance leaves, and a shard counts attempts that have not come
  /// here: they left before the shard knew.
  bool waits_to_be_heard() const;
  /// Whether the answer to this registration still counts.
  bool awaits(std::uint32_t shard, std::uint64_t revision) const;

 private:
  struct link {
    bool routed = false;
    bool registered = false;
    bool stale = false;                    // the shard must be told something new
    std::optional<std::uint64_t> asked{};  // registration in progress
    moment may_ask{};                      // no registration before this moment
    moment beacon_at{};                    // while registered
    moment heard{};                        // last message from the shard, or since when there is a route
    std::uint64_t refusals = 0;            // in a row
    std::uint64_t missing = 0;             // answers in a row by which the shard counts attempts that are not here, while leaving
  };

  link* waiting_for(std::uint32_t shard, std::uint64_t revision);
  void begin_anew(std::uint32_t shard, link& one);
  void try_later(link& one, moment now);
  void await_missing(std::uint32_t shard, link& one, std::uint32_t held_there, moment now);
  void look_for_silence(std::uint32_t shard, link& one, moment now);

  std::function<std::uint32_t(std::uint32_t)> held_;
  std::uint32_t capacity_;
  core::shares shares_;
  std::map<std::uint32_t, link> links_;
  void tell_all();

  std::uint64_t revision_;
  bool draining_ = false;
  bool leaving_ = false;
  bool silent_ = false;
};

}  // namespace fairlead
