#include "app/json/times.hpp"

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

}  // namespace fairlead::app
