// Outcomes and heartbeats of a worker: each is answered once its shard has recorded or refused it.

#include <algorithm>
#include <functional>
#include <utility>

#include "actors/agents/worker/session.hpp"

namespace fairlead::agents {

namespace {

/// For a shard to answer, which may be moving to another node.
constexpr duration beat_limit{5'000};
constexpr duration report_limit{10'000};

error not_answered() {
  return {v1::ERROR_CODE_UNAVAILABLE, "The shard of an attempt has not answered in time.", "Send the same request again."};
}

error wrong_item(std::size_t item, const std::string& sentence, const std::string& remedy) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "Item " + std::to_string(item) + ": " + sentence, remedy};
}

constexpr const char* never_held = "The ticket names no attempt that this worker holds.";
constexpr const char* ended_before = "The lease of the attempt had ended, or the task has ended it.";
constexpr const char* ended_otherwise =
    "The attempt has ended with the outcome that was reported first. This one is another, and was not used.";

/// Of what a worker can say. Only the same process compares them, and a collision costs a reader a sentence.
std::size_t fingerprint(const attempt_result& what) {
  const auto head = std::to_string(what.verdict) + (what.fault ? " fault " + what.fault->SerializeAsString() : "");
  return std::hash<std::string>{}(what.output) * 31 + std::hash<std::string>{}(head);
}

}  // namespace

// ---- heartbeats ----

void worker_session::heartbeats(std::vector<beat> items, moment came, std::function<void(result<std::vector<beat_answer>>)> done) {
  if (is_over()) return done(gone());
  heard();
  for (const auto& item : items)
    if (tickets_.count(item.ticket) == 0 && may_be_on_its_way(item.ticket)) return done(not_answered());
  const auto all = std::make_shared<pending<beat_answer>>();
  all->answers.resize(items.size());
  all->open = items.size() + 1;  // one for this function, so that it is not answered in the middle of it
  all->came = came;
  all->until = now() + beat_limit;
  all->done = std::move(done);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& item = items[i];
    const auto found = tickets_.find(item.ticket);
    if (found == tickets_.end()) {
      all->answers[i].never_was_held = !was_held(item.ticket);
      all->answer_one();
      continue;
    }
    auto& one = attempts_.at(found->second);
    set_known(one);
    // A heartbeat that was overtaken by a later one still keeps the lease.
    if (item.sequence != 0 && item.sequence <= one.last_beat) item.progress = {};
    one.last_beat = std::max(one.last_beat, item.sequence);
    one.beats.push_back({all, i});
    item.progress.at_once = true;
    sink_(found->second, std::move(item.progress));
  }
  if (all->open > 1) waiting_beats_.push_back(all);
  all->answer_one();
}

void worker_session::beat_sent(const attempt_key& which, std::uint64_t sequence) {
  const auto found = attempts_.find(which);
  if (found == attempts_.end()) return;
  auto& one = found->second;
  for (auto& beat : one.beats)
    if (beat.sequence == 0) beat.sequence = sequence;
  if (!planted(&core::planted_faults::answer_beat_early)) return;
  one.lease_end = std::max(one.lease_end, now() + duration{one.what.heartbeat_ms()});
  answer_beats(one, true);
}

void worker_session::renewed(const attempt_key& which, std::uint64_t sequence, moment lease_end) {
  const auto found = attempts_.find(which);
  if (found == attempts_.end()) return;
  auto& one = found->second;
  one.lease_end = lease_end;
  if (sequence != 0 && planted(&core::planted_faults::renew_from_answer)) one.lease_end = now() + duration{one.what.heartbeat_ms()};
  std::erase_if(one.beats, [&](const awaited_beat& beat) {
    if (beat.sequence == 0 || beat.sequence > sequence) return false;
    beat.of->answers[beat.item] = {true, lease_from(one.lease_end, beat.of->came)};
    beat.of->answer_one();
    return true;
  });
}

void worker_session::answer_beats(held_attempt& one, bool held) {
  for (const auto& beat : std::exchange(one.beats, {})) {
    beat.of->answers[beat.item] = {held, held ? lease_from(one.lease_end, beat.of->came) : 0};
    beat.of->answer_one();
  }
}

// ---- outcomes ----

void worker_session::outcomes(std::vector<report> items, std::function<void(result<std::vector<report_answer>>)> done) {
  if (is_over()) return done(gone());
  heard();
  last_turn_ = last_request_;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto found = tickets_.find(items[i].ticket);
    if (found == tickets_.end()) {
      if (may_be_on_its_way(items[i].ticket)) return done(not_answered());
      continue;
    }
    const auto& said = items[i].result;
    const bool is_lookup = found->second.direction == v1::DIRECTION_LOOKUP;
    const bool has_verdict = said.verdict != v1::LOOKUP_VERDICT_UNSPECIFIED;
    if (is_lookup && !has_verdict && !said.fault)
      return done(wrong_item(i, "the attempt is a look-up, and there is no verdict.", "Send verdict: done, never_happened or unknown."));
    if (!is_lookup && has_verdict)
      return done(wrong_item(i, "the attempt is no look-up, and there is a verdict.", "Send output or fault."));
  }
  const auto all = std::make_shared<pending<report_answer>>();
  all->answers.resize(items.size());
  all->open = items.size() + 1;
  all->until = now() + report_limit;
  all->done = std::move(done);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& [ticket, said] = items[i];
    if (planted(&core::planted_faults::ignore_attempt_of_ticket)) ticket = ticket_of_step(ticket);
    const auto outcome = fingerprint(said);
    const auto found = tickets_.find(ticket);
    if (found != tickets_.end()) {
      const auto key = found->second;
      const auto which = attempts_.find(key);
      auto complete = std::move(which->second.done);
      answer_beats(which->second, false);
      forget(which);
      reports_[key] = {ticket, outcome, {{all, i, outcome}}};
      reported_[ticket] = key;
      complete(key, std::move(said));
      continue;
    }
    if (const auto waits = reported_.find(ticket); waits != reported_.end()) {
      reports_.at(waits->second).waiting.push_back({all, i, outcome});
      continue;
    }
    const auto known = told_.find(ticket);
    if (known != told_.end() && known->second.how == report_result::accepted)
      all->answers[i] = {report_result::repeated, known->second.outcome == outcome ? "" : ended_otherwise};
    else if (known == told_.end() && planted(&core::planted_faults::accept_unheld))
      all->answers[i] = {report_result::accepted, {}};
    else
      all->answers[i] = {report_result::not_held, known == told_.end() ? never_held : ended_before, !was_held(ticket)};
    all->answer_one();
  }
  if (all->open > 1) waiting_reports_.push_back(all);
  all->answer_one();
}

void worker_session::recorded(const attempt_key& which, bool accepted) {
  const auto found = reports_.find(which);
  if (found == reports_.end()) return;
  const auto said = std::move(found->second);
  reports_.erase(found);
  reported_.erase(said.ticket);
  remember(said.ticket, {accepted ? report_result::accepted : report_result::not_held, said.outcome});
  for (const auto& [all, item, outcome] : said.waiting) {
    auto& answer = all->answers[item];
    if (!accepted)
      answer = {report_result::not_held, ended_before};
    else if (outcome == said.outcome)
      answer = {report_result::accepted, {}};
    else
      answer = {report_result::repeated, ended_otherwise};
    all->answer_one();
  }
}

void worker_session::end_late_requests() {
  const auto here = now();
  const auto end = [here](auto& all) {
    std::erase_if(all, [here](const auto& one) {
      if (one->done && here >= one->until) one->answer(not_answered());
      return !one->done;
    });
  };
  end(waiting_beats_);
  end(waiting_reports_);
}

}  // namespace fairlead::agents
