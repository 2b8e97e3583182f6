#pragma once
// The authorities whose certificates of clients a port takes.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "messages/error.hpp"

namespace fairlead::app::door {

/// Immutable: a check in progress keeps its own.
struct trusted_authorities;

/// Thread-safe.
class client_trust {
 public:
  /// A PEM file of certificates of authorities. Errors (invalid_argument, with a remedy): it cannot be read, has none, or has one of something else.
  static result<std::shared_ptr<client_trust>> open(std::string file);

  /// Takes the file if it has changed. On an error the former authorities stay.
  result<bool> read_again();

  std::shared_ptr<const trusted_authorities> current() const;
  /// When the first of the authorities ends; 0: unknown.
  std::int64_t ends_unix_ms() const;

 private:
  explicit client_trust(std::string file) : file_(std::move(file)) {}

  const std::string file_;
  mutable std::mutex guard_;
  std::shared_ptr<const trusted_authorities> current_;
};

}  // namespace fairlead::app::door
