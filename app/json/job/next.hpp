#pragma once
// The next times of a cron expression, and as JSON. No node is needed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/job/job.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

inline constexpr std::uint32_t max_coming = 1'000;

/// The expression and what belongs to it, as typed.
struct next_question {
  std::string expression;
  std::string zone;                  // empty: UTC
  std::optional<std::string> after;  // without: now
  std::uint32_t count = 5;
  std::string job;  // the name that gives the values of `?`
  std::string dst = "vixie";
};

struct coming_instant {
  std::string utc;    // 2026-03-29T01:00:00Z
  std::string local;  // 2026-03-29T03:00:00+02:00
};

struct next_answer {
  std::vector<coming_instant> instants;  // fewer than requested: there are no more
  std::string remark;                    // a note for the operator, or empty
};

/// Errors: invalid_argument, with the position in the expression; not_found for an expression that
/// never matches. `at_fault`: for the API; on an error the field of the question. Where it is given, sentences name fields, and
/// options of the command line else.
result<next_answer> coming_instants(const next_question& what, const core::zone_source& zones, std::int64_t now_unix_ms,
                                    std::string* at_fault = nullptr);

/// An array of {"utc", "local"}.
std::string next_json(const next_answer& answer);

/// `2026-03-29T01:00:00Z`; with milliseconds if they are not 0.
std::string instant_text(std::int64_t unix_ms);

}  // namespace fairlead::app
