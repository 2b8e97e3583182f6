// Heartbeats and outcomes.

#include <algorithm>

#include "app/agent_check/tester.hpp"

namespace fairlead::app::agent_check {

namespace {

constexpr std::int64_t way_ms = 400;          // of a request
constexpr std::int64_t least_pause_ms = 900;  // of an answer that says Retry-After: 1
constexpr std::int64_t beat_slack_ms = 600;   // of a heartbeat on a slow machine

std::string ticket_of(const nlohmann::json& item) {
  const auto found = item.is_object() ? item.find("ticket") : item.end();
  return item.is_object() && found != item.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

const char* how_answered(outcome_answer what) {
  switch (what) {
    case outcome_answer::accepted: return "it was accepted";
    case outcome_answer::cut: return "its answer was cut";
    case outcome_answer::cut_in_head: return "its answer ended in its head";
    case outcome_answer::busy: return "503 with Retry-After";
    case outcome_answer::gone: return "410";
    case outcome_answer::not_held: return "it was answered with not_held";
  }
  return "";
}

}  // namespace

tester::attempt* tester::find(const std::string& ticket) {
  const auto found = std::find_if(attempts_.begin(), attempts_.end(), [&](const attempt& one) { return one.ticket == ticket; });
  return found == attempts_.end() ? nullptr : &*found;
}

reply tester::on_heartbeats(const json& what, std::int64_t now) {
  json out = json::array();
  const auto items = what.find("items");
  if (items == what.end() || !items->is_array()) {
    blame(rule::requests, "a heartbeat has no `items`");
    return problem(400, "bad_request", "Field 'items' is missing.");
  }
  for (const auto& item : *items) {
    auto* one = find(ticket_of(item));
    const bool is_current = one != nullptr && current_ && one == &attempts_[*current_];
    const bool held = is_current && !one->closed && now < one->lease_end && !at().not_held;
    if (is_current) {
      judge_pace(*one, "a heartbeat", now);
      ++one->heartbeats;
      one->beat_at = now;
      if (!held && one->told_not_held_at == 0) one->told_not_held_at = now;
      if (held) one->lease_end = now + at().lease_ms;
    }
    out.push_back({{"ticket", ticket_of(item)}, {"held", held}, {"lease_ms", held ? at().lease_ms : 0}, {"cancel", false}});
  }
  return {.status = 200, .body = json{{"items", out}}.dump()};
}

/// One of output, fault and verdict, each in its form.
bool tester::is_outcome(const json& item) const {
  if (ticket_of(item).empty()) return false;
  const bool has_fault = item.contains("fault"), has_verdict = item.contains("verdict");
  if (has_fault && (has_verdict || item.contains("output"))) return false;
  if (has_fault) {
    const auto& fault = item["fault"];
    if (!fault.is_object() || !fault.contains("kind")) return false;
    const auto& kind = fault["kind"];
    return kind == "transient" || kind == "permanent" || kind == "in_doubt";
  }
  if (has_verdict) return item["verdict"] == "done" || item["verdict"] == "never_happened" || item["verdict"] == "unknown";
  return item.contains("output");
}

void tester::judge_doubt(const attempt& one) {
  const auto& of = at();
  const auto& what = one.outcome;
  if (of.service == service_answer::cut && one.service_requests > 0) {
    see(rule::doubt);
    const auto kind = what.contains("fault") ? what["fault"]["kind"].get<std::string>() : std::string{"an output"};
    if (kind != "in_doubt")
      blame(rule::doubt, "the service broke off, and " + name_of(one) + " ended with " + kind + ", not with in_doubt");
  }
  const bool is_undisturbed = of.about == rule::requests && of.direction == "perform" && of.heartbeat_ms == 0 && !of.ends_agent;
  if (is_undisturbed && !what.contains("output"))
    blame(rule::requests, "nothing disturbed " + name_of(one) + ", and it ended with " + what.dump().substr(0, 200) +
                              "; give an input that the call takes with --input");
  if (of.direction != "lookup") return;
  const auto verdict = what.contains("verdict") ? what["verdict"].get<std::string>() : std::string{};
  if (verdict.empty() && !what.contains("fault")) blame(rule::requests, "a lookup ended with an output in place of a verdict");
  if (of.never_happened && verdict == "done") blame(rule::doubt, "the lookup of a perform that never happened says: done");
  if (!of.never_happened && verdict == "never_happened") blame(rule::doubt, "the lookup of a perform that was done says: never_happened");
}

/// `what` has come, and its lease would be over if it was the next sign of the attempt.
void tester::judge_pace(const attempt& one, const std::string& what, std::int64_t now) {
  const auto needed = at().heartbeat_ms;
  const auto passed = now - one.beat_at;
  if (needed == 0 || at().not_held || passed <= needed + beat_slack_ms) return;
  blame(rule::requests, std::to_string(passed) + " ms passed before " + what + " of " + name_of(one) + ", which needs a heartbeat every " +
                            std::to_string(needed) + " ms");
}

/// The first time that an outcome comes.
void tester::judge_first(attempt& one, std::int64_t now) {
  const auto& of = at();
  if (of.direction != "lookup" && one.outcome.contains("verdict"))
    blame(rule::requests, name_of(one) + " is no lookup, and ended with a verdict");
  const bool worked_for_long = of.service != service_answer::late || one.service_requests > 0;
  if (of.outcome == outcome_wanted::no && !of.not_held) {
    blame(of.about, of.late_ms > 0
                        ? "the lease of " + name_of(one) + " was over when it arrived, counted from before the take, and its outcome came"
                        : "the lease of " + name_of(one) + " was over, and its outcome came");
  } else if (one.told_not_held_at > 0) {
    if (now > one.told_not_held_at + way_ms)
      blame(rule::lease_end, "a heartbeat of " + name_of(one) + " was answered with held: false, and its outcome came");
  } else if (worked_for_long && now > one.lease_end + way_ms) {
    blame(rule::lease_end,
          "the outcome of " + name_of(one) + " came " + std::to_string(now - one.lease_end) + " ms after the end of its lease");
  }
  if (of.heartbeat_ms > 0 && one.service_requests > 0 && one.heartbeats == 0)
    blame(rule::requests, "no heartbeat came for " + name_of(one) + ", which needs one every " + std::to_string(of.heartbeat_ms) + " ms");
  if (one.heartbeats > 0) judge_pace(one, "the outcome", now);
  judge_doubt(one);
}

void tester::judge_repeated(const attempt& one, const json& item, std::int64_t now) {
  if (item != one.outcome) blame(rule::outcome, "the outcome of " + name_of(one) + " was another when it was repeated");
  if (one.answered == outcome_answer::busy && now < one.outcome_at + least_pause_ms)
    blame(rule::outcome,
          "the outcome of " + name_of(one) + " was repeated " + std::to_string(now - one.outcome_at) + " ms after 503 with Retry-After: 1");
  if (one.answered == outcome_answer::not_held)
    blame(rule::outcome, "the outcome of " + name_of(one) + " was repeated though it was answered with not_held");
  if (one.closed && one.answered == outcome_answer::accepted) {
    const bool is_twice = current_ && &attempts_[*current_] == &one && at().twice;
    if (is_twice)
      blame(rule::held, name_of(one) + " came twice, and was done twice: its outcome came again after it was accepted");
    else
      blame(rule::outcome, "the outcome of " + name_of(one) + " was repeated though it was accepted");
  }
}

reply tester::on_outcomes(const json& what, std::int64_t now) {
  const auto items = what.find("items");
  if (items == what.end() || !items->is_array() || items->empty() ||
      !std::all_of(items->begin(), items->end(), [this](const json& one) { return is_outcome(one); })) {
    blame(rule::requests, "outcomes are no `items` with a ticket and one of output, fault and verdict: " + what.dump().substr(0, 200));
    return problem(400, "bad_request", "Field 'items' is not what it must be.");
  }
  json results = json::array();
  auto answer = outcome_answer::accepted;
  std::vector<attempt*> touched;
  for (const auto& item : *items) {
    const auto ticket = ticket_of(item);
    auto* one = find(ticket);
    if (one == nullptr) {
      blame(rule::requests, "an outcome has the ticket '" + ticket + "', which was never handed out");
      results.push_back({{"ticket", ticket}, {"result", "not_held"}, {"why", "there is no such ticket"}});
      continue;
    }
    if (std::find(touched.begin(), touched.end(), one) != touched.end()) {
      blame(rule::held, "one request has two outcomes of " + name_of(*one));
      continue;
    }
    touched.push_back(one);
    const bool is_current = current_ && one == &attempts_[*current_];
    const bool first = one->outcomes == 0;
    if (first) {
      one->outcome = item;
      if (is_current) judge_first(*one, now);
    } else {
      judge_repeated(*one, item, now);
    }
    see(rule::outcome);
    // A lesson's answers come in their order, each once.
    if (is_current && one->outcomes < at().outcomes.size()) answer = at().outcomes[one->outcomes];
    ++one->outcomes;
    one->outcome_at = now;
    const bool lost = is_current && (at().outcome == outcome_wanted::no || one->told_not_held_at > 0);
    if (lost || answer == outcome_answer::not_held)
      results.push_back({{"ticket", ticket}, {"result", "not_held"}, {"why", "the attempt is over"}});
    else
      results.push_back({{"ticket", ticket}, {"result", one->accepted ? "repeated" : "accepted"}, {"why", nullptr}});
    if (lost) answer = answer == outcome_answer::accepted ? outcome_answer::not_held : answer;
  }
  for (auto* one : touched) {
    one->answered = answer;
    if (answer == outcome_answer::accepted || answer == outcome_answer::cut || answer == outcome_answer::cut_in_head) one->accepted = true;
    if (answer == outcome_answer::accepted || answer == outcome_answer::not_held) one->closed = true;
  }
  if (answer == outcome_answer::busy) return busy("The node is busy.");
  if (answer == outcome_answer::gone) {
    gone_told_ = true;
    worker_->gone = true;
    worker_->gone_at = now;
    return problem(410, "gone", "The session has ended; register again.");
  }
  return {.status = 200,
          .body = json{{"items", results}}.dump(),
          .cut = answer == outcome_answer::cut,
          .cut_in_head = answer == outcome_answer::cut_in_head};
}

/// The time of the lesson is over, and something has not come.
void tester::judge_missing(std::int64_t) {
  const auto& of = at();
  if (worker_->gone) {
    blame(rule::session, of.loses_node ? "the agent did not register at the other node after its own was lost"
                                       : "the agent did not register again after 410");
  } else if (registration_lost_) {
    blame(rule::requests, "the registration was not sent again after its answer was lost");
  } else if (!current_) {
    if (!of.twice) blame(rule::requests, "no take came");
  } else if (const auto& one = attempts_[*current_]; one.outcomes == 0) {
    blame(one.answer_lost ? rule::last_answer : of.about,
          one.answer_lost ? name_of(one) + " was not taken again after its answer was lost" : "no outcome of " + name_of(one) + " came");
  } else if (one.answered) {
    blame(rule::outcome, "the outcome of " + name_of(one) + " was not repeated after " +
                             (*one.answered == outcome_answer::gone ? "the new registration" : how_answered(*one.answered)));
  }
}

}  // namespace fairlead::app::agent_check
