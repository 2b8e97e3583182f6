#pragma once
// Owners and operators of a shard's jobs, and the faults that are made for jobs: outages that last, and clocks that fall back. During a long outage
// only the wall clock of the shard goes on by minutes or hours: agents and services live through seconds of it, so a run costs what others do.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/plans/job_plans.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

class job_people {
 public:
  job_people(world& in, home& shard, checker& judge, host_clock& time, const job_era& era,
             const std::vector<v1::WorkflowDefinition>& workflows, const std::vector<agent_site>& sites, std::string prefix);

  /// Deploys jobs, then asks for this and that until `until_us`.
  void begin(std::int64_t until_us);
  /// Lets marks that the clock has not reached go back to it; `luck` says of which jobs.
  void rewind(random_stream& luck);
  /// Gives every job times that never come, so that the world can come to rest.
  void wind_down();
  bool wound_down() const { return wishes_.empty(); }
  std::uint64_t orders() const { return orders_; }

 private:
  void want(v1::JobSpec spec);
  void deploy(const std::string& name);
  void answered(const std::string& name, std::uint64_t wish, const v1::JobApplyReply& reply);
  void act();
  void hold();
  void order(const std::string& name, v1::JobAction what);
  void run(const std::string& name);
  void fill(const std::string& name);
  void remove(const std::string& name);
  void fall_out(std::int64_t for_ms);
  void set_clock(std::int64_t by_ms);
  static v1::JobAction action(v1::JobVerb verb);

  struct wish {
    v1::JobSpec spec;
    std::uint64_t number = 0;
  };

  world& world_;
  home& home_;
  checker& checker_;
  host_clock& clock_;
  const job_era& era_;
  const std::vector<v1::WorkflowDefinition>& workflows_;
  const std::vector<agent_site>& sites_;
  const std::string prefix_;
  std::vector<std::string> names_;
  std::map<std::string, wish> wishes_;  // what is to be deployed, until somebody has said that it is
  std::uint64_t next_wish_ = 1;
  std::uint64_t orders_ = 0;
};

}  // namespace fairlead::simulation
