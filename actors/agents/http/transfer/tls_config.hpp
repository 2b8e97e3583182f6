#pragma once
// The TLS configuration of an http agent.

#include <string>

namespace fairlead::agents {

struct http_tls {
  enum class version { tls_1_2, tls_1_3 };
  std::string ca_file;             // PEM; replaces the system's authorities; empty: the system's
  std::string client_certificate;  // PEM
  std::string client_key;          // PEM; empty: the key is in the certificate's file
  version least = version::tls_1_2;
};

}  // namespace fairlead::agents
