#include "app/cli/node/alert_text.hpp"

#include "actors/core/alert_words.hpp"
#include "app/cli/words.hpp"

namespace fairlead::app {

text_table alert_table() {
  return text_table{{{"NUMBER", align::right}, {"STATE"}, {"KIND"}, {"RAISED"}, {"TASK"}, {"WHAT", align::left, narrow::below}}};
}

void add_alert_row(text_table& table, const v1::AlertRecord& alert) {
  table.add({std::to_string(alert.number()), core::alert_state_word(alert.state()), core::alert_kind_word(alert.kind()),
             time_cell(alert.raised_at_unix_ms()), alert.task_id().empty() ? "-" : alert.task_id(), shortened(alert.sentence(), 160)});
}

std::string alert_text(const v1::AlertRecord& alert) {
  std::string out = "alert         " + std::to_string(alert.number()) + ", " + core::alert_kind_word(alert.kind()) + "\n";
  out += std::string{"state         "} + core::alert_state_word(alert.state()) + "\n";
  if (!alert.task_id().empty()) out += "task          " + printable(alert.task_id()) + "\n";
  if (!alert.workflow().empty()) out += "workflow      " + printable(alert.workflow()) + "\n";
  if (!alert.step().empty()) out += "step          " + printable(alert.step()) + "\n";
  if (!alert.agent().empty()) out += "agent         " + printable(alert.agent()) + "\n";
  if (alert.tasks() != 0) out += "tasks         " + std::to_string(alert.tasks()) + "\n";
  if (!alert.job().empty()) out += "job           " + printable(alert.job()) + "\n";
  out += "what          " + as_sentence(alert.sentence()) + "\n";
  if (!alert.remedy().empty()) out += "what to do    " + printable(alert.remedy()) + "\n";
  out += "raised        " + time_text(alert.raised_at_unix_ms()) + "\n";
  if (alert.acknowledged_at_unix_ms() != 0)
    out += "acknowledged  " + time_text(alert.acknowledged_at_unix_ms()) + " by " + printable(alert.acknowledged_by()) + "\n";
  if (!alert.note().empty()) out += "note          " + printable(alert.note()) + "\n";
  if (alert.resolved_at_unix_ms() != 0) out += "resolved      " + time_text(alert.resolved_at_unix_ms()) + "\n";
  return out;
}

std::string acknowledged_text(const v1::AlertAckReply& reply) {
  std::string out;
  for (const auto& one : reply.results()) {
    if (one.error().code() != v1::ERROR_CODE_OK) continue;
    const auto& alert = one.alert();
    out += "Alert " + std::to_string(alert.number()) + " is acknowledged by " + printable(alert.acknowledged_by()) + " since " +
           time_text(alert.acknowledged_at_unix_ms()) + ".\n";
  }
  return out;
}

}  // namespace fairlead::app
