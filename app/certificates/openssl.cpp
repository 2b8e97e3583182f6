#include "app/certificates/openssl.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>
#include <limits>

namespace fairlead::app {

namespace {

bio_ptr reader_of(const std::string& text) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  return text.size() > most ? nullptr : bio_ptr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

std::string text_in(BIO& written) {
  char* at = nullptr;
  const auto size = BIO_get_mem_data(&written, &at);
  return size > 0 ? std::string(at, static_cast<std::size_t>(size)) : std::string{};
}

/// Nobody is asked for a passphrase; whether one was needed is noted in `asked`.
int note_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

bool has_block(const std::string& text, const std::string& what) { return text.find(what + "-----") != std::string::npos; }

}  // namespace

error openssl_failed(const std::string& what) {
  const auto code = ERR_peek_last_error();
  const auto* const reason = ERR_reason_error_string(code);
  ERR_clear_error();
  return {v1::ERROR_CODE_INTERNAL, what + ": " + (reason == nullptr ? "OpenSSL gives no reason" : reason),
          "Check the configuration of OpenSSL on this machine"};
}

result<std::vector<certificate_ptr>> certificates_in(const named_pem& file) {
  const auto in = reader_of(file.text);
  if (in == nullptr) return openssl_failed("The file " + file.path + " cannot be read");
  std::vector<certificate_ptr> out;
  while (certificate_ptr one{PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)}) out.push_back(std::move(one));
  // The library ends in the same way at the end of the text and at the first block without an end.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end)
    return invalid("Certificate " + std::to_string(out.size() + 1) + " in the file " + file.path + " is damaged", "Copy the file again");
  if (!out.empty()) return out;
  if (has_block(file.text, "PRIVATE KEY"))
    return invalid("The file " + file.path + " has a private key and no certificate", "Name the file with the certificate");
  return invalid("The file " + file.path + " has no certificate in PEM form",
                 "Name a file with a line '-----BEGIN CERTIFICATE-----'; convert DER with: openssl x509 -inform DER");
}

result<key_ptr> key_in(const named_pem& file) {
  const auto in = reader_of(file.text);
  if (in == nullptr) return openssl_failed("The file " + file.path + " cannot be read");
  bool encrypted = false;
  key_ptr out{PEM_read_bio_PrivateKey(in.get(), nullptr, &note_passphrase, &encrypted)};
  ERR_clear_error();
  if (out != nullptr) return out;
  if (encrypted)
    return invalid("The private key in the file " + file.path + " is encrypted",
                   "Decrypt it with: openssl pkcs8 -topk8 -nocrypt; protect the file by its rights instead");
  if (has_block(file.text, "PRIVATE KEY"))
    return invalid("The private key in the file " + file.path + " is damaged", "Copy the file again");
  return invalid("The file " + file.path + " has no private key in PEM form", "Name a file with a line '-----BEGIN PRIVATE KEY-----'");
}

std::string pem_of(X509& certificate) {
  const bio_ptr out{BIO_new(BIO_s_mem())};
  return out != nullptr && PEM_write_bio_X509(out.get(), &certificate) == 1 ? text_in(*out) : std::string{};
}

std::string pem_of(EVP_PKEY& key) {
  const bio_ptr out{BIO_new(BIO_s_secmem())};
  const bool written = out != nullptr && PEM_write_bio_PKCS8PrivateKey(out.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  return written ? text_in(*out) : std::string{};
}

moment moment_of(const ASN1_TIME& at) {
  std::tm parts{};
  // A certificate without a readable end is one that has ended.
  if (ASN1_TIME_to_tm(&at, &parts) != 1) return moment{};
  return moment{std::chrono::seconds{::timegm(&parts)}};
}

bool may_sign_certificates(X509& certificate) {
  return X509_check_ca(&certificate) == 1 && (X509_get_key_usage(&certificate) & KU_KEY_CERT_SIGN) != 0;
}

result<key_ptr> make_key() {
  if (key_ptr out{EVP_EC_gen("P-256")}) return out;
  return openssl_failed("A private key cannot be made");
}

result<certificate_ptr> begin_certificate(EVP_PKEY& key, moment not_before, moment not_after) {
  const auto seconds = [](moment at) { return static_cast<std::time_t>(to_unix_ms(at) / 1000); };
  certificate_ptr out{X509_new()};
  const std::unique_ptr<BIGNUM, openssl_deleter<BN_free>> serial{BN_new()};
  bool done = out != nullptr && serial != nullptr && X509_set_version(out.get(), X509_VERSION_3) == 1;
  // A serial number must not be 0.
  do {
    done = done && BN_rand(serial.get(), 128, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1;
  } while (done && BN_is_zero(serial.get()));
  done = done && BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(out.get())) != nullptr;
  done = done && ASN1_TIME_set(X509_getm_notBefore(out.get()), seconds(not_before)) != nullptr;
  done = done && ASN1_TIME_set(X509_getm_notAfter(out.get()), seconds(not_after)) != nullptr;
  if (done && X509_set_pubkey(out.get(), &key) == 1) return out;
  return openssl_failed("A certificate cannot be made");
}

bool add_extension(X509& certificate, X509& issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  const std::unique_ptr<X509_EXTENSION, openssl_deleter<X509_EXTENSION_free>> made{X509V3_EXT_conf_nid(nullptr, &context, id, value)};
  return made != nullptr && X509_add_ext(&certificate, made.get(), -1) == 1;
}

bool sign_certificate(X509& certificate, EVP_PKEY& by) {
  // These have a digest of their own and take no other.
  const bool with_digest = EVP_PKEY_is_a(&by, "ED25519") == 0 && EVP_PKEY_is_a(&by, "ED448") == 0;
  return X509_sign(&certificate, &by, with_digest ? EVP_sha256() : nullptr) != 0;
}

status check_days(std::int64_t days) {
  if (days >= 1 && days <= most_days) return nothing{};
  return invalid(std::to_string(days) + " is no number of days for a certificate",
                 "Give --days a number from 1 to " + std::to_string(most_days));
}

}  // namespace fairlead::app
