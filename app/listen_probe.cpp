#include "app/listen_probe.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fairlead::app {

status probe_listen(const listen_address& address) {
  const auto at = address.host + ":" + std::to_string(address.port);
  const auto refused = [&at](const std::string& why) {
    return error{v1::ERROR_CODE_UNAVAILABLE, "cannot listen on " + at + ": " + why,
                 "stop what listens there (ss -ltnp shows it), or set node.listen to another address"};
  };
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found); code != 0)
    return refused(gai_strerror(code));
  const int fd = ::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
  int failed = fd < 0 ? errno : 0;
  if (fd >= 0) {
    const int reuse = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (::bind(fd, found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd, 1) != 0) failed = errno;
    ::close(fd);
  }
  freeaddrinfo(found);
  if (failed == EADDRINUSE) return refused("the port is in use");
  if (failed != 0) return refused(std::strerror(failed));
  return nothing{};
}

}  // namespace fairlead::app
