#pragma once
// One run in some hundred has hundreds of tasks at a time: more than a batch, a chunk of the sweep after a start, what is read ahead of what waits, and
// what a Supervisor asks at a time hold. Each has one step, so that a run costs what it has to.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

/// Whether this run has one. It then goes without what would make it wait for hours: limits, breakers, agents that are absent, jobs, a second shard.
bool draw_crowd(world& in);

v1::WorkflowDefinition make_crowd_workflow(world& in, const std::vector<agent_site>& sites);

class crowd {
 public:
  crowd(world& in, home& shard, checker& judge) : world_(in), home_(shard), checker_(judge) {}

  /// Submits over the first part of the run, and has the node die while most of it runs.
  void begin(std::int64_t until_us);
  /// Everything is submitted and answered.
  bool satisfied() const { return answered_ == requests_.size(); }

 private:
  void submit(std::size_t which);

  world& world_;
  home& home_;
  checker& checker_;
  std::vector<v1::SubmitRequest> requests_;
  std::vector<bool> done_;
  std::size_t answered_ = 0;
};

}  // namespace fairlead::simulation
