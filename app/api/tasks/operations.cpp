#include "app/api/tasks/operations.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/operation.hpp"
#include "messages/task_states.hpp"

namespace fairlead::app::api {

namespace {

/// Each row is one more question to the node.
constexpr std::uint32_t default_rows = 20;

std::string task_of_part(const exchange& x) { return bulk::task_of_operation(x.part(0)); }

/// A record may have more than 256 KiB: not all of a page are on their way at once.
constexpr std::size_t most_asked_at_once = 16;

/// The list of tasks has no inputs and no progress, so each task of a page is asked for.
struct page_of_operations {
  page_asked page;
  v1::TaskListReply list;
  std::vector<std::string> ids{};   // of their tasks
  std::vector<std::string> rows{};  // JSON, at the places of the ids; empty: not known, or gone
  std::vector<std::optional<error>> failures{};
  std::size_t next = 0, answered = 0;
};

void add_missing(v1::TaskListReply& to, const error& why) {
  for (const auto& known : to.missing())
    if (known.sentence() == why.sentence) return;
  *to.add_missing() = why.to_proto();
}

void say_rows(exchange& x, page_of_operations& of) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (const auto& row : of.rows)
    if (!row.empty()) out.raw(row);
  for (const auto& why : of.failures)
    if (why) add_missing(of.list, *why);
  of.page.write_next(out.end_array(), of.list.cursor());
  x.say(200, out.key("missing").raw(missing_json(of.list.missing())).end_object().text());
}

void ask_for_row(const exchange_ptr& x, const std::shared_ptr<page_of_operations>& of) {
  const auto at = of->next++;
  v1::TaskShowRequest request;
  request.set_id(of->ids[at]);
  x->ask_any<v1::TaskShowRequest>(std::move(request), {}, [x, of, at](const result<v1::TaskShowReply>& reply) {
    if (reply)
      of->rows[at] = bulk::operation_json(reply->task());
    else if (reply.failure().code != v1::ERROR_CODE_NOT_FOUND)
      of->failures[at] = reply.failure();
    if (++of->answered == of->ids.size()) return say_rows(*x, *of);
    if (of->next < of->ids.size()) ask_for_row(x, of);
  });
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
  door::problem out{
      "wrong_state", "Operation " + id + " is " + bulk::view_of(task).state + ", which '" + verb + "' does not fit.", {}, {}, {}, false};
  std::string words;
  for (const auto& one : bulk::operation_verbs) {
    if (!takes(task, one.verb)) continue;
    out.what_helps.push_back({"fairlead operation " + std::string{one.word} + " " + id, one.help,
                              api_request{"POST", path + "/actions", R"({"verb":")" + std::string{one.word} + R"("})"}});
    words += (words.empty() ? "" : ", ") + std::string{one.word};
  }
  out.what_helps.push_back({"fairlead operation show " + id, "Show how far the operation has come", api_request{"GET", path, ""}});
  out.remedy =
      words.empty() ? "GET " + path + " shows what was done. POST /v1/tasks:act begins another operation." : "It takes " + words + ".";
  return out;
}

/// What became of an action on an operation; `known`: its record before the action.
void say_end(const exchange_ptr& x, const bulk::operation_verb& asked, v1::TaskRecord known, const v1::OperateReply& reply) {
  const auto why = reply.results_size() == 1 ? error::from_proto(reply.results(0).error()) : error{v1::ERROR_CODE_OK, "", ""};
  const auto does_not_fit = why.code == v1::ERROR_CODE_WRONG_STATE;
  if (why.code == v1::ERROR_CODE_NOT_FOUND) return x->refuse(unknown_operation(x->part(0)));
  if (!does_not_fit) {
    const auto* const done = x->only_result(reply);
    if (done == nullptr) return;
    bulk::take_state(known, *done);
  }
  v1::TaskShowRequest show;
  show.set_id(known.id());
  x->ask_any<v1::TaskShowRequest>(show, {}, [x, asked, why, does_not_fit, known](const result<v1::TaskShowReply>& shown) {
    const auto& task = shown ? shown->task() : known;
    if (!does_not_fit) return x->say(shown ? 200 : 202, bulk::operation_json(task));
    takes(task, asked.verb) ? x->refuse(why) : x->refuse(refusal_of(x->part(0), asked.word, task));
  });
}

}  // namespace

std::string operation_path(const std::string& task_id) {
  return "/v1/operations/" + door::encode_percent(bulk::operation_of_task(task_id));
}

error unknown_operation(const std::string& id) {
  return {v1::ERROR_CODE_NOT_FOUND, "There is no operation " + id + ".", "GET /v1/operations lists them."};
}

void list_operations(exchange_ptr x) {
  const page_asked page{*x};
  if (x->refuse_rest()) return;
  v1::TaskListRequest request;
  request.set_partial(true);
  request.set_page_size(page.size == 0 ? default_rows : page.size);
  request.set_cursor(page.cursor);
  request.set_workflow(bulk::workflow_name);
  x->ask<v1::TaskListRequest>(request, [x, page](v1::TaskListReply& reply) {
    const auto of = std::make_shared<page_of_operations>(page_of_operations{page, std::move(reply)});
    for (const auto& task : of->list.items())
      if (bulk::is_operation(task.id())) of->ids.push_back(task.id());
    of->rows.resize(of->ids.size());
    of->failures.resize(of->ids.size());
    if (of->ids.empty()) return say_rows(*x, *of);
    while (of->next < std::min(of->ids.size(), most_asked_at_once)) ask_for_row(x, of);
  });
}

void show_operation(exchange_ptr x) {
  if (x->refuse_rest()) return;
  v1::TaskShowRequest request;
  request.set_id(task_of_part(*x));
  x->ask_any<v1::TaskShowRequest>(request, {}, [x](const result<v1::TaskShowReply>& reply) {
    if (reply) return x->say_resource(reply->task().history_size(), bulk::operation_json(reply->task()));
    if (reply.failure().code != v1::ERROR_CODE_NOT_FOUND) return x->refuse(reply.failure());
    x->refuse(unknown_operation(x->part(0)));
  });
}

void act_on_operation(exchange_ptr x) {
  if (x->refuse_rest()) return;
  std::string verb, reason;
  if (!x->read_body({{"verb", text_into(verb), true}, {"reason", text_into(reason)}})) return;
  x->note_action(verb, reason);
  const auto* const found = bulk::find_operation_verb(verb);
  if (found == nullptr) return x->refuse_at("/verb", invalid("There is no verb '" + verb + "'.", "Verbs are stop, pause, resume, retry."));
  v1::OperateRequest request;
  auto& action = *request.mutable_action();
  action.set_verb(found->verb);
  action.set_reason(reason);
  action.set_who(x->who());
  action.set_if_sequence(x->wanted_revision());
  action.set_token(x->action_key());
  if (x->is_over()) return;
  request.add_ids(task_of_part(*x));
  // What is known before is the answer where the action is done and the operation cannot be looked at again.
  v1::TaskShowRequest show;
  show.set_id(task_of_part(*x));
  x->ask_any<v1::TaskShowRequest>(show, {}, [x, request, asked = *found](const result<v1::TaskShowReply>& before) {
    if (!before) return x->refuse(before.failure().code == v1::ERROR_CODE_NOT_FOUND ? unknown_operation(x->part(0)) : before.failure());
    x->ask<v1::OperateRequest>(request,
                               [x, asked, known = before->task()](const v1::OperateReply& reply) { say_end(x, asked, known, reply); });
  });
}

}  // namespace fairlead::app::api
