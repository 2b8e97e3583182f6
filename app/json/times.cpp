#include "app/json/times.hpp"

#include <algorithm>

#include "messages/time.hpp"

namespace fairlead::app {

result<std::int64_t> read_utc(const std::string& option, const std::string& text) {
  std::int64_t out = 0;
  if (parse_utc(text, out)) return out;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a valid time for " + option,
               "Write it like 2026-03-28T22:30:00Z, or with an offset: 2026-03-28T23:30:00+01:00"};
}

result<std::int64_t> read_start(const std::string& option, const std::string& text) {
  auto out = read_utc(option, text);
  if (out && *out <= 0) return invalid(option + " is before 1970", "Give a later time");
  return out;
}

result<std::int64_t> read_duration(const std::string& option, const std::string& text, std::int64_t least_ms) {
  std::int64_t out = 0;
  if (parse_duration(text, out) && out >= least_ms) return out;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a duration for " + option,
               "Write it like 500ms, 5s, 1m30s, 2h or 7d"};
}

result<std::int64_t> read_since(const std::string& option, const std::string& text, std::int64_t now_unix_ms) {
  std::int64_t out_ms = 0;
  if (parse_duration(text, out_ms)) {
    out_ms = now_unix_ms - out_ms;
  } else {
    const auto completed = {std::string{}, std::string{"T00:00:00Z"}, std::string{":00Z"}, std::string{"Z"}};
    if (std::none_of(completed.begin(), completed.end(), [&](const std::string& rest) { return parse_utc(text + rest, out_ms); }))
      return invalid("'" + text + "' is neither a time nor a duration for " + option,
                     "Write it like 3d, or in UTC like 2026-11-19 or 2026-11-19T08:00");
  }
  if (out_ms <= 0) return invalid(option + " is before 1970", "Give a later time");
  if (out_ms > now_unix_ms) return invalid(option + " is in the future", "Give an earlier time");
  return out_ms;
}

status read_since(const std::string& option, const std::optional<std::string>& text, std::int64_t now_unix_ms, std::int64_t& unix_ms) {
  if (!text) return nothing{};
  const auto read = read_since(option, *text, now_unix_ms);
  if (!read) return read.failure();
  unix_ms = *read;
  return nothing{};
}

}  // namespace fairlead::app
