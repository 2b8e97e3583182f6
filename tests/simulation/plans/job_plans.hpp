#pragma once
// Jobs of a run: when they fire, and what their policies are. A run with jobs begins shortly before a change of the clock in the time zone that
// most of its jobs are in.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/core/job/job.hpp"
#include "messages/job.pb.h"
#include "tests/simulation/world/sites.hpp"
#include "tests/simulation/world/world.hpp"

namespace fairlead::simulation {

/// What the steps of job workflows read.
inline constexpr const char* job_input = R"({"n":"${ .launch.nominal_unix_s }","at":"${ .launch.nominal_local }"})";

/// What all jobs of a run have in common.
struct job_era {
  bool any = false;           // the run has jobs
  std::string zone;           // whose clock changes,
  std::int64_t change_s = 0;  // at this moment
  std::int64_t begin_ms = 0;  // the wall clock of the first shard when the world begins
  bool slow = false;          // none of them fires more often than every minute, so an outage may last for hours
};

job_era make_era(world& in);

/// The workflow of most jobs: one short step.
v1::WorkflowDefinition make_job_workflow(world& in, const std::vector<agent_site>& sites);

/// A job that `core::check_job` has nothing against.
v1::JobSpec make_job(world& in, const job_era& era, const std::string& name, const std::vector<v1::WorkflowDefinition>& workflows,
                     const std::vector<agent_site>& sites);

}  // namespace fairlead::simulation
