#pragma once
// Agents' processes: the production agent_host over a backend that asks the simulated services. A process dies and comes back as a higher
// incarnation; what it had asked of a service is carried out all the same. Each remote one lives on a host of its own, with its own clocks, and
// speaks with each shard over a link that breaks; local ones live in the process of the first node and die with it.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/agent_host/host.hpp"
#include "tests/simulation/world/clocks.hpp"
#include "tests/simulation/world/link.hpp"
#include "tests/simulation/world/services.hpp"
#include "tests/simulation/world/sites.hpp"

namespace fairlead::simulation {

class checker;

/// As transcripts call what leads a shard.
inline std::string name_of_scheduler(std::uint32_t shard) { return shard == 0 ? "scheduler" : "scheduler" + std::to_string(shard); }

/// When a message left: by the clocks that its reader knows, and in truth.
struct stamp {
  std::int64_t sent_unix_ms = 0;
  std::int64_t anchor_ms = 0;
  std::int64_t left_us = 0;
  std::int64_t ahead_us = 0;  // the clock of the shard, of the true time
};

/// The answer to a registration, and the Scheduler whose address comes with it.
struct welcome {
  v1::AgentWelcome text;
  std::uint64_t core = 0;
  stamp when;
};

class agents {
 public:
  /// The node of a shard, as agents see it.
  class shard {
   public:
    virtual ~shard() = default;
    virtual std::uint32_t number() const = 0;
    /// Its process is up.
    virtual bool up() const = 0;
    /// Names its core while that is up; 0: it is not.
    virtual std::uint64_t core() const = 0;
    /// Where that core is; null: nowhere any more.
    virtual shard* with(std::uint64_t core) = 0;
    /// Has a message come to `which`, which with() has given.
    virtual void to(shard& which, std::function<void(shard&)> what) { what(which); }
    /// At its gateway.
    /// `carrier`: which of a worker's hosts says so; 0: the process of an agent.
    virtual void registers(const v1::RegisterAgent& what, std::uint64_t carrier, std::function<void(welcome)> answer) = 0;
    /// Whoever waits for the answer waits in vain if it gets lost. `is_wanted`: when it has come.
    virtual void begins_session(const v1::WorkerSessionRequest& what, std::function<bool()> is_wanted,
                                std::function<void(const v1::WorkerSessionReply&)> answer) = 0;
    /// At its Scheduler. A process of the instance (0: whichever has registered) cannot be reached any more.
    virtual void unreachable(const std::string& instance, std::uint64_t incarnation, std::uint64_t carrier) = 0;
    virtual void beacon(const v1::Beacon& what, std::uint64_t carrier) = 0;
    virtual void outcomes(v1::OutcomeBatch what, std::uint64_t carrier) = 0;
    virtual void heartbeats(v1::HeartbeatBatch what) = 0;
    /// A local agent has died, and so has the process it lives in.
    virtual void die() = 0;
  };

  agents(world& in, services& behind, std::vector<agent_site> sites, const core::planted_faults& planted);
  ~agents();

  /// All shards, in the order of their numbers; local agents live with the first, and by its clock.
  void connect(std::vector<shard*> to, std::vector<checker*> judges, host_clock& of_first);
  void start_remote();
  void node_started(std::uint32_t shard);
  void node_died(std::uint32_t shard);
  void core_died(std::uint32_t shard, std::uint64_t core);

  /// Where a process is registered.
  struct address {
    std::string instance;
    std::uint64_t incarnation = 0;
    std::uint64_t carrier = 0;
  };
  /// A message from the Scheduler of `shard`.
  void perform(const address& to, std::uint32_t shard, v1::PerformBatch what, stamp when);
  void acknowledge(const address& to, std::uint32_t shard, v1::OutcomeAckBatch what);
  void acknowledge(const address& to, std::uint32_t shard, v1::HeartbeatAckBatch what);
  void acknowledge(const address& to, std::uint32_t shard, v1::BeaconAck what, stamp when);
  /// It is durable that nobody has begun the attempt.
  void judge_return(const fairlead::agents::attempt_key& which);

  /// Whether the process that bore the name as `incarnation` is dead for certain.
  bool dead(const std::string& instance, std::uint64_t incarnation) const;

  /// Whether it lives in the process of that shard's node.
  bool local(const std::string& instance, std::uint32_t shard) const;
  const agent_site* site_of(const std::string& instance) const;
  const std::vector<agent_site>& sites() const { return sites_; }
  std::uint32_t shards() const { return static_cast<std::uint32_t>(shards_.size()); }
  /// No living process has anything to tell that a shard has not taken.
  bool all_told() const;

  // ---- faults ----

  std::size_t places() const { return places_.size(); }
  link& link_of(std::size_t place, std::uint32_t shard);
  /// Null: it has none of its own.
  host_clock* clock_of(std::size_t place) { return places_[place]->own_clock.get(); }
  void heal();

 private:
  class labour;
  class post;
  class process;
  class hand;
  class worker;
  struct place {
    place();
    ~place();
    agent_site site;
    std::uint64_t incarnation = 0;
    std::unique_ptr<process> alive;
    std::unique_ptr<host_clock> own_clock;     // null: that of the first node
    std::vector<std::unique_ptr<link>> links;  // by shard
    std::uint64_t homeless = 0;                // how often the process that it lived in has died
    bool draining = false;                     // it finishes what it holds, and then its process ends
    std::unique_ptr<worker> carried;           // instead of all these, of a worker over HTTP
  };
  void start(place& where);
  void start_when_it_comes(place& where);
  void die(place& where);
  host_clock& clock_at(place& where) { return where.own_clock ? *where.own_clock : *first_clock_; }
  void to_host(const address& to, std::uint32_t shard, std::function<void(post&)> what);
  void may_drain(place& where, std::uint64_t incarnation);
  place* at(const std::string& instance);
  /// Runs `what` in the process, if it is still that one, and catches its death.
  void in_process(place& where, std::uint64_t incarnation, const std::function<void(process&)>& what);

  world& world_;
  services& services_;
  std::vector<agent_site> sites_;
  const core::planted_faults& planted_;
  std::vector<std::unique_ptr<place>> places_;
  std::vector<shard*> shards_;
  std::vector<checker*> judges_;
  host_clock* first_clock_ = nullptr;
};

}  // namespace fairlead::simulation
