#include "actors/agents/http_status.hpp"

#include <algorithm>
#include <stdexcept>

namespace fairlead::agents {

namespace {

bool named(const std::vector<status_range>& ranges, int status) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const status_range& r) { return r.first <= status && status <= r.last; });
}

status_meaning default_meaning(int status) {
  if (status >= 200 && status <= 299) return status_meaning::success;
  if (status == 408 || status == 425 || status == 429 || status == 503) return status_meaning::transient;
  if (status >= 500 && status <= 599) return status_meaning::in_doubt;
  return status_meaning::permanent;
}

bool three_digits(std::string_view text, int& out) {
  if (text.size() != 3 || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  out = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
  return out >= 100 && out <= 599;
}

}  // namespace

status_meaning meaning_of(const http_statuses& statuses, int status) {
  if (named(statuses.success, status)) return status_meaning::success;
  if (named(statuses.transient, status)) return status_meaning::transient;
  if (named(statuses.in_doubt, status)) return status_meaning::in_doubt;
  if (named(statuses.permanent, status)) return status_meaning::permanent;
  return default_meaning(status);
}

v1::FaultKind fault_kind_of(status_meaning meaning) {
  switch (meaning) {
    case status_meaning::transient: return v1::FAULT_KIND_TRANSIENT;
    case status_meaning::in_doubt: return v1::FAULT_KIND_IN_DOUBT;
    case status_meaning::permanent: return v1::FAULT_KIND_PERMANENT;
    case status_meaning::success: break;
  }
  throw std::logic_error("a success is no fault");
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
