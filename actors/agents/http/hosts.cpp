#include "actors/agents/http/hosts.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/url_parts.hpp"
#include "actors/agents/text_template.hpp"

namespace fairlead::agents {

namespace {

bool is_web(const std::string& scheme) { return scheme == "http" || scheme == "https"; }

bool host_characters(std::string_view host) {
  return !host.empty() && host.front() != '.' && host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'; });
}

}  // namespace

std::optional<http_origin> origin_of(const std::string& url) {
  const url_handle parsed{curl_url()};
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK) return std::nullopt;
  http_origin out;
  const auto scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  const auto host = part_of(parsed.get(), CURLUPART_HOST);
  const auto port = part_of(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (!scheme || !host || !port || host->empty() || !is_web(lower_case(*scheme))) return std::nullopt;
  out.scheme = lower_case(*scheme);
  out.host = lower_case(*host);
  const auto read = std::from_chars(port->data(), port->data() + port->size(), out.port);
  if (read.ec != std::errc{} || out.port == 0) return std::nullopt;
  return out;
}

result<http_host_list> http_host_list::parse(const std::vector<std::string>& entries) {
  http_host_list out;
  for (const auto& text : entries) {
    const auto refuse = [&] {
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + printable(text, 100) + "' is not a valid host",
                   "write a host such as api.example, api.example:8443, [::1]:8443 or *.example"};
    };
    entry one;
    std::string_view host = text;
    const auto bracket = host.rfind(']');
    const auto colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon != std::string_view::npos) {
      const auto port = host.substr(colon + 1);
      const auto read = std::from_chars(port.data(), port.data() + port.size(), one.port);
      if (read.ec != std::errc{} || read.ptr != port.data() + port.size() || one.port == 0) return refuse();
      host = host.substr(0, colon);
    }
    one.host = lower_case(host);
    if (one.host.rfind("*.", 0) == 0) {
      one.below = true;
      one.host.erase(0, 1);
      if (!host_characters(one.host.substr(1))) return refuse();
    } else {
      // As libcurl spells the host, since URLs will be compared with that: 127.1 is 127.0.0.1.
      const auto spelled = origin_of("http://" + one.host + "/");
      const bool six = !one.host.empty() && one.host.front() == '[' && one.host.back() == ']';
      if (!spelled || (!six && !host_characters(one.host))) return refuse();
      one.host = spelled->host;
    }
    out.entries_.push_back(std::move(one));
  }
  return out;
}

bool http_host_list::allows(const http_origin& origin) const {
  if (entries_.empty()) return true;
  return std::any_of(entries_.begin(), entries_.end(), [&](const entry& e) {
    if (e.port != 0 && e.port != origin.port) return false;
    if (!e.below) return origin.host == e.host;
    return origin.host.size() > e.host.size() && origin.host.compare(origin.host.size() - e.host.size(), e.host.size(), e.host) == 0;
  });
}

std::optional<std::string> resolve_location(const std::string& base, const std::string& location) {
  const url_handle parsed{curl_url()};
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, base.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK ||
      curl_url_set(parsed.get(), CURLUPART_URL, location.c_str(), CURLU_PATH_AS_IS | CURLU_DISALLOW_USER | CURLU_URLENCODE) != CURLUE_OK ||
      curl_url_set(parsed.get(), CURLUPART_FRAGMENT, nullptr, 0) != CURLUE_OK)
    return std::nullopt;
  const auto scheme = part_of(parsed.get(), CURLUPART_SCHEME);
  if (!scheme || !is_web(lower_case(*scheme))) return std::nullopt;
  return part_of(parsed.get(), CURLUPART_URL);
}

std::optional<error> why_no_http_url(const std::string& what, const std::string& url) {
  const auto refuse = [&what](const std::string& problem, const std::string& remedy) { return invalid(what + " " + problem, remedy); };
  if (url.empty()) return refuse("is empty", "Write http://HOST:PORT/PATH");
  if (!std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f; }))
    return refuse("has a blank, a control character or a byte that is not ASCII", "Percent-encode this character");
  const auto scheme_end = url.find("://");
  const auto scheme = lower_case(url.substr(0, scheme_end));
  if (scheme_end == std::string::npos || !is_web(scheme))
    return refuse("does not begin with http:// or https://", "Write http://HOST:PORT/PATH");
  // libcurl accepts a third slash.
  if (const auto host = scheme_end + 3; host >= url.size() || url[host] == '/' || url[host] == ':')
    return refuse("has no host", "Write http://HOST:PORT/PATH");

  const url_handle parsed{curl_url()};
  const auto read = parsed ? curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) : CURLUE_OUT_OF_MEMORY;
  if (read == CURLUE_BAD_PORT_NUMBER) return refuse("has no valid port", "A port is a number from 1 to 65535");
  if (read != CURLUE_OK || !part_of(parsed.get(), CURLUPART_HOST)) return refuse("is not a URL", "Write http://HOST:PORT/PATH");
  if (part_of(parsed.get(), CURLUPART_PORT) == "0") return refuse("has no valid port", "A port is a number from 1 to 65535");
  if (part_of(parsed.get(), CURLUPART_USER) || part_of(parsed.get(), CURLUPART_PASSWORD))
    return refuse("has a user or a password", "Use a token in the path or the query to identify the caller");
  if (part_of(parsed.get(), CURLUPART_FRAGMENT)) return refuse("has a fragment (#...)", "Leave the fragment out; it is never sent");
  return std::nullopt;
}

}  // namespace fairlead::agents
