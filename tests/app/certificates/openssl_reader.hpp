#pragma once
// Certificates as OpenSSL itself reads and verifies them, beside the product's own reading.

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "app/certificates/certificates.hpp"

namespace fairlead::app {

inline constexpr moment noon = moment{std::chrono::milliseconds{1'795'867'200'000}};  // 2026-11-28T12:00:00Z

using x509 = std::shared_ptr<X509>;

inline std::vector<x509> x509_in(const std::string& pem) {
  const std::shared_ptr<BIO> in{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free_all};
  std::vector<x509> out;
  while (auto* const one = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)) out.emplace_back(one, X509_free);
  return out;
}

/// The error of X509_verify_cert, by the strict rules of RFC 5280; X509_V_OK if there is none.
inline int verified(const std::string& pem, const std::string& authority, moment at, int purpose) {
  const std::shared_ptr<X509_STORE> trust{X509_STORE_new(), X509_STORE_free};
  for (const auto& one : x509_in(authority)) X509_STORE_add_cert(trust.get(), one.get());
  const auto chain = x509_in(pem);
  const std::shared_ptr<X509_STORE_CTX> check{X509_STORE_CTX_new(), X509_STORE_CTX_free};
  X509_STORE_CTX_init(check.get(), trust.get(), chain.front().get(), nullptr);
  X509_STORE_CTX_set_flags(check.get(), X509_V_FLAG_X509_STRICT);
  X509_STORE_CTX_set_purpose(check.get(), purpose);
  X509_STORE_CTX_set_time(check.get(), 0, static_cast<std::time_t>(to_unix_ms(at) / 1000));
  X509_verify_cert(check.get());
  return X509_STORE_CTX_get_error(check.get());
}

inline certificate_name name_of(const std::string& text) { return read_certificate_name(text).value(); }

inline authority as_files(const certificate_and_key& made) { return {{"ca.pem", made.certificate}, {"ca-key.pem", made.key}}; }

inline authority an_authority(std::int64_t days = default_authority_days) {
  return as_files(make_authority("Fairlead test", days, noon).value());
}

inline certificate_order an_order(std::vector<std::string> names = {"n1.example.org"}) {
  certificate_order out;
  for (const auto& name : names) out.names.push_back(name_of(name));
  out.days = default_certificate_days;
  return out;
}

}  // namespace fairlead::app
