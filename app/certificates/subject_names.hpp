#pragma once
// Names to and from the extension subjectAltName.

#include <string>
#include <vector>

#include "app/certificates/names.hpp"
#include "app/certificates/openssl.hpp"

namespace fairlead::app {

/// Null: out of memory.
general_names_ptr general_names_of(const std::vector<certificate_name>& names);

/// The names that a certificate has, to be put into another one. Errors: invalid_argument for a certificate without names, and for one with
/// a name of another kind. `path` is for sentences.
result<std::vector<certificate_name>> names_of(X509& certificate, const std::string& path);

/// The names for a person to read, with a word before those of other kinds. Bytes that are no printable ASCII become `?`.
std::vector<std::string> names_shown(X509& certificate);

}  // namespace fairlead::app
