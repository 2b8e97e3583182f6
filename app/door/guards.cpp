#include "app/door/guards.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <vector>

#include "actors/agents/text_template.hpp"
#include "actors/core/text/text.hpp"
#include "app/config/config.hpp"

namespace fairlead::app::door {

namespace {

using agents::lower_case;
using core::trimmed;

/// No other path takes protobuf messages.
constexpr std::string_view paths_of_protobuf = "/v1/requests/";
/// Services call back in formats of their own, which are JSON (RFC 6839): `application/cloudevents+json`.
constexpr std::string_view also_json = "+json";
constexpr const char* write_json = "Send JSON with Content-Type: application/json, or YAML with application/yaml where a path takes it.";

problem unsound(const std::string& sentence) {
  return {"bad_request", sentence, "Use an HTTP client that follows RFC 9112.", {}, {}, true};
}

/// `example.org:8080` -> `example.org`, `[::1]:7190` -> `::1`.
std::string host_part(std::string_view host) {
  if (!host.empty() && host.front() == '[') return lower_case(host.substr(1, host.find(']') - 1));
  return lower_case(host.substr(0, host.find(':')));
}

/// Whether a folded line has become a part of the name: `Content-Length:\n 4` arrives as `Content-Length4`, and `If-Match: "1-a"\n x` as `If-Matchx`.
/// Of other names nobody can tell: there are headers that begin like them.
bool is_folded(const std::string& name) {
  constexpr std::string_view read_here[] = {"content-length",  "transfer-encoding", "if-match",      "if-none-match",
                                            "idempotency-key", "last-event-id",     "sec-fetch-site"};
  return std::any_of(std::begin(read_here), std::end(read_here),
                     [&](std::string_view one) { return name.size() > one.size() && name.starts_with(one); });
}

/// The elements of a list, as they stand between `separator`, without blanks.
std::vector<std::string_view> elements_of(std::string_view list, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = list.find(separator);
    out.push_back(trimmed(list.substr(0, end)));
    if (end == std::string_view::npos) return out;
    list.remove_prefix(end + 1);
  }
}

/// Several lines are one list (RFC 9110, 5.3).
std::string list_of(const request_head& head, std::string_view name) {
  std::string out;
  for (const auto& [one, value] : head.fields)
    if (is_header(one, name)) out += (out.empty() ? "" : ",") + value;
  return out;
}

/// Without parameters, in lower case.
std::string media_of(std::string_view content_type) { return lower_case(trimmed(content_type.substr(0, content_type.find(';')))); }

/// `q` of `text/html; q=0.5`, in lower case and without quotes.
std::optional<std::string> media_parameter(std::string_view type, std::string_view name) {
  const auto parts = elements_of(type, ';');
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto mark = parts[i].find('=');
    if (mark == std::string_view::npos || lower_case(trimmed(parts[i].substr(0, mark))) != name) continue;
    auto value = trimmed(parts[i].substr(mark + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return lower_case(value);
  }
  return std::nullopt;
}

/// `0`, `0.0` and the like: what the list names is not wanted.
bool is_unwanted(std::string_view range) {
  const auto quality = media_parameter(range, "q");
  return quality && quality->starts_with('0') && quality->find_first_not_of("0.") == std::string::npos;
}

/// RFC 9112, 3.2. The library finds the version behind the last space, so a target may have others.
bool has_blank(std::string_view target) {
  return std::any_of(target.begin(), target.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

std::optional<problem> refuse_framing(const request_head& head) {
  if (has_blank(head.target)) return unsound("The target has a space or a control character.");
  for (const auto& [name, value] : head.fields)
    if (!agents::valid_header_name(name) || is_folded(lower_case(name))) return unsound("The name of a header is none.");
  const auto lengths = count_headers(head, "Content-Length");
  const auto encodings = count_headers(head, "Transfer-Encoding");
  if (lengths > 1) return unsound("The request has several headers Content-Length.");
  if (encodings > 1) return unsound("The request has several headers Transfer-Encoding.");
  if (lengths + encodings > 1) return unsound("The request has both Content-Length and Transfer-Encoding.");
  if (encodings == 1 && head.version != "HTTP/1.1") return unsound("A request of " + head.version + " cannot have Transfer-Encoding.");
  if (encodings == 1 && lower_case(*find_header(head, "Transfer-Encoding")) != "chunked")
    return unsound("The only Transfer-Encoding that is known is chunked.");
  if (lengths == 1) {
    const auto text = *find_header(head, "Content-Length");
    std::size_t bytes = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) return unsound("Content-Length is no number.");
  }
  return std::nullopt;
}

std::optional<problem> refuse_size(const request_head& head) {
  if (head.target.size() > most_target_bytes)
    return problem{"target_too_long", "Path and query have more than 32 KiB.", "Send large data in the body.", {}, {}, true};
  std::size_t bytes = 0;
  for (const auto& [name, value] : head.fields) bytes += name.size() + value.size() + 4;
  if (bytes > most_header_bytes)
    return problem{"headers_too_large", "The headers have more than 16 KiB.", "Send fewer or shorter headers.", {}, {}, true};
  return std::nullopt;
}

/// The rule of CrossOriginProtection of Go 1.25: what a browser says of where a request comes from, and else that Origin is Host.
std::optional<problem> refuse_origin(const request_head& head) {
  if (is_safe(head.method)) return std::nullopt;
  const problem refused{
      "cross_origin", "A page of another site sent this request.", "Send it from a program, or from a page of this node.", {}, {}, false};
  if (const auto site = find_header(head, "Sec-Fetch-Site")) {
    if (*site == "same-origin" || *site == "none") return std::nullopt;
    return refused;
  }
  const auto origin = find_header(head, "Origin");
  if (!origin) return std::nullopt;
  const auto scheme = origin->find("://");
  const auto host = find_header(head, "Host");
  return host && scheme != std::string_view::npos && lower_case(origin->substr(scheme + 3)) == lower_case(*host) ? std::nullopt
                                                                                                                 : std::optional{refused};
}

std::optional<problem> refuse_media(const request_head& head, bool is_callback) {
  // Whoever knows the path knows which of them it answers with.
  if (!accepts(head, media_json) && !accepts(head, media_events))
    return problem{
        "not_acceptable", "The header Accept allows no JSON.", "Send Accept: application/json, or no such header.", {}, {}, false};
  if (announced_bytes(head) == std::size_t{0}) return std::nullopt;
  const auto encodings = list_of(head, "Content-Encoding");
  for (const auto one : elements_of(encodings, ','))
    if (!one.empty() && lower_case(one) != "identity")
      return problem{"unsupported_media_type",
                     "The body has the Content-Encoding " + std::string{one} + ".",
                     "Send it as it is, without the header Content-Encoding.",
                     {},
                     {},
                     false};
  const auto type = find_header(head, "Content-Type");
  if (!type) return problem{"unsupported_media_type", "The body has no Content-Type.", write_json, {}, {}, false};
  const auto is_message = is_protobuf(*type) && path_of(head).starts_with(paths_of_protobuf);
  if (media_of(*type) != media_json && !is_yaml(*type) && !is_message && !(is_callback && media_of(*type).ends_with(also_json)))
    return problem{"unsupported_media_type", "The body has the Content-Type " + std::string{*type} + ".", write_json, {}, {}, false};
  if (!is_message && media_parameter(*type, "charset").value_or("utf-8") != "utf-8")
    return problem{"unsupported_media_type",
                   "The body has the Content-Type " + std::string{*type} + ".",
                   "Send it in UTF-8, with charset=utf-8 or without a charset.",
                   {},
                   {},
                   false};
  return std::nullopt;
}

}  // namespace

problem too_large(std::size_t most) {
  return most == most_body_bytes
             ? problem{"too_large", "The body has more than 4 MiB.", "Send it in parts.", {}, {}, true}
             : problem{"too_large", "The body has more than 1 MiB.", "Keep large data elsewhere, and send its address.", {}, {}, true};
}

std::optional<problem> guard::refuse(const request_head& head) const {
  if (auto bad = refuse_framing(head)) return bad;
  if (count_headers(head, "Host") != 1)
    return unsound(count_headers(head, "Host") == 0 ? "The request has no header Host." : "The request has several headers Host.");
  if (auto bad = refuse_size(head)) return bad;
  // A target may name a host, too (RFC 9112, 3.2.2).
  const auto is_this = [this](std::string_view name) {
    const auto host = host_part(name);
    return is_loopback(host) || std::find(hosts.begin(), hosts.end(), host) != hosts.end();
  };
  const auto named = *find_header(head, "Host");
  const auto authority = authority_of(head);
  if (!is_this(named) || (authority && !is_this(*authority)))
    return problem{"misdirected",
                   "This node is not " + host_part(authority.value_or(named)) + ".",
                   "Use the address of api.listen in the node file.",
                   {},
                   {},
                   true};
  if (auto bad = refuse_origin(head)) return bad;
  if (auto bad = refuse_media(head, is_callback && is_callback(head))) return bad;
  if (announced_bytes(head).value_or(0) > most_body_bytes) return too_large(most_body_bytes);
  return std::nullopt;
}

std::variant<std::size_t, problem> guard::most_bytes(const request_head& head, const peer& from) const {
  const auto announced = announced_bytes(head);
  const bool calls_back = is_callback && is_callback(head);
  const bool is_short = announced.value_or(most_body_bytes) <= most_unknown_body_bytes;
  if (!is_known || (is_short && !calls_back) || is_known(head, from)) return most_body_bytes;
  if (!calls_back)
    return problem{"unauthenticated",
                   "Nobody knows here who sends the request.",
                   "Send a token in the header Authorization, or show a client certificate.",
                   {},
                   {},
                   true};
  if (announced.value_or(0) <= most_callback_bytes) return most_callback_bytes;
  return too_large(most_callback_bytes);
}

bool accepts(const request_head& head, std::string_view type) {
  enum { none, all, kind, itself } closest = none;
  bool out = true;
  const auto ranges = list_of(head, "Accept");
  for (const auto one : elements_of(ranges, ',')) {
    if (one.empty()) continue;
    if (closest == none) out = false;
    const auto range = media_of(one);
    // Whoever reads problems reads JSON.
    const bool is_itself = range == type || (type == media_json && range == "application/problem+json");
    const bool is_kind = range.size() > 2 && range.ends_with("/*") && type.starts_with(range.substr(0, range.size() - 1));
    const auto found = is_itself ? itself : is_kind ? kind : range == "*/*" ? all : none;
    if (found == none || found < closest) continue;
    out = (found == closest && out) || !is_unwanted(one);
    closest = found;
  }
  return out;
}

bool is_yaml(std::string_view content_type) { return media_of(content_type) == "application/yaml"; }
bool is_protobuf(std::string_view content_type) { return media_of(content_type) == "application/x-protobuf"; }

std::optional<std::size_t> announced_bytes(const request_head& head) {
  if (find_header(head, "Transfer-Encoding")) return std::nullopt;
  const auto text = find_header(head, "Content-Length").value_or("0");
  std::size_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

bool is_safe(std::string_view method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

}  // namespace fairlead::app::door
