// `access.certificates`: clients that are known by a certificate.

#include <algorithm>
#include <cctype>
#include <optional>

#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check.hpp"
#include "actors/protocol/access.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_certificates = 256;
constexpr std::size_t longest_uri = 2'048;
constexpr std::size_t longest_common_name = 64;
constexpr std::size_t most_namespaces = 16;
constexpr std::size_t most_agents = 64;
constexpr const char* name_forms = "a name of a certificate: spiffe://example.org/agent, dns:n1.example.org or cn:ben";

/// RFC 3986, as far as it tells a URI from other texts.
bool is_uri_name(const std::string& text) {
  const auto colon = text.find("://");
  if (colon == std::string::npos || colon == 0 || colon + 3 >= text.size() || text.size() > longest_uri) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// In the form in which the API's port has it; nullopt: it is none.
std::optional<std::string> certificate_name_of(std::string text) {
  if (text.starts_with("cn:")) {
    const auto name = text.substr(3);
    const bool sound = !name.empty() && name.size() <= longest_common_name && core::clean_text(name, name.size()) == name;
    return sound ? std::optional{text} : std::nullopt;
  }
  if (text.starts_with("dns:")) {
    for (auto& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return parse_address(text.substr(4) + ":1") ? std::optional{text} : std::nullopt;
  }
  return is_uri_name(text) ? std::optional{text} : std::nullopt;
}

std::vector<std::string> read_namespaces(const yaml_node& node) {
  std::vector<std::string> out;
  const auto items = node.items();
  if (items.size() > most_namespaces) node.complain("there are more than 16 namespaces", "remove some");
  for (const auto& one : items) {
    const auto word = one.text();
    if (word && !is_namespace_name(*word))
      one.expected("a namespace: 1 to 64 of a-z 0-9 . _ -, a letter or a digit first");
    else if (word)
      out.push_back(*word);
  }
  if (node.is_list() && items.empty())
    node.complain("the certificate has no namespace", "leave the key out: the namespace is default then");
  return out;
}

std::vector<std::string> read_agents_of(const yaml_node& node) {
  std::vector<std::string> out;
  const auto items = node.items();
  if (items.size() > most_agents) node.complain("there are more than 64 agents", "remove some");
  for (const auto& one : items) {
    const auto word = one.text();
    if (word && !core::valid_agent_name(*word))
      one.expected("the name of an agent");
    else if (word)
      out.push_back(*word);
  }
  if (node.is_list() && items.empty())
    node.complain("the certificate has no agent", "leave the key out: the certificate is for all agents then");
  return out;
}

access_certificate read_certificate(const yaml_node& node) {
  access_certificate out;
  yaml_section section{node};
  const auto san = section.require("san", name_forms);
  if (const auto text = san ? san->text() : std::nullopt) {
    if (auto name = certificate_name_of(*text))
      out.san = std::move(*name);
    else
      san->expected(name_forms);
  }
  out.name = out.san;
  const auto name = section.find("name");
  if (const auto text = name ? name->text() : std::nullopt) {
    if (!is_principal_name(*text)) name->expected("a name of A-Z a-z 0-9 . _ @ -, at most 64 in all");
    out.name = *text;
  } else if (out.san.size() > who_limit) {
    san->complain("the name has more than 200 bytes, and histories would show a part of it", "add the key name with a shorter one");
  }
  if (const auto roles = section.require("roles", "a list of roles")) out.roles = read_roles(*roles, "the certificate");
  const auto namespaces = section.find("namespaces");
  out.namespaces = namespaces ? read_namespaces(*namespaces) : std::vector<std::string>{std::string{default_namespace_word}};
  if (const auto agents = section.find("agents")) out.agents = read_agents_of(*agents);
  section.finish();
  return out;
}

}  // namespace

std::vector<std::string> read_roles(const yaml_node& node, const std::string& whose) {
  std::vector<std::string> out;
  for (const auto& one : node.items()) {
    const auto word = one.text();
    if (word && find_role(*word) == nullptr)
      one.complain("there is no role '" + *word + "'", "docs/security.md lists the roles");
    else if (word)
      out.push_back(*word);
  }
  if (node.is_list() && node.items().empty()) node.complain(whose + " has no role", "give a role, or remove " + whose);
  return out;
}

void read_access_certificates(yaml_section& section, node_config& out) {
  const auto list = section.find("certificates");
  if (!list) return;
  const auto items = list->items();
  if (items.size() > most_certificates) list->complain("there are more than 256 certificates", "remove some");
  auto& all = out.access.certificates;
  for (const auto& node : items) {
    auto one = read_certificate(node);
    if (!one.san.empty() && std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.san == one.san; }))
      node.complain("the name " + one.san + " is there twice", "remove one of the two");
    all.push_back(std::move(one));
  }
  if (!out.api || out.api->client_ca.empty())
    list->complain("no client is asked for a certificate", "add api.tls.client_ca, the file of the authorities that vouch for clients");
}

}  // namespace fairlead::app
