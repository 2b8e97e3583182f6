#include "actors/expressions/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "actors/system/spawn_plan.hpp"

namespace fairlead {
namespace {

// Sanitizers reserve more address space than the worker's limit allows. So their own options limit the worker, which then ends with
// expression_worker_out_of_memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr const char* limits =
    "ASAN_OPTIONS=hard_rss_limit_mb=700:max_allocation_size_mb=512:allocator_may_return_null=1:detect_leaks=0:handle_segv=0:exitcode=77";
#elif defined(__SANITIZE_THREAD__)
constexpr const char* limits =
    "TSAN_OPTIONS=hard_rss_limit_mb=700:max_allocation_size_mb=512:allocator_may_return_null=1:handle_segv=0:exitcode=77";
#else
constexpr const char* limits = nullptr;
#endif

error cannot_start(const std::string& executable, int code) {
  return {v1::ERROR_CODE_UNAVAILABLE,
          "the expression worker" + (executable.empty() ? "" : " " + executable) + " cannot be started: " + std::strerror(code), ""};
}

}  // namespace

result<std::unique_ptr<expression_process>> expression_process::start(const std::string& executable,
                                                                      const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return cannot_start(executable, errno);
  std::string name = "fairlead";
  auto words = arguments;
  std::vector<char*> argv{name.data()};
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string variable = limits ? limits : "";
  std::array<char*, 2> environment{limits ? variable.data() : nullptr, nullptr};
  pid_t pid = 0;
  int code = 0;
  {
    const agents::spawn_plan plan{{ends[1], ends[1], agents::spawn_plan::null_device}};
    code = posix_spawn(&pid, executable.c_str(), &plan.actions, &plan.attributes, argv.data(), environment.data());
  }
  close(ends[1]);
  if (code != 0) {
    close(ends[0]);
    return cannot_start(executable, code);
  }
  // Only this end: the worker itself reads and writes blocking.
  fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
  return std::unique_ptr<expression_process>(new expression_process(ends[0], pid));
}

result<std::unique_ptr<expression_process>> expression_process::start_copy(const std::function<int()>& work) {
  if (limits != nullptr) return cannot_start("", ENOTSUP);
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return cannot_start("", errno);
  const auto pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    clearenv();
    const auto nowhere = open("/dev/null", O_WRONLY);
    if (dup2(ends[1], STDIN_FILENO) < 0 || dup2(ends[1], STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) _exit(1);
    _exit(work());
  }
  const auto code = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return cannot_start("", code);
  }
  fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
  return std::unique_ptr<expression_process>(new expression_process(ends[0], pid));
}

expression_process::~expression_process() {
  reap();
  close(descriptor_);
}

std::chrono::nanoseconds expression_process::cpu_time() const {
  clockid_t clock = 0;
  timespec used{};
  // Of one that has ended nothing is known, and reading says that it has.
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

std::size_t expression_process::write_some(std::string_view bytes) {
  const auto sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

bool expression_process::read_some(std::string& into) {
  std::array<char, 65536> buffer;
  for (;;) {
    const auto got = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }
  }
}

int expression_process::reap() {
  if (reaped_) return 0;
  reaped_ = true;
  // A process that is ending keeps its own exit status.
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return status;
}

}  // namespace fairlead
