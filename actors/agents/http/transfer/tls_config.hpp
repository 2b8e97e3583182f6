#pragma once
// What an http agent's configuration says about TLS.

#include <string>

namespace fairlead::agents {

struct http_tls {
  enum class version { tls_1_2, tls_1_3 };
  std::string ca_file;             // PEM; trusted in place of the system's authorities; empty: those
  std::string client_certificate;  // PEM
  std::string client_key;          // PEM; empty: it stands in the certificate's file
  version least = version::tls_1_2;
};

}  // namespace fairlead::agents
