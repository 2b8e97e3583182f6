#pragma once
// What the tests of exec agents share: agents whose calls are shell scripts, and looking at what is left of the processes they started.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/agents/exec/exec.hpp"
#include "tests/actors/agents/http/http_test_support.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::test {

/// The binary whose shepherds look after the commands: the one that stands beside this program, unless FAIRLEAD_BIN names another.
inline agents::exec_options with_shepherd() {
  agents::exec_options out;
  if (const auto* named = std::getenv("FAIRLEAD_BIN")) {
    out.shepherd = named;
  } else {
    out.shepherd = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fairlead").string();
  }
  return out;
}

/// An agent with one call, `do`, which is this script. Its $0 is the input's field `at`.
inline agents::exec_agent_config one_script(const std::string& script, std::uint32_t concurrency = 8) {
  agents::exec_agent_config out;
  out.name = "backup";
  out.concurrency = concurrency;
  out.calls["do"].command = {"/bin/sh", "-c", script};
  // Scripts use braces of their own.
  for (auto& word : out.calls["do"].command) {
    std::string doubled;
    for (const char c : word) doubled += (c == '{' || c == '}') ? std::string(2, c) : std::string(1, c);
    word = doubled;
  }
  out.calls["do"].command.push_back("{at}");
  return out;
}

inline std::unique_ptr<agents::backend> running(agents::exec_agent_config config) {
  auto made = agents::make_exec_backend(std::move(config), with_shepherd());
  if (!made.ok()) throw std::runtime_error(made.failure().sentence);
  return std::move(made).value();
}

/// A folder for one test, and the processes that its scripts write into files there.
class exec_folder {
 public:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string input() const { return R"({"at":")" + path("") + R"("})"; }

  std::string content(const std::string& name) const {
    std::ifstream file{path(name)};
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }

  /// The numbers in a file, once there are so many.
  std::vector<pid_t> processes(const std::string& name, std::size_t count = 1,
                               std::chrono::milliseconds limit = std::chrono::seconds{20}) const {
    std::vector<pid_t> out;
    eventually(
        [&] {
          out.clear();
          std::istringstream text{content(name)};
          for (pid_t one = 0; text >> one;) out.push_back(one);
          return out.size() >= count;
        },
        limit);
    return out;
  }

  /// One that is dead and only waits for somebody to ask how it ended does not live.
  static bool lives(pid_t pid) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    if (!std::getline(file, text)) return false;
    const auto state = text.rfind(')') + 2;
    return state < text.size() && text[state] != 'Z' && text[state] != 'X';
  }

  /// False when one of them still lives after `limit`.
  static bool gone(const std::vector<pid_t>& which, std::chrono::milliseconds limit = std::chrono::seconds{20}) {
    return eventually([&] { return std::none_of(which.begin(), which.end(), lives); }, limit);
  }

 private:
  store::testing::temporary_directory folder_;
};

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace fairlead::test
