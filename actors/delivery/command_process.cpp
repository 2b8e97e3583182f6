// One command from its start to its end: pipes, a deadline, and the last line of its errors.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

#include "actors/core/text/text.hpp"
#include "actors/delivery/command_runner.hpp"
#include "actors/system/descriptor.hpp"
#include "actors/system/spawn_plan.hpp"

extern char** environ;

namespace fairlead {

namespace {

using agents::descriptor;
using std::chrono::steady_clock;

constexpr std::size_t kept_bytes = 4'096;  // kept of the end of the command's stderr
constexpr std::size_t shown_bytes = 200;
constexpr auto longest_nap = std::chrono::milliseconds{20};  // if the kernel cannot report the end of a process

/// The child keeps `theirs`; this process never waits on `ours`.
bool make_pipe(descriptor& ours, descriptor& theirs, bool to_child) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  theirs.reset(to_child ? ends[0] : ends[1]);
  ours.reset(to_child ? ends[1] : ends[0]);
  return fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

/// This process's environment, with `more` replacing variables of the same name.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry{*at};
    const auto replaced = std::any_of(more.begin(), more.end(), [&](const auto& one) {
      return entry.size() > one.first.size() && entry[one.first.size()] == '=' && entry.substr(0, one.first.size()) == one.first;
    });
    if (!replaced) out.emplace_back(entry);
  }
  for (const auto& [name, value] : more) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

class child {
 public:
  child(pid_t pid, const command_run& what, descriptor& input, descriptor& errors)
      : pid_(pid), what_(what), input_(input), errors_(errors) {
#ifdef SYS_pidfd_open
    ended_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#endif
  }

  status watch(int stop) {
    const auto deadline = steady_clock::now() + what_.time_limit;
    for (;;) {
      feed();
      listen();
      if (reap(WNOHANG)) return verdict();
      const auto left = std::chrono::duration_cast<duration>(deadline - steady_clock::now());
      if (left.count() <= 0) return end("did not end within " + format_duration(what_.time_limit.count()));
      const auto nap = ended_.get() >= 0 ? left : std::min(left, duration{longest_nap});
      std::array<pollfd, 4> on{{{stop, POLLIN, 0}, {ended_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {input_.get(), POLLOUT, 0}}};
      poll(on.data(), on.size(), static_cast<int>(nap.count()) + 1);
      if ((on[0].revents & POLLIN) != 0) return end("was stopped because the node stopped");
    }
  }

 private:
  void feed() {
    while (input_.get() >= 0) {
      const auto sent = write(input_.get(), what_.input.data() + fed_, what_.input.size() - fed_);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent > 0) fed_ += static_cast<std::size_t>(sent);
      // A command that does not read all of its input may still succeed.
      if (sent < 0 || fed_ >= what_.input.size()) input_.reset();
    }
  }

  void listen() {
    std::array<char, 4096> buffer;
    while (errors_.get() >= 0) {
      const auto got = read(errors_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) return errors_.reset();
      words_.append(buffer.data(), static_cast<std::size_t>(got));
      if (words_.size() > kept_bytes) words_.erase(0, words_.size() - kept_bytes);
    }
  }

  bool reap(int how) {
    for (;;) {
      const auto got = waitpid(pid_, &status_, how);
      if (got == pid_) return true;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw std::logic_error(std::string{"a command cannot be waited for: "} + std::strerror(errno));
      return false;
    }
  }

  /// The group's number is the process's own, which the kernel does not reuse before the process is reaped.
  status end(const std::string& why) {
    kill(-pid_, SIGKILL);
    reap(0);
    listen();
    return failed(why);
  }

  status verdict() {
    listen();
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return nothing{};
    if (WIFEXITED(status_)) return failed("ended with exit code " + std::to_string(WEXITSTATUS(status_)));
    return failed("was ended by signal " + std::to_string(WTERMSIG(status_)));
  }

  error failed(const std::string& how) const {
    std::string_view rest = words_;
    while (!rest.empty() && static_cast<unsigned char>(rest.back()) <= ' ') rest.remove_suffix(1);
    const auto line_break = rest.find_last_of("\r\n");
    auto last_line = core::clean_text(line_break == std::string_view::npos ? rest : rest.substr(line_break + 1), shown_bytes);
    for (auto& c : last_line)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    return {v1::ERROR_CODE_UNAVAILABLE, what_.run.front() + " " + how + (last_line.empty() ? "" : ": " + last_line), ""};
  }

  pid_t pid_;
  const command_run& what_;
  descriptor& input_;
  descriptor& errors_;
  descriptor ended_;
  std::size_t fed_ = 0;
  std::string words_;
  int status_ = 0;
};

}  // namespace

status run_command(const command_run& what, int stop) {
  descriptor input, their_input, errors, their_errors;
  const auto cannot = [&what](int code) {
    return error{v1::ERROR_CODE_UNAVAILABLE, what.run.front() + " cannot be started: " + std::strerror(code),
                 "see alerts.commands in the node file"};
  };
  if (!make_pipe(input, their_input, true) || !make_pipe(errors, their_errors, false)) return cannot(errno);
  auto words = what.run;
  auto environment = environment_with(what.environment);
  pid_t pid = 0;
  {
    const agents::spawn_plan plan{{their_input.get(), agents::spawn_plan::null_device, their_errors.get()}};
    const auto code = posix_spawn(&pid, words.front().c_str(), &plan.actions, &plan.attributes, pointers_to(words).data(),
                                  pointers_to(environment).data());
    if (code != 0) return cannot(code);
  }
  their_input.reset();
  their_errors.reset();
  return child{pid, what, input, errors}.watch(stop);
}

}  // namespace fairlead
