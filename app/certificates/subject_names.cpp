#include "app/certificates/subject_names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fairlead::app {

namespace {

using general_name_ptr = std::unique_ptr<GENERAL_NAME, openssl_deleter<GENERAL_NAME_free>>;

std::string bytes_of(const ASN1_STRING& text) {
  const auto* const at = reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text));
  return {at, static_cast<std::size_t>(ASN1_STRING_length(&text))};
}

general_name_ptr general_name_of(const certificate_name& name) {
  std::array<unsigned char, 16> address{};
  const void* bytes = name.text.data();
  auto size = name.text.size();
  if (name.kind == name_kind::address) {
    const bool short_one = ::inet_pton(AF_INET, name.text.c_str(), address.data()) == 1;
    if (!short_one && ::inet_pton(AF_INET6, name.text.c_str(), address.data()) != 1) return nullptr;
    bytes = address.data();
    size = short_one ? 4 : 16;
  }
  const int type = name.kind == name_kind::dns ? GEN_DNS : name.kind == name_kind::uri ? GEN_URI : GEN_IPADD;
  general_name_ptr out{GENERAL_NAME_new()};
  auto* const text = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
  if (out == nullptr || text == nullptr || ASN1_STRING_set(text, bytes, static_cast<int>(size)) != 1) {
    ASN1_STRING_free(text);
    return nullptr;
  }
  GENERAL_NAME_set0_value(out.get(), type, text);
  return out;
}

std::string address_text(const ASN1_STRING& bytes) {
  std::array<char, INET6_ADDRSTRLEN> out{};
  const auto size = ASN1_STRING_length(&bytes);
  if (size != 4 && size != 16) return {};
  return ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(&bytes), out.data(), out.size());
}

/// The text of a name of the three kinds; nullopt for others.
std::optional<std::string> plain_text(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS: return bytes_of(*name.d.dNSName);
    case GEN_URI: return bytes_of(*name.d.uniformResourceIdentifier);
    case GEN_IPADD: return address_text(*name.d.iPAddress);
    default: return std::nullopt;
  }
}

general_names_ptr extension_of(X509& certificate) {
  return general_names_ptr{static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
}

std::string printable_ascii(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c >= 0x7f; }, '?');
  return text;
}

}  // namespace

general_names_ptr general_names_of(const std::vector<certificate_name>& names) {
  general_names_ptr out{GENERAL_NAMES_new()};
  for (const auto& name : names) {
    auto made = general_name_of(name);
    if (out == nullptr || made == nullptr || sk_GENERAL_NAME_push(out.get(), made.get()) == 0) return nullptr;
    (void)made.release();
  }
  return out;
}

result<std::vector<certificate_name>> names_of(X509& certificate, const std::string& path) {
  constexpr char remedy[] = "Make another one with 'fairlead certificate issue'";
  const auto found = extension_of(certificate);
  std::vector<certificate_name> out;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const auto text = plain_text(*sk_GENERAL_NAME_value(found.get(), i));
    auto name = read_certificate_name(text.value_or(""));
    if (!name)
      return invalid("Name " + std::to_string(i + 1) + " of the certificate in the file " + path + " is no DNS name, IP address or URI",
                     remedy);
    out.push_back(std::move(*name));
  }
  if (out.empty()) return invalid("The certificate in the file " + path + " has no names", remedy);
  return out;
}

std::vector<std::string> names_shown(X509& certificate) {
  const auto found = extension_of(certificate);
  std::vector<std::string> out;
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const auto& name = *sk_GENERAL_NAME_value(found.get(), i);
    if (const auto text = plain_text(name))
      out.push_back(printable_ascii(*text));
    else if (name.type == GEN_EMAIL)
      out.push_back("email " + printable_ascii(bytes_of(*name.d.rfc822Name)));
    else
      out.push_back("a name of another kind");
  }
  return out;
}

}  // namespace fairlead::app
