#include "app/json/job/next.hpp"

#include <limits>
#include <variant>

#include "actors/core/cron/expression.hpp"
#include "actors/core/cron/next.hpp"
#include "app/files/job_file.hpp"
#include "app/files/job_words.hpp"
#include "app/json/times.hpp"
#include "app/json/words.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

core::dst_policy policy_of(v1::DstPolicy policy) {
  switch (policy) {
    case v1::DST_POLICY_LITERAL: return core::dst_policy::literal;
    case v1::DST_POLICY_SKIP_ONCE: return core::dst_policy::skip_once;
    default: return core::dst_policy::vixie;
  }
}

/// Scheduled times are whole seconds. The first one after a fraction comes after the second that
/// holds the fraction, so negative times are rounded down too.
std::int64_t second_of(std::int64_t unix_ms) { return unix_ms / 1'000 - (unix_ms % 1'000 < 0 ? 1 : 0); }

}  // namespace

std::string instant_text(std::int64_t unix_ms) {
  auto out = core::format_local(second_of(unix_ms), cctz::utc_time_zone());
  out.resize(out.rfind('+'));
  if (const auto rest = unix_ms - second_of(unix_ms) * 1'000; rest != 0) out += "." + std::to_string(1'000 + rest).substr(1);
  return out + "Z";
}

result<next_answer> coming_instants(const next_question& what, const core::zone_source& zones, std::int64_t now_unix_ms,
                                    std::string* at_fault) {
  // As whoever asks has typed it.
  const auto called = [at_fault](const std::string& field, const std::string& option) {
    return at_fault != nullptr ? "field '" + field + "'" : option;
  };
  const auto look_at = [at_fault](const char* field) {
    if (at_fault != nullptr) *at_fault = field;
  };
  look_at("schedule");
  const auto parsed = core::cron_expression::parse(what.expression, what.job);
  if (const auto* why = std::get_if<core::cron_problem>(&parsed))
    return invalid(
        "The expression has an error at position " + std::to_string(why->position) + ": " + why->sentence,
        "Write five fields: minute hour day-of-month month day-of-week, such as '30 2 * * MON-FRI'; or six fields, with seconds first");
  const auto& expression = std::get<core::cron_expression>(parsed);
  look_at("time_zone");
  const auto* zone = zones.find(what.zone);
  if (zone == nullptr) return invalid("There is no time zone '" + what.zone + "'", as_remedy(zone_remedy(what.zone)));
  look_at("dst");
  const auto dst = value_of_word(dst_words(), what.dst, called("dst", "--dst"));
  if (!dst) return dst.failure();
  look_at("count");
  if (what.count < 1 || what.count > max_coming)
    return invalid("A count of " + std::to_string(what.count) + " is out of range", "Give a count from 1 to " + std::to_string(max_coming));
  auto after = second_of(now_unix_ms);
  if (what.after) {
    look_at("after");
    const auto given = read_utc(called("after", "--after"), *what.after);
    if (!given) return given.failure();
    after = second_of(*given);
  }
  look_at("schedule");
  if (!core::ever_matches(expression))
    return error{v1::ERROR_CODE_NOT_FOUND, "The expression '" + what.expression + "' never matches: no year has a day that fits",
                 "Check the day and the month"};

  next_answer out;
  while (out.instants.size() < what.count) {
    const auto next = core::next_instant(expression, *zone, policy_of(*dst), after);
    if (!next) break;
    out.instants.push_back({instant_text(*next * 1'000), core::format_local(*next, *zone)});
    after = *next;
  }
  if (out.instants.empty() && !core::next_instant(expression, *zone, policy_of(*dst), std::numeric_limits<std::int64_t>::min() / 2))
    return error{v1::ERROR_CODE_NOT_FOUND,
                 "The expression '" + what.expression + "' never matches: a clock change skips its time on every day that fits",
                 "Check the time zone, or choose another " + called("dst", "--dst")};
  if (out.instants.size() < what.count) out.remark = "There are no more times before the year 10000";
  if (what.job.empty() && what.expression.find('?') != std::string::npos)
    out.remark += std::string{out.remark.empty() ? "" : ". "} + "? takes its value from the name of the job: give the name with " +
                  called("job", "--name");
  return out;
}

std::string next_json(const next_answer& answer) {
  json_writer out;
  out.begin_array();
  for (const auto& one : answer.instants) out.begin_object().key("utc").string(one.utc).key("local").string(one.local).end_object();
  return out.end_array().text();
}

}  // namespace fairlead::app
