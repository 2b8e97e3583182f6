// A service as a whole: its breaker, the absence of its instances, and operators' actions on it.

#include <algorithm>

#include "actors/core/text/nearest.hpp"
#include "actors/core/waits.hpp"
#include "actors/registry/registry.hpp"

namespace fairlead {

namespace {

constexpr std::chrono::seconds input_is_made_within{5};

std::string said(const std::string& what, const std::vector<std::string>& known, const char* none) {
  const auto close = core::nearest(what, known);
  if (!close.empty()) return "did you mean " + close + "? `fairlead status` shows all of them";
  return known.empty() ? none : "`fairlead status` shows all agents and instances";
}

std::string by_whom(const std::string& who) { return who.empty() ? "an operator" : who; }

}  // namespace

void registry::mark(service& of) {
  if (of.changed) return;
  of.changed = true;
  changed_.push_back(&of);
}

void registry::advance(service& of, moment now) {
  if (of.breaker.advance(now)) breaker_changed(of, now);
}

void registry::count_blocked(service& of) {
  // Without an instance the breaker keeps nobody from anything.
  const auto is_there = std::any_of(of.instances.begin(), of.instances.end(), [](const auto* one) { return !one->away; });
  const auto blocked = is_there && of.breaker.state() != v1::BREAKER_STATE_CLOSED && !of.breaker.kept_open();
  if (blocked == of.blocked_since.has_value()) return;
  const auto now = time_.steady();
  if (!blocked) of.blocked += now - *of.blocked_since;
  of.blocked_since = blocked ? std::optional{now} : std::nullopt;
}

void registry::breaker_changed(service& of, moment now) {
  mark(of);
  count_blocked(of);
  if (const auto at = of.breaker.canaries_from()) {
    breakers_.set(&of, *at, now);
  } else {
    breakers_.clear(&of);
  }
  unblock_all(of);
}

/// Nothing will be learnt from an attempt that went down with its process.
void registry::lose_canary(const instance& at, moment now) {
  for (auto& [holder, what] : holders_) {
    if (what.at != &at || !what.ticket.canary) continue;
    what.of->breaker.ended(what.ticket, {core::slot_end::lost, 1, 0}, now);
    what.ticket = {};
    unblock_all(*what.of);
  }
}

/// Whether the alert about waiting steps without an instance is due and not raised.
bool registry::absence_is_due(const service& of, moment now) const {
  return of.queues_absent > 0 && of.record.absent_alert() == 0 &&
         now >= from_unix_ms(of.record.absent_since_unix_ms()) + policy_.absent_alert_after;
}

void registry::check_absence(service& of, moment now) {
  if (of.queues_absent > 0) {
    const auto told_at = from_unix_ms(of.record.absent_since_unix_ms()) + policy_.absent_alert_after;
    if (of.record.absent_since_unix_ms() == 0 || core::set_back_since(told_at, now, policy_.absent_alert_after)) {
      of.record.set_absent_since_unix_ms(to_unix_ms(now));
      mark(of);
    }
    if (of.record.absent_alert() != 0) {
      absences_.clear(&of);
    } else {
      absences_.set(&of, from_unix_ms(of.record.absent_since_unix_ms()) + policy_.absent_alert_after, now);
    }
    return;
  }
  if (of.record.absent_since_unix_ms() == 0) return;
  of.absence_kept_until = std::min(of.absence_kept_until, now + policy_.absent_alert_after);
  if (now < of.absence_kept_until) {
    absences_.set(&of, of.absence_kept_until, now);
    return;
  }
  absences_.clear(&of);
  of.record.set_absent_since_unix_ms(0);
  mark(of);
}

/// When holding back ends, the sweep after a restart is done: waiting steps have shown up again, except those whose input is still being
/// made.
void registry::hold_back(bool on) {
  held_back_ = on;
  if (on) return;
  const auto now = time_.now();
  const auto shown_again = now + input_is_made_within;
  for (auto& [name, of] : services_) {
    if (of.absence_kept_until <= shown_again) continue;
    of.absence_kept_until = shown_again;
    check_absence(of, now);
  }
}

/// An alarm may come early, after the clock has been set back: a thing that is not due sets another alarm.
void registry::wake() {
  const auto now = time_.now();
  unblock_due(now);
  while (auto* const of = breakers_.take_due(now)) {
    advance(*of, now);
    if (const auto at = of->breaker.canaries_from()) breakers_.set(of, *at, now);
  }
  while (auto* const of = absences_.take_due(now)) {
    if (absence_is_due(*of, now)) {
      mark(*of);
    } else {
      check_absence(*of, now);
    }
  }
}

// ---- what becomes durable ----

std::vector<service_change> registry::take_changes() {
  std::vector<service_change> out;
  if (changed_.empty()) return out;
  const auto now = time_.now();
  for (auto* of : changed_) {
    of->changed = false;
    out.push_back(change_of(*of, now));
  }
  changed_.clear();
  return out;
}

service_change registry::change_of(service& of, moment now) {
  service_change out;
  auto& record = of.record;
  const auto& breaker = of.breaker;
  breaker.store(record);
  const auto draft_for = [&out](std::uint64_t raised, std::optional<v1::AlertRecord>& fresh) -> v1::AlertRecord& {
    return raised == 0 ? fresh.emplace() : out.restated.emplace_back(raised, v1::AlertRecord{}).second;
  };
  // Half open too: the clock may have passed the end of the pause before the opening was written.
  if (breaker.state() != v1::BREAKER_STATE_CLOSED) {
    auto& draft = draft_for(record.breaker_alert(), out.breaker_alert);
    draft.set_kind(v1::ALERT_KIND_BREAKER_OPEN);
    // Names no end time: by the time somebody reads the alert, the breaker may have opened again or let attempts through.
    draft.set_sentence("the breaker of " + of.agent + " is open: " + breaker.reason() + "; its steps wait");
    draft.set_remedy("check the service behind agent " + of.agent +
                     "; the breaker closes when probe attempts succeed, unless an operator opened it; `fairlead agent breaker close " +
                     of.agent + "` closes it now; `fairlead status` shows the waiting steps");
  } else if (record.breaker_alert() != 0) {
    out.resolved.push_back(record.breaker_alert());
    record.set_breaker_alert(0);
  }
  if (absence_is_due(of, now) || (of.queues_absent > 0 && record.absent_alert() != 0)) {
    auto& draft = draft_for(record.absent_alert(), out.absent_alert);
    draft.set_kind(v1::ALERT_KIND_AGENT_ABSENT);
    std::string why;
    for (const auto& [key, needs] : of.demands)
      if (needs->waiting > 0 && needs->instances.empty()) {
        why = why_absent(*needs);
        break;
      }
    draft.set_sentence("steps wait for agent " + of.agent + " since " + format_utc(record.absent_since_unix_ms()) + ": " + why);
    draft.set_remedy(
        "add the agent to a node file and run `fairlead node reload NODE`, start a node that has it, or resume a drained instance: "
        "`fairlead agent resume INSTANCE`; `fairlead status` shows instances and waiting steps");
  } else if (record.absent_since_unix_ms() == 0 && record.absent_alert() != 0) {
    out.resolved.push_back(record.absent_alert());
    record.set_absent_alert(0);
  }
  out.record = record;
  return out;
}

// ---- operators ----

v1::AgentOperateReply registry::operate(const v1::AgentOperateRequest& what) {
  v1::AgentOperateReply out;
  std::optional<error> refused;
  switch (what.verb()) {
    case v1::AGENT_VERB_DRAIN: refused = drain(what, true, out); break;
    case v1::AGENT_VERB_RESUME: refused = drain(what, false, out); break;
    case v1::AGENT_VERB_BREAKER_OPEN: refused = move_breaker(what, true, out); break;
    case v1::AGENT_VERB_BREAKER_CLOSE: refused = move_breaker(what, false, out); break;
    default:
      refused = error{v1::ERROR_CODE_INVALID_ARGUMENT, "The request does not say what to do with the agent.",
                      "Use drain, resume, breaker open or breaker close."};
  }
  if (refused) *out.mutable_error() = refused->to_proto();
  return out;
}

std::optional<error> registry::drain(const v1::AgentOperateRequest& what, bool on, v1::AgentOperateReply& out) {
  const auto found = instances_.find(what.instance());
  if (found == instances_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, one] : instances_) names.push_back(name);
    std::sort(names.begin(), names.end());
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no agent instance " + what.instance() + ".",
                 said(what.instance(), names, "no agent is registered; start a node with an agent")};
  }
  auto& entry = found->second;
  auto& of = *entry.of;
  if (!on && entry.drains_itself && !entry.silent) {
    return error{v1::ERROR_CODE_WRONG_STATE, "Instance " + entry.name + " is draining because its process is about to stop.",
                 "The instance gets steps again when its process, or the next one, registers."};
  }
  out.set_held(entry.held);
  if (entry.drained == on) return std::nullopt;
  auto& drained = *of.record.mutable_drained();
  for (int i = drained.size() - 1; i >= 0; --i)
    if (drained[i].instance() == entry.name) drained.DeleteSubrange(i, 1);
  entry.drained = on;
  const auto now = time_.now();
  if (on) {
    auto& line = *drained.Add();
    line.set_instance(entry.name);
    line.set_incarnation(entry.incarnation);
    line.set_who(by_whom(what.who()));
    line.set_since_unix_ms(to_unix_ms(now));
  }
  mark(of);
  rebuild(of, now);
  return std::nullopt;
}

std::optional<error> registry::move_breaker(const v1::AgentOperateRequest& what, bool open, v1::AgentOperateReply& out) {
  const auto found = services_.find(what.agent());
  if (found == services_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, one] : services_) names.push_back(name);
    std::sort(names.begin(), names.end());
    return error{v1::ERROR_CODE_NOT_FOUND, "There is no agent " + what.agent() + ".",
                 said(what.agent(), names, "no agent is registered; start a node with an agent")};
  }
  auto& of = found->second;
  if (open && of.breaker.switched_off()) {
    return error{v1::ERROR_CODE_WRONG_STATE, "The breaker of agent " + of.agent + " is switched off in its config, so it cannot be opened.",
                 "Drain its instances instead with `fairlead agent drain INSTANCE`, or remove `breaker: off` from the agent's config."};
  }
  out.set_waiting(waiting(of));
  const auto now = time_.now();
  if (open) {
    of.breaker.open_by(by_whom(what.who()), what.reason(), now);
  } else {
    of.breaker.close_by(by_whom(what.who()), now);
  }
  breaker_changed(of, now);
  return std::nullopt;
}

}  // namespace fairlead
