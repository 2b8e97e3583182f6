#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include "app/certificates/certificates.hpp"
#include "app/certificates/openssl.hpp"

namespace fairlead::app {

namespace {

using trust_ptr = std::unique_ptr<X509_STORE, openssl_deleter<X509_STORE_free>>;
using check_ptr = std::unique_ptr<X509_STORE_CTX, openssl_deleter<X509_STORE_CTX_free>>;
/// Refers to certificates that it does not own.
using row_ptr = std::unique_ptr<STACK_OF(X509), openssl_deleter<[](STACK_OF(X509) * row) { sk_X509_free(row); }>>;

}  // namespace

status check_key_belongs(const named_pem& certificate, const named_pem& key) {
  const auto certificates = certificates_in(certificate);
  if (!certificates) return certificates.failure();
  const auto read = key_in(key);
  if (!read) return read.failure();
  const bool belongs = X509_check_private_key(certificates->front().get(), read->get()) == 1;
  ERR_clear_error();
  if (belongs) return nothing{};
  return invalid("The private key in the file " + key.path + " does not belong to the certificate in the file " + certificate.path,
                 "Put the key back that was made with this certificate, or make both anew");
}

result<std::string> chain_fault(const named_pem& file, const named_pem& authority, moment now) {
  const auto certificates = certificates_in(file);
  if (!certificates) return certificates.failure();
  const auto trusted = certificates_in(authority);
  if (!trusted) return trusted.failure();
  const trust_ptr trust{X509_STORE_new()};
  const check_ptr check{X509_STORE_CTX_new()};
  const row_ptr between{sk_X509_new_null()};
  bool ready = trust != nullptr && check != nullptr && between != nullptr;
  for (const auto& one : *trusted) ready = ready && X509_STORE_add_cert(trust.get(), one.get()) == 1;
  for (const auto& one : *certificates) ready = ready && sk_X509_push(between.get(), one.get()) > 0;
  if (!ready || X509_STORE_CTX_init(check.get(), trust.get(), certificates->front().get(), between.get()) != 1)
    return openssl_failed("The certificate cannot be checked");
  // The authority of a folder may itself have been signed by one that is not there.
  X509_STORE_CTX_set_flags(check.get(), X509_V_FLAG_PARTIAL_CHAIN);
  X509_STORE_CTX_set_time(check.get(), 0, static_cast<std::time_t>(to_unix_ms(now) / 1000));
  const bool good = X509_verify_cert(check.get()) == 1;
  const auto* const why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()));
  ERR_clear_error();
  return std::string{good ? "" : why};
}

status check_chain(const named_pem& file, const named_pem& authority, moment now) {
  const auto fault = chain_fault(file, authority, now);
  if (!fault) return fault.failure();
  if (fault->empty()) return nothing{};
  return invalid(
      "The certificate in the file " + file.path + " is not valid by the authority in the file " + authority.path + ": " + *fault,
      "Use the folder of the authority that is to vouch for it, or make another authority");
}

}  // namespace fairlead::app
