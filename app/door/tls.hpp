#pragma once
// The certificate of a port. GnuTLS, because libmicrohttpd speaks TLS by it.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "messages/error.hpp"

namespace fairlead::app::door {

/// A certificate, those that lead to its authority, and its key. Immutable: handshakes in progress keep theirs.
struct tls_keys;

/// Thread-safe.
class tls_certificate {
 public:
  /// PEM files: the certificate first, then those that lead to its authority; the key without a password, not to be read by everybody. Errors
  /// (invalid_argument, with a remedy): a file cannot be read, or the two do not belong together.
  static result<std::shared_ptr<tls_certificate>> open(std::string certificate, std::string key);

  /// Takes the files if they have changed. On an error the former ones stay.
  result<bool> read_again();

  std::shared_ptr<const tls_keys> current() const;
  /// When the certificate ends.
  std::int64_t ends_unix_ms() const;

 private:
  tls_certificate(std::string certificate, std::string key) : certificate_(std::move(certificate)), key_(std::move(key)) {}

  const std::string certificate_, key_;
  mutable std::mutex guard_;
  std::shared_ptr<const tls_keys> current_;
};

}  // namespace fairlead::app::door
