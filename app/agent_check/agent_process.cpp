#include "app/agent_check/agent_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "actors/system/spawn_plan.hpp"

namespace fairlead::app::agent_check {

result<std::unique_ptr<agent_process>> agent_process::start(const std::vector<std::string>& command,
                                                            const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    bool replaced = false;
    for (const auto& [name, value] : more) replaced = replaced || text.starts_with(name + "=");
    if (!replaced) variables.push_back(text);
  }
  for (const auto& [name, value] : more) variables.push_back(name + "=" + value);
  std::vector<char*> words, environment;
  for (const auto& one : command) words.push_back(const_cast<char*>(one.c_str()));
  for (const auto& one : variables) environment.push_back(const_cast<char*>(one.c_str()));
  words.push_back(nullptr);
  environment.push_back(nullptr);
  // Its output is not ours.
  const agents::spawn_plan how{agents::spawn_plan::null_device, STDERR_FILENO, STDERR_FILENO};
  pid_t pid = 0;
  if (const int code = ::posix_spawnp(&pid, words[0], &how.actions, &how.attributes, words.data(), environment.data()); code != 0)
    return error{v1::ERROR_CODE_NOT_FOUND, "Cannot start " + command.front() + ": " + std::strerror(code),
                 "Give a command that can be started"};
  return std::unique_ptr<agent_process>{new agent_process{pid}};
}

agent_process::~agent_process() {
  if (ended()) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<std::string> agent_process::ended() {
  if (ended_) return ended_;
  int how = 0;
  if (::waitpid(pid_, &how, WNOHANG) != pid_) return std::nullopt;
  ended_ = WIFSIGNALED(how) ? "was ended by signal " + std::to_string(WTERMSIG(how))
                            : "ended with exit code " + std::to_string(WEXITSTATUS(how));
  return ended_;
}

void agent_process::tell_to_end() {
  if (!ended()) ::kill(-pid_, SIGTERM);
}

void agent_process::end(std::chrono::milliseconds patience, const std::function<void()>& meanwhile) {
  constexpr std::chrono::milliseconds look_every{20};
  tell_to_end();
  for (auto left = patience; !ended() && left.count() > 0; left -= look_every) {
    meanwhile();
    std::this_thread::sleep_for(look_every);
  }
  if (ended()) return;
  ::kill(-pid_, SIGKILL);
  ended_ = "did not end after SIGTERM";
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace fairlead::app::agent_check
