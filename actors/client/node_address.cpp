#include "actors/client/node_address.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <utility>

#include "actors/agents/http/hosts.hpp"

namespace fairlead {

namespace {

constexpr const char* unix_prefix = "unix:";
constexpr std::size_t unix_prefix_size = 5;

error no_api_address(const std::string& text, const std::string& why) {
  return invalid("'" + text + "' is not the address of an API: " + why,
                 "Give it as https://HOST:PORT or unix:PATH, for example https://n1.example.org:7190");
}

/// `host` as libcurl spells it.
bool is_this_machine(std::string host) {
  if (host == "localhost") return true;
  if (!host.empty() && host.front() == '[') host = host.substr(1, host.size() - 2);
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

result<node_address> parse_socket(const std::string& text) {
  node_address out{text};
  out.socket = text.substr(unix_prefix_size);
  // The server's name is not looked at.
  out.url = "http://localhost";
  if (out.socket.empty()) return no_api_address(text, "the path is missing");
  if (out.socket.size() >= sizeof(sockaddr_un::sun_path)) return no_api_address(text, "the path of a Unix socket has at most 107 bytes");
  return out;
}

result<node_address> parse_url(const std::string& text) {
  // The command line of a process can be read by others.
  if (text.find('@') != std::string::npos)
    return invalid("The address of the node has a user or a password", "Give a token with --token-file or in FAIRLEAD_TOKEN");
  if (const auto why = agents::why_no_http_url("The address of the node", text)) return *why;
  const auto origin = agents::origin_of(text);
  if (!origin) return no_api_address(text, "it is not a URL");
  const auto host = text.find("://") + 3;
  if (const auto end = text.find_first_of("/?", host); end != std::string::npos && text.substr(end) != "/")
    return no_api_address(text, "nothing follows the port");
  if (origin->scheme == "http" && !is_this_machine(origin->host))
    return invalid("The address " + text + " would send the token and everything else in clear text to another machine",
                   "Use https:// with api.tls in the node file, or reach the node's loopback through a tunnel");
  node_address out{text};
  out.url = origin->scheme + "://" + origin->shown();
  return out;
}

}  // namespace

result<node_address> parse_node_address(const std::string& text) {
  if (text.rfind(unix_prefix, 0) == 0 && text.find_first_not_of("0123456789", unix_prefix_size) != std::string::npos)
    return parse_socket(text);
  if (text.find("://") != std::string::npos) return parse_url(text);
  auto between = parse_client_address(text);
  if (!between) return between.failure();
  return node_address{text, std::move(*between)};
}

result<std::vector<node_address>> parse_node_addresses(const std::vector<std::string>& texts) {
  std::vector<node_address> out;
  for (const auto& text : texts) {
    auto one = parse_node_address(text);
    if (!one) return one.failure();
    out.push_back(std::move(*one));
  }
  if (out.empty()) return parse_node_address("").failure();
  return out;
}

}  // namespace fairlead
