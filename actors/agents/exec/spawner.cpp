#include "actors/agents/exec/spawner.hpp"

#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "actors/system/spawn_plan.hpp"

namespace fairlead::agents {

int exec_spawner::start() {
  drop();
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return errno;
  descriptor ours{ends[0]}, theirs{ends[1]};
  std::string name = "fairlead", entry = "exec-shepherd";
  std::array<char*, 3> words{name.data(), entry.data(), nullptr};
  // Empty: nothing of the node's environment may reach a command, and nothing of a command's environment may reach the shepherds.
  std::array<char*, 1> environment{nullptr};
  constexpr auto null = spawn_plan::null_device;
  const spawn_plan plan{{null, null, null, theirs.get()}, spawn_group::session};
  const int code = posix_spawn(&pid_, executable_.c_str(), &plan.actions, &plan.attributes, words.data(), environment.data());
  if (code != 0) {
    pid_ = -1;
    return code;
  }
  socket_ = std::move(ours);
  state_ = state::starting;
  return 0;
}

bool exec_spawner::listen() {
  for (;;) {
    char byte = 0;
    const auto got = recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
    if (got > 0) {
      state_ = state::ready;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    drop();
    return false;
  }
}

int exec_spawner::send(const sent_descriptors& what) {
  char byte = 1;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(sent_descriptors))> room{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(sent_descriptors));
  std::memcpy(CMSG_DATA(head), what.data(), sizeof(sent_descriptors));
  for (;;) {
    if (sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return 0;
    if (errno == EINTR) continue;
    // Too many descriptors are on their way: the number falls as the process takes them.
    return errno == ETOOMANYREFS || errno == ENOBUFS ? EAGAIN : errno;
  }
}

void exec_spawner::drop() {
  state_ = state::absent;
  socket_.reset();
  if (pid_ <= 0) return;
  // The process has nothing to clean up, and must not keep this thread waiting if it hangs.
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace fairlead::agents
