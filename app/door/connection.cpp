#include "app/door/connection.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <array>

#include "app/door/tls_shown.hpp"

namespace fairlead::app::door {

namespace {

constexpr std::chrono::minutes check_again_after{1};

}  // namespace

void connection::look_at_certificate(MHD_Connection* at) {
  if (clients == nullptr) return;
  auto trusted = clients->current();
  const auto when = steady::now();
  if (trusted == checked_by && when - checked_at < check_again_after) return;
  const auto* const info = MHD_get_connection_info(at, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  from.certificate = info == nullptr ? nullptr : shown_certificate(static_cast<gnutls_session_t>(info->tls_session), *trusted);
  checked_by = std::move(trusted);
  checked_at = when;
}

peer peer_of(int fd) {
  peer out;
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (::getsockname(fd, address, &size) == 0 && at.ss_family == AF_UNIX) {
    ucred who{};
    size = sizeof who;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) out.uid = who.uid;
    return out;
  }
  std::array<char, NI_MAXHOST> text{};
  size = sizeof at;
  if (::getpeername(fd, address, &size) == 0 && ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
    out.address = text.data();
  return out;
}

}  // namespace fairlead::app::door
