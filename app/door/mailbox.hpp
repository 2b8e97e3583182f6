#pragma once
// Where answers wait for the listener's thread.

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
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
    awaited_.try_emplace(number);
  }
  bool is_awaited(std::uint64_t number) const {
    const std::lock_guard lock{guard_};
    return awaited_.count(number) != 0;
  }
  /// `gone` is called once when nobody waits for the answer any more, unless it has been given: at once, or by whoever forgets it.
  void on_gone(std::uint64_t number, std::function<void()> gone) {
    {
      const std::lock_guard lock{guard_};
      if (const auto found = awaited_.find(number); found != awaited_.end()) {
        found->second = std::move(gone);
        return;
      }
    }
    gone();
  }
  /// Nobody waits for the answer any more.
  void forget(std::uint64_t number) {
    std::function<void()> gone;
    {
      const std::lock_guard lock{guard_};
      if (auto node = awaited_.extract(number)) gone = std::move(node.mapped());
    }
    if (gone) gone();
  }
  /// Nothing counts behind the last part.
  void put(letter what) {
    std::function<void()> then = [this] { wake(); };
    {
      const std::lock_guard lock{guard_};
      if (what.last ? awaited_.erase(what.number) == 0 : awaited_.count(what.number) == 0) {
        then = what.head ? std::move(what.head->if_unsent) : nullptr;
      } else {
        letters_.push_back(std::move(what));
        // Whoever is there, or is woken by the first, takes all.
        if (!is_away_ || letters_.size() > 1) return;
      }
    }
    if (then) then();
  }
  void wake() const { (void)::eventfd_write(fd_, 1); }
  void drain() const {
    eventfd_t count = 0;
    (void)::eventfd_read(fd_, &count);
  }
  /// From now until take() the taker is woken by a letter. False: there is one.
  bool leave() {
    const std::lock_guard lock{guard_};
    is_away_ = true;
    return letters_.empty();
  }
  std::vector<letter> take() {
    const std::lock_guard lock{guard_};
    is_away_ = false;
    return std::exchange(letters_, {});
  }

 private:
  const int fd_;
  std::atomic<std::size_t> requests_ = 0, bytes_ = 0;
  mutable std::mutex guard_;
  std::unordered_map<std::uint64_t, std::function<void()>> awaited_;  // what is to be done when the client goes
  std::vector<letter> letters_;
  bool is_away_ = false;
};

}  // namespace fairlead::app::door
