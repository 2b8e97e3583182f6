#include "app/cli/node/alert_text.hpp"

#include "actors/core/alert_words.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

namespace {

void write_text_or_null(json_writer& out, const char* name, const std::string& text) {
  out.key(name);
  text.empty() ? out.null() : out.string(text);
}

void write_alert(json_writer& out, const v1::AlertRecord& alert) {
  out.begin_object().key("number").number(std::uint64_t{alert.number()}).key("kind").string(core::alert_kind_word(alert.kind()));
  out.key("state").string(core::alert_state_word(alert.state()));
  write_text_or_null(out, "task", alert.task_id());
  write_text_or_null(out, "workflow", alert.workflow());
  write_text_or_null(out, "step", alert.step());
  write_text_or_null(out, "job", alert.job());
  write_text_or_null(out, "agent", alert.agent());
  if (alert.tasks() != 0) out.key("tasks").number(std::uint64_t{alert.tasks()});
  out.key("sentence").string(alert.sentence()).key("remedy").string(alert.remedy());
  out.key("raised_at").moment(alert.raised_at_unix_ms()).key("acknowledged_at").moment(alert.acknowledged_at_unix_ms());
  write_text_or_null(out, "acknowledged_by", alert.acknowledged_by());
  out.key("note").string(alert.note()).key("resolved_at").moment(alert.resolved_at_unix_ms()).end_object();
}

}  // namespace

text_table alert_table() {
  return text_table{{{"NUMBER", align::right}, {"STATE"}, {"KIND"}, {"RAISED"}, {"TASK"}, {"WHAT", align::left, narrow::below}}};
}

void add_alert_row(text_table& table, const v1::AlertRecord& alert) {
  table.add({std::to_string(alert.number()), core::alert_state_word(alert.state()), core::alert_kind_word(alert.kind()),
             time_cell(alert.raised_at_unix_ms()), alert.task_id().empty() ? "-" : alert.task_id(), shortened(alert.sentence(), 160)});
}

std::string alert_json(const v1::AlertRecord& alert) {
  json_writer out;
  write_alert(out, alert);
  return out.text();
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

std::string acknowledged_json(const v1::AlertAckRequest& asked, const v1::AlertAckReply& reply) {
  json_writer out;
  out.begin_object().key("results").begin_array();
  for (int i = 0; i < reply.results_size(); ++i) {
    const auto& one = reply.results(i);
    out.begin_object().key("number").number(std::uint64_t{asked.numbers(i)}).key("alert");
    const bool refused = one.error().code() != v1::ERROR_CODE_OK;
    if (refused)
      out.null();
    else
      write_alert(out, one.alert());
    out.key("code").string(code_word(one.error().code()));
    out.key("error").string(one.error().sentence()).key("remedy").string(one.error().remedy()).end_object();
  }
  return out.end_array().end_object().text();
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
