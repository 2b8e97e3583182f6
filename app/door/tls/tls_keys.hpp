#pragma once
// What a handshake needs. Only for the listener, so that others do not include GnuTLS.

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::app::door {

struct tls_keys {
  tls_keys() = default;
  tls_keys(const tls_keys&) = delete;
  tls_keys& operator=(const tls_keys&) = delete;
  ~tls_keys() {
    for (auto& one : chain) gnutls_pcert_deinit(&one);
    if (key != nullptr) gnutls_privkey_deinit(key);
  }

  mutable std::vector<gnutls_pcert_st> chain;  // GnuTLS asks for pointers that are not const, and changes nothing
  gnutls_privkey_t key = nullptr;
  std::int64_t ends_unix_ms = 0;
  std::string text;  // of both files, to see a change
};

}  // namespace fairlead::app::door
