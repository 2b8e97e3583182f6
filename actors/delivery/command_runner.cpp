#include "actors/delivery/command_runner.hpp"

#include <unistd.h>

#include <fcntl.h>
#include <csignal>
#include <utility>

namespace fairlead {

command_runner::command_runner() {
  if (pipe2(stop_, O_CLOEXEC) != 0) throw std::logic_error("no pipe can be made to end commands with");
}

command_runner::~command_runner() {
  shut_down();
  close(stop_[0]);
  close(stop_[1]);
}

void command_runner::run(command_run what, std::function<void(status)> done) {
  std::vector<std::thread> over;
  {
    std::lock_guard guard{mutex_};
    if (down_) return;
    over.swap(ended_);
    const auto number = ++runs_;
    running_.emplace(number, std::thread{[this, number, what = std::move(what), done = std::move(done)] { watch(number, what, done); }});
  }
  for (auto& one : over) one.join();
}

void command_runner::watch(std::uint64_t number, const command_run& what, const std::function<void(status)>& done) {
  // A command that does not read its input must not end this process.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);

  auto how = run_command(what, stop_[0]);
  {
    std::lock_guard guard{mutex_};
    if (down_) return;
  }
  // shut_down joins this thread, so `done` is never called after shut_down.
  done(std::move(how));
  std::lock_guard guard{mutex_};
  const auto self = running_.find(number);
  if (self == running_.end()) return;
  ended_.push_back(std::move(self->second));
  running_.erase(self);
}

void command_runner::shut_down() {
  std::vector<std::thread> all;
  {
    std::lock_guard guard{mutex_};
    if (!down_) {
      down_ = true;
      // Closed by the destructor; until then every watcher sees the byte.
      [[maybe_unused]] const auto told = write(stop_[1], "x", 1);
    }
    for (auto& [number, one] : running_) all.push_back(std::move(one));
    running_.clear();
    for (auto& one : ended_) all.push_back(std::move(one));
    ended_.clear();
  }
  for (auto& one : all) one.join();
}

}  // namespace fairlead
