#pragma once
// Looks at files of people once a second, in a thread of its own: a slow disk holds up nobody else.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace fairlead::app {

class ticker {
 public:
  explicit ticker(std::function<void()> look) : look_(std::move(look)), thread_([this] { run(); }) {}
  ticker(const ticker&) = delete;
  ticker& operator=(const ticker&) = delete;
  ~ticker() {
    {
      const std::lock_guard lock{guard_};
      ending_ = true;
    }
    ends_.notify_all();
    thread_.join();
  }

 private:
  void run() {
    for (std::unique_lock lock{guard_}; !ends_.wait_for(lock, std::chrono::seconds{1}, [this] { return ending_; });) {
      lock.unlock();
      look_();
      lock.lock();
    }
  }

  const std::function<void()> look_;
  std::mutex guard_;
  bool ending_ = false;
  std::condition_variable ends_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace fairlead::app
