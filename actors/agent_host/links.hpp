#pragma once
// Which shards an agent instance is registered with, and what it has to tell them now. Knows no clock and sends nothing; actor.cpp does.
//
// An instance registers with each shard that it is told a route to, and anew when the Scheduler there has ended, does not know it, does not
// answer, or has to be told something else; it goes on trying, less and less often, for as long as there is a route. A shard that is registered gets a beacon every half
// second. What each may use of the instance is divided by core::shares.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "actors/core/registry/shares.hpp"
#include "messages/agent.pb.h"
#include "messages/time.hpp"

namespace fairlead {

class agent_links {
 public:
  /// What a registration says beside what the instance always says.
  struct registration {
    std::uint32_t shard = 0;
    std::uint64_t revision = 0;
    std::uint32_t capacity = 0;
    bool draining = false;
  };
  struct work {
    std::vector<registration> registrations;
    std::vector<std::uint32_t> beacons;
  };

  /// `held`: how many attempts of a shard are under way here.
  agent_links(std::uint32_t capacity, std::function<std::uint32_t(std::uint32_t shard)> held) : held_(std::move(held)), shares_(capacity) {}

  // What has happened.

  /// There is a route to the shard, another one than before.
  void routed(std::uint32_t shard, moment now);
  /// There is none any more.
  void unrouted(std::uint32_t shard);
  /// The answer to registration `revision`. False: nobody waits for it any more.
  bool welcomed(std::uint64_t revision, const v1::AgentWelcome& what, moment now);
  /// That registration was not answered in time, or by somebody who could not pass it on.
  void unanswered(std::uint32_t shard, std::uint64_t revision, moment now);
  /// The shard wants nothing of this instance. False: nobody waits for it any more.
  bool refused(std::uint32_t shard, std::uint64_t revision, moment now);
  /// The Scheduler with which it was registered has ended.
  void down(std::uint32_t shard, moment now);
  void acknowledged(const v1::BeaconAck& what, moment now);
  /// It takes no more work, or takes work again: every shard is to know.
  void drain(bool on);

  // What is to be done.

  /// It counts as done.
  work due(moment now);
  /// When `due` has something at the latest; nullopt: there is no shard.
  std::optional<moment> next() const;

  /// Whether it was ever told where the shard is.
  bool knows(std::uint32_t shard) const { return links_.count(shard) != 0; }
  bool registered(std::uint32_t shard) const;
  /// Whether the answer to this registration still counts.
  bool awaits(std::uint32_t shard, std::uint64_t revision) const;

 private:
  struct link {
    bool routed = false;
    bool registered = false;
    bool stale = false;                    // what it was told last is not all that it should know
    std::optional<std::uint64_t> asked{};  // the registration that is under way
    moment may_ask{};                      // not before
    moment beacon_at{};                    // while it is registered
    moment heard{};                        // or since when there is a route
    std::uint64_t refusals = 0;            // in a row
  };

  link* waiting_for(std::uint32_t shard, std::uint64_t revision);
  void begin_anew(std::uint32_t shard, link& one);
  void try_later(link& one, moment now);
  void look_for_silence(std::uint32_t shard, link& one, moment now);

  std::function<std::uint32_t(std::uint32_t)> held_;
  core::shares shares_;
  std::map<std::uint32_t, link> links_;
  std::uint64_t revision_ = 0;
  bool draining_ = false;
};

}  // namespace fairlead
