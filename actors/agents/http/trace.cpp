#include "actors/agents/http/trace.hpp"

#include <xxhash.h>

#include <array>
#include <cinttypes>
#include <cstdio>

namespace fairlead::agents {

std::string trace_parent(const v1::Perform& what) {
  auto trace = XXH3_128bits(what.task_id().data(), what.task_id().size());
  if (trace.high64 == 0 && trace.low64 == 0) trace.low64 = 1;  // all zero would make the header invalid

  std::string identity = what.task_id();
  identity += '\0';
  identity += what.step_path();
  identity += '\0';
  identity += std::to_string(static_cast<int>(what.direction()));
  identity += '\0';
  identity += std::to_string(what.attempt());
  auto span = XXH3_64bits(identity.data(), identity.size());
  if (span == 0) span = 1;

  std::array<char, 56> text{};
  std::snprintf(text.data(), text.size(), "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-01", static_cast<std::uint64_t>(trace.high64),
                static_cast<std::uint64_t>(trace.low64), static_cast<std::uint64_t>(span));
  return text.data();
}

}  // namespace fairlead::agents
