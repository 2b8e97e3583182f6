// Describes a registry for `status`: agents, services, and sentences that say why steps wait.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "actors/registry/registry.hpp"

namespace fairlead {

namespace {

constexpr int most_reasons = 10;

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string labels_text(const std::vector<registered::label>& labels) {
  std::string out;
  for (const auto& [name, value] : labels) out += (out.empty() ? "" : ", ") + name + "=" + value;
  return out;
}

}  // namespace

namespace registered {

std::uint64_t waiting(const service& of) {
  std::uint64_t out = 0;
  for (const auto& [key, needs] : of.demands) out += needs->waiting;
  return out;
}

std::string why_absent(const demand& what) {
  const auto& all = what.of->instances;
  const auto carries = [&](const instance* one) {
    return std::includes(one->labels.begin(), one->labels.end(), what.labels.begin(), what.labels.end());
  };
  const auto with_labels = what.labels.empty() ? std::string{} : " with labels " + labels_text(what.labels);
  if (std::none_of(all.begin(), all.end(), carries)) return "no instance" + (all.empty() ? " of " + what.of->agent : "") + with_labels;
  const auto every = [&](auto&& is) {
    return std::all_of(all.begin(), all.end(), [&](const instance* one) { return !carries(one) || is(one); });
  };
  if (every([](const instance* one) { return one->draining(); })) return "all instances" + with_labels + " are draining";
  if (every([](const instance* one) { return one->silent; }))
    return "all instances" + with_labels + " are silent: their processes send no requests";
  if (every([](const instance* one) { return one->away; })) return "no node with an instance" + with_labels + " is connected";
  if (every([](const instance* one) { return !one->takes_work(); }))
    return "all instances" + with_labels + " are draining, silent or on nodes that are not connected";
  return "no instance" + with_labels + " that takes work " + (what.lookup ? "can look up call " : "knows call ") + what.call;
}

}  // namespace registered

namespace {

struct limit_use {
  std::uint64_t waiting = 0;
  std::set<const core::limit_bucket*> used_up;
};

/// Counts the steps in `line` by the limit that blocks them.
void count_limits(const wait_queues& queues, const registered::demand& line, moment now,
                  std::map<const core::limit_rule*, limit_use>& out) {
  const auto full = [now](const core::limit_bucket* one) { return !core::limit_book::has_room(*one, now); };
  const auto common = std::find_if(line.common.begin(), line.common.end(), full);
  if (common != line.common.end()) {
    auto& use = out[(*common)->rule];
    use.waiting += line.waiting;
    use.used_up.insert(*common);
    return;
  }
  queues.for_each_keyed(line, [&](const std::vector<core::limit_bucket*>& buckets, std::size_t tasks) {
    const auto found = std::find_if(buckets.begin(), buckets.end(), full);
    if (found == buckets.end()) return;
    auto& use = out[(*found)->rule];
    use.waiting += tasks;
    use.used_up.insert(*found);
  });
}

void show_limits(const registered::service& of, const std::map<const core::limit_rule*, limit_use>& use, v1::ServiceStatus& line) {
  for (const auto* rule : of.limits.rules()) {
    auto& shown = *line.add_limits();
    *shown.mutable_policy() = rule->policy;
    std::uint64_t held = 0;
    std::uint64_t keys = 0;
    for (const auto& [key, bucket] : rule->buckets) {
      held += bucket->held;
      if (bucket->held > 0 || bucket->users > 0) ++keys;
    }
    shown.set_held(held);
    shown.set_keys(rule->keyed ? keys : 0);
    if (const auto found = use.find(rule); found != use.end()) shown.set_waiting(found->second.waiting);
  }
}

/// Why no instance is free for the demand although there are some.
std::string why_full(const registered::demand& line) {
  std::uint64_t well = 0;
  for (const auto* one : line.instances) well += one->health.sick() ? 0 : 1;
  const auto sick = line.instances.size() - well;
  const auto with_labels = line.labels.empty() ? std::string{} : " with labels " + labels_text(line.labels);
  if (line.instances.size() == 1) return "the only instance" + with_labels + " is at capacity";
  if (well == 0 || sick == 0) return "all " + std::to_string(line.instances.size()) + " instances" + with_labels + " are at capacity";
  return "all " + plural(well, "healthy instance", "healthy instances") + with_labels + " are at capacity, and " +
         plural(sick, "sick instance gets", "sick instances get") + " single attempts";
}

}  // namespace

void registry::describe(v1::StatusReply& out) const {
  const auto now = time_.now();
  const auto oldest = queues_.oldest();
  std::vector<const service*> sorted;
  for (const auto& [name, of] : services_) sorted.push_back(&of);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->agent < b->agent; });
  for (const auto* of : sorted) {
    const auto waits = waiting(*of);
    auto instances = of->instances;
    std::sort(instances.begin(), instances.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    // An agent without any instance is listed if steps wait for it.
    if (instances.empty() && waits == 0 && of->breaker.state() == v1::BREAKER_STATE_CLOSED) continue;
    if (instances.empty() && waits > 0) {
      auto& line = *out.add_agents();
      line.set_agent(of->agent);
      line.set_waiting(waits);
    }
    for (const auto* one : instances) {
      auto& line = *out.add_agents();
      line.set_agent(of->agent);
      line.set_instance(one->name);
      line.set_kind(one->kind);
      line.set_incarnation(one->incarnation);
      line.set_capacity(one->capacity);
      line.set_held(one->held);
      line.set_waiting(waits);
      for (const auto& call : one->calls) line.add_calls(call);
      for (const auto& [name, value] : one->labels) {
        auto& label = *line.add_labels();
        label.set_key(name);
        label.set_value(value);
      }
      line.set_node(one->node);
      line.set_away(one->away);
      line.set_draining(one->draining());
      line.set_silent(one->silent);
      for (const auto& drained : of->record.drained())
        if (one->drained && drained.instance() == one->name) line.set_drained_by(drained.who());
      line.set_sick(one->health.sick());
      line.set_sickness(one->health.sickness());
      line.set_error_percent(one->health.error_percent());
      line.set_failed_in_a_row(one->health.failed_in_a_row());
      line.set_last_fault(one->health.last_fault());
      line.set_latency_ms(one->health.latency_ms());
      line.set_heard_unix_ms(to_unix_ms(one->heard));
      line.set_handed_over(one->handed_over);
    }
    auto& line = *out.add_services();
    *line.mutable_record() = of->record;
    of->breaker.store(*line.mutable_record());
    line.set_waiting(waits);
    // A closed breaker has no reason of its own.
    if (of->breaker.reason().empty()) line.mutable_record()->set_breaker_reason(of->breaker.faults(now));
    const auto window = of->breaker.window(now);
    line.set_window_tries(window.tries);
    line.set_window_failed(window.failed);
    line.set_window_slow(window.slow);

    std::set<std::string> reasons;
    if (const auto why = of->breaker.sentence(of->agent); !why.empty()) reasons.insert(why);
    std::map<const core::limit_rule*, limit_use> use;
    std::optional<moment> since;
    for (const auto& [key, needs] : of->demands) {
      if (needs->waiting == 0) continue;
      if (const auto found = oldest.find(needs.get()); found != oldest.end())
        since = std::min(since.value_or(found->second), found->second);
      count_limits(queues_, *needs, now, use);
      if (closed_) reasons.insert("the node is draining");
      if (needs->instances.empty()) {
        reasons.insert(why_absent(*needs));
      } else if (needs->blocked && needs->blocked_by == blocker::capacity) {
        reasons.insert(why_full(*needs));
      }
    }
    if (since) line.set_oldest_wait_unix_ms(to_unix_ms(*since));
    for (const auto& [rule, used] : use) {
      if (used.used_up.empty()) continue;
      reasons.insert(rule->name() + " is used up" + (rule->keyed ? " for " + plural(used.used_up.size(), "key", "keys") : ""));
    }
    for (const auto& why : reasons)
      if (line.reasons_size() < most_reasons) line.add_reasons(why);
    show_limits(*of, use, line);
  }
}

}  // namespace fairlead
