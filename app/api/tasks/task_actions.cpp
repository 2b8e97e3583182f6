// POST /v1/tasks/{id}/actions: what operators do to a task.

#include <utility>

#include "actors/gateway/requests/audit_entries.hpp"
#include "app/api/api.hpp"
#include "app/json/node/operations.hpp"
#include "app/json/node/task_action.hpp"

namespace fairlead::app::api {

namespace {

/// nullopt: refused.
std::optional<v1::OperatorAction> read_action(exchange& x) {
  asked_action asked;
  if (!x.read_body(asked.fields())) return std::nullopt;
  x.note_action(asked.verb, asked.reason);
  std::string pointer;
  auto out = asked.read(pointer);
  if (!out) {
    x.refuse_at(pointer, out.failure());
    return std::nullopt;
  }
  out->set_who(x.who());
  return *std::move(out);
}

}  // namespace

void act_on_task(exchange_ptr x) {
  if (x->refuse_rest()) return;
  auto action = read_action(*x);
  if (!action) return;
  action->set_if_sequence(x->wanted_revision());
  action->set_token(x->key().value_or(""));
  if (x->is_over()) return;
  if (action->verb() == v1::OPERATOR_VERB_DELETE && (action->if_sequence() != 0 || !action->token().empty()))
    return x->refuse(
        invalid("'delete' takes neither If-Match nor an Idempotency-Key.", "Leave the header out. A repeated delete changes nothing."));
  v1::OperateRequest request;
  *request.mutable_action() = std::move(*action);
  request.add_ids(x->part(0));
  x->ask<v1::OperateRequest>(std::move(request), [x](const v1::OperateReply& reply) {
    const auto* const done = x->only_result(reply);
    if (done == nullptr) return;
    x->note_state(state_after(*done));
    x->say(200, operated_json(*done));
  });
}

}  // namespace fairlead::app::api
