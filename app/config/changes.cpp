#include "app/config/changes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace fairlead::app {

namespace {

constexpr std::string_view of_agent = "agents.";
constexpr std::string_view of_secret = "secrets.";
constexpr std::string_view of_certificates = "access.certificates";

std::string spelled(const yaml_value& value) {
  switch (value.kind) {
    case yaml_value::kind_type::null: return "null";
    case yaml_value::kind_type::scalar: return (value.quoted ? "\"" : "") + std::to_string(value.text.size()) + ":" + value.text;
    case yaml_value::kind_type::list: {
      std::string out = "[";
      for (const auto& item : value.items) out += spelled(*item) + ",";
      return out + "]";
    }
    case yaml_value::kind_type::map: break;
  }
  // The order of keys means nothing.
  std::map<std::string, std::string> sorted;
  for (const auto& entry : value.entries) sorted[entry.key] = spelled(*entry.value);
  std::string out = "{";
  for (const auto& [key, text] : sorted) out += std::to_string(key.size()) + ":" + key + "=" + text + ",";
  return out + "}";
}

void add_keys(const std::string& where, const yaml_value& value, std::map<std::string, std::string>& out) {
  const auto whole = value.kind != yaml_value::kind_type::map || where.starts_with(of_agent);
  if (whole) {
    out[where] = spelled(value);
    return;
  }
  for (const auto& entry : value.entries) add_keys(dotted(where, entry.key), *entry.value, out);
}

/// Names count only together with the authorities that vouch for them, and those need a restart.
bool vouched_for_alike(const node_config& before, const node_config& after) {
  return before.api && after.api && before.api->client_ca == after.api->client_ca && !before.access.certificates.empty() &&
         !after.access.certificates.empty();
}

}  // namespace

std::map<std::string, std::string> written_keys(const yaml_value& root) {
  std::map<std::string, std::string> out;
  add_keys("", root, out);
  return out;
}

config_changes changes_of(const node_config& before, const node_config& after) {
  config_changes out;
  std::set<std::string> keys;
  for (const auto& [key, value] : before.written) keys.insert(key);
  for (const auto& [key, value] : after.written) keys.insert(key);
  std::vector<std::string> unchanged;
  for (const auto& key : keys) {
    const auto was = before.written.find(key);
    const auto is = after.written.find(key);
    const auto there = was != before.written.end() && is != after.written.end();
    const auto same = there && was->second == is->second;
    if (key.starts_with(of_agent)) {
      if (!before.agent_role) continue;
      auto& list = same ? unchanged : there ? out.changed : is != after.written.end() ? out.added : out.removed;
      list.push_back(key.substr(of_agent.size()));
    } else if (!same) {
      const auto secret = key.starts_with(of_secret);
      const auto level = key == "log.level";
      out.secrets = out.secrets || secret;
      const auto certificates = key == of_certificates && there && vouched_for_alike(before, after);
      out.log_level = out.log_level || level;
      out.certificates = out.certificates || certificates;
      (secret || level || certificates ? out.applied : out.kept).push_back(key);
    }
  }
  if (out.secrets) {
    out.changed.insert(out.changed.end(), unchanged.begin(), unchanged.end());
    std::sort(out.changed.begin(), out.changed.end());
  }
  return out;
}

}  // namespace fairlead::app
