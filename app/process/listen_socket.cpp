#include "app/process/listen_socket.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

result<listen_socket> listen_on_path(const std::string& path) {
  const auto refused = [](int code) { return error{v1::ERROR_CODE_UNAVAILABLE, std::strerror(code), ""}; };
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof at.sun_path) return refused(ENAMETOOLONG);
  std::memcpy(at.sun_path, path.data(), path.size());
  const auto* const where = reinterpret_cast<const sockaddr*>(&at);
  const auto make = [] { return listen_socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}; };
  if (listen_socket probe = make(); probe.fd() >= 0) {
    if (::connect(probe.fd(), where, sizeof at) == 0) return refused(EADDRINUSE);
    struct stat found {};
    if (errno == ECONNREFUSED && ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) ::unlink(path.c_str());
  }
  listen_socket made = make();
  if (made.fd() < 0) return refused(errno);
  if (::bind(made.fd(), where, sizeof at) != 0 || ::chmod(path.c_str(), 0666) != 0 || ::listen(made.fd(), SOMAXCONN) != 0)
    return refused(errno);
  return made;
}

}  // namespace fairlead::app
