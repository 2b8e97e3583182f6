// Checks and compiles calls; request.cpp uses the result.

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/hosts.hpp"
#include "actors/agents/http/request.hpp"
#include "actors/agents/http/url_parts.hpp"
#include "actors/agents/secrets_reference.hpp"
#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead::agents {

namespace {

// `url` with `x` for every field: the parts that do not depend on the input must be right already.
status check_url(const std::string& where, const std::string& url) {
  if (!std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f; })) {
    return invalid(where + " has a blank, a control character or a byte that is not ASCII", "percent-encode this character");
  }
  const auto scheme = lower_case(url.substr(0, url.find(':')));
  if (scheme != "http" && scheme != "https") {
    return invalid(where + " has the scheme '" + scheme + "'", "begin the agent's base_url, or the call's url, with http:// or https://");
  }
  const url_handle parsed{curl_url()};
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK ||
      !part_of(parsed.get(), CURLUPART_HOST)) {
    return invalid(where + " is not a URL", "write http://host:port/path");
  }
  if (part_of(parsed.get(), CURLUPART_USER) || part_of(parsed.get(), CURLUPART_PASSWORD)) {
    return invalid(where + " has a user or a password", "send an Authorization header instead");
  }
  if (part_of(parsed.get(), CURLUPART_FRAGMENT)) return invalid(where + " has a fragment (#…)", "leave the fragment out; it is never sent");
  return nothing{};
}

// The position of path or query in an absolute URL; its size if it ends with the host.
std::size_t authority_end(std::string_view url) {
  const auto host = url.find("://");
  if (host == std::string_view::npos) return 0;
  return std::min(url.find_first_of("/?#", host + 3), url.size());
}

result<field_template> prepare_url(const std::string& where, const http_agent_config& agent, const std::string& url) {
  auto whole = url;
  if (url.find("://") == std::string::npos) {
    // The base is no template: a brace in it stands for itself.
    for (const char c : agent.base_url) {
      if (c == '{' || c == '}')
        return invalid("agent " + agent.name + ": base_url has a brace", "only the path or url of a call may have {field} or a secret");
    }
    whole = agent.base_url;
    while (!whole.empty() && whole.back() == '/') whole.pop_back();
    if (!url.empty() && url.front() != '/' && url.front() != '?') whole += '/';
    whole += url;
  }
  auto compiled = field_template::compile(whole, where);
  if (!compiled.ok()) return compiled.failure();
  std::string sample;
  bool host_is_open = false;
  for (const auto& piece : compiled->pieces()) {
    sample += piece.literal;
    if (piece.field.empty() && piece.secret.empty()) continue;
    const bool in_host = authority_end(sample) >= sample.size();
    if (in_host && !piece.secret.empty())
      return invalid(where + " has a secret in the host", "put secrets into headers, the path or the query");
    // A task's input may choose a resource; it may choose the host only from a list.
    if (in_host && (agent.allow_hosts.empty() || sample.find("://") == std::string::npos)) {
      return invalid(
          where + " has {" + piece.field + "} in the host",
          "use fields only in the path or the query, or set the agent's allow_hosts, so that a field can choose among these hosts");
    }
    host_is_open = host_is_open || in_host;
    // A digit is valid everywhere, also in a port.
    sample += '1';
  }
  if (const auto good = check_url(where, sample); !good.ok()) return good.failure();
  if (!host_is_open && !agent.allow_hosts.empty()) {
    const auto allowed = http_host_list::parse(agent.allow_hosts);
    if (!allowed.ok())
      return error{allowed.failure().code, "agent " + agent.name + ": allow_hosts: " + allowed.failure().sentence,
                   allowed.failure().remedy};
    const auto origin = origin_of(sample);
    if (!origin || !allowed->allows(*origin)) {
      return invalid(where + " leads to " + (origin ? origin->shown() : "nowhere") + ", which is not among the agent's allow_hosts",
                     "add the host to allow_hosts, or correct the address");
    }
  }
  return compiled;
}

bool reserved_header(const std::string& lower) {
  constexpr std::array<std::string_view, 10> ours{
      "idempotency-key", "traceparent", "content-length", "transfer-encoding", "connection", "expect", "upgrade",
      "trailer",         "te",          "accept-encoding"};
  return lower.rfind("fairlead-", 0) == 0 || std::find(ours.begin(), ours.end(), lower) != ours.end();
}

status add_headers(const std::string& where, const std::vector<std::pair<std::string, std::string>>& from, http_prepared_request& into) {
  for (const auto& [name, value] : from) {
    const auto here = where + ": header " + printable(name, 60);
    if (!valid_header_name(name)) return invalid(here + " is not a valid header name", "use letters, digits and -");
    if (reserved_header(lower_case(name))) return invalid(here + " is set by the agent itself", "leave it out");
    if (!valid_header_value(value)) return invalid(here + " has a control character", "a header is one line of text");
    auto compiled = field_template::compile(value, here);
    if (!compiled.ok()) return compiled.failure();
    const auto same = std::find_if(into.headers.begin(), into.headers.end(),
                                   [lower = lower_case(name)](const auto& h) { return lower_case(h.first) == lower; });
    if (same == into.headers.end()) {
      into.headers.emplace_back(name, std::move(compiled).value());
    } else {
      same->second = std::move(compiled).value();  // the call's own value replaces the agent's
    }
  }
  return nothing{};
}

void add_fields(const field_template& from, http_prepared_request& into) {
  for (const auto& piece : from.pieces()) {
    const auto known = std::find(into.fields.begin(), into.fields.end(), piece.field) != into.fields.end();
    if (!piece.field.empty() && !known) into.fields.push_back(piece.field);
  }
}

std::string unguessable() {
  static constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuv";
  std::random_device source;
  std::string out = "mark-";
  for (int i = 0; i < 32; ++i) out += letters[source() % letters.size()];
  return out;
}

// Replaces every reference in a configured body by a mark, which the request replaces again.
status mark_secrets(const std::string& where, std::string& body, http_prepared_request& into) {
  const auto nonce = unguessable();
  for (std::size_t at = 0;;) {
    const auto found = next_secret_reference(body, at);
    if (!found.ok()) return invalid(where + ": body: " + found.failure().sentence, found.failure().remedy);
    if (!*found) return nothing{};
    const auto begin = (*found)->begin;
    const auto reference = body.substr(begin, (*found)->end - begin);
    auto& marks = into.body_secrets;
    auto known = std::find_if(marks.begin(), marks.end(), [&](const auto& m) { return m.second == reference; });
    if (known == marks.end()) known = marks.insert(marks.end(), {nonce + "-" + std::to_string(marks.size()) + ";", reference});
    body.replace(begin, reference.size(), known->first);
    at = begin + known->first.size();
  }
}

// The same for each string that is `${ .callback_url }`: templates of core know no such value.
void mark_callback(std::string& body, http_prepared_request& into) {
  constexpr std::string_view opening = "\"${", name = ".callback_url", closing = "}\"";
  std::string mark;
  core::append_json_string(mark, unguessable() + ";");
  for (auto at = body.find(opening); at != std::string::npos; at = body.find(opening, at + 1)) {
    const auto end = body.find(closing, at);
    if (end == std::string::npos) return;
    const auto inside = std::string_view{body}.substr(at + opening.size(), end - at - opening.size());
    if (core::trimmed(inside) != name) continue;
    body.replace(at, end + closing.size() - at, mark);
    into.body_callback = mark;
  }
}

status prepare_body(const std::string& where, const http_call& call, http_prepared_request& into) {
  using body_kind = http_prepared_request::body_kind;
  const bool bodiless = call.method == "GET" || call.method == "HEAD";
  if (call.body_template == "none" || (bodiless && call.body_template.empty())) {
    into.body = body_kind::none;
  } else if (bodiless) {
    return invalid(where + ": a " + call.method + " request has a body", "leave `body` out, or use {field} in the url");
  } else if (!call.body_template.empty()) {
    auto text = call.body_template;
    if (auto marked = mark_secrets(where, text, into); !marked.ok()) return marked.failure();
    mark_callback(text, into);
    auto compiled = core::input_template::compile(text);
    if (!compiled.ok()) return invalid(where + ": body: " + compiled.failure().sentence, compiled.failure().remedy);
    if (!compiled->plain()) {
      return invalid(where + ": body: ${ " + compiled->worker_expressions().front() + " } is more than a plain path",
                     "compute the value in the step's `with`, and use it here from .input");
    }
    for (const auto& expression : compiled->expressions()) {
      if (expression.find(".input") != expression.find_first_not_of(" \t")) {
        return invalid(where + ": body: ${ " + expression + " } does not begin with .input",
                       "a body can only use the step's input, and ${ .callback_url }");
      }
    }
    into.body = body_kind::rendered;
    into.body_template = std::move(compiled).value();
  }
  return nothing{};
}

status check_ranges(const std::string& where, const std::vector<status_range>& ranges) {
  for (const auto& range : ranges) {
    if (range.first < 100 || range.last > 599 || range.first > range.last) {
      return invalid(where + ": " + std::to_string(range.first) + "-" + std::to_string(range.last) + " is not a valid range of statuses",
                     "use numbers from 100 to 599, the lower number first");
    }
  }
  return nothing{};
}

// URL and headers of a call or of its look-up.
status prepare_request(const std::string& where, const http_agent_config& agent, const std::string& url,
                       const std::vector<std::pair<std::string, std::string>>& headers, const std::string& key_header,
                       http_prepared_request& into) {
  auto compiled = prepare_url(where + ": url", agent, url);
  if (!compiled.ok()) return compiled.failure();
  into.url = std::move(compiled).value();
  if (auto s = add_headers("agent " + agent.name, agent.headers, into); !s.ok()) return s;
  if (auto s = add_headers(where, headers, into); !s.ok()) return s;
  for (const auto& [name, value] : into.headers) {
    if (lower_case(name) == lower_case(key_header)) {
      return invalid(where + ": header " + name + " is the header of the idempotency key", "leave it out");
    }
  }
  add_fields(into.url, into);
  for (const auto& [header, value] : into.headers) add_fields(value, into);
  return nothing{};
}

status prepare_rules(const std::string& where, const std::vector<http_rule>& rules, rule_place place,
                     std::vector<http_prepared_rule>& into) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    auto prepared = prepare_rule(where + ": rules[" + std::to_string(i) + "]", rules[i], place);
    if (!prepared.ok()) return prepared.failure();
    into.push_back(std::move(prepared).value());
  }
  return nothing{};
}

status prepare_output(const std::string& where, const std::string& text, std::optional<core::input_template>& into, bool& needs_body) {
  if (text.empty()) return nothing{};
  auto compiled = compile_response_template(text);
  if (!compiled.ok()) return invalid(where + ": output: " + compiled.failure().sentence, compiled.failure().remedy);
  into = std::move(compiled->value);
  needs_body = compiled->mentions_body;
  return nothing{};
}

status prepare_lookup(const std::string& where, const http_agent_config& agent, const http_call& call, http_prepared_lookup& into) {
  const auto& lookup = *call.lookup;
  constexpr std::array<std::string_view, 3> methods{"GET", "HEAD", "POST"};
  if (std::find(methods.begin(), methods.end(), lookup.method) == methods.end()) {
    return invalid(where + ": method '" + printable(lookup.method, 20) + "' is not allowed for a lookup", "use GET, HEAD or POST");
  }
  into.request.method = lookup.method;
  into.request.body = http_prepared_request::body_kind::none;
  if (auto s = check_ranges(where + ": done", lookup.done); !s.ok()) return s;
  if (auto s = check_ranges(where + ": never_happened", lookup.never_happened); !s.ok()) return s;
  into.done = lookup.done.empty() ? std::vector<status_range>{{200, 299}} : lookup.done;
  into.never_happened = lookup.never_happened;
  if (auto s = prepare_request(where, agent, lookup.url, lookup.headers, call.idempotency.header, into.request); !s.ok()) return s;
  if (auto s = prepare_rules(where, lookup.rules, rule_place::lookup, into.rules); !s.ok()) return s;
  return prepare_output(where, lookup.output_template, into.output_template, into.needs_json_body);
}

}  // namespace

result<http_prepared_call> prepare_call(const http_agent_config& agent, const std::string& name, const http_call& call) {
  const auto where = "agent " + agent.name + ": call " + name;
  constexpr std::array<std::string_view, 6> methods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
  if (std::find(methods.begin(), methods.end(), call.method) == methods.end()) {
    return invalid(where + ": method '" + printable(call.method, 20) + "' is not known", "use GET, HEAD, POST, PUT, PATCH or DELETE");
  }
  for (const auto* ranges : {&call.statuses.success, &call.statuses.transient, &call.statuses.in_doubt, &call.statuses.permanent}) {
    if (auto s = check_ranges(where + ": statuses", *ranges); !s.ok()) return s.failure();
  }
  const auto& key_header = call.idempotency.header;
  const auto lower_key_header = lower_case(key_header);
  if (!valid_header_name(key_header))
    return invalid(where + ": idempotency: '" + printable(key_header, 60) + "' is not a valid header name", "use letters, digits and -");
  if (lower_key_header != "idempotency-key" && (reserved_header(lower_key_header) || lower_key_header == "content-type" ||
                                                lower_key_header == "user-agent" || lower_key_header == "host")) {
    return invalid(where + ": idempotency: header " + key_header + " has another meaning",
                   "use the header in which the service expects the key");
  }
  if (call.idempotency.valid_for_ms < 0)
    return invalid(where + ": idempotency: valid_for is negative", "leave valid_for out if keys are valid forever");

  http_prepared_call out;
  out.name = name;
  out.request.method = call.method;
  out.statuses = call.statuses;
  out.idempotency = call.idempotency;
  if (auto s = prepare_request(where, agent, call.url, call.headers, key_header, out.request); !s.ok()) return s.failure();
  if (auto s = prepare_body(where, call, out.request); !s.ok()) return s.failure();
  if (auto s = prepare_output(where, call.output_template, out.output_template, out.needs_json_body); !s.ok()) return s.failure();
  if (auto s = prepare_rules(where, call.rules, rule_place::call, out.rules); !s.ok()) return s.failure();
  if (call.lookup) {
    out.lookup.emplace();
    if (auto s = prepare_lookup(where + ": lookup", agent, call, *out.lookup); !s.ok()) return s.failure();
  }
  return out;
}

}  // namespace fairlead::agents
