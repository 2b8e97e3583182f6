#pragma once
// The names for which a certificate is issued.

#include <string>

#include "messages/error.hpp"

namespace fairlead::app {

enum class name_kind { dns, address, uri };

struct certificate_name {
  name_kind kind = name_kind::dns;
  std::string text;  // DNS names in lower case, addresses as inet_ntop writes them

  bool operator==(const certificate_name&) const = default;
};

/// Reads `n1.example.org`, `*.example.org`, `10.0.0.1`, `fd00::1` or `spiffe://example.org/agent`. Errors: invalid_argument.
result<certificate_name> read_certificate_name(const std::string& text);

/// The name as a part of a file name: letters, digits, `.`, `_` and `-`, and never empty.
std::string file_name_of(const certificate_name& name);

}  // namespace fairlead::app
