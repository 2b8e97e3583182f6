// The process from which shepherds are forked.

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "actors/agents/exec/order.hpp"
#include "app/shepherd/shepherd.hpp"

namespace fairlead::app {

namespace {

constexpr int orders = 3;

void settle_in() {
  prctl(PR_SET_NAME, "exec-shepherd");
  // No terminal and no `kill` may end this process before its commands; only the end of the node does.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU})
    std::signal(number, SIG_IGN);
  // Nobody waits for shepherds; they report to the node.
  std::signal(SIGCHLD, SIG_IGN);
  // Orders hold secrets: no core file and no debugger of the same user may get them.
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  syscall(SYS_close_range, orders + 1, ~0U, 0);
  // A command has its own working directory; that of this process must not keep a file system mounted.
  if (chdir("/") != 0) return;
}

using received = std::array<int, agents::order_descriptors>;

/// False: the node is gone.
bool receive(received& out) {
  for (;;) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(received))> room{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    const auto got = recvmsg(orders, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const cmsghdr* const head = CMSG_FIRSTHDR(&message);
    if (head == nullptr || head->cmsg_type != SCM_RIGHTS) continue;
    if (head->cmsg_len == CMSG_LEN(sizeof(received))) {
      std::memcpy(out.data(), CMSG_DATA(head), sizeof(received));
      return true;
    }
    // This process ran out of descriptors: it closes those that arrived, and the node sees the closed socket.
    const auto count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(out.data(), CMSG_DATA(head), count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) close(out[i]);
  }
}

}  // namespace

int run_shepherds() {
  settle_in();
  const char ready = 1;
  if (send(orders, &ready, 1, MSG_NOSIGNAL) != 1) return 1;
  received descriptors{};
  while (receive(descriptors)) {
    const auto child = fork();
    if (child == 0) {
      close(orders);
      run_shepherd(descriptors.data());
      _exit(0);
    }
    if (child < 0) {
      agents::shepherd_record record;
      record.what = agents::shepherd_says::not_started;
      record.stage = agents::start_stage::fork;
      record.value = errno;
      send(descriptors.front(), &record, sizeof record, MSG_NOSIGNAL);
    }
    for (const int fd : descriptors) close(fd);
  }
  return 0;
}

}  // namespace fairlead::app
