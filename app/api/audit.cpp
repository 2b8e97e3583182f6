// /v1/audit: what was done over the API of the nodes, and what was refused.

#include "app/json/node/audit.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/json/node/nodes.hpp"

namespace fairlead::app::api {

void list_audit(exchange_ptr x) {
  const page_asked page{*x};
  v1::AuditListRequest request;
  request.set_page_size(page.size);
  request.set_cursor(page.cursor);
  take_text(*x, "node", [&](const std::string& text) { request.set_node(text); });
  take_text(*x, "who", [&](const std::string& text) { request.set_who(text); });
  take_text(*x, "token", [&](const std::string& text) { request.set_token(text); });
  take_text(*x, "object", [&](const std::string& text) { request.set_object(text); });
  take_text(*x, "verb", [&](const std::string& text) { request.set_verb(text); });
  take_text(*x, "path", [&](const std::string& text) { request.set_path(text); });
  take_text(*x, "code", [&](const std::string& text) { request.set_code(text); });
  std::int64_t since = 0;
  std::int64_t until = 0;
  take_moment(*x, "since", since);
  take_moment(*x, "until", until);
  request.set_since_unix_ms(since);
  request.set_until_unix_ms(until);
  if (x->refuse_rest()) return;
  const auto list = [x, page, request] {
    x->ask<v1::AuditListRequest>(request, [x, page](const v1::AuditListReply& reply) {
      json_writer out;
      out.begin_object().key("items").begin_array();
      for (const auto& one : reply.items()) out.raw(audit_entry_json(one));
      page.write_next(out.end_array(), reply.cursor());
      x->say(200, out.key("missing").raw(missing_json(reply.missing())).end_object().text());
    });
  };
  if (request.node().empty()) return list();
  x->ask<v1::StatusRequest>({}, [x, request, list](const v1::StatusReply& known) {
    const auto checked = check_node(known, request.node());
    checked ? list() : x->refuse(checked.failure());
  });
}

}  // namespace fairlead::app::api
