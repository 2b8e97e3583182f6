#pragma once
// The operating system's figures about this process.

#include <cstdint>

namespace fairlead::app {

struct process_figures {
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t most_open_files = 0;
  std::uint64_t threads = 0;
};

/// Unknown figures stay 0.
process_figures look_at_this_process();

}  // namespace fairlead::app
