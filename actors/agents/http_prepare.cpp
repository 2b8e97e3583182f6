// Checks and compiles calls; http_request.cpp uses what comes out.

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http_request.hpp"
#include "actors/agents/http_response.hpp"

namespace fairlead::agents {

namespace {

error refusal(std::string sentence, std::string remedy) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, std::move(sentence), std::move(remedy)};
}

struct url_closer {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

bool has_part(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  const bool found = curl_url_get(url, part, &text, 0) == CURLUE_OK && text != nullptr;
  curl_free(text);
  return found;
}

// `url` with `x` for every field: what does not depend on the input must be right already.
status check_url(const std::string& where, const std::string& url) {
  if (!std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f; })) {
    return refusal(where + " holds a blank, a control character or a byte beyond ASCII", "percent-encode it");
  }
  const auto scheme = lower_case(url.substr(0, url.find(':')));
  if (scheme != "http" && scheme != "https") {
    return refusal(where + " has the scheme '" + scheme + "'", "begin the agent's base_url, or the call's url, with http:// or https://");
  }
  const std::unique_ptr<CURLU, url_closer> parsed{curl_url()};
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK ||
      !has_part(parsed.get(), CURLUPART_HOST)) {
    return refusal(where + " is no URL", "write http://host:port/path");
  }
  if (has_part(parsed.get(), CURLUPART_USER) || has_part(parsed.get(), CURLUPART_PASSWORD)) {
    return refusal(where + " holds a user or a password", "send an Authorization header instead");
  }
  if (has_part(parsed.get(), CURLUPART_FRAGMENT)) return refusal(where + " has a fragment (#…)", "leave it out; it is never sent");
  return nothing{};
}

// Where path or query of an absolute URL begin; its size when it ends with the host.
std::size_t authority_end(std::string_view url) {
  const auto host = url.find("://");
  if (host == std::string_view::npos) return 0;
  return std::min(url.find_first_of("/?#", host + 3), url.size());
}

result<field_template> prepare_url(const std::string& where, const http_agent_config& agent, const std::string& url) {
  auto whole = url;
  if (url.find("://") == std::string::npos) {
    // The base is no template: a brace in it means itself.
    for (const char c : agent.base_url) {
      if (c == '{' || c == '}') return refusal("agent " + agent.name + ": base_url holds a brace", "only a call's url may hold {field}");
    }
    whole = agent.base_url;
    while (!whole.empty() && whole.back() == '/') whole.pop_back();
    if (!url.empty() && url.front() != '/' && url.front() != '?') whole += '/';
    whole += url;
  }
  auto compiled = field_template::compile(whole, where);
  if (!compiled.ok()) return compiled.failure();
  std::string sample;
  for (const auto& piece : compiled->pieces()) {
    sample += piece.literal;
    if (piece.field.empty()) continue;
    // What a task's input says may choose a resource, never the host that is asked for it.
    if (authority_end(sample) >= sample.size()) {
      return refusal(where + " has {" + piece.field + "} in the host", "put fields into the path or the query");
    }
    sample += 'x';
  }
  if (const auto good = check_url(where, sample); !good.ok()) return good.failure();
  return compiled;
}

bool reserved_header(const std::string& lower) {
  constexpr std::array<std::string_view, 9> ours{
      "idempotency-key", "traceparent", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "trailer", "te"};
  return lower.rfind("fairlead-", 0) == 0 || std::find(ours.begin(), ours.end(), lower) != ours.end();
}

status add_headers(const std::string& where, const std::vector<std::pair<std::string, std::string>>& from, http_prepared_call& into) {
  for (const auto& [name, value] : from) {
    const auto here = where + ": header " + printable(name, 60);
    if (!valid_header_name(name)) return refusal(here + " is no header name", "use letters, digits and -");
    if (reserved_header(lower_case(name))) return refusal(here + " is set by the agent itself", "leave it out");
    if (!valid_header_value(value)) return refusal(here + " holds a control character", "a header is one line of text");
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

void add_fields(const field_template& from, http_prepared_call& into) {
  for (const auto& piece : from.pieces()) {
    const auto known = std::find(into.fields.begin(), into.fields.end(), piece.field) != into.fields.end();
    if (!piece.field.empty() && !known) into.fields.push_back(piece.field);
  }
}

status prepare_body(const std::string& where, const http_call& call, http_prepared_call& into) {
  const bool bodiless = call.method == "GET" || call.method == "HEAD";
  if (call.body_template == "none" || (bodiless && call.body_template.empty())) {
    into.body = http_prepared_call::body_kind::none;
  } else if (bodiless) {
    return refusal(where + ": a " + call.method + " request has a body", "leave `body` out, or use {field} in the url");
  } else if (!call.body_template.empty()) {
    auto compiled = core::input_template::compile(call.body_template);
    if (!compiled.ok()) return refusal(where + ": body: " + compiled.failure().sentence, compiled.failure().remedy);
    if (!compiled->plain()) {
      return refusal(where + ": body: ${ " + compiled->worker_expressions().front() + " } is more than a plain path",
                     "compute it in the step's `with`, and take it from .input here");
    }
    for (const auto& expression : compiled->expressions()) {
      if (expression.find(".input") != expression.find_first_not_of(" \t")) {
        return refusal(where + ": body: ${ " + expression + " } does not begin with .input", "a body is made of the step's input");
      }
    }
    into.body = http_prepared_call::body_kind::rendered;
    into.body_template = std::move(compiled).value();
  }
  return nothing{};
}

}  // namespace

result<http_prepared_call> prepare_call(const http_agent_config& agent, const std::string& name, const http_call& call) {
  const auto where = "agent " + agent.name + ": call " + name;
  constexpr std::array<std::string_view, 6> methods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
  if (std::find(methods.begin(), methods.end(), call.method) == methods.end()) {
    return refusal(where + ": method '" + printable(call.method, 20) + "' is not known", "use GET, HEAD, POST, PUT, PATCH or DELETE");
  }
  for (const auto* ranges : {&call.statuses.success, &call.statuses.transient, &call.statuses.in_doubt, &call.statuses.permanent}) {
    for (const auto& range : *ranges) {
      if (range.first < 100 || range.last > 599 || range.first > range.last) {
        return refusal(where + ": statuses: " + std::to_string(range.first) + "-" + std::to_string(range.last) + " is no range of statuses",
                       "100 to 599, the lower one first");
      }
    }
  }

  auto url = prepare_url(where + ": url", agent, call.url);
  if (!url.ok()) return url.failure();
  http_prepared_call out;
  out.name = name;
  out.method = call.method;
  out.url = std::move(url).value();
  out.statuses = call.statuses;
  if (auto s = add_headers("agent " + agent.name, agent.headers, out); !s.ok()) return s.failure();
  if (auto s = add_headers(where, call.headers, out); !s.ok()) return s.failure();
  add_fields(out.url, out);
  for (const auto& [header, value] : out.headers) add_fields(value, out);
  if (auto s = prepare_body(where, call, out); !s.ok()) return s.failure();
  if (!call.output_template.empty()) {
    auto compiled = compile_output(call.output_template);
    if (!compiled.ok()) return refusal(where + ": output: " + compiled.failure().sentence, compiled.failure().remedy);
    out.output_template = std::move(compiled->value);
    out.needs_json_body = compiled->mentions_body;
  }
  return out;
}

}  // namespace fairlead::agents
