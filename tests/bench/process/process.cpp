#include "tests/bench/process/process.hpp"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace fairlead::bench {

int free_port() {
  const auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const auto found = socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (socket >= 0) ::close(socket);
  if (!found) throw std::runtime_error("there is no free port");
  return ntohs(address.sin_port);
}

std::string program_beside(const std::string& name) {
  auto program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
  if (!std::filesystem::exists(program)) throw std::runtime_error("there is no " + program + ": build the target " + name + " too");
  return program;
}

child_process::child_process(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(stdout);  // or the child would write it once more
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("the system gives no process for " + words.front());
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execv(pointers[0], pointers.data());
  std::_Exit(127);
}

child_process::~child_process() {
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

double child_process::cpu_seconds() const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &used) != 0) throw std::runtime_error("the node has ended");
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double child_process::cpu_percent(std::chrono::seconds of) const {
  const auto cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(of);
  return 100 * (cpu_seconds() - cpu) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double child_process::memory_mb(const std::string& name) const {
  std::ifstream in{"/proc/" + std::to_string(process_) + "/status"};
  for (std::string word; in >> word;)
    if (word == name && in >> word) return std::stod(word) / 1024;
  throw std::runtime_error("the node has ended");
}

}  // namespace fairlead::bench
