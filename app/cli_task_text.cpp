#include "actors/core/task.hpp"
#include "app/cli_table.hpp"
#include "app/cli_task_json.hpp"
#include "app/cli_words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t payload_width = 300;  // the rest is for --json

std::string number(std::uint32_t value) { return value == 0 ? "-" : std::to_string(value); }

std::string fault_text(const v1::StepRecord& step) {
  if (!step.has_fault()) return "";
  auto out = std::string{fault_kind_word(step.fault().kind())} + " " + step.fault().code();
  if (!step.fault().message().empty()) out += ": " + step.fault().message();
  return shortened(out, 80);
}

std::string steps_text(const v1::TaskRecord& task) {
  text_table table{{{"STEP"},
                    {"STATE"},
                    {"ATTEMPTS", align::right},
                    {"FAILED", align::right},
                    {"TRIES", align::right},
                    {"AGENT"},
                    {"NEXT"},
                    {"LAST FAULT"}}};
  for (const auto& step : task.steps()) {
    std::string next;
    if (step.state() == v1::STEP_STATE_RUNNING)
      next = "ends by " + time_text(step.complete_by_unix_ms());
    else if (step.not_before_unix_ms() != 0)
      next = "again at " + time_text(step.not_before_unix_ms());
    table.add({step.path(), core::state_word(step.state()), number(step.attempt()), number(step.failure_count()), number(step.tries()),
               step.instance(), next, fault_text(step)});
  }
  return table.text();
}

std::string payloads_text(const v1::TaskRecord& task) {
  text_table table{{{"STEP"}, {"PAYLOAD"}, {"JSON"}}};
  for (const auto& step : task.steps()) {
    if (!step.input().json().empty()) table.add({step.path(), "input", shortened(step.input().json(), payload_width)});
    if (!step.output().json().empty()) table.add({step.path(), "output", shortened(step.output().json(), payload_width)});
  }
  return table.empty() ? "" : "\nPayloads\n" + table.text();
}

std::string history_text(const v1::TaskRecord& task) {
  text_table table{{{"#", align::right}, {"AT"}, {"EVENT"}, {"STEP"}, {"ATTEMPT", align::right}, {"DETAIL"}}};
  for (const auto& event : task.recent()) {
    const auto index = static_cast<int>(event.step());
    table.add({std::to_string(event.sequence()), format_utc(event.at_unix_ms()), event_word(event.kind()),
               index > 0 && index <= task.steps_size() ? task.steps(index - 1).path() : "", number(event.attempt()),
               shortened(event.detail(), 100)});
  }
  return table.empty() ? "" : "\nHistory\n" + table.text();
}

}  // namespace

std::string task_show_text(const v1::TaskShowReply& reply) {
  const auto& task = reply.task();
  std::string out = "task      " + printable(task.id()) + "\n";
  out += "workflow  " + printable(task.workflow()) + "\n";
  out += "state     " + task_state_text(task.state(), task.parked(), task.paused()) + (reply.archived() ? ", archived" : "") + "\n";
  if (!task.parked_reason().empty()) out += "why       " + printable(task.parked_reason()) + "\n";
  if (!task.labels().empty()) out += "labels    " + printable(labels_text(task.labels())) + "\n";
  if (task.priority() != 0) out += "priority  " + std::to_string(task.priority()) + "\n";
  out += "created   " + time_text(task.created_at_unix_ms()) + "\n";
  if (task.finished_at_unix_ms() != 0) out += "finished  " + time_text(task.finished_at_unix_ms()) + "\n";
  out += "input     " + (task.input().json().empty() ? "null" : printable(shortened(task.input().json(), payload_width))) + "\n";
  return out + "\nSteps\n" + steps_text(task) + payloads_text(task) + history_text(task);
}

}  // namespace fairlead::app
