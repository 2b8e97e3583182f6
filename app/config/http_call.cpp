#include "actors/agents/http/config.hpp"
#include "app/config/http.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

using agents::http_meaning;

void read_statuses(const std::optional<yaml_node>& node, agents::http_statuses& out) {
  if (!node) return;
  yaml_section section{*node};
  read_http_statuses(section.find("success"), out.success);
  read_http_statuses(section.find("transient"), out.transient);
  read_http_statuses(section.find("in_doubt"), out.in_doubt);
  read_http_statuses(section.find("permanent"), out.permanent);
  section.finish();
}

// The address of a call or of its lookup, from `path` or `url`; empty after a complaint.
std::optional<yaml_node> read_address(yaml_section& section, const agents::http_agent_config& agent, const std::string& what,
                                      std::string& out) {
  const auto path = section.find("path");
  const auto url = section.find("url");
  if (path && url) {
    url->complain("both path and url are given", "keep one: path is appended to base_url, url is absolute");
    return std::nullopt;
  }
  if (!path && !url) {
    section.node().complain("the " + what + " has neither path nor url", "add path: /… or url: http://…");
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
    node.complain("a path needs the agent's base_url", "add base_url to the agent, or give the " + what + " a url");
    return std::nullopt;
  }
  if (url && !is_absolute(*text)) {
    node.expected("a URL that begins with http:// or https://");
    return std::nullopt;
  }
  out = *text;
  return node;
}

struct idempotency_section {
  agents::http_idempotency read;
  std::optional<yaml_node> header;
};

idempotency_section read_idempotency(const std::optional<yaml_node>& node) {
  idempotency_section out;
  if (!node) return out;
  yaml_section section{*node};
  out.header = section.find("header");
  if (out.header) out.read.header = out.header->text().value_or(out.read.header);
  section.duration_ms("valid_for", out.read.valid_for_ms, 1'000, agents::max_key_valid_for_ms);
  section.boolean("replays_errors", out.read.replays_errors);
  section.finish();
  return out;
}

// Adds rules to the list that `list` finds in a call, one key at a time, so that each can be refused by itself.
template <class List>
void check_rules(http_call_check& check, const std::vector<http_rule_section>& rules, List list) {
  for (const auto& one : rules) {
    check.with(one.path ? one.path : one.node, [&](agents::http_call& c) {
      auto bare = one.rule;
      bare.code.clear();
      bare.message.clear();
      list(c).push_back(std::move(bare));
    });
    check.with(one.code, [&](agents::http_call& c) { list(c).back().code = one.rule.code; });
    check.with(one.message, [&](agents::http_call& c) { list(c).back().message = one.rule.message; });
  }
}

struct lookup_section {
  agents::http_lookup read;
  std::optional<yaml_node> address, headers, output;
  std::vector<http_rule_section> rules;
};

lookup_section read_lookup(const yaml_node& node, const agents::http_agent_config& agent) {
  lookup_section out;
  yaml_section section{node};
  section.word<std::string>("method", out.read.method, {{"GET", "GET"}, {"HEAD", "HEAD"}, {"POST", "POST"}});
  out.address = node.is_map() ? read_address(section, agent, "lookup", out.read.url) : std::nullopt;
  out.headers = section.find("headers");
  read_http_headers(out.headers, out.read.headers);
  read_http_statuses(section.find("done"), out.read.done);
  read_http_statuses(section.find("never_happened"), out.read.never_happened);
  out.output = section.find("output");
  if (out.output) out.read.output_template = out.output->json().value_or("");
  out.rules = read_http_rules(section.find("rules"), {{"done", http_meaning::done},
                                                      {"never_happened", http_meaning::never_happened},
                                                      {"unknown", http_meaning::unknown},
                                                      {"transient", http_meaning::transient}});
  section.finish();
  for (const auto& one : out.rules) out.read.rules.push_back(one.rule);
  return out;
}

void check_lookup(http_call_check& check, const lookup_section& lookup) {
  check.with(lookup.address, [&](agents::http_call& c) {
    c.lookup.emplace();
    c.lookup->method = lookup.read.method;
    c.lookup->url = lookup.read.url;
  });
  if (!lookup.address) return;
  check.with(lookup.headers, [&](agents::http_call& c) { c.lookup->headers = lookup.read.headers; });
  check.with(lookup.output, [&](agents::http_call& c) { c.lookup->output_template = lookup.read.output_template; });
  check_rules(check, lookup.rules, [](agents::http_call& c) -> std::vector<agents::http_rule>& { return c.lookup->rules; });
}

}  // namespace

void http_call_check::with(const std::optional<yaml_node>& node, const std::function<void(agents::http_call&)>& change) {
  if (failed_ || !node) return;
  auto next = call_;
  change(next);
  const auto prepared = agents::prepare_call(agent_, name_, next);
  if (prepared.ok()) {
    call_ = std::move(next);
    return;
  }
  failed_ = true;
  node->complain(prepared.failure().sentence, prepared.failure().remedy);
}

void read_http_headers(const std::optional<yaml_node>& node, std::vector<std::pair<std::string, std::string>>& out) {
  if (!node) return;
  for (const auto& [name, value] : node->entries()) {
    if (auto text = value.scalar_text()) out.emplace_back(name, std::move(*text));
  }
}

void read_http_call(const std::string& name, const yaml_node& node, agents::http_agent_config& agent, bool agent_is_sound) {
  agents::http_call call;
  if (!core::valid_agent_name(name)) node.complain("expected a name: a letter, then letters, digits, _, . and -; at most 64 in all");
  yaml_section section{node};
  section.word<std::string>("method", call.method,
                            {{"GET", "GET"}, {"HEAD", "HEAD"}, {"POST", "POST"}, {"PUT", "PUT"}, {"PATCH", "PATCH"}, {"DELETE", "DELETE"}});
  const auto address = node.is_map() ? read_address(section, agent, "call", call.url) : std::nullopt;
  const auto headers = section.find("headers");
  read_http_headers(headers, call.headers);
  const auto body = section.find("body");
  if (body && body->is_word("none")) {
    call.body_template = "none";
  } else if (body) {
    call.body_template = body->json().value_or("");
  }
  const auto output = section.find("output");
  if (output) call.output_template = output->json().value_or("");
  read_statuses(section.find("statuses"), call.statuses);
  const auto rules = read_http_rules(section.find("rules"), {{"success", http_meaning::success},
                                                             {"transient", http_meaning::transient},
                                                             {"in_doubt", http_meaning::in_doubt},
                                                             {"permanent", http_meaning::permanent}});
  for (const auto& one : rules) call.rules.push_back(one.rule);
  const auto idempotency = read_idempotency(section.find("idempotency"));
  call.idempotency = idempotency.read;
  std::optional<lookup_section> lookup;
  if (const auto found = section.find("lookup")) {
    lookup = read_lookup(*found, agent);
    call.lookup = lookup->read;
  }
  if (const auto retry = section.find("retry")) {
    auto& policy = agent.settings.call_retry.emplace(name, agent.settings.retry).first->second;
    read_retry(*retry, policy);
  }
  section.finish();
  if (address && agent_is_sound) {
    http_call_check check{agent, name};
    check.with(address, [&](auto& c) {
      c.method = call.method;
      c.url = call.url;
    });
    check.with(idempotency.header, [&](auto& c) { c.idempotency.header = call.idempotency.header; });
    check.with(headers, [&](auto& c) { c.headers = call.headers; });
    check.with(body, [&](auto& c) { c.body_template = call.body_template; });
    check.with(output, [&](auto& c) { c.output_template = call.output_template; });
    check_rules(check, rules, [](agents::http_call& c) -> std::vector<agents::http_rule>& { return c.rules; });
    if (lookup) check_lookup(check, *lookup);
  }
  agent.calls.emplace(name, std::move(call));
}

}  // namespace fairlead::app
