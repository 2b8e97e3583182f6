#pragma once
// One connection of the listener: what it waits for, and who is at its other end. Only for the listener's thread.

#include <microhttpd.h>

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "app/door/figures.hpp"
#include "app/door/message.hpp"
#include "app/door/tls/tls.hpp"
#include "app/door/tls/tls_keys.hpp"
#include "app/door/tls/tls_trust.hpp"

namespace fairlead::app::door {

enum class phase { fresh, head, body, waiting, answering, idle };

struct connection {
  using steady = std::chrono::steady_clock;

  int fd = -1;
  phase now = phase::fresh;
  steady::time_point since = steady::now();
  bool told_to_go = false;
  peer from;
  const tls_certificate* tls = nullptr;
  std::shared_ptr<const tls_keys> keys;  // of its handshake
  const client_trust* clients = nullptr;
  std::shared_ptr<const trusted_authorities> checked_by;  // the certificate that the client has shown
  steady::time_point checked_at{};
  std::optional<counted> open;

  /// The one behind the library's.
  static connection* of(MHD_Connection* at);
  /// For a handshake. The connection keeps what it gives for as long as it lives.
  static int give_keys(gnutls_session_t session, const gnutls_datum_t*, int, const gnutls_pk_algorithm_t*, int, gnutls_pcert_st** chain,
                       unsigned* count, gnutls_privkey_t* key);

  void enter(phase next) {
    now = next;
    since = steady::now();
  }

  /// The library sees its end and drops it.
  void send_away() {
    told_to_go = true;
    ::shutdown(fd, SHUT_RDWR);
  }

  /// For a request that comes now. The certificate is that of the handshake: no tickets are given out, so no session is taken up again without
  /// one. It may have ended since the last request, or its authority may not be trusted any more.
  void look_at_certificate(MHD_Connection* at);
};

/// Of the request that it is at, as they came, in their order.
headers headers_of(MHD_Connection* at);
/// Without a port; empty: none of the internet.
std::string address_of(const sockaddr* at, socklen_t size);
/// Of a socket that was accepted.
peer peer_of(int fd);

}  // namespace fairlead::app::door
