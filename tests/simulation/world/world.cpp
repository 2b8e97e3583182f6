#include "tests/simulation/world/world.hpp"

#include <algorithm>
#include <cstdio>

#include <xxhash.h>

namespace fairlead::simulation {

namespace {

constexpr std::uint64_t most_deaths = 7;  // of processes in one run; more only hide what the first have done

constexpr std::uint64_t events_of_a_round = 5'000;  // looked at to say what goes round
constexpr std::size_t most_named = 5;

bool kills_agent(failpoint_id where) { return where >= failpoint_id::agent_received; }

}  // namespace

const char* concern_name(concern which) {
  switch (which) {
    case concern::node_crashes: return "node_crashes";
    case concern::agent_deaths: return "agent_deaths";
    case concern::network: return "network";
    case concern::slow_services: return "slow_services";
    case concern::failing_services: return "failing_services";
    case concern::doubtful_services: return "doubtful_services";
    case concern::operators: return "operators";
    case concern::clock_jumps: return "clock_jumps";
    case concern::slow_disk: return "slow_disk";
    case concern::expressions: return "expressions";
    case concern::resubmissions: return "resubmissions";
    case concern::second_supervisor: return "second_supervisor";
    case concern::large_payloads: return "large_payloads";
    case concern::heartbeats: return "heartbeats";
    case concern::tries: return "tries";
    case concern::expiring_keys: return "expiring_keys";
    case concern::breakers: return "breakers";
    case concern::limits: return "limits";
    case concern::labels: return "labels";
    case concern::drains: return "drains";
    case concern::absence: return "absence";
    case concern::cut_links: return "cut_links";
    case concern::frozen_links: return "frozen_links";
    case concern::lone_crashes: return "lone_crashes";
    case concern::skewed_clocks: return "skewed_clocks";
    case concern::second_shard: return "second_shard";
    case concern::jobs: return "jobs";
    case concern::long_outages: return "long_outages";
    case concern::clock_falls: return "clock_falls";
    case concern::far_clocks: return "far_clocks";
    case concern::archives: return "archives";
    case concern::targets: return "targets";
    case concern::polls: return "polls";
    case concern::bugs: return "bugs";
    case concern::versions: return "versions";
    case concern::full_stores: return "full_stores";
    case concern::old_stores: return "old_stores";
    case concern::crowds: return "crowds";
    case concern::wrong_clocks: return "wrong_clocks";
    case concern::restores: return "restores";
    case concern::replicas: return "replicas";
    case concern::workers: return "workers";
    case concern::own_steps: return "own_steps";
    case concern::signals: return "signals";
    case concern::results: return "results";
    case concern::repeats: return "repeats";
    case concern::undo_of_failed: return "undo_of_failed";
    case concern::callbacks: return "callbacks";
    case concern::retry_rules: return "retry_rules";
    case concern::joins: return "joins";
    case concern::schemas: return "schemas";
    case concern::ends: return "ends";
    case concern::children: return "children";
    case concern::items: return "items";
    case concern::count: break;
  }
  return "?";
}

bool world::step(std::int64_t until_us) {
  if (queue_.empty() || queue_.top().at_us > until_us) {
    now_us_ = std::max(now_us_, until_us);
    return false;
  }
  // The entry must leave the queue before it runs: it may add others.
  auto next = std::move(const_cast<entry&>(queue_.top()));
  queue_.pop();
  now_us_ = std::max(now_us_, next.at_us);
  if (++events_ - before_round_ > settings.most_events + events_of_a_round) end_the_round();
  next.what();
  return true;
}

void world::end_the_round() const {
  std::vector<std::pair<std::uint64_t, std::string>> most;
  for (const auto& [what, n] : round_) most.emplace_back(n, what);
  std::sort(most.rbegin(), most.rend());
  std::string named;
  for (std::size_t i = 0; i < std::min(most.size(), most_named); ++i)
    named += (i == 0 ? "" : ", ") + most[i].second + " " + std::to_string(most[i].first) + " times";
  broken("endless", "the run has taken " + std::to_string(events_) + " events and " + std::to_string(now_us_ / second) +
                        " s; among the last " + std::to_string(events_of_a_round) + ": " +
                        (named.empty() ? "nothing that has a name" : named));
}

bool world::strikes(concern which, random_stream& luck, std::uint64_t per_mille) {
  // Luck is drawn also when the concern is off, so that the stream stays in step.
  const auto hit = luck.chance(per_mille);
  if (!hit || !troubled(which)) return false;
  ++faults_;
  return true;
}

bool world::strikes(failpoint_id where) {
  const auto index = static_cast<std::size_t>(where);
  ++passed_[index];
  if (favourite_ == -1) {
    favourite_ = crashes.chance(600) ? static_cast<int>(crashes.below(failpoint_count)) : -2;
    deaths_left_ = crashes.chance(150) ? 0 : 1 + crashes.below(most_deaths);
  }
  const auto likely = favourite_ == static_cast<int>(index) ? likely_ : seldom_;
  const auto hit = crashes.chance(likely);
  if (!hit || deaths_left_ == 0 || !troubled(kills_agent(where) ? concern::agent_deaths : concern::node_crashes)) return false;
  --deaths_left_;
  ++faults_;
  ++struck_[index];
  tell("fate", "", index, [&] { return "strikes at " + std::string{failpoint_names[index]}; });
  return true;
}

void world::fold(std::string_view text) { fold(XXH3_64bits(text.data(), text.size())); }

std::uint64_t world::weigh(const google::protobuf::MessageLite& message) {
  const auto bytes = message.SerializeAsString();
  return XXH3_64bits(bytes.data(), bytes.size());
}

void world::line(std::string_view who, std::string_view whom, std::string text) {
  char when[32];
  std::snprintf(when, sizeof when, "%9.3f ", static_cast<double>(now_us_) / second);
  std::string out = when;
  out += who;
  if (!whom.empty()) out.append(" -> ").append(whom);
  lines_.push_back(out + ": " + text);
}

void world::report(verdict& out) {
  out.hash = hash_;
  out.events = events_;
  out.faults = faults_;
  out.simulated_ms = now_us_ / millisecond;
  for (std::size_t i = 0; i < failpoint_count; ++i) {
    if (passed_[i] != 0) out.passed[std::string{failpoint_names[i]}] = passed_[i];
    if (struck_[i] != 0) out.struck[std::string{failpoint_names[i]}] = struck_[i];
  }
  out.counts = counts_;
  for (const auto& [rule, n] : judged_) out.judged[rule] += n;
  out.transcript = std::move(lines_);
}

}  // namespace fairlead::simulation
