#pragma once
// Checks of a job's specification, before anything is stored.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/job/job.hpp"
#include "messages/job.pb.h"

namespace fairlead::core {

inline constexpr std::size_t max_notes_bytes = 4096;
inline constexpr std::int64_t max_job_window_ms = 366LL * 86'400'000;  // of catch-up, start window and deadline
inline constexpr std::int64_t max_job_jitter_ms = 86'400'000;
inline constexpr std::int64_t max_job_priority = 1000;
inline constexpr std::int64_t max_keep_launches = 100'000;
inline constexpr std::int64_t max_needed_slots = 100'000;
inline constexpr int max_job_needs = 16;

struct job_problem {
  std::string field;  // as in YAML: `schedule`, `needs[1].slots`
  std::string sentence;
  std::string remedy;
  std::size_t position = 0;  // in the schedule, from 1; 0: not about a place there
};

/// All problems, in the order of the fields. An expression that never matches, an unknown zone, and a name that begins with `-` are
/// problems too: no command line could pass such a name.
std::vector<job_problem> check_job(const v1::JobSpec& spec, const zone_source& zones);

/// Whether a stored job may have this name. Names with a leading `-` are allowed: some jobs are older than that refusal and must be found.
bool valid_job_name(std::string_view name);

}  // namespace fairlead::core
