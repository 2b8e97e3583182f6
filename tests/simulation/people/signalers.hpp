#pragma once
// Those who send signals to tasks: before the task is there, before a step waits, in time, too late, to the wrong task, twice, too many, or never.
// What has a token is sent until it is answered.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/people/clients.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

class signalers {
 public:
  signalers(world& in, home& shard, checker& judge, const clients& submitters, const std::vector<v1::WorkflowDefinition>& workflows,
            const std::vector<v1::WorkflowDefinition>& versions);

  /// Sends over the whole run, and a little beyond its faults.
  void begin(std::int64_t until_us);
  /// What waits for a signal again and again gets one.
  void let_go();

 private:
  struct letter {
    std::string task;
    v1::OperatorAction what;
    int tries_left = 0;
    bool answered = false;
  };
  void write_to(const std::string& task);
  bool waits_in_vain(const v1::TaskRecord& record, std::uint32_t index, const shape& plan) const;
  void write_to_any();
  std::string name_for(const std::string& task) const;
  std::string data_for(const std::string& task, const std::string& name);
  void send(std::size_t which);

  world& world_;
  home& home_;
  checker& checker_;
  const clients& clients_;
  const std::vector<v1::WorkflowDefinition>& workflows_;
  const std::vector<v1::WorkflowDefinition>& versions_;
  std::vector<letter> letters_;
  std::set<std::pair<std::string, std::string>> without_data_;  // task and name: once each, so that no two are alike
};

}  // namespace fairlead::simulation
