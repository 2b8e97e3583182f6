#pragma once
// The calls of an http agent in a node file. Only for http*.cpp.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/agents/http/request.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

/// Runs the agent's own check one key at a time, so that a refusal is shown at the key that caused it.
class http_call_check {
 public:
  http_call_check(const agents::http_agent_config& agent, std::string name) : agent_(agent), name_(std::move(name)) {}

  /// Does nothing after a refusal.
  void with(const std::optional<yaml_node>& node, const std::function<void(agents::http_call&)>& change);

 private:
  const agents::http_agent_config& agent_;
  std::string name_;
  agents::http_call call_;
  bool failed_ = false;
};

void read_http_headers(const std::optional<yaml_node>& node, std::vector<std::pair<std::string, std::string>>& out);

/// A single status, `503`, needs no list around it. False after a complaint.
bool read_http_statuses(const std::optional<yaml_node>& node, std::vector<agents::status_range>& out);

/// A rule, with the places of the keys that the agent's own check may refuse.
struct http_rule_section {
  agents::http_rule rule;
  yaml_node node;
  std::optional<yaml_node> path;
  std::optional<yaml_node> code;
  std::optional<yaml_node> message;
};

/// `rules:`; unreadable rules are left out after a complaint. `meanings` are the words allowed for `is`.
std::vector<http_rule_section> read_http_rules(const std::optional<yaml_node>& node,
                                               const std::vector<std::pair<std::string, agents::http_meaning>>& meanings);

/// One call. `agent_is_sound`: the agent's settings are sound, so that the call can be checked.
void read_http_call(const std::string& name, const yaml_node& node, agents::http_agent_config& agent, bool agent_is_sound);

}  // namespace fairlead::app
