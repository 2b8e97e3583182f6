#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

bool host_name(const std::string& host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' && host.front() != '.' &&
         std::all_of(host.begin(), host.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

bool is_ip(int family, const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(family, host.c_str(), bytes.data()) == 1;
}

}  // namespace

std::optional<listen_address> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  listen_address out;
  out.host = text.substr(0, colon);
  const bool bracketed = out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']';
  if (bracketed) out.host = out.host.substr(1, out.host.size() - 2);
  if (bracketed ? !is_ip(AF_INET6, out.host) : !host_name(out.host)) return std::nullopt;
  // Only digits and dots: an IPv4 address or an error.
  const bool numeric = out.host.find_first_not_of("0123456789.") == std::string::npos;
  if (!bracketed && numeric && !is_ip(AF_INET, out.host)) return std::nullopt;
  const auto* first = text.data() + colon + 1;
  const auto* last = text.data() + text.size();
  const auto [end, failure] = std::from_chars(first, last, out.port);
  if (first == last || end != last || failure != std::errc{}) return std::nullopt;
  return out;
}

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool same_place(const listen_address& a, const listen_address& b) {
  const auto plain = [](const std::string& host) { return host == "localhost" ? std::string{"127.0.0.1"} : host; };
  return a.port == b.port && plain(a.host) == plain(b.host);
}

std::string to_text(const listen_address& what) {
  return (what.host.find(':') == std::string::npos ? what.host : "[" + what.host + "]") + ":" + std::to_string(what.port);
}

}  // namespace fairlead::app
