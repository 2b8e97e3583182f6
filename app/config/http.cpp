#include "app/config/http.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "actors/agents/http/config.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::uintmax_t most_pem_bytes = 16 * 1'024 * 1'024;

// A PEM file with a part of this kind. Read now, so that a node that could never reach its service does not start.
void read_pem(const std::optional<yaml_node>& node, const std::string& kind, const std::string& node_file, std::string& out) {
  const auto text = node ? node->text() : std::nullopt;
  if (!text) return;
  const std::filesystem::path given{*text};
  const auto path = given.is_absolute() ? given : std::filesystem::path{node_file}.parent_path() / given;
  out = path.lexically_normal().string();
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) {
    node->complain("there is no file " + out, "give a PEM file; a relative path starts at the folder of the node file");
    return;
  }
  std::ifstream file{path, std::ios::binary};
  std::string bytes;
  if (const auto size = std::filesystem::file_size(path, failure); !failure && size <= most_pem_bytes)
    bytes.assign(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  if (!file || failure) {
    node->complain("the file " + out + " cannot be read", "give the node's user read permission");
  } else if (const auto begin = bytes.find("-----BEGIN "); begin == std::string::npos || bytes.find(kind, begin) == std::string::npos) {
    node->complain("the file " + out + " holds no " + kind + " in PEM", "it has a line that begins with -----BEGIN");
  }
}

void read_tls(const yaml_node& node, const std::string& node_file, agents::http_tls& out) {
  yaml_section section{node};
  read_pem(section.find("ca_file"), "CERTIFICATE", node_file, out.ca_file);
  read_pem(section.find("client_certificate"), "CERTIFICATE", node_file, out.client_certificate);
  read_pem(section.find("client_key"), "PRIVATE KEY", node_file, out.client_key);
  using version = agents::http_tls::version;
  section.word<version>("min_version", out.least,
                        std::vector<std::pair<std::string, version>>{{"1.2", version::tls_1_2}, {"1.3", version::tls_1_3}});
  section.finish();
}

// Runs the agent's own check one key at a time, so that a refusal is shown at the key that caused it.
class settings_check {
 public:
  explicit settings_check(const agents::http_agent_config& agent) { agent_.name = agent.name; }

  /// Whether the change is sound.
  template <class Change>
  bool with(const yaml_node& node, Change change) {
    auto next = agent_;
    change(next);
    const auto checked = agents::check_agent_settings(next);
    if (checked.ok()) {
      agent_ = std::move(next);
    } else {
      node.complain(checked.failure().sentence, checked.failure().remedy);
    }
    return checked.ok();
  }

 private:
  agents::http_agent_config agent_;
};

void read_texts(const std::optional<yaml_node>& node, std::vector<std::string>& out,
                const std::function<bool(const yaml_node&, const std::string&)>& good) {
  if (!node) return;
  const auto items = node->items();
  if (node->is_list() && items.empty()) node->complain("the list is empty", "give at least one, or leave the key out");
  for (const auto& item : items) {
    const auto text = item.text();
    if (text && good(item, *text)) out.push_back(*text);
  }
}

// True if all that was read is sound.
bool read_ways(yaml_section& section, const std::string& node_file, agents::http_agent_config& out) {
  settings_check check{out};
  bool sound = true;
  section.boolean("compression", out.compression);
  section.integer("redirects", out.redirects, 0, agents::max_http_redirects);
  read_texts(section.find("allow_hosts"), out.allow_hosts, [&](const yaml_node& node, const std::string& host) {
    const bool good = check.with(node, [&](auto& a) { a.allow_hosts = {host}; });
    sound = sound && good;
    return good;
  });
  if (const auto proxy = section.find("proxy")) {
    if (const auto text = proxy->text()) out.proxy = *text;
    if (!out.proxy.empty() && !check.with(*proxy, [&](auto& a) { a.proxy = out.proxy; })) out.proxy.clear();
  }
  const auto no_proxy = section.find("no_proxy");
  if (no_proxy && !section.find("proxy")) {
    no_proxy->complain("no_proxy is given without proxy",
                       "add proxy: http://HOST:PORT, or leave no_proxy out; proxy variables of the environment are not used");
  } else {
    read_texts(no_proxy, out.no_proxy, [&](const yaml_node& node, const std::string& host) {
      return check.with(node, [&](auto& a) {
        a.proxy = "http://localhost:1";
        a.no_proxy = {host};
      });
    });
  }
  if (const auto tls = section.find("tls")) {
    read_tls(*tls, node_file, out.tls);
    check.with(*tls, [&](auto& a) { a.tls = out.tls; });
  }
  return sound;
}

// True if the URL is sound. `known_hosts`: check it against the list of hosts.
bool read_base_url(const yaml_node& node, agents::http_agent_config& out, bool known_hosts) {
  const auto text = node.text();
  if (!text) return false;
  out.base_url = *text;
  while (!out.base_url.empty() && out.base_url.back() == '/') out.base_url.pop_back();
  if (!is_absolute(out.base_url)) {
    node.expected("a URL that begins with http:// or https://");
    return false;
  }
  // Checked as the address of a call with an empty path.
  agents::http_call plain;
  plain.url = "/";
  auto bare = out;
  if (!known_hosts) bare.allow_hosts.clear();
  const auto prepared = agents::prepare_call(bare, "base_url", plain);
  if (!prepared.ok()) node.complain(prepared.failure().sentence, prepared.failure().remedy);
  return prepared.ok();
}

}  // namespace

agent_section read_http(const std::string& name, yaml_section& section, node_config& out) {
  agents::http_agent_config agent;
  agent.name = name;
  agent.settings.retry.tries = default_remote_tries;
  read_agent_settings(section, agent.settings);
  bool sound = read_ways(section, out.file, agent);
  if (const auto base = section.find("base_url")) sound = read_base_url(*base, agent, sound) && sound;
  section.integer("concurrency", agent.concurrency, 1, agents::max_http_concurrency);
  section.duration_ms("connect_timeout", agent.connect_timeout_ms, 1, agents::max_connect_timeout_ms);
  section.duration_ms("connection_age", agent.connection_age_ms, agents::min_connection_age_ms, agents::max_connection_age_ms);
  section.size_bytes("max_response", agent.max_response_bytes, 1, agents::max_response_limit);
  if (const auto headers = section.find("headers")) {
    read_http_headers(headers, agent.headers);
    if (sound) {
      auto bare = agent;
      bare.allow_hosts.clear();
      agents::http_call plain;
      plain.url = "http://localhost/";
      const auto prepared = agents::prepare_call(bare, "headers", plain);
      if (!prepared.ok()) headers->complain(prepared.failure().sentence, prepared.failure().remedy);
      sound = prepared.ok();
    }
  }
  if (const auto calls = section.require("calls", "a map of calls by name")) {
    if (calls->is_map() && calls->value().entries.empty()) calls->complain("an agent needs at least one call");
    for (const auto& [call, node] : calls->entries()) read_http_call(call, node, agent, sound);
  }
  return agent;
}

}  // namespace fairlead::app
