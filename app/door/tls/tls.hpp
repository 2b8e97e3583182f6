#pragma once
// The certificate of a port. GnuTLS, because libmicrohttpd speaks TLS by it.

#include <cstdint>
#include <memory>
#include <string>

#include "app/door/tls/reloadable.hpp"

namespace fairlead::app::door {

/// A certificate, those that lead to its authority, and its key. Immutable: handshakes in progress keep theirs.
struct tls_keys;

class tls_certificate : public reloadable<tls_keys> {
 public:
  /// PEM files: the certificate first, then those that lead to its authority; the key without a password, not to be read by everybody. Errors
  /// (invalid_argument, with a remedy): a file cannot be read, or the two do not belong together.
  static result<std::shared_ptr<tls_certificate>> open(std::string certificate, std::string key);
  using reloadable::reloadable;

  /// When the certificate ends.
  std::int64_t ends_unix_ms() const;
};

}  // namespace fairlead::app::door
