#pragma once
// Whether a job's specification makes sense, before anything is stored.

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
  std::size_t position = 0;  // in the schedule, from 1; 0: not about a place in it
};

/// All there are, in the order of the fields. An expression that never matches and a zone that is not known are among them, and a name that begins
/// with `-`, which no command could be given.
std::vector<job_problem> check_job(const v1::JobSpec& spec, const zone_source& zones);

/// What a stored job may be called: some are from before a leading `-` was refused, and they have to be found.
bool valid_job_name(std::string_view name);

}  // namespace fairlead::core
