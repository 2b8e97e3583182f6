#include "actors/agents/http/transfer/sockets.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

namespace fairlead::agents {

namespace {

std::string key_of(const http_ends& ends) {
  return std::string{ends.remote_address} + ' ' + std::to_string(ends.remote_port) + ' ' + std::to_string(ends.local_port);
}

int local_port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return -1;
}

}  // namespace

void http_sockets::connected(const std::vector<int>& opened, const http_ends& ends) {
  for (const int socket : opened) {
    if (local_port_of(socket) != ends.local_port) continue;
    auto& known = ends_of_[socket];
    if (const auto old = by_ends_.find(known); old != by_ends_.end() && old->second == socket) by_ends_.erase(old);
    known = key_of(ends);
    by_ends_[known] = socket;
    return;
  }
}

bool http_sockets::at_rest(const http_ends& ends) const {
  const auto found = by_ends_.find(key_of(ends));
  if (found == by_ends_.end()) return false;
  char byte = 0;
  return ::recv(found->second, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace fairlead::agents
