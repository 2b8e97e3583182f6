// POST /v1/tasks/{id}/actions: what operators do to a task.

#include <utility>

#include "actors/gateway/requests/audit_entries.hpp"
#include "app/api/api.hpp"
#include "app/json/api_request.hpp"
#include "app/json/node/operations.hpp"
#include "app/json/node/task_action.hpp"

namespace fairlead::app::api {

namespace {

/// nullopt: refused.
std::optional<v1::OperatorAction> read_action(exchange& x) {
  asked_action asked;
  bool dry_run = false;
  auto fields = asked.fields();
  fields.push_back({"dry_run", flag_into(dry_run)});
  if (!x.read_body(fields)) return std::nullopt;
  x.note_action(asked.verb + (dry_run ? " (dry run)" : ""), asked.reason);
  std::string pointer;
  auto out = asked.read(pointer);
  if (out && dry_run && out->verb() != v1::OPERATOR_VERB_MIGRATE) {
    x.refuse_at("/dry_run", invalid("Field 'dry_run' is not one of '" + asked.verb + "'.", "Leave it out."));
    return std::nullopt;
  }
  if (out) out->set_dry_run(dry_run);
  if (!out) {
    x.refuse_at(pointer, out.failure());
    return std::nullopt;
  }
  out->set_who(x.who());
  return *std::move(out);
}

/// Beside the refusal stands what the state of the task allows, if whoever asks may see that.
void refuse_action(const exchange_ptr& x, const error& why) {
  v1::TaskShowRequest request;
  request.set_id(x->part(0));
  if (!x->by().has(right_for(request))) return x->refuse(why);
  x->ask_any<v1::TaskShowRequest>(std::move(request), {}, [x, why](const result<v1::TaskShowReply>& shown) {
    auto said = door::problem_of(why);
    if (shown) {
      const auto choices = choices_of(shown->task(), shown->definition(), shown->archived());
      if (!choices.empty()) said.what_helps.clear();
      for (const auto& one : choices) said.what_helps.push_back(help_of(one));
    }
    x->refuse(std::move(said));
  });
}

}  // namespace

void act_on_task(exchange_ptr x) {
  if (x->refuse_rest()) return;
  auto action = read_action(*x);
  if (!action) return;
  action->set_if_sequence(x->wanted_revision());
  action->set_token(x->action_key());
  if (x->is_over()) return;
  if (action->verb() == v1::OPERATOR_VERB_DELETE && (action->if_sequence() != 0 || !action->token().empty()))
    return x->refuse(invalid("'delete' takes neither If-Match nor an Idempotency-Key.",
                             "Leave the header out. A repeated delete changes nothing, and is answered as the first."));
  v1::OperateRequest request;
  *request.mutable_action() = std::move(*action);
  request.add_ids(x->part(0));
  x->ask<v1::OperateRequest>(std::move(request), [x](const v1::OperateReply& reply) {
    if (reply.results_size() == 1 && reply.results(0).error().code() == v1::ERROR_CODE_WRONG_STATE)
      return refuse_action(x, error::from_proto(reply.results(0).error()));
    const auto* const done = x->only_result(reply);
    if (done == nullptr) return;
    x->note_state(state_after(*done));
    x->say(200, operated_json(*done));
  });
}

}  // namespace fairlead::app::api
