#pragma once
// Writes a large file so that those who commit to the same disk wait for a few megabytes of it at most, and get most of the disk's time.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::store {

/// One thread at a time; it waits while the file is ahead of its pace.
class synced_in_steps {
 public:
  /// `file` is empty, and stays the caller's.
  explicit synced_in_steps(int file) : file_(file) {}

  /// Appends; an errno, or 0.
  int write(std::string_view bytes);
  /// All that was written is durable on return; an errno, or 0.
  int sync();
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  const int file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t synced_ = 0;
  std::int64_t last_us_ = 0;  // by the steady clock: the pace counts from here
};

}  // namespace fairlead::store
