#pragma once
// Where answers wait for the listener's thread.

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/door/message.hpp"

namespace fairlead::app::door {

/// What an answerer says: the answer, or the first of several parts of one.
struct letter {
  std::uint64_t number = 0;  // of the request
  std::optional<answer> head;
  std::string more;  // of the body
  bool last = true;
};

/// Thread-safe. Lives as long as any answerer does.
class mailbox {
 public:
  mailbox() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~mailbox() {
    if (fd_ >= 0) ::close(fd_);
  }
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  /// Requests whose answerers are alive, and the bytes of their bodies.
  void hold(std::size_t bytes) {
    ++requests_;
    bytes_ += bytes;
  }
  void release(std::size_t bytes) {
    --requests_;
    bytes_ -= bytes;
  }
  std::size_t requests() const { return requests_; }
  std::size_t bytes() const { return bytes_; }

  /// Readable while there is something.
  int fd() const noexcept { return fd_; }

  void await(std::uint64_t number) {
    const std::lock_guard lock{guard_};
    awaited_.insert(number);
  }
  bool is_awaited(std::uint64_t number) const {
    const std::lock_guard lock{guard_};
    return awaited_.count(number) != 0;
  }
  /// Nobody waits for the answer any more.
  void forget(std::uint64_t number) {
    const std::lock_guard lock{guard_};
    awaited_.erase(number);
  }
  /// Nothing counts behind the last part.
  void put(letter what) {
    {
      const std::lock_guard lock{guard_};
      if (what.last ? awaited_.erase(what.number) == 0 : awaited_.count(what.number) == 0) return;
      letters_.push_back(std::move(what));
    }
    wake();
  }
  void wake() const { (void)::eventfd_write(fd_, 1); }
  std::vector<letter> take() {
    eventfd_t count = 0;
    (void)::eventfd_read(fd_, &count);
    const std::lock_guard lock{guard_};
    return std::exchange(letters_, {});
  }

 private:
  const int fd_;
  std::atomic<std::size_t> requests_ = 0, bytes_ = 0;
  mutable std::mutex guard_;
  std::unordered_set<std::uint64_t> awaited_;
  std::vector<letter> letters_;
};

}  // namespace fairlead::app::door
