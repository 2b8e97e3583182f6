#include "store/lmdb/synced_in_steps.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

namespace fairlead::store {

namespace {

constexpr std::uint64_t step_bytes = std::uint64_t{2} << 20;
// A copy that takes too long is made for nothing: the entries behind it are kept only up to a limit.
constexpr std::uint64_t bytes_per_second = std::uint64_t{200} << 20;

std::int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int synced_in_steps::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto next = bytes.substr(0, static_cast<std::size_t>(step_bytes - (bytes_ - synced_)));
    const auto n = ::pwrite(file_, next.data(), next.size(), static_cast<off_t>(bytes_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
    bytes_ += static_cast<std::uint64_t>(n);
    if (bytes_ - synced_ < step_bytes) continue;
    if (const int failed = sync(); failed != 0) return failed;
  }
  return 0;
}

int synced_in_steps::sync() {
  if (::fdatasync(file_) != 0) return errno;
  const auto due_us = last_us_ + static_cast<std::int64_t>((bytes_ - synced_) * 1'000'000 / bytes_per_second);
  synced_ = bytes_;
  const auto now_us = steady_us();
  if (now_us < due_us) std::this_thread::sleep_for(std::chrono::microseconds(due_us - now_us));
  // Time that the disk was slow is not made up for.
  last_us_ = std::max(now_us, due_us);
  return 0;
}

}  // namespace fairlead::store
