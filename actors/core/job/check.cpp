#include "actors/core/job/check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "actors/core/cron/expression.hpp"
#include "actors/core/cron/next.hpp"
#include "actors/core/job/launch_input.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/text/labels.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/workflow/check.hpp"
#include "messages/time.hpp"

namespace fairlead::core {

namespace {

constexpr std::size_t max_job_name = 128;

/// Names may come from anyone: shown short and without control characters.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 64;
  auto out = clean_text(text, most);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return '"' + out + (text.size() > most ? "…" : "") + '"';
}

class job_checker {
 public:
  job_checker(const v1::JobSpec& spec, const zone_source& zones) : spec_(spec), zones_(zones) {}

  std::vector<job_problem> run() {
    if (!valid_job_name(spec_.name())) {
      add("job", spec_.name().empty() ? "the job has no name" : shown(spec_.name()) + " is not a valid job name",
          "a name has 1 to 128 of A-Z a-z 0-9 . _ : / -");
    } else if (spec_.name().front() == '-') {
      add("job", shown(spec_.name()) + " begins with `-`, like an option of a command", "begin the name with another character");
    }
    schedule();
    zone();
    known("dst", v1::DstPolicy_IsValid(spec_.dst()), "vixie, literal or skip_once");
    if (!valid_name(spec_.workflow())) {
      add("workflow", spec_.workflow().empty() ? "the job has no workflow" : shown(spec_.workflow()) + " is not a valid workflow name",
          "fairlead workflow list shows the deployed workflows");
    }
    input();
    known("overlap", v1::OverlapPolicy_IsValid(spec_.overlap()), "allow, skip, queue or replace");
    known("catch_up", v1::CatchUpPolicy_IsValid(spec_.catch_up()), "all, latest or none");
    times();
    number("priority", spec_.priority(), -max_job_priority, max_job_priority);
    labels("labels", spec_.labels());
    needs();
    // In these fields 0 means: not given.
    if (spec_.max_in_flight() != 0)
      number("max_in_flight", spec_.max_in_flight(), 1, max_open_launches, "a job never has more open launches than this");
    if (spec_.keep_launches() != 0)
      number("keep_launches", spec_.keep_launches(), 1, max_keep_launches,
             "without it " + std::to_string(default_keep_launches) + " are remembered");
    notes();
    return std::move(found_);
  }

 private:
  void add(std::string field, std::string sentence, std::string remedy = {}, std::size_t position = 0) {
    found_.push_back({std::move(field), std::move(sentence), std::move(remedy), position});
  }

  void known(const char* field, bool valid, const std::string& values) {
    if (!valid) add(field, "this release does not know this value", "one of " + values);
  }

  void number(const std::string& field, std::int64_t value, std::int64_t least, std::int64_t most, std::string remedy = {}) {
    if (value >= least && value <= most) return;
    add(field, std::to_string(value) + " is not between " + std::to_string(least) + " and " + std::to_string(most), std::move(remedy));
  }

  /// Whether the value lies within its bounds; only then comparisons with other fields make sense.
  bool range(const char* field, std::int64_t ms, std::int64_t least_ms, std::int64_t most_ms) {
    if (ms >= least_ms && ms <= most_ms) return true;
    // YAML has no negative durations, but a message may hold one.
    add(field, (ms < 0 ? std::to_string(ms) + "ms" : format_duration(ms)) + " is not between " + format_duration(least_ms) + " and " +
                   format_duration(most_ms));
    return false;
  }

  void schedule() {
    const auto parsed = cron_expression::parse(spec_.schedule(), spec_.name());
    if (const auto* problem = std::get_if<cron_problem>(&parsed)) {
      add("schedule", problem->sentence, "fairlead job next 'EXPR' tries an expression out", problem->position);
      return;
    }
    const auto& expression = std::get<cron_expression>(parsed);
    if (expression.every_s() == 0 && !ever_matches(expression))
      add("schedule", shown(spec_.schedule()) + " never matches: no year has such a day",
          "fairlead job next 'EXPR' tries an expression out");
    else if (const auto* zone = zones_.find(spec_.zone()); zone != nullptr && !next_instant(expression, *zone, dst_of(spec_.dst()), 0))
      // The days exist, but on all of them the time is in a gap.
      add("schedule", shown(spec_.schedule()) + " never matches in this time zone under this dst policy",
          "fairlead job next 'EXPR' --tz ZONE --dst POLICY tries it out");
  }

  void zone() {
    if (zones_.find(spec_.zone()) != nullptr) return;
    add("time_zone", shown(spec_.zone()) + " is not a time zone of this machine",
        "use a name of the time zone database (package tzdata) such as Europe/Berlin, or UTC");
  }

  void input() {
    if (spec_.input().size() > max_input_bytes) {
      add("input", "it has " + std::to_string(spec_.input().size()) + " bytes; at most " + std::to_string(max_input_bytes) + " are allowed",
          "keep large data elsewhere and give a reference to it");
      return;
    }
    if (const auto checked = check_job_input(spec_.input()); !checked.ok())
      add("input", checked.failure().sentence, checked.failure().remedy);
  }

  void times() {
    if (spec_.catch_up_window_ms() != 0 && range("catch_up.within", spec_.catch_up_window_ms(), 1, max_job_window_ms) &&
        spec_.catch_up() == v1::CATCH_UP_POLICY_NONE)
      add("catch_up.within", "catch_up is none, so this key has no effect", "leave the key out, or set catch_up: latest or all");
    const bool window = !spec_.has_start_window_ms() || range("start_window", spec_.start_window_ms(), 0, max_job_window_ms);
    const auto jitter_ms = spec_.jitter_ms();
    // The effective window: a launch that waits for agents does not wait for ever.
    const auto window_ms = spec_.has_start_window_ms() ? spec_.start_window_ms()
                           : spec_.needs_size() > 0    ? default_needs_window_ms
                                                       : max_job_window_ms;
    if (window && jitter_ms > 0 && jitter_ms <= max_job_jitter_ms && window_ms < jitter_ms) {
      add("start_window",
          (spec_.has_start_window_ms() ? "it ends after " : "a job with needs has a start window of ") + format_duration(window_ms) +
              ", but jitter may delay the start by " + format_duration(jitter_ms),
          "at least " + format_duration(jitter_ms) + ", or a smaller jitter");
    }
    const bool jitter = range("jitter", jitter_ms, 0, max_job_jitter_ms);
    if (spec_.deadline_ms() != 0 && range("deadline", spec_.deadline_ms(), 1, max_job_window_ms) && jitter &&
        spec_.deadline_ms() <= jitter_ms) {
      add("deadline",
          "a launch must end " + format_duration(spec_.deadline_ms()) + " after its time, but jitter may delay its start by " +
              format_duration(jitter_ms),
          "set a deadline longer than the jitter");
    }
  }

  void labels(const std::string& field, const google::protobuf::RepeatedPtrField<v1::Label>& given) {
    if (given.size() > max_labels) {
      add(field, "there are " + std::to_string(given.size()) + " labels; at most " + std::to_string(max_labels) + " are allowed");
      return;
    }
    std::set<std::string_view> keys;
    for (const auto& label : given) {
      if (!valid_label(label))
        add(field, shown(label.key()) + " with the value " + shown(label.value()) + " is not a label",
            std::string{"expected "} + label_rule);
      else if (!keys.insert(label.key()).second)
        add(field, "two labels have the key " + shown(label.key()));
    }
  }

  void needs() {
    if (spec_.needs_size() > max_job_needs) {
      add("needs",
          "there are " + std::to_string(spec_.needs_size()) + " agents; at most " + std::to_string(max_job_needs) + " are allowed");
      return;
    }
    std::set<std::pair<std::string, std::map<std::string, std::string>>> known;
    for (int i = 0; i < spec_.needs_size(); ++i) {
      const auto& need = spec_.needs(i);
      const auto field = "needs[" + std::to_string(i) + "]";
      if (!valid_agent_name(need.agent())) {
        add(field + ".agent",
            need.agent().empty() ? "the name of the agent is missing" : shown(need.agent()) + " is not a valid agent name",
            "fairlead agent list shows the registered agents");
      }
      number(field + ".slots", need.slots(), 1, max_needed_slots);
      labels(field + ".labels", need.labels());
      std::map<std::string, std::string> kind;
      for (const auto& label : need.labels()) kind.emplace(label.key(), label.value());
      // Each need is checked alone, so the same free slots would satisfy both.
      if (valid_agent_name(need.agent()) && !known.emplace(need.agent(), std::move(kind)).second)
        add(field, "the agent " + need.agent() + (need.labels().empty() ? "" : " with these labels") + " is listed twice",
            "list it once, with the sum of the slots");
    }
  }

  void notes() {
    const auto& text = spec_.notes();
    if (text.size() > max_notes_bytes) {
      add("notes", "they have " + std::to_string(text.size()) + " bytes; at most " + std::to_string(max_notes_bytes) + " are allowed");
    } else if (clean_text(text, max_notes_bytes) != text) {
      add("notes", "they are not UTF-8");
    }
  }

  const v1::JobSpec& spec_;
  const zone_source& zones_;
  std::vector<job_problem> found_;
};

}  // namespace

std::vector<job_problem> check_job(const v1::JobSpec& spec, const zone_source& zones) { return job_checker{spec, zones}.run(); }

bool valid_job_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' || c == '/' ||
           c == '-';
  };
  return !name.empty() && name.size() <= max_job_name && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace fairlead::core
