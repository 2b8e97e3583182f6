// `api:`, HTTP and JSON for people and programs, and `access:`, who may use it: users and the file of tokens. certificates.cpp reads the rest.

#include <pwd.h>
#include <sys/un.h>

#include <algorithm>
#include <cctype>

#include "actors/agents/http/hosts.hpp"
#include "actors/protocol/access.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_hosts = 64;
constexpr std::size_t most_users = 256;
constexpr const char* how_to_ask =
    "make a token with fairlead token create, and name its file in access.tokens_file; or add access.certificates and api.tls.client_ca";

constexpr std::size_t most_callback_url = 1'024;

std::optional<listen_address> read_listen(const yaml_node& node, const node_config& config) {
  const auto text = node.text();
  if (!text) return std::nullopt;
  const auto at = parse_address(*text);
  if (!at) {
    node.expected("HOST:PORT, such as 127.0.0.1:7190");
    return std::nullopt;
  }
  if (at->port != 0 && (same_place(*at, config.listen) || (config.http && same_place(*at, *config.http))))
    node.complain("the node itself listens on " + to_text(*at) + " (node.listen or http.listen)", "choose another port");
  return at;
}

void read_hosts(const yaml_node& node, api_config& out) {
  const auto items = node.items();
  if (items.size() > most_hosts) node.complain("there are more than 64 names", "remove some");
  for (const auto& one : items) {
    const auto name = one.text();
    if (!name) continue;
    if (!parse_address((name->find(':') == std::string::npos ? *name : "[" + *name + "]") + ":1"))
      one.expected("a host name or an address, without a port");
    out.hosts.push_back(*name);
    for (auto& letter : out.hosts.back()) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
}

void read_tls(const yaml_node& node, const std::string& file, api_config& out) {
  yaml_section section{node};
  const auto path = [&](const std::string& key, const char* what, std::string& to, bool is_needed) {
    const auto found = is_needed ? section.require(key, what) : section.find(key);
    if (const auto text = found ? found->text() : std::nullopt) to = beside(file, *text);
    return found ? config_place{found->line(), found->column()} : config_place{};
  };
  out.certificate_at = path("certificate", "the path of a file with the certificate in PEM", out.certificate, true);
  path("key", "the path of a file with its key in PEM", out.key, true);
  out.client_ca_at = path("client_ca", "the path of a file with certificates of authorities in PEM", out.client_ca, false);
  section.finish();
}

void read_user(const std::string& name, const yaml_node& node, access_config& out) {
  access_user user;
  user.name = name;
  user.roles = read_roles(node, "the user");
  const auto* const found = ::getpwnam(name.c_str());
  if (found == nullptr)
    node.complain("there is no user '" + name + "' on this machine", "correct the name, or remove the user");
  else
    user.uid = found->pw_uid;
  out.users.push_back(std::move(user));
}

void read_access(yaml_section& root, node_config& out) {
  const auto node = root.find("access");
  if (!node) return;
  yaml_section section{*node};
  const auto tokens = section.find("tokens_file");
  if (const auto text = tokens ? tokens->text() : std::nullopt) {
    out.access.tokens_file = beside(out.file, *text);
    out.access.tokens_file_at = {tokens->line(), tokens->column()};
  }
  section.size_bytes("audit_max_size", out.access.audit_max_bytes, std::uint64_t{16} << 20, std::uint64_t{1} << 40);
  if (const auto users = section.find("users")) {
    const auto entries = users->entries();
    if (entries.size() > most_users) users->complain("there are more than 256 users", "remove some");
    for (const auto& [name, roles] : entries) read_user(name, roles, out.access);
    if (!out.api || out.api->socket.empty())
      users->complain("users are known only on a Unix socket, and there is none", "add api.socket, or remove access.users");
  }
  read_access_certificates(section, out);
  section.finish();
}

}  // namespace

void read_api(yaml_section& root, node_config& out) {
  const auto node = root.find("api");
  if (!node) return read_access(root, out);
  api_config made;
  yaml_section section{*node};
  const auto listen = section.find("listen"), socket = section.find("socket"), tls = section.find("tls");
  if (listen) made.listen = read_listen(*listen, out);
  if (const auto text = socket ? socket->text() : std::nullopt) {
    made.socket = beside(out.file, *text);
    if (made.socket.size() >= sizeof sockaddr_un{}.sun_path) socket->complain("the path has more than 107 bytes", "choose a shorter one");
  }
  if (!listen && !socket) made.listen = listen_address{"127.0.0.1", default_api_port};
  if (const auto hosts = section.find("hosts")) read_hosts(*hosts, made);
  if (tls) read_tls(*tls, out.file, made);
  section.integer("connections_per_address", made.connections_per_address, 1, 10'000);
  section.finish();
  const auto& place = listen ? *listen : *node;
  if (!listen && made.listen && out.http && same_place(*made.listen, *out.http))
    place.complain("the node itself listens on " + to_text(*made.listen) + " (http.listen)", "give api.listen another port");
  const bool is_open_to_others = made.listen && !is_loopback(made.listen->host);
  if (tls && !made.listen) tls->complain("only api.listen has TLS, and it is missing", "add api.listen, or remove api.tls");
  out.api = std::move(made);
  read_access(root, out);
  if (tls && !out.api->client_ca.empty() && out.access.certificates.empty())
    tls->complain("clients are asked for a certificate (client_ca), and none is known", "add access.certificates, or remove client_ca");
  if (is_open_to_others && !tls)
    place.complain("other machines can reach this address, and the API has no TLS",
                   "add api.tls with certificate and key (fairlead certificate makes them), or listen on 127.0.0.1");
  if (is_open_to_others && out.access.tokens_file.empty() && out.access.certificates.empty())
    place.complain("other machines can reach this address, and nobody is asked who they are", how_to_ask);
}

std::string callback_base(const node_config& config) {
  if (!config.callback_url.empty() || !config.api || !config.api->listen) return config.callback_url;
  const auto& at = *config.api->listen;
  // Where a connection to such an address would go nobody else knows.
  if (at.port == 0 || at.host == "0.0.0.0" || at.host == "::") return {};
  return std::string{config.api->certificate.empty() ? "http" : "https"} + "://" + to_text(at);
}

void read_callback_url(yaml_section& root, node_config& out) {
  const auto node = root.find("callback_url");
  const auto text = node ? node->text() : std::nullopt;
  if (!text) return;
  out.callback_url = *text;
  if (auto why = agents::why_no_http_url("this address", *text))
    node->complain(std::move(why->sentence), "write https://HOST, or https://HOST/PATH if a proxy adds a path");
  else if (text->find('?') != std::string::npos)
    node->complain("this address has a query (?...)", "leave the query out; the path of the callback is added at the end");
  else if (text->size() > most_callback_url)
    node->complain("this address has more than 1,024 bytes", "use a shorter one");
  while (!out.callback_url.empty() && out.callback_url.back() == '/') out.callback_url.pop_back();
  const auto at = agents::origin_of(out.callback_url);
  if (!at || !out.api) return;
  // A proxy passes on the host that whoever calls back has named.
  const bool bracketed = at->host.front() == '[';
  out.api->hosts.push_back(bracketed ? at->host.substr(1, at->host.size() - 2) : at->host);
  // To the API every request that a proxy forwards comes from this machine.
  if (out.api->listen && !is_loopback(out.api->hosts.back()) && out.access.tokens_file.empty() && out.access.certificates.empty())
    node->complain("others reach the API through this address, and nobody is asked who they are", how_to_ask);
}

}  // namespace fairlead::app
