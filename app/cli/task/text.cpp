#include <algorithm>

#include "actors/core/items/items.hpp"
#include "actors/core/task/standing.hpp"
#include "actors/core/task/task.hpp"
#include "app/cli/attempts/times.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/text.hpp"
#include "app/cli/words.hpp"
#include "app/json/remedies.hpp"
#include "app/json/task.hpp"
#include "messages/time.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t payload_width = 300;  // `--json` gives the whole payload

std::string number(std::uint32_t value) { return value == 0 ? "-" : std::to_string(value); }

/// `3`, or `3, 2 failed`.
std::string attempts_text(const v1::Attempts& attempts) {
  auto out = number(attempts.made());
  if (attempts.failed() != 0) out += ", " + std::to_string(attempts.failed()) + " failed";
  return out;
}

/// `, round 3` of a step that is repeated, and `, 3 rounds` once it has ended; else empty.
std::string rounds_text(const v1::TaskShowReply& reply, const v1::StepRecord& step) {
  const auto index = static_cast<int>(step.definition());
  const auto repeats = index < reply.definition().steps_size() && reply.definition().steps(index).has_repeat();
  if (step.rounds() == 0 && (!repeats || step.attempt() == 0)) return "";
  const auto ended = step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_SKIPPED ||
                     (step.state() == v1::STEP_STATE_FAILED && step.not_before_unix_ms() == 0);
  // A round has ended, and whether another one follows is not known.
  if (!ended && !step.until_open()) return ", round " + std::to_string(step.rounds() + 1);
  return step.rounds() == 0 ? "" : step.rounds() == 1 ? ", 1 round" : ", " + std::to_string(step.rounds()) + " rounds";
}

/// `, http_5* 2 of 3` of a step whose attempts count for rules of their own; else empty.
std::string rules_text(const v1::TaskShowReply& reply, const v1::StepRecord& step) {
  const auto* definition = definition_of(reply, step);
  if (definition == nullptr || step.state() == v1::STEP_STATE_COMPLETED || step.state() == v1::STEP_STATE_SKIPPED) return "";
  std::string out;
  for (int i = 0; i < std::min(step.retried_size(), definition->retry_size()); ++i) {
    const auto& rule = definition->retry(i);
    if (step.retried(i).failed() == 0 || rule.on().empty()) continue;
    out += ", " + rule.on(0) + (rule.on_size() > 1 ? "… " : " ") + std::to_string(step.retried(i).failed());
    out += rule.attempts() == 0 ? " failed" : " of " + std::to_string(rule.attempts());
  }
  return out;
}

std::string items_text(const v1::StepRecord& step) {
  return step.has_items() ? "; items: " + core::item_words(step.items()) : std::string{};
}

std::string steps_text(const v1::TaskShowReply& reply, const known_agents& agents) {
  const auto& steps = reply.task().steps();
  const auto any = [&](auto made) { return std::any_of(steps.begin(), steps.end(), made); };
  const bool undone = any([](const v1::StepRecord& step) { return step.undo().made() != 0; });
  const bool looked_up = any([](const v1::StepRecord& step) { return step.lookup().made() != 0; });
  std::vector<text_table::column> columns{
      {"STEP"}, {"STATE"}, {"ATTEMPTS", align::right}, {"FAILED", align::right, narrow::drop}, {"TRIES", align::right, narrow::drop}};
  if (looked_up) columns.push_back({"LOOKUPS"});
  if (undone) columns.push_back({"UNDO ATTEMPTS"});
  const bool has_children = any([](const v1::StepRecord& step) { return step.has_child(); });
  if (has_children) columns.push_back({"TASK", align::left, narrow::below});
  columns.push_back({"AGENT", align::left, narrow::drop});
  for (const auto* title : {"NEXT", "LAST FAULT"}) columns.push_back({title, align::left, narrow::below});
  text_table table{std::move(columns)};
  for (int i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    std::vector<cell> row{step.path(),
                          step_state_text(reply.task(), step) + (step.dropped() ? ", dropped" : "") + rounds_text(reply, step) +
                              items_text(step) + rules_text(reply, step),
                          number(step.attempt()), number(step.failure_count()), number(step.tries())};
    if (looked_up) row.push_back(attempts_text(step.lookup()));
    if (undone) row.push_back(attempts_text(step.undo()));
    if (has_children) row.push_back(step.child().id());
    row.insert(row.end(), {step.instance(), waits_for(reply, i, agents, time_text), shortened(fault_text(step), 160)});
    table.add(std::move(row));
  }
  return table.text();
}

std::string payloads_text(const v1::TaskRecord& task) {
  text_table table{{{"STEP"}, {"PAYLOAD"}, {"JSON", align::left, narrow::below}}};
  for (const auto& step : task.steps()) {
    if (!step.input().json().empty()) table.add({step.path(), "input", shortened(step.input().json(), payload_width)});
    if (!step.output().json().empty()) table.add({step.path(), "output", shortened(step.output().json(), payload_width)});
    if (!step.undo_input().json().empty()) table.add({step.path(), "undo input", shortened(step.undo_input().json(), payload_width)});
    const auto& checkpoint = step.progress().checkpoint().json();
    if (!checkpoint.empty()) table.add({step.path(), "checkpoint", shortened(checkpoint, payload_width)});
  }
  return table.empty() ? "" : "\nPayloads\n" + table.text();
}

/// The progress reports of long steps.
std::string heard_text(const v1::TaskRecord& task) {
  text_table table{{{"STEP"}, {"ATTEMPT", align::right}, {"LAST TOLD"}, {"TO BE HEARD BY"}, {"PROGRESS", align::left, narrow::below}}};
  for (const auto& step : task.steps()) {
    if (!step.has_progress() && step.heartbeat_by_unix_ms() == 0) continue;
    const auto& told = step.progress();
    table.add({step.path(), number(told.attempt()), time_cell(told.at_unix_ms()), time_cell(step.heartbeat_by_unix_ms()),
               shortened(progress_text(told), 80)});
  }
  return table.empty() ? "" : "\nProgress\n" + table.text();
}

std::string attempt_text(const v1::HistoryEvent& event) {
  return event.attempt() == 0 ? "-" : attempt_word(event.attempt(), event.direction());
}

std::string history_text(const v1::TaskRecord& task) {
  text_table table{{{"#", align::right},
                    {"AT"},
                    {"EVENT"},
                    {"STEP"},
                    {"ATTEMPT"},
                    {"WHO", align::left, narrow::drop},
                    {"DETAIL", align::left, narrow::below}}};
  for (const auto& event : task.recent()) {
    const auto index = static_cast<int>(event.step());
    table.add({std::to_string(event.sequence()), exact_time_text(event.at_unix_ms()), event_word(event.kind()),
               index > 0 && index <= task.steps_size() ? task.steps(index - 1).path() : "", attempt_text(event), event.who(),
               shortened(event.detail(), 160)});
  }
  return table.empty() ? "" : "\nHistory\n" + table.text();
}

/// Why the task makes no progress, in full length.
std::string standstill_text(const v1::TaskShowReply& reply) {
  const auto& task = reply.task();
  std::string out;
  if (!task.parked_reason().empty()) out += "why       " + as_sentence(task.parked_reason()) + "\n";
  if (!task.undo_reason().empty()) out += "undo      " + as_sentence("because " + task.undo_reason()) + "\n";
  if (task.failing() || task.state() == v1::TASK_STATE_FAILED) out += "failed    " + as_sentence("because " + task.failed_reason()) + "\n";
  if (task.failing()) out += "waits     the task fails when the attempts in progress have ended\n";
  if (task.state() == v1::TASK_STATE_FAILED) out += "left      " + as_sentence(core::standing_words(core::standing_of(task))) + "\n";
  if (task.undo_held()) out += "waits     the brake on mass undo holds the undo of this task; 'fairlead brake release' releases it\n";
  if (task.alert() != 0)
    out += "alert     " + std::to_string(task.alert()) + ": 'fairlead alert show " + std::to_string(task.alert()) + "'\n";
  for (const auto i : stuck_steps(task)) {
    const auto& step = task.steps(i);
    if (step.has_fault()) out += "fault     " + printable(step.path() + ": " + fault_text(step)) + "\n";
  }
  return out;
}

std::string remedies_text(const v1::TaskShowReply& reply) {
  std::string out;
  for (const auto& one : remedies_of(reply.task(), reply.definition()))
    out += "  " + printable(one.command) + "\n      " + printable(one.effect) + "\n";
  return out.empty() ? "" : "\nWhat helps:\n" + out;
}

/// `approved (17 bytes), refused (4 bytes)`: those that no step has taken yet.
std::string signals_text(const v1::TaskRecord& task) {
  std::string out;
  for (const auto& signal : task.signals())
    out += (out.empty() ? "" : ", ") + printable(signal.name()) + " (" + std::to_string(size_of(signal.data())) + " bytes)";
  return out;
}

/// `order, version 3f2a0c11d9e4`: the beginning of its `content_hash`.
std::string version_text(const v1::TaskRecord& task) {
  const auto hash = store::to_hex(task.workflow_hash()).substr(0, 12);
  return printable(task.workflow()) + (hash.empty() ? "" : ", version " + hash);
}

/// ` by ben (token Ab3…) from 10.0.0.7`
std::string submitter_text(const v1::TaskRecord& task) {
  std::string out;
  if (!task.submitted_by().empty()) out += " by " + printable(task.submitted_by());
  if (!task.origin().token().empty()) out += " (token " + printable(task.origin().token()) + ")";
  if (!task.origin().address().empty()) out += " from " + printable(task.origin().address());
  return out;
}

}  // namespace

std::string fault_text(const v1::StepRecord& step) {
  // Of one that was accepted nothing is wrong.
  if (!step.has_fault() || core::waits_for_callback(step)) return "";
  auto out = std::string{fault_kind_word(step.fault().kind())} + " " + step.fault().code();
  if (!step.fault().message().empty()) out += ": " + step.fault().message();
  return out;
}

std::string step_state_text(const v1::TaskRecord& task, const v1::StepRecord& step) {
  std::string out = core::shown_state(task, step);
  if (step.doubtful() && step.state() != v1::STEP_STATE_IN_DOUBT) out += ", in doubt";
  return out;
}

std::string task_show_text(const v1::TaskShowReply& reply, const known_agents& agents) {
  const auto& task = reply.task();
  std::string out = "task      " + printable(task.id()) + "\n";
  out += "workflow  " + version_text(task) + "\n";
  if (task.has_parent()) out += "parent    " + printable(task.parent().id()) + "\n";
  out += "state     " + task_state_text(task.state(), task.parked(), task.paused()) + (reply.archived() ? ", archived" : "") + "\n";
  out += standstill_text(reply);
  if (!task.labels().empty()) out += "labels    " + printable(labels_text(task.labels())) + "\n";
  if (task.priority() != 0) out += "priority  " + std::to_string(task.priority()) + "\n";
  out += "created   " + time_text(task.created_at_unix_ms()) + submitter_text(task) + "\n";
  if (task.start_at_unix_ms() != 0) out += (task.scheduled() ? "starts    " : "start     ") + time_text(task.start_at_unix_ms()) + "\n";
  if (task.finished_at_unix_ms() != 0) out += "finished  " + time_text(task.finished_at_unix_ms()) + "\n";
  out += "input     " + (task.input().json().empty() ? "null" : printable(shortened(task.input().json(), payload_width))) + "\n";
  if (!task.output().json().empty()) out += "output    " + printable(shortened(task.output().json(), payload_width)) + "\n";
  if (!task.signals().empty()) out += "signals   " + signals_text(task) + "\n";
  return out + remedies_text(reply) + "\nSteps\n" + steps_text(reply, agents) + attempts_table(task) + heard_text(task) +
         payloads_text(task) + history_text(task);
}

std::string task_steps_text(const v1::TaskShowReply& reply, const known_agents& agents) { return steps_text(reply, agents); }

std::string task_history_text(const v1::TaskShowReply& reply) {
  const auto text = history_text(reply.task());
  const auto title = text.find("History\n");
  return title == std::string::npos ? "The task has no history any more.\n" : text.substr(title + std::string_view{"History\n"}.size());
}

}  // namespace fairlead::app
