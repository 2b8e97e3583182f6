#include "app/shepherd/command.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace fairlead::app {

namespace {

using agents::start_stage;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

bool set_limits(const agents::exec_process_limits& limits) {
  const auto set = [](auto what, std::uint64_t soft, std::uint64_t hard) {
    const rlimit both{soft, hard};
    return soft == 0 || setrlimit(what, &both) == 0;
  };
  // A second of grace after SIGXCPU.
  return set(RLIMIT_AS, limits.memory_bytes, limits.memory_bytes) && set(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1) &&
         set(RLIMIT_NOFILE, limits.files, limits.files) && set(RLIMIT_NPROC, limits.processes, limits.processes) &&
         set(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// The stage that failed; does not return if the command runs.
start_stage become(const agents::exec_order& order, const int* given, pid_t shepherd) {
  for (int i = 0; i <= agents::progress_descriptor; ++i)
    if (dup2(given[i], i) < 0) return start_stage::fork;
  // The command gets its own session: signals to its process group cannot reach the shepherd.
  setsid();
  if (!set_limits(order.limits)) return start_stage::limits;
  const auto& who = order.identity;
  if (who.given) {
    if (setgroups(who.groups.size(), who.groups.data()) != 0 || setresgid(who.group, who.group, who.group) != 0) return start_stage::groups;
    if (setresuid(who.user, who.user, who.user) != 0) return start_stage::user;
  }
  // A set-uid program could escape a shepherd that is not root. With a user of its own for the command, such a program could reach the
  // shepherd.
  if ((who.given || geteuid() != 0) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return start_stage::user;
  if (chdir(order.directory.c_str()) != 0) return start_stage::directory;
  // Ends the command if its shepherd is killed. After the change of user, which clears this setting.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shepherd) _exit(127);
  reset_signals();
  const auto words = pointers_to(order.command);
  const auto environment = pointers_to(order.environment);
  execve(words.front(), words.data(), environment.data());
  return start_stage::command;
}

}  // namespace

pid_t start_command(const agents::exec_order& order, const int* given, int& said) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  // Above the command's descriptors, which are about to replace the low numbers.
  const int low = agents::progress_descriptor + 1;
  const int report = fcntl(ends[1], F_DUPFD_CLOEXEC, low);
  close(ends[1]);
  const pid_t shepherd = getpid();
  const pid_t child = report < 0 ? -1 : fork();
  if (child == 0) {
    start_failure failure;
    failure.stage = become(order, given, shepherd);
    failure.code = errno;
    [[maybe_unused]] const auto wrote = write(report, &failure, sizeof failure);
    _exit(127);
  }
  const int code = errno;
  if (report >= 0) close(report);
  if (child < 0) {
    close(ends[0]);
    errno = code;
    return -1;
  }
  said = ends[0];
  return child;
}

}  // namespace fairlead::app
