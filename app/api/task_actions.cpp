// POST /v1/tasks/{id}/actions: what operators do to a task.

#include <utility>

#include "actors/core/request_limits.hpp"
#include "app/api/api.hpp"
#include "app/json/node/operations.hpp"
#include "app/json/node/task_verbs.hpp"

namespace fairlead::app::api {

namespace {

struct asked_action {
  std::string verb, step, input, output, reason;
  bool now = false;
};

/// `settle` of the command line has two outcomes, which are two verbs here.
const task_verb* find_verb(const std::string& word, v1::OperatorVerb& verb) {
  if (word == "settle") return nullptr;
  const auto settles = word == "settle_completed" || word == "settle_never_happened";
  const auto* const row = find_task_verb(settles ? "settle" : word);
  if (row != nullptr) verb = word == "settle_never_happened" ? v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED : row->verb;
  return row;
}

std::string verb_words() {
  std::string out;
  for (const auto& one : task_verbs)
    out += (out.empty() ? "" : ", ") +
           (one.verb == v1::OPERATOR_VERB_SETTLE_COMPLETED ? "settle_completed, settle_never_happened" : std::string{one.word});
  return out;
}

/// nullopt: refused.
std::optional<v1::OperatorAction> read_action(exchange& x) {
  asked_action asked;
  if (!x.read_body({{"verb", text_into(asked.verb), true},
                    {"step", text_into(asked.step)},
                    {"input", json_into(asked.input)},
                    {"output", json_into(asked.output)},
                    {"now", flag_into(asked.now)},
                    {"reason", text_into(asked.reason)}}))
    return std::nullopt;
  x.note_action(asked.verb, asked.reason);
  v1::OperatorAction out;
  v1::OperatorVerb verb{};
  const auto* const row = find_verb(asked.verb, verb);
  const auto refuse = [&](const std::string& pointer, const std::string& sentence, const std::string& remedy) {
    x.refuse_at(pointer, invalid(sentence, remedy));
    return std::nullopt;
  };
  if (row == nullptr) return refuse("/verb", "There is no verb '" + asked.verb + "'.", "Verbs are " + verb_words() + ".");
  const auto only_of = [&](const std::string& field, bool given, v1::OperatorVerb whose) {
    if (!given || verb == whose) return true;
    refuse("/" + field, "Field '" + field + "' is not one of '" + asked.verb + "'.", "Leave it out.");
    return false;
  };
  if (!only_of("input", !asked.input.empty(), v1::OPERATOR_VERB_RETRY) ||
      !only_of("output", !asked.output.empty(), v1::OPERATOR_VERB_SETTLE_COMPLETED) ||
      !only_of("now", asked.now, v1::OPERATOR_VERB_TERMINATE))
    return std::nullopt;
  if (row->step == task_verb::step::none && !asked.step.empty())
    return refuse("/step", "'" + asked.verb + "' is about the whole task.", "Leave the step out.");
  if ((row->step == task_verb::step::must_be_named || !asked.input.empty()) && asked.step.empty())
    return refuse("/step", "No step is given.", "Name one; the task itself lists its steps.");
  if (verb == v1::OPERATOR_VERB_SETTLE_COMPLETED && asked.output.empty())
    return refuse("/output", "The output of the step is missing.", "Give it as JSON, null for none.");
  if (row->needs_reason && asked.reason.find_first_not_of(" \t\r\n") == std::string::npos)
    return refuse("/reason", "'" + asked.verb + "' needs a reason, and no reason is given.", "Give one; the task's history keeps it.");
  if (asked.reason.size() > reason_limit)
    return refuse("/reason", "The reason is longer than " + std::to_string(reason_limit) + " bytes.", "Give a shorter reason.");
  out.set_verb(verb);
  out.set_step(asked.step);
  if (!asked.input.empty() || !asked.output.empty()) out.set_json(asked.input.empty() ? asked.output : asked.input);
  out.set_at_once(asked.now);
  out.set_reason(asked.reason);
  out.set_who(x.who());
  return out;
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
    if (const auto* const done = x->only_result(reply)) x->say(200, operated_json(*done));
  });
}

}  // namespace fairlead::app::api
