#include "tests/simulation/agent_process.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/checker.hpp"

namespace fairlead::simulation {

using fairlead::agents::attempt_key;
using fairlead::agents::attempt_result;

namespace {

/// As agent_actor: while attempts are held the host looks at the clock at least this often.
constexpr std::int64_t longest_rest_ms = 1'000;

}  // namespace

agents::process::process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around)
    : world_(in),
      services_(behind),
      site_(site),
      me_{site.instance, incarnation, 0, site.profile->key_valid_for_ms},
      around_(std::move(around)),
      host_({site.agent, site.instance, incarnation, "native", site.settings(), nullptr}, *this, in, *this) {
  host_.plant(*around_.planted);
}

// Guarantee 4: whoever reaches the end of its lease says nothing of what it has not finished. Timers count whole milliseconds.
void agents::process::check_silence(const v1::Outcome& said) {
  const auto found = begun_.find({said.task_number(), said.step(), said.direction(), said.attempt()});
  if (found == begun_.end()) return;
  auto& lease = found->second;
  // What was over as soon as it began is first heard of here.
  if (!lease.finished) lease.finished = world_.now();
  // Once the wall clock has been set, a reminder that was made before may come late; the fence is what counts then.
  if (world_.clock_settings() == 0 && *lease.finished > lease.until + duration{2})
    world::broken("spoke_after_lease", site_.instance + " reports attempt " + std::to_string(said.attempt()) + " of step " +
                                           std::to_string(said.step()) + " of task " + std::to_string(said.task_number()) +
                                           ", which it had not finished when its lease ended");
}

std::vector<std::string> agents::process::lookups() const {
  if (site_.lookups) return {"do"};
  return {};
}

std::vector<v1::CallPolicy> agents::process::policies() const {
  if (site_.profile->key_valid_for_ms == 0) return {};
  v1::CallPolicy out;
  out.set_call("do");
  out.set_key_valid_for_ms(site_.profile->key_valid_for_ms);
  return {out};
}

void agents::process::perform(const v1::PerformBatch& what) {
  if (world_.strikes(failpoint_id::agent_received)) throw process_killed{};
  me_.epoch = std::max(me_.epoch, what.epoch());
  host_.perform(what);
  after_message();
}

void agents::process::acknowledged(const v1::OutcomeAckBatch& what) {
  host_.acknowledged(what);
  if (world_.strikes(failpoint_id::agent_acknowledged)) throw process_killed{};
}

void agents::process::acknowledged(const v1::HeartbeatAckBatch& what) {
  for (const auto& one : what.items()) {
    const auto found = begun_.find({one.task_number(), one.step(), one.direction(), one.attempt()});
    if (found == begun_.end() || !one.held()) continue;
    auto& lease = found->second;
    const auto sent = lease.beats.find(one.sequence());
    // A lease that is over is not revived.
    if (sent == lease.beats.end() || world_.now() > lease.until) continue;
    const auto until = std::min(lease.complete_by, sent->second + duration{lease.as_handed_over.heartbeat_ms()});
    lease.until = std::max(lease.until, until);
  }
  host_.acknowledged(what);
  after_message();
}

void agents::process::after_message() {
  if (host_.wants_flush() && !std::exchange(flush_armed_, true)) {
    world_.after(world_.services.between(1, 400), [self = around_.self] {
      self([](process& here) {
        here.flush_armed_ = false;
        here.host_.flush();
      });
    });
  }
  const auto next = host_.next_expiry();
  if (!next) return;
  auto wait_ms = std::max<std::int64_t>(to_unix_ms(*next) - to_unix_ms(world_.now()), 0);
  if (host_.holds_any()) wait_ms = std::min(wait_ms, longest_rest_ms);
  // Timers run on the clock that nobody sets.
  if (!reminders_.wants(from_unix_ms(world_.now_us() / millisecond + wait_ms))) return;
  world_.after(wait_ms * millisecond, [self = around_.self] {
    self([](process& here) {
      here.reminders_.fired();
      here.host_.expire();
      here.after_message();
    });
  });
}

void agents::process::outcomes(v1::OutcomeBatch what) {
  for (const auto& one : what.items()) check_silence(one);
  world_.tell(site_.instance, "scheduler", world_.weigh(what), [&] {
    std::string text = "outcomes:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " " +
              v1::Direction_Name(one.direction()).substr(10) + " attempt " + std::to_string(one.attempt()) + " " +
              (one.has_fault() ? v1::FaultKind_Name(one.fault().kind()).substr(11) + "(" + one.fault().code() + ")"
               : one.verdict() != v1::LOOKUP_VERDICT_UNSPECIFIED ? v1::LookupVerdict_Name(one.verdict()).substr(15)
                                                                 : "done") +
              (one.tries() > 1 ? " after " + std::to_string(one.tries()) + " tries" : "");
    return text;
  });
  around_.outcomes(std::move(what));
  if (world_.strikes(failpoint_id::agent_reported)) throw process_killed{};
}

void agents::process::heartbeats(v1::HeartbeatBatch what) {
  for (const auto& one : what.items()) {
    const auto found = begun_.find({one.task_number(), one.step(), one.direction(), one.attempt()});
    if (found != begun_.end()) found->second.beats[one.sequence()] = world_.now();
    around_.judge->heartbeat_sent(one);
  }
  world_.tell(site_.instance, "scheduler", world_.weigh(what), [&] {
    std::string text = "heartbeats:";
    for (const auto& one : what.items())
      text += " task " + std::to_string(one.task_number()) + " step " + std::to_string(one.step()) + " attempt " +
              std::to_string(one.attempt()) + " number " + std::to_string(one.sequence()) +
              (one.checkpoint().empty() ? "" : " checkpoint " + one.checkpoint());
    return text;
  });
  world_.count("heartbeats", static_cast<std::uint64_t>(what.items_size()));
  around_.heartbeats(std::move(what));
  if (world_.strikes(failpoint_id::agent_beating)) throw process_killed{};
}

void agents::process::finish_later(attempt_key key, attempt_result result) {
  if (const auto begun = begun_.find(key); begun != begun_.end() && !begun->second.finished) begun->second.finished = world_.now();
  world_.after(world_.services.between(1, 60), [self = around_.self, key, result = std::move(result)] {
    self([&](process& here) {
      here.host_.finished(key, result);
      here.after_message();
    });
  });
}

void agents::process::progress_later(attempt_key key) {
  world_.after(world_.handlers.between(1, 60), [self = around_.self, key] {
    self([&](process& here) {
      here.host_.progressed(key);
      here.after_message();
    });
  });
}

}  // namespace fairlead::simulation
