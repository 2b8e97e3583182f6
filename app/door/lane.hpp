#pragma once
// A thread that does short pieces of work in the order in which they come.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::app::door {

/// Thread-safe. What has come is done before it ends; not from its own thread.
class lane {
 public:
  lane() : thread_([this] { run(); }) {}
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  ~lane() {
    {
      const std::lock_guard lock{guard_};
      ending_ = true;
    }
    comes_.notify_one();
    thread_.join();
  }

  void post(std::function<void()> work) {
    {
      const std::lock_guard lock{guard_};
      work_.push_back(std::move(work));
      if (!std::exchange(sleeps_, false)) return;
    }
    comes_.notify_one();
  }

 private:
  void run() {
    for (std::vector<std::function<void()>> now;;) {
      {
        std::unique_lock lock{guard_};
        while (work_.empty()) {
          if (ending_) return;
          sleeps_ = true;
          comes_.wait(lock);
        }
        sleeps_ = false;
        now.swap(work_);
      }
      for (auto& one : now) std::exchange(one, nullptr)();
      now.clear();
    }
  }

  std::mutex guard_;
  std::condition_variable comes_;
  std::vector<std::function<void()>> work_;
  bool sleeps_ = false;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace fairlead::app::door
