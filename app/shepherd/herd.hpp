#pragma once
// The descendants of a process, as /proc shows them, and how to end them although they do not want to.

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

/// One signal to each of them.
void signal_all(int number);

/// Freezes all of them first, again and again until no new one turns up, so that none can give birth while others die; then SIGKILL. To be
/// called until there is no child left to wait for. How many there were.
std::size_t kill_all();

}  // namespace fairlead::app
