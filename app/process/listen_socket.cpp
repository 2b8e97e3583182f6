#include "app/process/listen_socket.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "app/process/listen_probe.hpp"

namespace fairlead::app {

listen_socket::~listen_socket() {
  if (fd_ >= 0) ::close(fd_);
}

int listen_socket::release() noexcept { return std::exchange(fd_, -1); }

std::uint16_t listen_socket::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char port[NI_MAXSERV] = "0";
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, nullptr, 0, port, sizeof port, NI_NUMERICSERV);
  return static_cast<std::uint16_t>(std::strtoul(port, nullptr, 10));
}

result<listen_socket> listen_on(const listen_address& address) {
  std::optional<listen_socket> out;
  const auto why = try_listen(address, [&out](const addrinfo& at) {
    listen_socket made{::socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (made.fd() < 0) return errno;
    const int on = 1;
    ::setsockopt(made.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at.ai_family == AF_INET6) ::setsockopt(made.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(made.fd(), at.ai_addr, at.ai_addrlen) != 0 || ::listen(made.fd(), SOMAXCONN) != 0) return errno;
    out.emplace(std::move(made));
    return 0;
  });
  if (!out) return error{v1::ERROR_CODE_UNAVAILABLE, why, ""};
  return std::move(*out);
}

}  // namespace fairlead::app
