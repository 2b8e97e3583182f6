#pragma once
// People at the console. They look at tasks as anyone does, order what fits and at times what does not, and before they settle a step they look
// into the service itself, so what they say about it is true.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/simulation/people/clients.hpp"
#include "tests/simulation/shard/home.hpp"
#include "tests/simulation/world/services.hpp"

namespace fairlead::simulation {

class operators {
 public:
  operators(world& in, home& shard, services& behind, checker& judge, const clients& submitters, const std::vector<agent_site>& sites,
            const std::vector<v1::WorkflowDefinition>& editions);

  /// Orders at random until `until_us`.
  void begin(std::int64_t until_us);
  /// Lets everything go on that a person holds: paused tasks, the brake on undo.
  void let_go();
  /// Sees to every parked task once. The longer it takes, the more is tried.
  void resolve(int round);
  std::uint64_t orders() const { return orders_; }
  /// Has a task undone; `answered` is told whether that was taken.
  void undo(const std::string& id, std::function<void(bool taken)> answered);
  void remove(const std::string& id, std::function<void(bool taken)> answered);

 private:
  void order_something();
  // Tasks of steps (operators_children.cpp).
  std::string any_task(random_stream& luck) const;
  bool see_to_children(const v1::TaskRecord& record, int round);
  bool see_to_items(const v1::TaskRecord& record, const v1::StepRecord& step, int round);
  void see_to(const v1::TaskRecord& record, int round);
  void order(const std::string& id, v1::OperatorAction what, bool at_once = false, std::function<void(bool taken)> told = {});
  void terminate(const std::string& id);
  std::string other_input(const v1::TaskRecord& record, const v1::StepRecord& step) const;
  std::string other_list() const;
  bool settle(const v1::TaskRecord& record, const v1::StepRecord& step);
  void say_again(const v1::TaskRecord& record);
  void plan_migrations(std::int64_t until_us);
  void deploy(const v1::WorkflowDefinition& version);
  void migrate(const std::string& id, const std::string& to_hash, bool odd);
  void acknowledge_alerts();
  void release_brake();
  void order_of_agents();
  void order_agents(v1::AgentOperateRequest what);
  void let_agents_go();
  static v1::OperatorAction action(v1::OperatorVerb verb, const std::string& step = {});

  world& world_;
  home& home_;
  services& services_;
  checker& checker_;
  const clients& clients_;
  const std::vector<agent_site>& sites_;
  const std::vector<v1::WorkflowDefinition>& editions_;
  std::uint64_t orders_ = 0;
};

}  // namespace fairlead::simulation
