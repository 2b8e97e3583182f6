#include "actors/agents/http/url.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

#include "actors/agents/text_template.hpp"

namespace fairlead::agents {

namespace {

struct url_closer {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

/// The text of one part; nullopt when the URL has none.
std::optional<std::string> part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  std::optional<std::string> out;
  if (curl_url_get(url, part, &text, 0) == CURLUE_OK && text != nullptr) out = text;
  curl_free(text);
  return out;
}

}  // namespace

std::optional<error> why_no_http_url(const std::string& what, const std::string& url) {
  const auto refuse = [&what](const std::string& problem, const std::string& remedy) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, what + " " + problem, remedy};
  };
  if (url.empty()) return refuse("is empty", "Write http://HOST:PORT/PATH");
  if (!std::all_of(url.begin(), url.end(), [](char c) { return c > 0x20 && c < 0x7f; }))
    return refuse("holds a blank, a control character or a byte beyond ASCII", "Percent-encode it");
  const auto scheme_end = url.find("://");
  const auto scheme = lower_case(url.substr(0, scheme_end));
  if (scheme_end == std::string::npos || (scheme != "http" && scheme != "https"))
    return refuse("does not begin with http:// or https://", "Write http://HOST:PORT/PATH");
  // libcurl forgives a third slash.
  if (const auto host = scheme_end + 3; host >= url.size() || url[host] == '/' || url[host] == ':')
    return refuse("names no host", "Write http://HOST:PORT/PATH");

  const std::unique_ptr<CURLU, url_closer> parsed{curl_url()};
  const auto read = parsed ? curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) : CURLUE_OUT_OF_MEMORY;
  if (read == CURLUE_BAD_PORT_NUMBER) return refuse("has no valid port", "A port is a number from 1 to 65535");
  if (read != CURLUE_OK || !part_of(parsed.get(), CURLUPART_HOST)) return refuse("is no URL", "Write http://HOST:PORT/PATH");
  if (part_of(parsed.get(), CURLUPART_PORT) == "0") return refuse("has no valid port", "A port is a number from 1 to 65535");
  if (part_of(parsed.get(), CURLUPART_USER) || part_of(parsed.get(), CURLUPART_PASSWORD))
    return refuse("holds a user or a password", "Let the receiver know its caller by a token in the path or the query");
  if (part_of(parsed.get(), CURLUPART_FRAGMENT)) return refuse("has a fragment (#...)", "Leave it out; it is never sent");
  return std::nullopt;
}

}  // namespace fairlead::agents
