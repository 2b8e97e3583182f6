#include "app/certificates/names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace fairlead::app {

namespace {

constexpr std::size_t longest_dns_name = 253;
constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_uri = 2048;
constexpr std::size_t longest_file_name = 200;  // a file system takes 255, and `-key.pem` comes behind it

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= longest_label && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

bool is_dns_name(std::string_view text) {
  if (text.size() > longest_dns_name) return false;
  const bool wildcard = text.starts_with("*.");
  if (wildcard) text.remove_prefix(2);
  // `*.org` would stand for every name of a registry.
  if (wildcard && text.find('.') == std::string_view::npos) return false;
  for (;;) {
    const auto dot = text.find('.');
    const auto label = text.substr(0, dot);
    if (!is_label(label)) return false;
    // Digits alone at the end are an address that was mistyped, such as 10.0.0.256.
    if (dot == std::string_view::npos) return !std::all_of(label.begin(), label.end(), is_digit);
    text.remove_prefix(dot + 1);
  }
}

bool is_uri(std::string_view text) {
  const auto colon = text.find("://");
  if (text.size() > longest_uri || colon == std::string_view::npos || colon == 0 || !is_letter(text.front())) return false;
  const auto scheme = text.substr(0, colon);
  const auto host = text.substr(colon + 3, text.find_first_of("/?#", colon + 3) - (colon + 3));
  if (host.empty()) return false;
  if (!std::all_of(scheme.begin(), scheme.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; }))
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c <= ' ' || c >= 0x7f || std::string_view{"\"<>\\^`{|}"}.find(c) != std::string_view::npos) return false;
    if (c == '%' && (i + 2 >= text.size() || !is_hex_digit(text[i + 1]) || !is_hex_digit(text[i + 2]))) return false;
  }
  return true;
}

/// Empty: the text is no address.
std::string address_of(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  for (const int family : {AF_INET, AF_INET6})
    if (::inet_pton(family, text.c_str(), bytes.data()) == 1) return ::inet_ntop(family, bytes.data(), out.data(), out.size());
  return {};
}

}  // namespace

result<certificate_name> read_certificate_name(const std::string& text) {
  // The system's reader of addresses would stop at a byte 0.
  const bool whole = text.find('\0') == std::string::npos;
  if (auto address = whole ? address_of(text) : std::string{}; !address.empty())
    return certificate_name{name_kind::address, std::move(address)};
  if (is_dns_name(text)) {
    auto lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return certificate_name{name_kind::dns, std::move(lower)};
  }
  if (is_uri(text)) return certificate_name{name_kind::uri, text};
  return invalid("'" + text + "' is no DNS name, IP address or URI",
                 "Write a name such as n1.example.org, an address such as 10.0.0.1 or fd00::1 without port and brackets, or a URI such as "
                 "spiffe://example.org/agent");
}

std::string file_name_of(const certificate_name& name) {
  auto text = name.text;
  if (name.kind == name_kind::dns && text.starts_with("*.")) text.replace(0, 1, "wildcard");
  std::string out;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || c == '.' || c == '_')
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  // A file that begins with a dot is hidden.
  out.erase(0, out.find_first_not_of(".-"));
  out.resize(std::min(out.size(), longest_file_name));
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "certificate" : out;
}

}  // namespace fairlead::app
