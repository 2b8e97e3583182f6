#include "tests/simulation/plans/job_plans.hpp"

#include <cctz/time_zone.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "actors/core/job/check.hpp"
#include "actors/system/time_zones.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::int64_t second_ms = 1'000;

using seconds_point = cctz::time_point<cctz::seconds>;

seconds_point at(std::int64_t unix_s) { return seconds_point{std::chrono::seconds{unix_s}}; }

/// Changes by an hour, by half of one, at midnight, by a whole day, and into both directions.
constexpr std::array<const char*, 8> zones{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana",
                                           "Asia/Beirut",   "Pacific/Apia",     "America/Sao_Paulo",   "Africa/Casablanca"};

/// The first change of the zone's clock after `unix_s`.
std::int64_t change_after(const cctz::time_zone& zone, std::int64_t unix_s) {
  cctz::time_zone::civil_transition change;
  if (!zone.next_transition(at(unix_s), &change)) return unix_s;
  const auto there = zone.lookup(change.to);
  const auto found = there.kind == cctz::time_zone::civil_lookup::UNIQUE ? there.pre : there.trans;
  return found.time_since_epoch().count();
}

class job_maker {
 public:
  job_maker(world& in, const job_era& era) : luck_(in.jobs), era_(era) {}

  v1::JobSpec make(const std::string& name, const std::vector<v1::WorkflowDefinition>& workflows, const std::vector<agent_site>& sites) {
    spec_.set_name(name);
    const auto zone = luck_.below(100);
    if (zone < 70)
      spec_.set_zone(era_.zone);
    else if (zone < 85)
      spec_.set_zone(zones.at(static_cast<std::size_t>(luck_.below(zones.size()))));
    spec_.set_dst(static_cast<v1::DstPolicy>(luck_.below(4)));
    spec_.set_schedule(schedule());
    // The last one is the short one.
    spec_.set_workflow(luck_.chance(850) ? workflows.back().name() : luck_.pick(workflows).name());
    spec_.set_input(job_input);
    policies();
    waits(sites);
    if (luck_.chance(250)) spec_.set_priority(static_cast<std::int32_t>(luck_.between(-2, 2)));
    if (luck_.chance(250)) spec_.set_alert_after(static_cast<std::uint32_t>(luck_.below(4)));
    if (luck_.chance(100)) spec_.set_paused(true);
    spec_.set_keep_launches(100'000);
    return std::move(spec_);
  }

 private:
  std::string schedule() {
    const auto how = luck_.below(100);
    if (era_.slow) {
      period_ms_ = 60 * second_ms * luck_.between(1, 9);
      const auto minutes = std::to_string(period_ms_ / 60 / second_ms);
      if (how < 40) return "*/" + minutes + " * * * *";
      if (how < 60) return "?/" + minutes + " * * * *";
      if (how < 80) return "@every " + minutes + "m";
      return wall_clock("*/" + minutes);
    }
    period_ms_ = second_ms * (luck_.chance(200) ? luck_.between(1, 2) : luck_.between(3, 12));
    const auto seconds = std::to_string(period_ms_ / second_ms);
    if (how < 30) return "*/" + seconds + " * * * * *";
    if (how < 40) return "?/" + seconds + " * * * * *";
    if (how < 65) return "@every " + seconds + "s";
    if (how < 75) return "@every " + std::to_string(luck_.between(13, 150)) + "s";
    return wall_clock("*/" + seconds);
  }

  /// At fixed times of the wall clock around the change: some lie in what it swallows or shows twice.
  std::string wall_clock(const std::string& seconds) {
    const auto& zone = *time_zones::of_system().find(spec_.zone());
    const auto span_s = era_.slow ? 5'400 : 30;
    const auto local = zone.lookup(at(era_.change_s + luck_.between(-span_s, span_s) - (luck_.chance(300) ? 3'600 : 0))).cs;
    const auto minute = std::to_string(local.minute());
    const auto hour = std::to_string(local.hour());
    if (era_.slow) return luck_.chance(500) ? minute + "/3 " + hour + " * * *" : minute + " * * * *";
    const auto next = std::to_string((local.minute() + 1) % 60);
    switch (luck_.below(3)) {
      case 0: return seconds + " " + minute + " " + hour + " * * *";
      case 1: return seconds + " " + minute + "," + next + " * * * *";
      default: return std::to_string(local.second()) + " " + minute + "," + next + ",0,30 " + hour + " * * *";
    }
  }

  void policies() {
    const auto overlap = luck_.below(100);
    spec_.set_overlap(overlap < 25   ? v1::OVERLAP_POLICY_ALLOW
                      : overlap < 45 ? v1::OVERLAP_POLICY_SKIP
                      : overlap < 55 ? v1::OVERLAP_POLICY_UNSPECIFIED
                      : overlap < 78 ? v1::OVERLAP_POLICY_QUEUE
                                     : v1::OVERLAP_POLICY_REPLACE);
    spec_.set_catch_up(static_cast<v1::CatchUpPolicy>(luck_.below(4)));
    // Everything of a long outage would be a world of its own.
    const auto most_caught_up = luck_.between(4, 14) * period_ms_;
    if (spec_.catch_up() == v1::CATCH_UP_POLICY_ALL)
      spec_.set_catch_up_window_ms(most_caught_up);
    else if (spec_.catch_up() != v1::CATCH_UP_POLICY_NONE && luck_.chance(500))
      spec_.set_catch_up_window_ms(luck_.between(2, 120) * second_ms);
    if (luck_.chance(150)) spec_.set_count_parked(true);
    if (luck_.chance(200)) spec_.set_max_in_flight(static_cast<std::uint32_t>(luck_.between(1, 3)));
  }

  void waits(const std::vector<agent_site>& sites) {
    if (luck_.chance(250)) spec_.set_jitter_ms(luck_.between(1, 4'000));
    if (luck_.chance(300)) spec_.set_start_window_ms(spec_.jitter_ms() + luck_.between(0, 15'000));
    if (luck_.chance(200)) spec_.set_deadline_ms(spec_.jitter_ms() + luck_.between(500, 40'000));
    if (!luck_.chance(250)) return;
    const auto& site = luck_.pick(sites);
    auto& need = *spec_.add_needs();
    need.set_agent(site.agent);
    // At times more than there ever are.
    need.set_slots(luck_.chance(100) ? 1'000 : static_cast<std::uint32_t>(1 + luck_.below(site.capacity)));
    if (luck_.chance(300) && !site.zone.empty()) {
      auto& label = *need.add_labels();
      label.set_key("zone");
      label.set_value(site.zone);
    }
    if (!spec_.has_start_window_ms()) spec_.set_start_window_ms(spec_.jitter_ms() + luck_.between(1, 20) * second_ms);
  }

  random_stream& luck_;
  const job_era& era_;
  v1::JobSpec spec_;
  std::int64_t period_ms_ = second_ms;
};

}  // namespace

job_era make_era(world& in) {
  auto& luck = in.jobs;
  job_era out;
  const auto any = luck.chance(350);
  out.zone = zones.at(static_cast<std::size_t>(luck.below(zones.size())));
  const auto year = luck.between(2009, 2026);
  const auto from_s = (year - 1970) * 31'556'952 + luck.between(0, 31'000'000);
  const auto before_ms = luck.between(0, 25 * second_ms);
  out.slow = luck.chance(350);
  if (!any || !in.settings.has(concern::jobs)) return out;
  out.any = true;
  out.change_s = change_after(*time_zones::of_system().find(out.zone), from_s);
  out.begin_ms = out.change_s * second_ms - before_ms * (out.slow ? 40 : 1);
  return out;
}

v1::WorkflowDefinition make_job_workflow(world& in, const std::vector<agent_site>& sites) {
  auto& luck = in.jobs;
  v1::WorkflowDefinition out;
  out.set_name("wj");
  out.set_on_failure(luck.chance(850) ? v1::ON_FAILURE_UNDO : v1::ON_FAILURE_PARK);
  auto& step = *out.add_steps();
  step.set_name("s0");
  step.set_agent(luck.pick(sites).agent);
  step.set_call("do");
  step.set_timeout_ms(luck.between(500, 4'000));
  step.set_attempts(static_cast<std::uint32_t>(luck.between(1, 3)));
  step.mutable_backoff()->set_first_ms(luck.between(20, 300));
  step.mutable_backoff()->set_factor(2);
  step.mutable_backoff()->set_max_ms(1'000);
  step.set_in_doubt(v1::IN_DOUBT_RETRY);
  step.set_with_json(R"({"n":"${ .input.n }","at":"${ .task.id }"})");
  if (luck.chance(500)) {
    step.mutable_undo()->set_call("back");
    step.mutable_undo()->set_timeout_ms(luck.between(300, 3'000));
    step.mutable_undo()->set_attempts(5);
    step.mutable_undo()->mutable_backoff()->set_first_ms(100);
    step.mutable_undo()->mutable_backoff()->set_factor(2);
    step.mutable_undo()->mutable_backoff()->set_max_ms(1'000);
    step.mutable_undo()->set_with_json(R"({"n":"${ .input.n }"})");
  } else {
    step.mutable_undo()->set_none(true);
  }
  return out;
}

v1::JobSpec make_job(world& in, const job_era& era, const std::string& name, const std::vector<v1::WorkflowDefinition>& workflows,
                     const std::vector<agent_site>& sites) {
  auto out = job_maker{in, era}.make(name, workflows, sites);
  const auto problems = core::check_job(out, time_zones::of_system());
  if (!problems.empty())
    throw std::logic_error{"the generator made an unlawful job: " + problems.front().field + " " + problems.front().sentence + "\n" +
                           out.DebugString()};
  return out;
}

}  // namespace fairlead::simulation
