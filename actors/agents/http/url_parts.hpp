#pragma once
// Splits URLs by libcurl.

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string>

namespace fairlead::agents {

struct url_closer {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using url_handle = std::unique_ptr<CURLU, url_closer>;

/// The text of one part; nullopt: the URL lacks it.
inline std::optional<std::string> part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  std::optional<std::string> out;
  if (curl_url_get(url, part, &text, flags) == CURLUE_OK && text != nullptr) out = text;
  curl_free(text);
  return out;
}

}  // namespace fairlead::agents
