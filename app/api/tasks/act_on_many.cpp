// POST /v1/tasks:act: one action on many tasks. A dry run counts them; its confirmation makes the action an operation, which the node carries out.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"
#include "app/api/api.hpp"
#include "app/api/tasks/operations.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/operation.hpp"
#include "app/json/node/task_action.hpp"
#include "app/json/task.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app::api {

namespace {

/// Longer than this nobody waits for a count: what was counted until then is the least that there are.
constexpr auto longest_count = std::chrono::seconds{20};
constexpr duration deploy_limit = std::chrono::seconds{30};
constexpr int most_shown = 20;
constexpr std::size_t most_reasons = 20;

/// The tasks that an action is about, page by page.
struct count_of_tasks {
  bulk::action what;
  v1::TaskListRequest next;
  std::size_t next_id = 0;
  std::uint64_t count = 0;
  bool is_whole = false;
  std::vector<std::string> sample;
  std::map<std::string, std::uint64_t> reasons, refused;
  std::vector<std::string> unknown;
  google::protobuf::RepeatedPtrField<v1::Error> missing;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + longest_count;

  /// `paused`: absent where nobody knows.
  void add(const v1::TaskEnd& task, std::optional<bool> paused) {
    const auto left = what.ids.empty() && left_to_parent(what.what.verb(), task.id());
    const auto misfit = bulk::is_operation(task.id()) ? "the task carries out an operation"
                        : left                        ? "the task is a child, and is left to the action on its parent"
                                                      : misfit_of(what.what.verb(), task.state(), task.parked(), paused);
    if (!misfit.empty()) return void(++refused[misfit]);
    ++count;
    if (sample.size() < most_shown) sample.push_back(state_json(task));
    const auto words = without_id(task.reason(), task.id());
    if (reasons.size() < most_reasons || reasons.contains(words)) ++reasons[words];
  }
};
using counting = std::shared_ptr<count_of_tasks>;

v1::TaskEnd state_in(const v1::TaskSummary& task) {
  v1::TaskEnd out;
  out.set_id(task.id());
  out.set_state(task.state());
  out.set_parked(task.parked());
  out.set_reason(task.reason());
  return out;
}

void write_counts(json_writer& out, const std::map<std::string, std::uint64_t>& reasons) {
  out.begin_array();
  for (const auto& [reason, tasks] : reasons) out.begin_object().key("reason").text_or_null(reason).key("tasks").number(tasks).end_object();
  out.end_array();
}

void count_page(const exchange_ptr& x, const counting& found, const std::function<void(count_of_tasks&)>& then) {
  if (std::chrono::steady_clock::now() >= found->until) return then(*found);
  x->ask<v1::TaskListRequest>(found->next, [x, found, then](const v1::TaskListReply& reply) {
    for (const auto& task : reply.items()) found->add(state_in(task), task.paused());
    found->next.set_cursor(reply.cursor());
    found->is_whole = reply.cursor().empty();
    found->is_whole ? then(*found) : count_page(x, found, then);
  });
}

void count_ids(const exchange_ptr& x, const counting& found, const std::function<void(count_of_tasks&)>& then) {
  v1::StatesRequest request;
  for (const auto& id : found->what.ids) request.add_ids(id);
  x->ask<v1::StatesRequest>(request, [found, then](const v1::StatesReply& reply) {
    for (const auto& task : reply.items())
      task.state() == v1::TASK_STATE_UNSPECIFIED ? found->unknown.push_back(task.id()) : found->add(task, std::nullopt);
    found->is_whole = true;
    then(*found);
  });
}

/// Counts what the action is about now.
void count(const exchange_ptr& x, const bulk::action& what, const std::function<void(count_of_tasks&)>& then) {
  const auto found = std::make_shared<count_of_tasks>();
  found->what = what;
  found->next = what.which;
  found->next.set_page_size(max_page_size);
  what.ids.empty() ? count_page(x, found, then) : count_ids(x, found, then);
}

void say_dry_run(const exchange_ptr& x, bulk::action what) {
  what.as_of_unix_ms = to_unix_ms(x->in().time->now());
  count(x, what, [x, what](count_of_tasks& found) mutable {
    what.count = found.count;
    json_writer out;
    out.begin_object()
        .key("verb")
        .string(core::verb_word(v1::OperatorVerb_Name(what.what.verb())))
        .key("count")
        .number(found.count)
        .key("at_least")
        .boolean(!found.is_whole);
    write_counts(out.key("by_reason"), found.reasons);
    write_counts(out.key("refused"), found.refused);
    out.key("unknown").begin_array();
    for (const auto& id : found.unknown) out.string(id);
    out.end_array().key("sample").begin_array();
    for (const auto& one : found.sample) out.raw(one);
    out.end_array().key("confirm").text_or_null(found.count == 0 ? "" : bulk::confirmation_of(what));
    x->say(200, out.end_object().text());
  });
}

void say_operation(const exchange_ptr& x, const std::string& id) {
  v1::TaskShowRequest request;
  request.set_id(id);
  x->ask<v1::TaskShowRequest>(request, [x, id](const v1::TaskShowReply& reply) {
    x->say(202, bulk::operation_json(reply.task()), {{"Location", operation_path(id)}});
  });
}

/// The operation has begun, also where it cannot be looked at now.
void say_begun(const exchange_ptr& x, const v1::Submission& taken) {
  const auto known = bulk::begun_record(taken, to_unix_ms(x->in().time->now()));
  v1::TaskShowRequest request;
  request.set_id(known.id());
  x->ask_any<v1::TaskShowRequest>(request, {}, [x, known](const result<v1::TaskShowReply>& reply) {
    x->say(202, bulk::operation_json(reply ? reply->task() : known), {{"Location", operation_path(known.id())}});
  });
}

using submission = std::shared_ptr<const v1::SubmitRequest>;

void submit_operation(const exchange_ptr& x, const submission& task, const std::function<void()>& if_not_deployed);

/// The node itself deploys the workflow and submits the task: whoever may act on tasks need have no right to either.
void deploy_and_submit(const exchange_ptr& x, const submission& task) {
  x->ask_for_node<v1::DeployRequest>(
      bulk::workflow(), [x, task](const v1::DeployReply&) { submit_operation(x, task, {}); }, deploy_limit);
}

void submit_operation(const exchange_ptr& x, const submission& task, const std::function<void()>& if_not_deployed) {
  x->ask_for_node<v1::SubmitRequest>(*task, [x, task, if_not_deployed](const v1::SubmitReply& reply) {
    const auto is_unknown = !reply.results().empty() && reply.results(0).error().code() == v1::ERROR_CODE_NOT_FOUND;
    if (if_not_deployed && is_unknown) return if_not_deployed();
    if (x->only_result(reply) != nullptr) say_begun(x, task->items(0));
  });
}

/// A deployment needs all shards, and is needed once for each release. A shard that lacks it says so.
void begin(const exchange_ptr& x, const submission& task) {
  v1::WorkflowShowRequest request;
  request.set_name(bulk::workflow_name);
  x->ask_any<v1::WorkflowShowRequest>(std::move(request), {}, [x, task](const result<v1::WorkflowShowReply>& shown) {
    const auto is_current = shown && shown->workflow().content_hash() == store::definition_hash(bulk::workflow().definition());
    is_current ? submit_operation(x, task, [x, task] { deploy_and_submit(x, task); }) : deploy_and_submit(x, task);
  });
}

void begin_if_as_confirmed(const exchange_ptr& x, const bulk::action& what, const submission& task) {
  count(x, what, [x, task, confirmed = what.count](const count_of_tasks& found) {
    if (found.count <= confirmed + confirmed / 10) return begin(x, task);
    x->refuse({"conflict",
               "The action is about " + std::to_string(found.count) + " tasks now, and " + std::to_string(confirmed) + " were confirmed.",
               "Ask for another dry run, look at what it finds, and confirm that.",
               {},
               {},
               false});
  });
}

/// Of an operation that has begun already, only its state is said: who has got no answer asks again.
void confirm(const exchange_ptr& x, const bulk::action& what, std::string input) {
  const auto task = std::make_shared<v1::SubmitRequest>();
  task->set_by_node(true);
  auto& item = *task->add_items();
  item.set_id(bulk::id_of(input));
  item.set_workflow(bulk::workflow_name);
  item.set_input(std::move(input));
  set_submitter(*x, item);
  v1::StatesRequest request;
  request.add_ids(item.id());
  x->ask<v1::StatesRequest>(request, [x, what, task](const v1::StatesReply& reply) {
    const auto is_there = !reply.items().empty() && reply.items(0).state() != v1::TASK_STATE_UNSPECIFIED;
    is_there ? say_operation(x, task->items(0).id()) : begin_if_as_confirmed(x, what, task);
  });
}

}  // namespace

void act_on_tasks(exchange_ptr x) {
  if (x->refuse_rest() || !x->takes_json()) return;
  bool dry_run = false;
  std::string confirmation, pointer;
  auto what = bulk::read_action(x->text().empty() ? "{}" : x->text(),
                                {{"dry_run", flag_into(dry_run)}, {"confirm", text_into(confirmation)}}, pointer);
  if (!what) return x->refuse_at(pointer, what.failure());
  x->note_action(core::verb_word(v1::OperatorVerb_Name(what->what.verb())) + (dry_run ? " (dry run)" : ""), what->what.reason());
  what->what.set_who(x->who());
  if (dry_run && bulk::input_of(*what).size() > max_input_bytes - 100)
    return x->refuse(
        {"too_large", "The ids and the rest of the action take more than 256 KiB.", "Name fewer tasks at once.", {}, {}, false});
  if (dry_run && !confirmation.empty())
    return x->refuse_at("/confirm", invalid("A dry run is confirmed at once.", "Leave out either 'dry_run' or 'confirm'."));
  if (dry_run) return say_dry_run(x, std::move(*what));
  if (confirmation.empty())
    return x->refuse_at("/confirm",
                        invalid("The action is not confirmed.", "Ask with \"dry_run\": true first, and send the same with its `confirm`."));
  auto input = bulk::take_confirmation(confirmation, to_unix_ms(x->in().time->now()), *what);
  if (!input) return x->refuse_at("/confirm", input.failure());
  confirm(x, *what, std::move(*input));
}

}  // namespace fairlead::app::api
