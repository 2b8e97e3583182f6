#pragma once
// The exit codes of the process. docs/cli.md lists them; they are never renumbered.

#include "messages/error.hpp"

namespace fairlead::app {

enum exit_code : int {
  exit_ok = 0,
  exit_failed = 1,  // a refusal, or an awaited task did not complete
  exit_usage = 2,   // bad usage or bad input
  exit_not_found = 3,
  exit_conflict = 4,
  exit_unavailable = 5,  // no node answers, it is overloaded or full, or the time ran out
  exit_bug = 70,
  exit_disk = 74,    // the disk refused, or stored data is damaged or newer than this release
  exit_in_use = 75,  // another process holds the store or the port
};

constexpr exit_code exit_code_of(error_code code) {
  switch (code) {
    case v1::ERROR_CODE_OK: return exit_ok;
    case v1::ERROR_CODE_INVALID_ARGUMENT:
    case v1::ERROR_CODE_EXPRESSION: return exit_usage;
    case v1::ERROR_CODE_UNAUTHENTICATED:
    case v1::ERROR_CODE_FORBIDDEN:
    case v1::ERROR_CODE_WRONG_STATE: return exit_failed;
    case v1::ERROR_CODE_NOT_FOUND: return exit_not_found;
    case v1::ERROR_CODE_CHANGED:
    case v1::ERROR_CODE_KEY_REUSED:
    case v1::ERROR_CODE_CONFLICT: return exit_conflict;
    case v1::ERROR_CODE_OVERLOADED:
    case v1::ERROR_CODE_UNAVAILABLE:
    case v1::ERROR_CODE_STORE_FULL:
    case v1::ERROR_CODE_STALE_EPOCH:
    case v1::ERROR_CODE_TIMED_OUT: return exit_unavailable;
    case v1::ERROR_CODE_STORE_NEWER:
    case v1::ERROR_CODE_CORRUPT:
    case v1::ERROR_CODE_INCONSISTENT:
    case v1::ERROR_CODE_DISK: return exit_disk;
    case v1::ERROR_CODE_STORE_IN_USE: return exit_in_use;
    default: return exit_bug;
  }
}

}  // namespace fairlead::app
