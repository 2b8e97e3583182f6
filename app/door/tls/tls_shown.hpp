#pragma once
// The certificate that a client has shown, checked. Only for the listener, so that others do not include GnuTLS.

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include <cstdint>
#include <memory>
#include <string>

#include "app/door/tls/client_certificate.hpp"
#include "app/door/tls/tls_trust.hpp"

namespace fairlead::app::door {

struct trusted_authorities {
  trusted_authorities() { gnutls_x509_trust_list_init(&list, 0); }
  trusted_authorities(const trusted_authorities&) = delete;
  trusted_authorities& operator=(const trusted_authorities&) = delete;
  ~trusted_authorities() { gnutls_x509_trust_list_deinit(list, 1); }

  gnutls_x509_trust_list_t list = nullptr;
  std::string text;               // of the file, to see a change
  std::int64_t ends_unix_ms = 0;  // of the authority that ends first; 0: unknown
};

/// Of a session whose handshake is over. Null: the client has shown none. The library checks times by the system's clock.
std::shared_ptr<const client_certificate> shown_certificate(gnutls_session_t session, const trusted_authorities& by);

}  // namespace fairlead::app::door
