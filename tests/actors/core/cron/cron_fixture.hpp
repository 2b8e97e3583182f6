#pragma once
// Cron expressions and instants as a person writes them.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "actors/core/cron/next.hpp"

namespace fairlead::core {

using texts = std::vector<std::string>;

inline cron_expression read(std::string_view text, std::string_view job = "nightly") {
  auto parsed = cron_expression::parse(text, job);
  if (const auto* problem = std::get_if<cron_problem>(&parsed)) {
    ADD_FAILURE() << text << " at " << problem->position << ": " << problem->sentence;
    return {};
  }
  return std::get<cron_expression>(parsed);
}

inline cron_problem refuse(std::string_view text) {
  auto parsed = cron_expression::parse(text, "nightly");
  if (const auto* problem = std::get_if<cron_problem>(&parsed)) return *problem;
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

inline cctz::time_zone load(const std::string& name) {
  cctz::time_zone zone;
  EXPECT_TRUE(cctz::load_time_zone(name, &zone)) << name;
  return zone;
}

inline std::int64_t at(const std::string& utc) {
  cctz::time_point<cctz::seconds> point;
  EXPECT_TRUE(cctz::parse("%Y-%m-%dT%H:%M:%SZ", utc, cctz::utc_time_zone(), &point)) << utc;
  return point.time_since_epoch().count();
}

/// The next instants as UTC, or `never`.
inline texts coming(const cron_expression& expression, const cctz::time_zone& zone, dst_policy policy, const std::string& after,
                    std::size_t count) {
  texts out;
  for (auto now = at(after); out.size() < count;) {
    const auto next = next_instant(expression, zone, policy, now);
    if (!next) {
      out.emplace_back("never");
      break;
    }
    now = *next;
    out.push_back(cctz::format("%E4Y-%m-%dT%H:%M:%SZ", cctz::time_point<cctz::seconds>{cctz::seconds{now}}, cctz::utc_time_zone()));
  }
  return out;
}

inline texts coming(std::string_view text, const std::string& zone, dst_policy policy, const std::string& after, std::size_t count) {
  return coming(read(text), load(zone), policy, after, count);
}

}  // namespace fairlead::core
