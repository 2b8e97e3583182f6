#include "actors/protocol/address.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace fairlead {

namespace {

error bad_address(const std::string& text, const std::string& why) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not the address of a node: " + why,
          "Give it as host:port, for example 127.0.0.1:7100 or [::1]:7100"};
}

bool host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool ipv6_character(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.'; }

bool parse_port(const std::string& text, std::uint16_t& out) {
  if (text.empty() || text.size() > 5) return false;
  std::uint32_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (value == 0 || value > 65535) return false;
  out = static_cast<std::uint16_t>(value);
  return true;
}

error unavailable(const std::string& reason) { return {v1::ERROR_CODE_UNAVAILABLE, reason, ""}; }

class socket_owner {
 public:
  explicit socket_owner(int fd) : fd_(fd) {}
  socket_owner(const socket_owner&) = delete;
  socket_owner& operator=(const socket_owner&) = delete;
  ~socket_owner() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Waits until the connection begun on `fd` is established or has failed; 0 or an errno.
int await_connected(int fd, std::chrono::steady_clock::time_point until) {
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    pollfd ready{fd, POLLOUT, 0};
    int n = ::poll(&ready, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (n < 0 && errno != EINTR) return errno;
    if (n <= 0) continue;
    int failure = 0;
    socklen_t size = sizeof failure;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0) return errno;
    return failure;
  }
}

int connect_one(const addrinfo& target, std::chrono::steady_clock::time_point until, int& out_fd) {
  socket_owner fd{::socket(target.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, target.ai_protocol)};
  if (fd.get() < 0) return errno;
  if (::connect(fd.get(), target.ai_addr, target.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    if (int failure = await_connected(fd.get(), until); failure != 0) return failure;
  }
  out_fd = fd.release();
  return 0;
}

}  // namespace

result<client_address> parse_client_address(const std::string& text) {
  client_address out;
  out.text = text;
  std::string port;
  if (!text.empty() && text.front() == '[') {
    auto close = text.find(']');
    if (close == std::string::npos) return bad_address(text, "the bracket is not closed");
    out.host = text.substr(1, close - 1);
    if (out.host.find(':') == std::string::npos || !std::all_of(out.host.begin(), out.host.end(), ipv6_character))
      return bad_address(text, "brackets hold an IPv6 address");
    if (close + 1 >= text.size() || text[close + 1] != ':') return bad_address(text, "the port is missing");
    port = text.substr(close + 2);
  } else {
    auto colon = text.find(':');
    if (colon == std::string::npos) return bad_address(text, "the port is missing");
    if (text.find(':', colon + 1) != std::string::npos) return bad_address(text, "an IPv6 address needs brackets");
    out.host = text.substr(0, colon);
    if (out.host.empty()) return bad_address(text, "the host is missing");
    if (!std::all_of(out.host.begin(), out.host.end(), host_character))
      return bad_address(text, "the host holds a character that no host name has");
    port = text.substr(colon + 1);
  }
  if (!parse_port(port, out.port)) return bad_address(text, "the port is a number from 1 to 65535");
  return out;
}

result<int> connect_tcp(const client_address& where, duration limit) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (int failure = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found); failure != 0)
    return unavailable(::gai_strerror(failure));
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, ::freeaddrinfo};

  auto until = std::chrono::steady_clock::now() + limit;
  int reason = ECONNREFUSED;
  for (auto* target = found; target != nullptr; target = target->ai_next) {
    int fd = -1;
    reason = connect_one(*target, until, fd);
    if (reason == 0) return fd;
  }
  return unavailable(std::strerror(reason));
}

}  // namespace fairlead
