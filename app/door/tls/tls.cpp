#include "app/door/tls/tls.hpp"

#include <gnutls/x509.h>

#include <array>
#include <utility>

#include "actors/agents/secrets/file.hpp"
#include "app/door/tls/tls_keys.hpp"
#include "app/yaml/document.hpp"

namespace fairlead::app::door {

namespace {

constexpr unsigned most_in_chain = 8;

gnutls_datum_t datum_of(const std::string& text) {
  return {reinterpret_cast<unsigned char*>(const_cast<char*>(text.data())), static_cast<unsigned>(text.size())};
}

struct x509 {
  x509() { gnutls_x509_crt_init(&it); }
  x509(const x509&) = delete;
  x509& operator=(const x509&) = delete;
  ~x509() { gnutls_x509_crt_deinit(it); }
  gnutls_x509_crt_t it = nullptr;
};

using key_id = std::array<unsigned char, 64>;

/// The first certificate's, and the private key's: equal if the two belong together.
bool belong_together(gnutls_x509_crt_t certificate, gnutls_privkey_t key) {
  gnutls_pubkey_t of_certificate = nullptr, of_key = nullptr;
  gnutls_pubkey_init(&of_certificate);
  gnutls_pubkey_init(&of_key);
  key_id a{}, b{};
  std::size_t a_bytes = a.size(), b_bytes = b.size();
  const bool read = gnutls_pubkey_import_x509(of_certificate, certificate, 0) == 0 &&
                    gnutls_pubkey_import_privkey(of_key, key, 0, 0) == 0 &&
                    gnutls_pubkey_get_key_id(of_certificate, GNUTLS_KEYID_USE_SHA256, a.data(), &a_bytes) == 0 &&
                    gnutls_pubkey_get_key_id(of_key, GNUTLS_KEYID_USE_SHA256, b.data(), &b_bytes) == 0;
  gnutls_pubkey_deinit(of_certificate);
  gnutls_pubkey_deinit(of_key);
  return read && a_bytes == b_bytes && a == b;
}

result<std::shared_ptr<const tls_keys>> load(const std::string& certificate, const std::string& key, const tls_keys* known) {
  std::vector<app::problem> problems;
  const auto chain = read_text_file(certificate, problems);
  if (!chain) return invalid(app::to_text(problems.front()), "give the path of a PEM file that the node's user can read");
  agents::secret_file_mark mark;
  const auto secret = agents::read_private_file(key, max_yaml_bytes, mark);
  if (!secret) return secret.failure();
  auto out = std::make_shared<tls_keys>();
  out->text = *chain + *secret;
  if (known != nullptr && out->text == known->text) return std::shared_ptr<const tls_keys>{};
  const auto certificate_text = datum_of(*chain), key_text = datum_of(*secret);
  std::array<gnutls_pcert_st, most_in_chain> found{};
  auto count = most_in_chain;
  x509 first;
  if (gnutls_pcert_list_import_x509_raw(found.data(), &count, &certificate_text, GNUTLS_X509_FMT_PEM, 0) != 0 || count == 0)
    return invalid("the file " + certificate + " has no certificate in PEM, or more than 8",
                   "give the certificate first, then those that lead to its authority");
  out->chain.assign(found.begin(), found.begin() + count);
  if (gnutls_x509_crt_import(first.it, &certificate_text, GNUTLS_X509_FMT_PEM) != 0)
    return invalid("the file " + certificate + " has no certificate in PEM", "give the certificate first");
  gnutls_privkey_init(&out->key);
  if (gnutls_privkey_import_x509_raw(out->key, &key_text, GNUTLS_X509_FMT_PEM, nullptr, 0) != 0)
    return invalid("the file " + key + " has no private key in PEM without a password", "give the key that belongs to the certificate");
  if (!belong_together(first.it, out->key))
    return invalid("the key in " + key + " does not belong to the certificate in " + certificate, "give the key that it was made with");
  out->ends_unix_ms = std::int64_t{gnutls_x509_crt_get_expiration_time(first.it)} * 1'000;
  return std::shared_ptr<const tls_keys>{std::move(out)};
}

}  // namespace

result<std::shared_ptr<tls_certificate>> tls_certificate::open(std::string certificate, std::string key) {
  return open_as<tls_certificate>(
      [certificate = std::move(certificate), key = std::move(key)](const tls_keys* known) { return load(certificate, key, known); });
}

std::int64_t tls_certificate::ends_unix_ms() const { return current()->ends_unix_ms; }

}  // namespace fairlead::app::door
