#pragma once
// Named places at the durable boundaries where a test can make the process crash, fail or wait. Always compiled in: off, a failpoint
// costs one relaxed load of an atomic flag.
//
// Set by the environment before the process starts, or by set_failpoints:
//   FAIRLEAD_FAILPOINTS="store.before_commit=crash@3,store.after_commit=delay:20"
//   name=action[:param][@n]     separated by commas; with @n only at the n-th hit, else at every hit
//   actions: off (counts hits only) | crash (_exit(99)) | crash:kill (SIGKILL) | error | delay:MILLISECONDS
// A failpoint named `plant.NAME` is a fault that a test puts into the program, to show that the checks notice it.
// Any other text ends the process at its start with a sentence (exit code 64).

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "messages/error.hpp"

namespace fairlead::store {

namespace detail {
extern std::atomic<bool> failpoints_armed;
bool failpoint_hit(const char* name);
}  // namespace detail

/// Call this at the place of that name. True: act as if the operation had failed (action `error`). Thread-safe.
inline bool failpoint(const char* name) {
  if (!detail::failpoints_armed.load(std::memory_order_relaxed)) [[likely]]
    return false;
  return detail::failpoint_hit(name);
}

/// The error of an operation that the failpoint made fail.
error failpoint_error(const char* name);

/// Replaces all settings; an empty text switches everything off. Hit counts restart.
status set_failpoints(std::string_view text);

/// How often each failpoint was passed since the settings were made; empty if there are none.
std::map<std::string, std::uint64_t> failpoint_hits();

}  // namespace fairlead::store
