#include "app/json/node/alerts.hpp"

#include "actors/core/alert_words.hpp"
#include "app/json/writer.hpp"
#include "messages/error.hpp"

namespace fairlead::app {

namespace {

void write_alert(json_writer& out, const v1::AlertRecord& alert) {
  out.begin_object().key("number").number(std::uint64_t{alert.number()}).key("kind").string(core::alert_kind_word(alert.kind()));
  out.key("state").string(core::alert_state_word(alert.state()));
  out.key("task").text_or_null(alert.task_id());
  out.key("workflow").text_or_null(alert.workflow());
  out.key("step").text_or_null(alert.step());
  out.key("job").text_or_null(alert.job());
  out.key("agent").text_or_null(alert.agent());
  if (alert.tasks() != 0) out.key("tasks").number(std::uint64_t{alert.tasks()});
  out.key("sentence").string(alert.sentence()).key("remedy").string(alert.remedy());
  out.key("raised_at").moment(alert.raised_at_unix_ms()).key("acknowledged_at").moment(alert.acknowledged_at_unix_ms());
  out.key("acknowledged_by").text_or_null(alert.acknowledged_by());
  out.key("note").string(alert.note()).key("resolved_at").moment(alert.resolved_at_unix_ms()).end_object();
}

}  // namespace

std::string alert_json(const v1::AlertRecord& alert) {
  json_writer out;
  write_alert(out, alert);
  return out.text();
}

std::string alert_list_json(const v1::AlertListReply& reply) {
  json_writer out;
  out.begin_object().key("alerts").begin_array();
  for (const auto& alert : reply.items()) write_alert(out, alert);
  out.end_array().key("before");
  reply.before() == 0 ? out.null() : out.number(std::uint64_t{reply.before()});
  return out.key("missing").raw(missing_json(reply.missing())).end_object().text();
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

std::string brake_release_json(const v1::BrakeReleaseReply& reply) {
  json_writer out;
  out.begin_object().key("held").number(std::uint64_t{reply.held()}).end_object();
  return out.text();
}

}  // namespace fairlead::app
