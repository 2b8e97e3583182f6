#include "app/api/tasks/operations.hpp"

#include <utility>

#include "actors/core/text/text.hpp"
#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/tally.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app::api {

namespace {

std::string id_of_part(const exchange& x) { return std::string{bulk::id_prefix} + x.part(0); }
std::string part_of(const std::string& task_id) { return task_id.substr(std::min(bulk::id_prefix.size(), task_id.size())); }

const char* state_of(v1::TaskState state, bool parked, bool paused) {
  switch (state) {
    case v1::TASK_STATE_PENDING: return "waiting";
    case v1::TASK_STATE_COMPLETED: return "done";
    case v1::TASK_STATE_UNDOING: return "stopping";
    case v1::TASK_STATE_UNDONE: return "stopped";
    case v1::TASK_STATE_FAILED: return "failed";
    default: return parked ? "parked" : paused ? "paused" : "running";
  }
}

error no_operation(const std::string& id) {
  return {v1::ERROR_CODE_NOT_FOUND, "There is no operation " + id + ".", "GET /v1/operations lists them."};
}

struct operation_verb {
  const char* word;
  v1::OperatorVerb verb;
  const char* effect;
};
constexpr operation_verb operation_verbs[] = {
    {"stop", v1::OPERATOR_VERB_CANCEL, "ends the operation where it is: what was done stays done"},
    {"pause", v1::OPERATOR_VERB_PAUSE, "acts on no further task until it is resumed"},
    {"resume", v1::OPERATOR_VERB_RESUME, "lets the operation go on"},
    {"retry", v1::OPERATOR_VERB_RETRY, "lets the operation go on from where it failed"}};

const v1::StepRecord* act_of(const v1::TaskRecord& task) { return task.steps().empty() ? nullptr : &task.steps(0); }

bulk::tally tally_of(const v1::StepRecord* step) {
  if (step == nullptr) return {};
  return bulk::tally::of(step->has_output() ? step->output().json() : step->progress().checkpoint().json());
}

/// A stop that comes between two tasks ends the operation like its last task.
std::string state_word_of(const v1::TaskRecord& task) {
  const auto stopped = task.state() == v1::TASK_STATE_COMPLETED && tally_of(act_of(task)).stopped;
  return stopped ? "stopped" : state_of(task.state(), task.parked(), task.paused());
}

bool takes(const v1::TaskRecord& task, v1::OperatorVerb verb) {
  if (has_ended(task.state()) || task.state() == v1::TASK_STATE_UNDOING) return false;
  switch (verb) {
    case v1::OPERATOR_VERB_PAUSE: return !task.paused() && !task.parked();
    case v1::OPERATOR_VERB_RESUME: return task.paused();
    case v1::OPERATOR_VERB_RETRY: return task.parked();
    default: return true;
  }
}

/// In the words of operations, in place of those of the task that carries it out.
door::problem refusal_of(const std::string& id, const std::string& verb, const v1::TaskRecord& task) {
  const auto path = operation_path(task.id());
  const auto state = state_word_of(task);
  door::problem out{"wrong_state", "Operation " + id + " is " + state + ", which '" + verb + "' does not fit.", {}, {}, {}, false};
  std::string words;
  for (const auto& one : operation_verbs) {
    if (!takes(task, one.verb)) continue;
    const auto command = std::string{"fairlead task "} + core::verb_word(v1::OperatorVerb_Name(one.verb)) + " " + task.id();
    out.what_helps.push_back(
        {command, one.effect, api_request{"POST", path + "/actions", R"({"verb":")" + std::string{one.word} + R"("})"}});
    words += (words.empty() ? "" : ", ") + std::string{one.word};
  }
  out.what_helps.push_back({"fairlead task show " + task.id(), "shows how far the operation has come", api_request{"GET", path, ""}});
  out.remedy =
      words.empty() ? "GET " + path + " shows what was done. POST /v1/tasks:act begins another operation." : "It takes " + words + ".";
  return out;
}

}  // namespace

std::string operation_path(const std::string& task_id) { return "/v1/operations/" + door::encode_percent(part_of(task_id)); }

std::string operation_json(const v1::TaskRecord& task) {
  const auto what = bulk::action_of_input(task.input().json());
  const auto* const step = act_of(task);
  const auto has_output = step != nullptr && step->has_output();
  const auto at = tally_of(step);
  json_writer out;
  out.begin_object().key("id").string(part_of(task.id())).key("task").string(task.id());
  out.key("state").string(state_word_of(task));
  out.key("reason_of_state").text_or_null(task.parked() ? task.parked_reason() : "");
  out.key("verb")
      .text_or_null(what ? core::verb_word(v1::OperatorVerb_Name(what->what.verb())) : "")
      .key("step")
      .text_or_null(what ? what->what.step() : "");
  out.key("filter").raw(what ? what->filter : "").key("ids").boolean(what && !what->ids.empty());
  out.key("by").text_or_null(what ? what->what.who() : "").key("reason").text_or_null(what ? what->what.reason() : "");
  out.key("rate").number(what ? what->rate : 0);
  out.key("count").number(what ? what->count : 0);
  at.write(out);
  const auto has_ended_whole = task.state() == v1::TASK_STATE_COMPLETED && !at.stopped;
  const auto left = what && what->count > at.answered() && !has_ended_whole ? what->count - at.answered() : 0;
  out.key("left").number(left).key("note").text_or_null(step != nullptr && !has_output ? step->progress().note() : "");
  out.key("created_at").moment(task.created_at_unix_ms()).key("ended_at").moment(task.finished_at_unix_ms());
  return out.end_object().text();
}

void list_operations(exchange_ptr x) {
  const page_asked page{*x};
  if (x->refuse_rest()) return;
  v1::TaskListRequest request;
  request.set_partial(true);
  request.set_page_size(page.size);
  request.set_cursor(page.cursor);
  request.set_workflow(bulk::workflow_name);
  x->ask<v1::TaskListRequest>(request, [x, page](const v1::TaskListReply& reply) {
    json_writer out;
    out.begin_object().key("items").begin_array();
    for (const auto& task : reply.items()) {
      if (!bulk::is_operation(task.id())) continue;
      out.begin_object().key("id").string(part_of(task.id())).key("task").string(task.id());
      out.key("state").string(state_of(task.state(), task.parked(), task.paused())).key("by").text_or_null(task.submitted_by());
      out.key("created_at").moment(task.created_at_unix_ms()).key("ended_at").moment(task.finished_at_unix_ms()).end_object();
    }
    page.write_next(out.end_array(), reply.cursor());
    x->say(200, out.key("missing").raw(missing_json(reply.missing())).end_object().text());
  });
}

void show_operation(exchange_ptr x) {
  if (x->refuse_rest()) return;
  v1::TaskShowRequest request;
  request.set_id(id_of_part(*x));
  x->ask_any<v1::TaskShowRequest>(request, {}, [x](const result<v1::TaskShowReply>& reply) {
    if (reply) return x->say_resource(reply->task().history_size(), operation_json(reply->task()));
    if (reply.failure().code != v1::ERROR_CODE_NOT_FOUND) return x->refuse(reply.failure());
    x->refuse(no_operation(x->part(0)));
  });
}

void act_on_operation(exchange_ptr x) {
  if (x->refuse_rest()) return;
  std::string verb, reason;
  if (!x->read_body({{"verb", text_into(verb), true}, {"reason", text_into(reason)}})) return;
  x->note_action(verb, reason);
  const auto* const found =
      std::find_if(std::begin(operation_verbs), std::end(operation_verbs), [&](const auto& one) { return verb == one.word; });
  if (found == std::end(operation_verbs))
    return x->refuse_at("/verb", invalid("There is no verb '" + verb + "'.", "Verbs are stop, pause, resume, retry."));
  v1::OperateRequest request;
  auto& action = *request.mutable_action();
  action.set_verb(found->verb);
  action.set_reason(reason);
  action.set_who(x->who());
  action.set_if_sequence(x->wanted_revision());
  action.set_token(x->key().value_or(""));
  if (x->is_over()) return;
  request.add_ids(id_of_part(*x));
  x->ask<v1::OperateRequest>(std::move(request), [x, asked = *found](const v1::OperateReply& reply) {
    const auto why = reply.results_size() == 1 ? error::from_proto(reply.results(0).error()) : error{v1::ERROR_CODE_OK, "", ""};
    const auto does_not_fit = why.code == v1::ERROR_CODE_WRONG_STATE;
    if (why.code == v1::ERROR_CODE_NOT_FOUND) return x->refuse(no_operation(x->part(0)));
    if (!does_not_fit && x->only_result(reply) == nullptr) return;
    v1::TaskShowRequest show;
    show.set_id(id_of_part(*x));
    x->ask<v1::TaskShowRequest>(show, [x, asked, why, does_not_fit](const v1::TaskShowReply& shown) {
      if (!does_not_fit) return x->say(200, operation_json(shown.task()));
      takes(shown.task(), asked.verb) ? x->refuse(why) : x->refuse(refusal_of(x->part(0), asked.word, shown.task()));
    });
  });
}

}  // namespace fairlead::app::api
