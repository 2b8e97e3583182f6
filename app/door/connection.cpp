#include "app/door/connection.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <iterator>
#include <list>

#include "app/door/tls/tls_shown.hpp"

namespace fairlead::app::door {

namespace {

constexpr std::chrono::minutes check_again_after{1};

}  // namespace

connection* connection::of(MHD_Connection* at) {
  const auto* info = MHD_get_connection_info(at, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<std::list<connection>::iterator*>(info->socket_context)->operator->();
}

int connection::give_keys(gnutls_session_t session, const gnutls_datum_t*, int, const gnutls_pk_algorithm_t*, int, gnutls_pcert_st** chain,
                          unsigned* count, gnutls_privkey_t* key) {
  auto* const on = of(static_cast<MHD_Connection*>(gnutls_session_get_ptr(session)));
  if (on == nullptr) return -1;
  on->keys = on->tls->current();
  // The library would only ask for a certificate of a client if it were given authorities that stay the same for ever.
  if (on->clients != nullptr) gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
  *chain = on->keys->chain.data();
  *count = static_cast<unsigned>(on->keys->chain.size());
  *key = on->keys->key;
  return 0;
}

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
  size = sizeof at;
  if (::getpeername(fd, address, &size) == 0) out.address = address_of(address, size);
  return out;
}

std::string address_of(const sockaddr* at, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const bool is_of_internet = at->sa_family == AF_INET || at->sa_family == AF_INET6;
  return is_of_internet && ::getnameinfo(at, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0 ? text.data() : "";
}

headers headers_of(MHD_Connection* at) {
  headers out;
  const auto add = [](void* to, MHD_ValueKind, const char* name, std::size_t name_size, const char* value, std::size_t value_size) {
    static_cast<headers*>(to)->emplace_back(std::string(name, name_size),
                                            value == nullptr ? std::string{} : std::string(value, value_size));
    return MHD_YES;
  };
  MHD_get_connection_values_n(at, MHD_HEADER_KIND, add, &out);
  return out;
}

}  // namespace fairlead::app::door
