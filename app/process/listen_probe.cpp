#include "app/process/listen_probe.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fairlead::app {

namespace {

int bind_and_let_go(const addrinfo& at) {
  const int fd = ::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int reuse = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  const int failed = ::bind(fd, at.ai_addr, at.ai_addrlen) != 0 || ::listen(fd, 1) != 0 ? errno : 0;
  ::close(fd);
  return failed;
}

}  // namespace

std::string try_listen(const listen_address& address, const std::function<int(const addrinfo&)>& bind_to) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found); code != 0)
    return gai_strerror(code);
  const int failed = bind_to(*found);
  freeaddrinfo(found);
  if (failed == EADDRINUSE) return "the port is in use";
  return failed == 0 ? "" : std::strerror(failed);
}

status probe_listen(const listen_address& address) {
  const auto why = try_listen(address, bind_and_let_go);
  if (why.empty()) return nothing{};
  return error{v1::ERROR_CODE_UNAVAILABLE, "cannot listen on " + address.host + ":" + std::to_string(address.port) + ": " + why,
               "stop the program that listens there (ss -ltnp shows it), or set node.listen to another address"};
}

}  // namespace fairlead::app
