#pragma once
// OpenSSL's objects, as values that free themselves, and PEM text to and from them.

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "app/certificates/certificates.hpp"

namespace fairlead::app {

template <auto Free>
struct openssl_deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using bio_ptr = std::unique_ptr<BIO, openssl_deleter<BIO_free_all>>;
using key_ptr = std::unique_ptr<EVP_PKEY, openssl_deleter<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, openssl_deleter<X509_free>>;
using general_names_ptr = std::unique_ptr<GENERAL_NAMES, openssl_deleter<GENERAL_NAMES_free>>;

/// The error of a call that fails only if the library or its configuration is broken. Empties the library's list of errors.
error openssl_failed(const std::string& what);

/// Errors: invalid_argument for a file without certificates, and for a damaged one.
result<std::vector<certificate_ptr>> certificates_in(const named_pem& file);

/// Errors: invalid_argument for a file without a key, an encrypted one and a damaged one.
result<key_ptr> key_in(const named_pem& file);

/// Empty: it failed.
std::string pem_of(X509& certificate);
std::string pem_of(EVP_PKEY& key);

moment moment_of(const ASN1_TIME& at);
/// Whether the certificate may sign others.
bool may_sign_certificates(X509& certificate);

/// A new key. Errors: internal.
result<key_ptr> make_key();

/// What all certificates have: version, random serial number, validity. Errors: internal.
result<certificate_ptr> begin_certificate(EVP_PKEY& key, moment not_before, moment not_after);
/// `value` is in the words of OpenSSL's configuration. `issuer` may be the certificate itself.
bool add_extension(X509& certificate, X509& issuer, int id, const char* value);
bool sign_certificate(X509& certificate, EVP_PKEY& by);

/// Why the first certificate of the file is not valid now by the authority, in the words of OpenSSL; empty if it is valid.
result<std::string> chain_fault(const named_pem& file, const named_pem& authority, moment now);

/// Errors: invalid_argument.
status check_days(std::int64_t days);

}  // namespace fairlead::app
