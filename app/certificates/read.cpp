#include <openssl/err.h>
#include <openssl/objects.h>

#include <array>
#include <utility>

#include "app/certificates/certificates.hpp"
#include "app/certificates/openssl.hpp"
#include "app/certificates/subject_names.hpp"

namespace fairlead::app {

namespace {

constexpr std::pair<std::uint32_t, const char*> key_use_words[] = {
    {KU_DIGITAL_SIGNATURE, "digital_signature"},
    {KU_NON_REPUDIATION, "non_repudiation"},
    {KU_KEY_ENCIPHERMENT, "key_encipherment"},
    {KU_DATA_ENCIPHERMENT, "data_encipherment"},
    {KU_KEY_AGREEMENT, "key_agreement"},
    {KU_KEY_CERT_SIGN, "certificate_sign"},
    {KU_CRL_SIGN, "crl_sign"},
    {KU_ENCIPHER_ONLY, "encipher_only"},
    {KU_DECIPHER_ONLY, "decipher_only"},
};

std::string hex_of(const unsigned char* bytes, std::size_t size, bool with_colons) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    if (with_colons && i > 0) out += ':';
    out += digits[bytes[i] >> 4];
    out += digits[bytes[i] & 15];
  }
  return out;
}

std::string text_of(const X509_NAME* name) {
  const bio_ptr out{BIO_new(BIO_s_mem())};
  // Every byte beyond ASCII is escaped: what claims to be UTF-8 need not be it.
  if (out == nullptr || X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253) < 0) return {};
  char* at = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &at);
  return size > 0 ? std::string(at, static_cast<std::size_t>(size)) : std::string{};
}

std::string serial_of(X509& certificate) {
  const auto* const serial = X509_get0_serialNumber(&certificate);
  const bool negative = (ASN1_STRING_type(serial) & V_ASN1_NEG) != 0;
  return (negative ? "-" : "") + hex_of(ASN1_STRING_get0_data(serial), static_cast<std::size_t>(ASN1_STRING_length(serial)), false);
}

std::string fingerprint_of(X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  return X509_digest(&certificate, EVP_sha256(), bytes.data(), &size) == 1 ? hex_of(bytes.data(), size, true) : std::string{};
}

std::vector<std::string> key_uses_of(X509& certificate) {
  std::vector<std::string> out;
  if ((X509_get_extension_flags(&certificate) & EXFLAG_KUSAGE) == 0) return out;
  const auto flags = X509_get_key_usage(&certificate);
  for (const auto& [flag, word] : key_use_words)
    if ((flags & flag) != 0) out.emplace_back(word);
  return out;
}

std::vector<std::string> uses_of(X509& certificate) {
  using found_ptr = std::unique_ptr<EXTENDED_KEY_USAGE, openssl_deleter<EXTENDED_KEY_USAGE_free>>;
  const found_ptr found{static_cast<EXTENDED_KEY_USAGE*>(X509_get_ext_d2i(&certificate, NID_ext_key_usage, nullptr, nullptr))};
  std::vector<std::string> out;
  for (int i = 0; i < sk_ASN1_OBJECT_num(found.get()); ++i) {
    const auto* const one = sk_ASN1_OBJECT_value(found.get(), i);
    const auto id = OBJ_obj2nid(one);
    std::array<char, 128> number{};
    OBJ_obj2txt(number.data(), static_cast<int>(number.size()), one, 1);
    out.emplace_back(id == NID_server_auth ? "server" : id == NID_client_auth ? "client" : number.data());
  }
  return out;
}

}  // namespace

std::string second_text(moment at) {
  const auto text = format_utc(to_unix_ms(at));
  return text.substr(0, text.find('.')) + "Z";
}

result<std::vector<certificate_facts>> read_certificates(const named_pem& file) {
  const auto all = certificates_in(file);
  if (!all) return all.failure();
  std::vector<certificate_facts> out;
  for (const auto& one : *all) {
    auto& it = *one;
    certificate_facts facts;
    facts.subject = text_of(X509_get_subject_name(&it));
    facts.names = names_shown(it);
    facts.issuer = text_of(X509_get_issuer_name(&it));
    facts.not_before = moment_of(*X509_get0_notBefore(&it));
    facts.not_after = moment_of(*X509_get0_notAfter(&it));
    facts.serial = serial_of(it);
    facts.is_authority = X509_check_ca(&it) != 0;
    facts.key_uses = key_uses_of(it);
    facts.uses = uses_of(it);
    facts.fingerprint = fingerprint_of(it);
    out.push_back(std::move(facts));
  }
  ERR_clear_error();  // an extension that cannot be read is shown as missing
  return out;
}

}  // namespace fairlead::app
