#pragma once
// The descendants of a process by /proc, and ways to end them against their will.

#include <sys/types.h>

#include <vector>

namespace fairlead::app {

struct herd_member {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';  // as in /proc/PID/stat
};

/// Every descendant of this process that is not dead yet.
std::vector<herd_member> descendants();

/// Sends a signal to all descendants.
void signal_all(int number);

/// Freezes all descendants, again and again until no new one turns up, so that none can fork while others die; then sends SIGKILL. Call
/// until no child is left to wait for. Returns the number of descendants.
std::size_t kill_all();

}  // namespace fairlead::app
