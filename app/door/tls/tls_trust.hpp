#pragma once
// The authorities whose certificates of clients a port takes.

#include <cstdint>
#include <memory>
#include <string>

#include "app/door/tls/reloadable.hpp"

namespace fairlead::app::door {

/// Immutable: a check in progress keeps its own.
struct trusted_authorities;

class client_trust : public reloadable<trusted_authorities> {
 public:
  /// A PEM file of certificates of authorities. Errors (invalid_argument, with a remedy): it cannot be read, has none, or has one of something else.
  static result<std::shared_ptr<client_trust>> open(std::string file);
  using reloadable::reloadable;

  /// When the first of the authorities ends; 0: unknown.
  std::int64_t ends_unix_ms() const;
};

}  // namespace fairlead::app::door
