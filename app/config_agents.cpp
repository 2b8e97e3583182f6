#include <algorithm>
#include <functional>

#include "actors/agents/http_request.hpp"
#include "actors/agents/http_status.hpp"
#include "app/config_parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t most_concurrency = 4'096;

void read_headers(const std::optional<yaml_node>& node, std::vector<std::pair<std::string, std::string>>& out) {
  if (!node) return;
  for (const auto& [name, value] : node->entries()) {
    if (auto text = value.scalar_text()) out.emplace_back(name, std::move(*text));
  }
}

// A single status, `503`, may stand without a list around it.
void read_ranges(const std::optional<yaml_node>& node, std::vector<agents::status_range>& out) {
  if (!node) return;
  for (const auto& item : node->is_list() ? node->items() : std::vector<yaml_node>{*node}) {
    agents::status_range range;
    if (item.value().kind == yaml_value::kind_type::scalar && agents::parse_status_range(item.value().text, range)) {
      out.push_back(range);
    } else {
      item.expected("a status such as 503, 5xx or 500-599");
    }
  }
}

void read_statuses(const std::optional<yaml_node>& node, agents::http_statuses& out) {
  if (!node) return;
  yaml_section section{*node};
  read_ranges(section.find("success"), out.success);
  read_ranges(section.find("transient"), out.transient);
  read_ranges(section.find("in_doubt"), out.in_doubt);
  read_ranges(section.find("permanent"), out.permanent);
  section.finish();
}

// The agent's own check, one key after the other, so that what it refuses is shown at the key that brought it in.
class call_check {
 public:
  call_check(const agents::http_agent_config& agent, std::string name) : agent_(agent), name_(std::move(name)) {}

  void with(const std::optional<yaml_node>& node, const std::function<void(agents::http_call&)>& change) {
    if (failed_) return;
    auto next = call_;
    change(next);
    const auto prepared = agents::prepare_call(agent_, name_, next);
    if (prepared.ok()) {
      call_ = std::move(next);
      return;
    }
    failed_ = true;
    if (node) node->complain(prepared.failure().sentence, prepared.failure().remedy);
  }

 private:
  const agents::http_agent_config& agent_;
  std::string name_;
  agents::http_call call_;
  bool failed_ = false;
};

bool is_absolute(const std::string& url) { return url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0; }

// The address of a call, from `path` or `url`; empty after a complaint.
std::optional<yaml_node> read_address(yaml_section& section, const agents::http_agent_config& agent, std::string& out) {
  const auto path = section.find("path");
  const auto url = section.find("url");
  if (path && url) {
    url->complain("path and url stand side by side", "keep one: path joins base_url, url is absolute");
    return std::nullopt;
  }
  if (!path && !url) {
    section.node().complain("the call has neither path nor url", "add path: /… or url: http://…");
    return std::nullopt;
  }
  const auto& node = path ? *path : *url;
  const auto text = node.text();
  if (!text) return std::nullopt;
  if (path && text->front() != '/') {
    node.expected("a path that begins with /");
    return std::nullopt;
  }
  if (path && agent.base_url.empty()) {
    node.complain("a path needs the agent's base_url", "add base_url to the agent, or give the call a url");
    return std::nullopt;
  }
  if (url && !is_absolute(*text)) {
    node.expected("a URL that begins with http:// or https://");
    return std::nullopt;
  }
  out = *text;
  return node;
}

void read_call(const std::string& name, const yaml_node& node, agents::http_agent_config& agent, bool agent_is_sound) {
  agents::http_call call;
  if (!core::valid_agent_name(name)) node.complain("expected a name: a letter, then letters, digits, _, . and -; at most 64 in all");
  yaml_section section{node};
  section.word<std::string>("method", call.method,
                            {{"GET", "GET"}, {"HEAD", "HEAD"}, {"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}, {"DELETE", "DELETE"}});
  const auto address = node.is_map() ? read_address(section, agent, call.url) : std::nullopt;
  const auto headers = section.find("headers");
  read_headers(headers, call.headers);
  const auto body = section.find("body");
  if (body && body->is_word("none")) {
    call.body_template = "none";
  } else if (body) {
    call.body_template = body->json().value_or("");
  }
  const auto output = section.find("output");
  if (output) call.output_template = output->json().value_or("");
  read_statuses(section.find("statuses"), call.statuses);
  section.finish();
  if (address && agent_is_sound) {
    call_check check{agent, name};
    check.with(address, [&](auto& c) {
      c.method = call.method;
      c.url = call.url;
    });
    check.with(headers, [&](auto& c) { c.headers = call.headers; });
    check.with(body, [&](auto& c) { c.body_template = call.body_template; });
    check.with(output, [&](auto& c) { c.output_template = call.output_template; });
  }
  agent.calls.emplace(name, std::move(call));
}

void read_http(const std::string& name, yaml_section& section, node_config& out) {
  agents::http_agent_config agent;
  agent.name = name;
  bool sound = true;
  if (const auto base = section.find("base_url")) {
    sound = false;
    if (const auto text = base->text()) {
      agent.base_url = *text;
      while (!agent.base_url.empty() && agent.base_url.back() == '/') agent.base_url.pop_back();
      // Checked as the address of a call that adds nothing.
      agents::http_call plain;
      plain.url = "/";
      const auto prepared = agents::prepare_call(agent, "base_url", plain);
      sound = is_absolute(agent.base_url) && prepared.ok();
      if (!is_absolute(agent.base_url)) {
        base->expected("a URL that begins with http:// or https://");
      } else if (!prepared.ok()) {
        base->complain(prepared.failure().sentence, prepared.failure().remedy);
      }
    }
  }
  section.integer("concurrency", agent.concurrency, 1, most_concurrency);
  section.duration_ms("connect_timeout", agent.connect_timeout_ms, 1, 600'000);
  section.size_bytes("max_response", agent.max_response_bytes, 1, std::uint64_t{64} << 20);
  if (const auto headers = section.find("headers")) {
    read_headers(headers, agent.headers);
    if (sound) {
      agents::http_call plain;
      plain.url = agent.base_url.empty() ? "http://localhost/" : "/";
      const auto prepared = agents::prepare_call(agent, "headers", plain);
      if (!prepared.ok()) {
        headers->complain(prepared.failure().sentence, prepared.failure().remedy);
        sound = false;
      }
    }
  }
  if (const auto calls = section.require("calls", "a map of calls by name")) {
    if (calls->is_map() && calls->value().entries.empty()) calls->complain("an agent has at least one call");
    for (const auto& [call, node] : calls->entries()) read_call(call, node, agent, sound);
  }
  section.not_yet({"breaker", "rate", "labels", "heartbeat"});
  out.http_agents.push_back(std::move(agent));
}

void read_native(const std::string& name, yaml_section& section, node_config& out) {
  native_agent_section agent;
  agent.name = name;
  if (const auto handler = section.require("handler", "the name of a handler that is compiled in")) {
    agent.line = handler->line();
    agent.column = handler->column();
    if (const auto text = handler->text()) agent.handler = *text;
  }
  section.integer("concurrency", agent.concurrency, 1, most_concurrency);
  out.native_agents.push_back(std::move(agent));
}

}  // namespace

void read_agents(const yaml_node& node, node_config& out) {
  for (const auto& [name, agent] : node.entries()) {
    if (!core::valid_agent_name(name)) agent.complain("expected a name: a letter, then letters, digits, _, . and -; at most 64 in all");
    yaml_section section{agent};
    if (!agent.is_map()) continue;
    const auto kind = section.require("kind", "http or native");
    // Without a kind the rest cannot be judged.
    if (!kind) continue;
    if (kind->is_word("exec")) {
      kind->complain("agents of kind exec are not supported yet", "say http or native");
      continue;
    }
    const auto index = kind->word({"http", "native"});
    if (!index) continue;
    if (*index == 0) {
      read_http(name, section, out);
    } else {
      read_native(name, section, out);
    }
    section.finish();
  }
}

}  // namespace fairlead::app
