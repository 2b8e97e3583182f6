#include "app/json/node/doctor.hpp"

#include "app/json/words.hpp"
#include "messages/lineage.hpp"

namespace fairlead::app {

void add_effects(const v1::DoctorReply& reply, json_writer& out) {
  out.key("effects").begin_array();
  for (const auto& one : reply.effects()) {
    out.begin_object().key("task").string(one.task_id()).key("step").string(one.step());
    out.key("direction")
        .string(direction_word(one.direction()))
        .key("instance")
        .string(one.instance())
        .key("attempt")
        .number(one.attempt());
    out.key("key").string(one.idempotency_key()).key("heard_at").moment(one.heard_at_unix_ms());
    out.key("lineage").string(to_text(one.lineage())).end_object();
  }
  out.end_array().key("effects_dropped").number(std::uint64_t{reply.effects_dropped()});
}

std::string doctor_json(const v1::DoctorReply& reply) {
  json_writer out;
  out.begin_object().key("looked_at").number(std::uint64_t{reply.looked_at()}).key("found").number(std::uint64_t{reply.found()});
  out.key("findings").begin_array();
  for (const auto& finding : reply.findings()) {
    out.begin_object().key("task").string(finding.task_id()).key("task_number").number(std::uint64_t{finding.task_number()});
    out.key("sentence").string(finding.sentence()).key("repaired").boolean(finding.repaired()).end_object();
  }
  out.end_array().key("stalest_task").text_or_null(reply.stalest_task());
  out.key("stalest_since").moment(reply.stalest_since_unix_ms());
  add_effects(reply, out);
  return out.end_object().text();
}

}  // namespace fairlead::app
