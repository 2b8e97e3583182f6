#pragma once
// Whether a text is a URL that an HTTP request may go to. libcurl's own parser decides, because libcurl will use it.

#include <optional>
#include <string>

#include "messages/error.hpp"

namespace fairlead::agents {

/// What keeps `url` from being an absolute http or https URL without user info and fragment, as an error (invalid_argument) whose sentence
/// begins with `what`; nothing when it is one. The sentence never repeats the URL: a path or query may hold a secret.
std::optional<error> why_no_http_url(const std::string& what, const std::string& url);

}  // namespace fairlead::agents
