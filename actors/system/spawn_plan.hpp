#pragma once
// How all processes of this program start their children: no signal blocked or ignored, and no descriptors except the given ones, so that
// processes left behind by a child hold neither the store's lock nor the node's port.

#include <fcntl.h>
#include <spawn.h>

#include <csignal>
#include <initializer_list>

namespace fairlead::agents {

enum class spawn_group {
  own,      // its own process group: a ^C in the terminal is for the node
  session,  // its own session as well
};

/// File actions and attributes of a posix_spawn, destroyed with it.
struct spawn_plan {
  static constexpr int null_device = -1;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  /// Sources of the child's descriptors 0, 1, …; a source must not have a lower number than its place, which would be overwritten by then.
  spawn_plan(std::initializer_list<int> descriptors, spawn_group group = spawn_group::own) {
    posix_spawn_file_actions_init(&actions);
    int place = 0;
    for (const int from : descriptors) {
      if (from == null_device) {
        posix_spawn_file_actions_addopen(&actions, place, "/dev/null", O_RDWR, 0);
      } else {
        posix_spawn_file_actions_adddup2(&actions, from, place);
      }
      ++place;
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, place);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    flags |= group == spawn_group::session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  }
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
};

}  // namespace fairlead::agents
