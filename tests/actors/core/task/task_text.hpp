#pragma once
// Text for everything that a decision says, as the tests of the task machine compare it.

#include <cstdint>
#include <string>
#include <vector>

#include "actors/core/items/items.hpp"
#include "actors/core/task/decision.hpp"
#include "actors/core/task/record.hpp"
#include "tests/actors/core/task/fake_agents.hpp"

namespace fairlead::core::testing {

inline constexpr std::int64_t start_ms = 1'700'000'000'000;

inline std::string bytes_of(const v1::TaskRecord& record) { return record.SerializeAsString(); }

/// `t+200`, or `-` for no time.
inline std::string time_text(std::int64_t unix_ms) { return unix_ms == 0 ? "-" : "t+" + std::to_string(unix_ms - start_ms); }

inline std::string text_of(const v1::Payload& payload) {
  if (payload.slot() != 0) return "slot " + std::to_string(payload.slot()) + " of " + std::to_string(payload.size()) + " bytes";
  return payload.json();
}

inline std::string text_of(const v1::StepRecord& step) {
  std::string out = step.path() + " " + state_word(step.state());
  if (step.attempt() > 0) out += " attempt=" + std::to_string(step.attempt()) + " failures=" + std::to_string(step.failure_count());
  if (step.retried_size() > 0) {
    out += " retried=";
    for (int i = 0; i < step.retried_size(); ++i)
      out += (i > 0 ? "," : "") + std::to_string(step.retried(i).failed()) + "/" + std::to_string(step.retried(i).waited_ms());
  }
  if (step.lookup().made() > 0)
    out += " lookups=" + std::to_string(step.lookup().made()) + " failed=" + std::to_string(step.lookup().failed());
  if (step.undo().made() > 0) out += " undos=" + std::to_string(step.undo().made()) + " failed=" + std::to_string(step.undo().failed());
  if (step.doubtful()) out += " DOUBTFUL";
  if (step.given_up()) out += " GIVEN UP";
  if (step.passed_over()) out += " PASSED OVER";
  if (step.dropped()) out += " DROPPED";
  if (step.timed_out()) out += " TIMED OUT";
  if (step.rounds() > 0) out += " rounds=" + std::to_string(step.rounds()) + (step.until_open() ? " UNTIL?" : "");
  if (step.wanted()) out += " WANTED";
  if (step.awaits_callback()) out += " CALLBACK?";
  if (step.has_items())
    out += " items=" + std::to_string(step.items().count()) + "[" + item_words(step.items()) + "]" +
           (step.items().gathered() > 0 ? " gathered=" + std::to_string(step.items().gathered()) : "");
  if (step.has_child())
    out += " child=" + step.child().id() + ":" + state_word(step.child().state()) + (step.child().parked() ? ":PARKED" : "") +
           (step.child().stands() ? ":STANDS" : "");
  if (step.has_early_answer())
    out += " early=" + (step.early_answer().has_fault() ? step.early_answer().fault().code() : text_of(step.early_answer().output()));
  if (step.complete_by_unix_ms() != 0) out += " complete_by=" + time_text(step.complete_by_unix_ms());
  if (step.not_before_unix_ms() != 0) out += " not_before=" + time_text(step.not_before_unix_ms());
  if (!step.instance().empty()) out += " by=" + step.instance() + "#" + std::to_string(step.incarnation());
  if (step.has_input()) out += " input=" + text_of(step.input());
  if (step.has_undo_input()) out += " undo_input=" + text_of(step.undo_input());
  if (step.has_output()) out += " output=" + text_of(step.output());
  if (step.has_fault()) out += " fault=" + step.fault().code();
  if (step.tries() > 0) out += " tries=" + std::to_string(step.tries());
  return out;
}

/// The row as people would want to compare it.
inline std::string text_of(const v1::TaskRecord& record) {
  std::string out = "row v" + std::to_string(record.version()) + " " + state_word(record.state());
  if (record.parked()) out += std::string{" PARKED"} + (record.parked_for_child() ? " FOR A CHILD: " : ": ") + record.parked_reason();
  if (record.paused()) out += " PAUSED";
  if (record.undo_held()) out += " UNDO HELD";
  if (record.failing()) out += " FAILING";
  out += "\n  due=" + time_text(record.due_unix_ms()) + " events=" + std::to_string(record.history_size()) + "\n";
  for (const auto& step : record.steps()) out += "  " + text_of(step) + "\n";
  if (record.has_output()) out += "  output " + text_of(record.output()) + "\n";
  for (const auto& signal : record.signals()) out += "  signal " + signal.name() + " " + text_of(signal.data()) + "\n";
  return out;
}

inline const char* direction_text(v1::Direction direction) {
  return direction == v1::DIRECTION_UNDO ? "undo" : direction == v1::DIRECTION_LOOKUP ? "look up" : "perform";
}

inline std::string text_of(const decision& made) {
  std::string out;
  if (made.accepted) out += "accepted\n";
  if (made.ended) out += "ended\n";
  if (made.parked) out += "parked\n";
  if (made.migrated) out += "migrated\n";
  if (made.answered_undo) out += "answered with undo\n";
  if (made.refused) out += std::string{"refused: "} + code_word(made.refused->code) + ": " + made.refused->sentence + "\n";
  if (made.fatal) out += "fatal: " + made.fatal->sentence + "\n";
  for (const auto& noted : made.transitions) {
    out += (noted.step == 0 ? std::string{"task"} : "step " + std::to_string(noted.step - 1)) + ": " + noted.from + " -> " + noted.to;
    if (noted.attempt > 0) out += " (attempt " + std::to_string(noted.attempt) + ")";
    if (!noted.detail.empty()) out += " " + noted.detail;
    out += "\n";
  }
  for (const auto& payload : made.payloads)
    out += "store slot " + std::to_string(payload.slot) + ", " + std::to_string(payload.json.size()) + " bytes\n";
  for (const auto slot : made.dropped_slots) out += "drop slot " + std::to_string(slot) + "\n";
  for (const auto& out_message : made.performs) {
    const auto& m = out_message.message;
    out += "-> " + out_message.instance + ": " + direction_text(m.direction()) + " " + m.step_path() +
           " attempt=" + std::to_string(m.attempt()) + " " + m.call() + "(" +
           (m.input().size() > 200 ? std::to_string(m.input().size()) + " bytes" : m.input()) +
           ") complete_by=" + time_text(m.complete_by_unix_ms()) + " budget=" + std::to_string(m.budget_ms()) +
           " key=" + m.idempotency_key() + (m.perform_key().empty() ? "" : " of=" + m.perform_key()) + (m.in_doubt() ? " IN DOUBT" : "") +
           (m.perform_output().empty() ? "" : " output=" + m.perform_output()) + "\n";
  }
  for (const auto& asked : made.evaluations) {
    out += "-> worker: step " + std::to_string(asked.step()) +
           std::vector<std::string>{"", " undo", " when", " output", " until", " list"}.at(asked.part());
    for (const auto& one : asked.expressions()) out += " {" + one + "}";
    out += " over " + asked.document() + "\n";
  }
  for (const auto& hint : made.hints)
    out += "-> supervisor: step " + std::to_string(hint.recover().step() - 1) +
           (hint.recover().direction() == v1::DIRECTION_PERFORM ? "" : std::string{" "} + direction_text(hint.recover().direction())) +
           " attempt=" + std::to_string(hint.recover().attempt()) + " failures=" + std::to_string(hint.recover().failure_count()) + " at " +
           time_text(hint.due_unix_ms()) + "\n";
  for (const auto& wait : made.waiting) out += "waiting for " + fake_agents::queues().at(wait.queue) + "\n";
  for (const auto& one : made.children) {
    if (one.gathers != 0) {
      out +=
          "-> gather " + std::to_string(one.gathers) + " from item " + std::to_string(one.item) + (one.collects ? ", collected\n" : "\n");
      continue;
    }
    out += "-> child " + one.id + ": ";
    if (one.begins && one.call_of != 0)
      out += "begin call " + std::to_string(one.call_of) + "(" + one.input + ") of " + one.item_json;
    else if (one.begins)
      out += "begin " + one.workflow + "(" + one.input + ")" +
             (one.deadline_unix_ms == 0 ? "" : " deadline=" + time_text(one.deadline_unix_ms));
    else
      out += v1::OperatorVerb_Name(one.action.verb()).substr(14) + (one.action.at_once() ? " NOW" : "") + " by " + one.action.who();
    out += "\n";
  }
  for (const auto& alert : made.alerts) out += "ALERT: " + alert.sentence() + "\n";
  for (const auto& status : made.statuses)
    out += "status " + std::to_string(status.sequence()) + ": " + v1::StatusKind_Name(status.kind()).substr(12) +
           (status.step().empty() ? "" : " " + status.step() + " " + state_word(status.step_state())) + "\n";
  return out;
}

}  // namespace fairlead::core::testing
