#include "actors/agents/http/status.hpp"

#include <algorithm>
#include <stdexcept>

namespace fairlead::agents {

namespace {

bool three_digits(std::string_view text, int& out) {
  if (text.size() != 3 || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  out = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
  return out >= 100 && out <= 599;
}

}  // namespace

bool names_status(const std::vector<status_range>& ranges, int status) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const status_range& r) { return r.first <= status && status <= r.last; });
}

std::optional<http_meaning> listed_meaning(const http_statuses& statuses, int status) {
  if (names_status(statuses.success, status)) return http_meaning::success;
  if (names_status(statuses.transient, status)) return http_meaning::transient;
  if (names_status(statuses.in_doubt, status)) return http_meaning::in_doubt;
  if (names_status(statuses.permanent, status)) return http_meaning::permanent;
  return std::nullopt;
}

http_meaning default_meaning(int status, bool repeated) {
  if (status >= 200 && status <= 299) return http_meaning::success;
  if (status == 408 || status == 425 || status == 429 || status == 503) return http_meaning::transient;
  if (status >= 500 && status <= 599) return http_meaning::in_doubt;
  // "Exists already": an earlier sending of this request may have created it.
  if (status == 409 && repeated) return http_meaning::in_doubt;
  return http_meaning::permanent;
}

v1::FaultKind fault_kind_of(http_meaning meaning) {
  switch (meaning) {
    case http_meaning::transient: return v1::FAULT_KIND_TRANSIENT;
    case http_meaning::in_doubt: return v1::FAULT_KIND_IN_DOUBT;
    case http_meaning::permanent: return v1::FAULT_KIND_PERMANENT;
    case http_meaning::success:
    case http_meaning::done:
    case http_meaning::never_happened:
    case http_meaning::unknown: break;
  }
  throw std::logic_error(std::string{meaning_word(meaning)} + " is no fault");
}

std::string_view meaning_word(http_meaning meaning) {
  switch (meaning) {
    case http_meaning::success: return "success";
    case http_meaning::transient: return "transient";
    case http_meaning::in_doubt: return "in_doubt";
    case http_meaning::permanent: return "permanent";
    case http_meaning::done: return "done";
    case http_meaning::never_happened: return "never_happened";
    case http_meaning::unknown: return "unknown";
  }
  throw std::logic_error("no such meaning");
}

std::string status_code_word(int status) { return "http_" + std::to_string(status); }

bool parse_status_range(std::string_view text, status_range& out) {
  if (text.size() == 3 && text.substr(1) == "xx" && text[0] >= '1' && text[0] <= '5') {
    out.first = (text[0] - '0') * 100;
    out.last = out.first + 99;
    return true;
  }
  if (text.size() == 7 && text[3] == '-') {
    return three_digits(text.substr(0, 3), out.first) && three_digits(text.substr(4), out.last) && out.first <= out.last;
  }
  if (!three_digits(text, out.first)) return false;
  out.last = out.first;
  return true;
}

}  // namespace fairlead::agents
