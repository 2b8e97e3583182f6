#pragma once
// Makes a job from the options of `fairlead job add`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/error.hpp"
#include "messages/job.pb.h"

namespace fairlead::app {

/// The options as typed.
struct job_options {
  std::string name;
  std::string schedule;
  std::string zone;
  std::string workflow;
  std::optional<std::string> dst;
  std::optional<std::string> input;
  std::optional<std::string> overlap;
  bool count_parked = false;
  std::optional<std::string> catch_up;
  std::optional<std::string> within;
  std::optional<std::string> start_window;
  std::optional<std::string> jitter;
  std::optional<std::string> deadline;
  std::int32_t priority = 0;
  std::vector<std::string> labels;
  std::vector<std::string> needs;
  std::uint32_t max_in_flight = 0;
  std::optional<std::uint32_t> alert_after;
  std::uint32_t keep = 0;
  std::string notes;
  bool paused = false;
};

/// Errors: invalid_argument, which names the option that cannot be parsed. Does not check the job
/// as a whole.
result<v1::JobSpec> job_of(const job_options& options);

}  // namespace fairlead::app
