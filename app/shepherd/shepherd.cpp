#include "app/shepherd/shepherd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "actors/agents/exec/order.hpp"
#include "app/shepherd/command.hpp"
#include "app/shepherd/herd.hpp"

namespace fairlead::app {

namespace {

using agents::ended_by;
using agents::order_descriptor;
using agents::shepherd_record;
using agents::shepherd_says;
using agents::start_stage;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Grace for processes that outlive the command: it may have been a pipeline whose other end is about to end, too: `producer > >(tee log)`.
constexpr auto leftover_grace = std::chrono::milliseconds{100};
constexpr auto first_nap = std::chrono::milliseconds{1};
constexpr auto longest_nap = std::chrono::milliseconds{20};

steady_clock::time_point at(std::int64_t ns) {
  return steady_clock::time_point{std::chrono::duration_cast<steady_clock::duration>(nanoseconds{ns})};
}

class shepherd {
 public:
  explicit shepherd(const int* descriptors) {
    std::copy_n(descriptors, given_.size(), given_.begin());
    control_ = given_[static_cast<std::size_t>(order_descriptor::control)];
  }

  void run() {
    if (!prepare()) return;
    watch();
    tell(record_);
  }

 private:
  bool prepare() {
    setsid();
    std::signal(SIGCHLD, SIG_DFL);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    children_ = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    shepherd_record there;
    there.value = getpid();
    tell(there);
    if (children_ < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return refuse(start_stage::fork, errno);
    const auto order = read_order();
    if (!order) return refuse(start_stage::order, EIO);
    terminate_at_ = at(order->terminate_at_ns);
    kill_at_ = at(order->kill_at_ns);
    if (steady_clock::now() >= kill_at_) return refuse(start_stage::too_late, 0);
    if (node_is_gone()) return false;
    hand_over_pipes(order->identity);
    command_ = start_command(*order, given_.data() + static_cast<int>(order_descriptor::input), start_);
    if (command_ < 0) return refuse(start_stage::fork, errno);
    // From now on only the command and its descendants hold the pipes, so that the pipes end with them.
    for (std::size_t i = static_cast<std::size_t>(order_descriptor::input); i < given_.size(); ++i) close(given_[i]);
    return true;
  }

  std::optional<agents::exec_order> read_order() {
    const int file = given_[static_cast<std::size_t>(order_descriptor::order)];
    std::string bytes;
    struct stat what {};
    if (fstat(file, &what) != 0) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(what.st_size));
    for (std::size_t done = 0; done < bytes.size();) {
      const auto got = pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      done += static_cast<std::size_t>(got);
    }
    close(file);
    return agents::decode_order(bytes);
  }

  /// Lets `echo … > /dev/stderr`, which opens the pipe anew, work for the command's own user.
  void hand_over_pipes(const agents::exec_identity& who) {
    if (!who.given) return;
    for (const auto which : {order_descriptor::output, order_descriptor::errors, order_descriptor::progress}) {
      if (fchown(given_[static_cast<std::size_t>(which)], who.user, who.group) != 0) return;
    }
  }

  bool node_is_gone() const {
    char byte = 0;
    const auto got = recv(control_, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  }

  void watch() {
    auto nap = first_nap;
    for (;;) {
      if (reap()) return;
      const auto now = steady_clock::now();
      if (!killing_ && node_is_gone()) kill_because(ended_by::node);
      if (!killing_ && now >= kill_at_) kill_because(ended_by::deadline);
      if (!killing_ && ended_at_ && now >= *ended_at_ + leftover_grace) killing_ = true;
      if (!killing_ && !ended_at_ && record_.asked == 0 && now >= terminate_at_) {
        record_.asked = 1;
        signal_all(SIGTERM);
      }
      if (killing_) {
        const auto found = static_cast<std::uint32_t>(kill_all());
        if (ended_at_) record_.swept = std::max(record_.swept, found);
        doze(nap);
        nap = std::min<std::chrono::milliseconds>(nap * 2, longest_nap);
      } else {
        doze(next_event() - now);
      }
    }
  }

  void kill_because(ended_by who) {
    killing_ = true;
    if (!ended_at_) record_.by = who;
  }

  steady_clock::time_point next_event() const {
    if (ended_at_) return std::min(kill_at_, *ended_at_ + leftover_grace);
    return record_.asked != 0 ? kill_at_ : std::min(kill_at_, terminate_at_);
  }

  /// True: the command has ended and no descendant is left. No child means no descendant, since orphans become children.
  bool reap() {
    for (;;) {
      int status = 0;
      const auto pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid < 0) return true;
      if (pid == 0) return false;
      if (pid == command_) {
        ended_at_ = steady_clock::now();
        judge(status);
      }
    }
  }

  void judge(int status) {
    start_failure failure;
    // Closed by execve, or holds the reason why execve failed.
    if (read(start_, &failure, sizeof failure) == sizeof failure) {
      record_.what = shepherd_says::not_started;
      record_.stage = failure.stage;
      record_.value = failure.code;
    } else if (WIFEXITED(status)) {
      record_.what = shepherd_says::exited;
      record_.value = WEXITSTATUS(status);
    } else {
      record_.what = shepherd_says::signalled;
      record_.value = WTERMSIG(status);
    }
  }

  void doze(steady_clock::duration how_long) {
    constexpr std::int64_t longest_ms = 3'600'000;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(how_long).count();
    // During the kill the end of the socket would only keep the shepherd awake.
    std::array<pollfd, 2> on{{{children_, POLLIN, 0}, {killing_ ? -1 : control_, POLLIN, 0}}};
    poll(on.data(), on.size(), static_cast<int>(std::clamp<std::int64_t>(ms, 0, longest_ms)));
    signalfd_siginfo ignored;
    while (read(children_, &ignored, sizeof ignored) > 0) {
    }
  }

  bool refuse(start_stage stage, int code) {
    record_.what = shepherd_says::not_started;
    record_.stage = stage;
    record_.value = code;
    tell(record_);
    return false;
  }

  void tell(const shepherd_record& what) const { send(control_, &what, sizeof what, MSG_NOSIGNAL); }

  std::array<int, agents::order_descriptors> given_{};
  int control_ = -1;
  int children_ = -1;
  int start_ = -1;
  pid_t command_ = -1;
  steady_clock::time_point terminate_at_, kill_at_;
  std::optional<steady_clock::time_point> ended_at_;
  bool killing_ = false;
  shepherd_record record_;
};

}  // namespace

void run_shepherd(const int* descriptors) { shepherd{descriptors}.run(); }

}  // namespace fairlead::app
