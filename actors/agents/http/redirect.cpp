#include "actors/agents/http/redirect.hpp"

#include <algorithm>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/status.hpp"

namespace fairlead::agents {

namespace {

bool is_redirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }

const std::string* location_of(const http_answer& answer) {
  for (const auto& [name, value] : answer.headers)
    if (name == "location") return &value;
  return nullptr;
}

std::nullopt_t refuse(http_answer& answer, std::string code, std::string message) {
  answer.how = http_answer::ending::refused;
  answer.code = std::move(code);
  answer.message = std::move(message);
  return std::nullopt;
}

bool names(const std::vector<http_prepared_rule>& rules, int status) {
  return std::any_of(rules.begin(), rules.end(), [&](const http_prepared_rule& r) { return names_status(r.written.status, status); });
}

}  // namespace

// Headers meant for one host must not reach another, though the list allows both.
void http_redirects::leave_credentials_behind(http_request& request) const {
  const auto stays = [&](const auto& header) {
    const auto name = lower_case(header.first);
    return name == "authorization" || name == "cookie" || name == "proxy-authorization" || name == "host" ||
           is_private(header.second, request) ||
           std::any_of(request.private_headers.begin(), request.private_headers.end(),
                       [&](const std::string& other) { return lower_case(other) == name; });
  };
  request.headers.erase(std::remove_if(request.headers.begin(), request.headers.end(), stays), request.headers.end());
  request.private_headers.clear();
}

bool http_redirects::named_by_call(int status) const {
  if (!is_lookup_) return listed_meaning(call_.statuses, status).has_value() || names(call_.rules, status);
  const auto& lookup = *call_.lookup;
  return names_status(lookup.done, status) || names_status(lookup.never_happened, status) || names(lookup.rules, status);
}

std::optional<http_request> http_redirects::next(const http_request& sent, http_answer& answer) {
  if (most_ == 0 || answer.how != http_answer::ending::answered || !is_redirect(answer.status) || named_by_call(answer.status))
    return std::nullopt;
  // An earlier sending may have been carried out with its answer lost; a truncated answer is no answer.
  if (answer.sends > 1 || answer.cut == http_answer::damage::truncated) return std::nullopt;
  const auto* location = location_of(answer);
  if (location == nullptr) return std::nullopt;
  // Such a Location would lead to a URL that the service has not named.
  if (location->empty() || location->front() == '#') {
    answer.message = location->empty() ? "with an empty Location" : "which is only a fragment of the same URL";
    return std::nullopt;
  }
  const bool harmless = sent.method == "GET" || sent.method == "HEAD";
  if (!harmless && answer.status != 307 && answer.status != 308) {
    answer.message = "which is not followed: after " + sent.method + " only 307 and 308 are";
    return std::nullopt;
  }
  const auto target = resolve_location(sent.url, *location);
  const auto from = origin_of(sent.url);
  const auto to = target ? origin_of(*target) : std::nullopt;
  if (!from || !to) {
    answer.message = "which is not a URL that can be followed";
    return std::nullopt;
  }
  const auto shown = std::to_string(answer.status) + " redirects from " + from->shown() + " to " + to->shown();
  if (from->scheme == "https" && to->scheme == "http")
    return refuse(answer, status_code_word(answer.status), shown + ", from https to http");
  if (!hosts_.allows(*to)) return refuse(answer, "url_not_allowed", shown + ", which is not among the agent's allow_hosts");
  const bool same_host = to->host == from->host && (to->port == from->port || (from->port == 80 && to->port == 443));
  if (hosts_.empty() && !same_host) {
    answer.message = "which is not followed: it leads to another host, and the agent has no allow_hosts";
    return std::nullopt;
  }
  if (!same_host && sent.body && is_private(*sent.body, sent))
    return refuse(answer, status_code_word(answer.status), shown + ", and the body has a secret or the URL of the callback");
  seen_.push_back(sent.url);
  if (std::find(seen_.begin(), seen_.end(), *target) != seen_.end()) return refuse(answer, "http_redirects", shown + ", in a circle");
  if (seen_.size() > most_) return refuse(answer, "http_redirects", shown + ", after " + std::to_string(most_) + " others");
  auto out = sent;
  out.url = *target;
  if (!same_host) leave_credentials_behind(out);
  return out;
}

}  // namespace fairlead::agents
