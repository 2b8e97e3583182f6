// POST /v1/tasks/{id}/signals/{name}: what programs tell a task that waits for it.

#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/gateway/requests/audit_entries.hpp"
#include "app/api/api.hpp"
#include "app/json/node/operations.hpp"

namespace fairlead::app::api {

void signal_task(exchange_ptr x) {
  if (x->refuse_rest()) return;
  std::string data, reason;
  if (!x->read_body({{"data", json_into(data)}, {"reason", text_into(reason)}})) return;
  x->note_action("signal", reason);
  if (reason.size() > reason_limit)
    return x->refuse_at("/reason",
                        invalid("The reason is longer than " + std::to_string(reason_limit) + " bytes.", "Give a shorter reason."));
  v1::OperateRequest request;
  auto& action = *request.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_SIGNAL);
  action.set_signal(x->part(1));
  if (!data.empty()) action.set_json(std::move(data));
  action.set_reason(std::move(reason));
  action.set_who(x->who());
  action.set_if_sequence(x->wanted_revision());
  action.set_token(x->action_key());
  if (x->is_over()) return;
  request.add_ids(x->part(0));
  x->ask<v1::OperateRequest>(std::move(request), [x](const v1::OperateReply& reply) {
    const auto* const done = x->only_result(reply);
    if (done == nullptr) return;
    x->note_state(state_after(*done));
    x->say(202, signaled_json(*done, x->part(1)));
  });
}

}  // namespace fairlead::app::api
