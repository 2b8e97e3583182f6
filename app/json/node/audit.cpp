#include "app/json/node/audit.hpp"

#include "app/json/writer.hpp"

namespace fairlead::app {

std::string audit_entry_json(const v1::AuditEntry& entry) {
  json_writer out;
  out.begin_object().key("node").string(entry.node()).key("at").moment(entry.at_unix_ms());
  out.key("kind").text_or_null(entry.kind()).key("who").text_or_null(entry.who());
  out.key("token").text_or_null(entry.token()).key("from").text_or_null(entry.from());
  out.key("request_id").string(entry.request_id()).key("method").string(entry.method()).key("path").string(entry.path());
  out.key("object").text_or_null(entry.object()).key("verb").text_or_null(entry.verb());
  out.key("reason").text_or_null(entry.reason()).key("state_after").text_or_null(entry.state_after());
  out.key("status").number(std::uint64_t{entry.status()}).key("code").text_or_null(entry.code());
  return out.end_object().text();
}

std::string audit_list_json(const v1::AuditListReply& reply) {
  json_writer out;
  out.begin_object().key("entries").begin_array();
  for (const auto& entry : reply.items()) out.raw(audit_entry_json(entry));
  out.end_array().key("cursor").string(reply.cursor());
  return out.key("missing").raw(missing_json(reply.missing())).end_object().text();
}

}  // namespace fairlead::app
