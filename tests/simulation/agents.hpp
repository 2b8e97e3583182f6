#pragma once
// Agents' processes: the production agent_host over a backend that asks the simulated services. A process dies and comes back as a higher
// incarnation; what it had asked of a service is carried out all the same. Local agents live in the node's process and die with it; remote
// ones report again and again, over a network that loses.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/agent_host.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/services.hpp"
#include "tests/simulation/sites.hpp"

namespace fairlead::simulation {

class checker;

class agents {
 public:
  /// Where agents' messages go.
  class shard {
   public:
    virtual ~shard() = default;
    virtual void registers(const v1::RegisterAgent& what) = 0;
    virtual void outcomes(v1::OutcomeBatch what) = 0;
    virtual void heartbeats(v1::HeartbeatBatch what) = 0;
    /// A local agent has died, and so has the process it lives in.
    virtual void die() = 0;
  };

  agents(world& in, network& net, services& behind, std::vector<agent_site> sites, const core::planted_faults& planted);
  ~agents();

  void connect(shard& to, checker& judge) {
    shard_ = &to;
    judge_ = &judge;
  }
  void start_remote();
  void start_local();
  void kill_local();

  /// A message from the Scheduler to the process `incarnation` of `instance`.
  void perform(const std::string& instance, std::uint64_t incarnation, const v1::PerformBatch& what);
  void acknowledge(const std::string& instance, std::uint64_t incarnation, const v1::OutcomeAckBatch& what);
  void acknowledge(const std::string& instance, std::uint64_t incarnation, const v1::HeartbeatAckBatch& what);

  /// Whether the process that bore the name as `incarnation` is dead for certain.
  bool dead(const std::string& instance, std::uint64_t incarnation) const;

  /// Whether it lives in the node's process.
  bool local(const std::string& instance) const;
  const agent_site* site_of(const std::string& instance) const;
  const std::vector<agent_site>& sites() const { return sites_; }

 private:
  class process;
  struct place {
    agent_site site;
    std::uint64_t incarnation = 0;
    std::unique_ptr<process> alive;
    std::uint64_t homeless = 0;  // how often the process that it lived in has died
    bool draining = false;       // it finishes what it holds, and then its process ends
  };
  void start(place& where);
  void start_when_it_comes(place& where);
  void die(place& where);
  void report(place& where, std::uint64_t incarnation);
  void may_drain(place& where, std::uint64_t incarnation);
  place* at(const std::string& instance);
  /// Runs `what` in the process, if it is still that one, and catches its death.
  void in_process(place& where, std::uint64_t incarnation, const std::function<void(process&)>& what);

  world& world_;
  network& network_;
  services& services_;
  std::vector<agent_site> sites_;
  const core::planted_faults& planted_;
  std::vector<std::unique_ptr<place>> places_;
  shard* shard_ = nullptr;
  checker* judge_ = nullptr;
};

}  // namespace fairlead::simulation
