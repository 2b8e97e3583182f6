// Operations: actions on many tasks, which the API begins and a node carries out. They are tasks, so these commands ask for tasks.

#include <algorithm>
#include <memory>

#include "actors/core/request_limits.hpp"
#include "app/bulk/action.hpp"
#include "app/bulk/operation.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"

namespace fairlead::app {

namespace {

struct operations_asked {
  std::uint32_t limit = 20;
  std::string cursor;
};

struct operations_found {
  std::vector<bulk::operation_view> items;
  std::string cursor;
  google::protobuf::RepeatedPtrField<v1::Error> lacks;

  const google::protobuf::RepeatedPtrField<v1::Error>& missing() const { return lacks; }
};

result<v1::TaskShowReply> show_task_of(client& from, const std::string& task_id) {
  v1::TaskShowRequest request;
  request.set_id(task_id);
  return from.show(request);
}

/// The list of tasks has neither inputs nor progress: each task is asked for by itself.
result<operations_found> fetch_operations(client& from, const operations_asked& asked) {
  operations_found out;
  v1::TaskListRequest request;
  request.set_workflow(bulk::workflow_name);
  request.set_partial(true);
  request.set_cursor(asked.cursor);
  for (;;) {
    request.set_page_size(std::min<std::uint32_t>(asked.limit - static_cast<std::uint32_t>(out.items.size()), max_page_size));
    auto page = from.list(request);
    if (!page) return page.failure();
    if (!page->missing().empty()) out.lacks = page->missing();
    for (const auto& task : page->items()) {
      if (!bulk::is_operation(task.id())) continue;
      const auto shown = show_task_of(from, task.id());
      if (shown)
        out.items.push_back(bulk::view_of(shown->task()));
      else if (shown.failure().code != v1::ERROR_CODE_NOT_FOUND)
        return shown.failure();
    }
    out.cursor = page->cursor();
    request.set_cursor(page->cursor());
    if (out.cursor.empty() || out.items.size() >= asked.limit) return out;
  }
}

std::string operations_json(const operations_found& found) {
  json_writer out;
  out.begin_object().key("operations").begin_array();
  for (const auto& one : found.items) out.raw(bulk::operation_json(one));
  out.end_array().key("cursor").string(found.cursor);
  return out.key("missing").raw(missing_json(found.lacks)).end_object().text();
}

std::string operations_text(const operations_found& found) {
  text_table table{{{"OPERATION"},
                    {"VERB"},
                    {"STATE"},
                    {"DONE", align::right},
                    {"REFUSED", align::right},
                    {"LEFT", align::right},
                    {"BY", align::left, narrow::drop},
                    {"CREATED", align::left, narrow::drop},
                    {"REASON", align::left, narrow::below}}};
  for (const auto& one : found.items)
    table.add({one.id, one.verb.empty() ? "-" : one.verb, one.state, std::to_string(one.at.done()), std::to_string(one.at.refused()),
               std::to_string(one.left), one.by.empty() ? "-" : printable(one.by), time_cell(one.created_unix_ms),
               printable(shortened(one.reason, 160))});
  auto out = table.empty() ? std::string{"There are no operations.\n"} : table.text();
  if (!found.cursor.empty()) out += "\nThere are more: continue with --cursor " + found.cursor + ", or raise --limit.\n";
  return out;
}

std::string operation_text(const bulk::operation_view& one) {
  std::string out;
  const auto line = [&out](const char* name, const std::string& text) {
    const std::string title{name};
    if (!text.empty()) out += title + std::string(11 - title.size(), ' ') + text + "\n";
  };
  line("operation", one.id);
  line("task", one.task);
  line("state", one.state);
  line("why", one.reason_of_state.empty() ? "" : as_sentence(one.reason_of_state));
  line("verb", one.verb);
  line("step", printable(one.step));
  line("tasks", one.is_of_ids ? "those whose ids were given" : printable(one.filter));
  line("by", printable(one.by));
  line("reason", printable(one.reason));
  line("rate", std::to_string(one.rate) + " tasks a second");
  line("counted", std::to_string(one.count));
  line("done", std::to_string(one.at.done()));
  line("refused", std::to_string(one.at.refused()));
  line("left", std::to_string(one.left));
  line("note", one.note.empty() ? "" : as_sentence(one.note));
  line("created", time_text(one.created_unix_ms));
  line("ended", one.ended_unix_ms == 0 ? "" : time_text(one.ended_unix_ms));
  if (one.at.groups().empty()) return out;
  text_table table{{{"REFUSED", align::right}, {"CODE"}, {"EXAMPLE", align::left, narrow::below}}};
  for (const auto& [key, group] : one.at.groups())
    table.add({std::to_string(group.tasks), printable(group.code), printable(shortened(group.sentence, 160))});
  return out + "\n" + table.text();
}

error as_unknown_operation(const error& why, const std::string& id) {
  if (why.code != v1::ERROR_CODE_NOT_FOUND) return why;
  return {why.code, "There is no operation " + bulk::operation_of_task(id), "fairlead operation list shows the operations"};
}

result<bulk::operation_view> fetch_operation(client& from, const std::string& id) {
  const auto shown = show_task_of(from, bulk::task_of_operation(id));
  if (!shown) return as_unknown_operation(shown.failure(), id);
  return bulk::view_of(shown->task());
}

void add_operation_list(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("list", "List operations, newest first");
  auto asked = std::make_shared<operations_asked>();
  command->add_option("--limit", asked->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  command->add_option("--cursor", asked->cursor, "Continue an earlier list, with the cursor that it printed")->type_name("CURSOR");
  add_client_options(*command, context);
  const auto quiet = add_quiet_option(*command, "ids");
  command->callback([&context, asked, quiet] {
    run_request(
        context, [&](client& to) { return fetch_operations(to, *asked); }, operations_json,
        [&](const operations_found& found) {
          return *quiet ? only(found.items, [](const auto& one) { return one.id; }) : operations_text(found);
        });
  });
}

void add_operation_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("show", "Show how far an operation has come, and why tasks were refused");
  auto id = std::make_shared<std::string>();
  command->add_option("ID", *id, "Id of the operation, or of its task")->required();
  add_client_options(*command, context);
  command->callback([&context, id] {
    run_request(
        context, [&](client& to) { return fetch_operation(to, *id); }, [](const auto& one) { return bulk::operation_json(one); },
        operation_text);
  });
}

/// The operation after the action.
result<bulk::operation_view> act_on_operation(client& to, const v1::OperatorAction& action, const std::string& id) {
  v1::OperateRequest request;
  *request.mutable_action() = action;
  request.add_ids(bulk::task_of_operation(id));
  const auto reply = to.operate(request);
  if (!reply) return reply.failure();
  const auto& done = reply->results(0);
  if (done.error().code() != v1::ERROR_CODE_OK) return as_unknown_operation(error::from_proto(done.error()), id);
  return fetch_operation(to, id);
}

void add_operation_verb(CLI::App& group, cli_context& context, const bulk::operation_verb& verb) {
  struct given {
    std::string id, reason, by;
  };
  auto* command = group.add_subcommand(verb.word, verb.help);
  auto options = std::make_shared<given>();
  command->add_option("ID", options->id, "Id of the operation, or of its task")->required();
  command->add_option("--reason", options->reason, "Reason, stored in the history of the operation's task")->type_name("TEXT");
  add_operator_option(*command, options->by);
  add_client_options(*command, context);
  command->callback([&context, options, which = verb.verb] {
    if (options->reason.size() > reason_limit) {
      context.code = fail(invalid("The reason is longer than " + std::to_string(reason_limit) + " bytes", "Give a shorter reason"));
      return;
    }
    v1::OperatorAction action;
    action.set_verb(which);
    action.set_reason(options->reason);
    action.set_who(operator_name(options->by));
    run_request(
        context, [&](client& to) { return act_on_operation(to, action, options->id); },
        [](const auto& one) { return bulk::operation_json(one); },
        [](const auto& one) { return "Done: operation " + printable(one.id) + " is " + one.state + ".\n"; });
  });
}

}  // namespace

void add_operation_commands(CLI::App& app, cli_context& context) {
  auto* group =
      app.add_subcommand("operation", "List, show, stop, pause and resume operations: actions on many tasks that a node carries out");
  group->require_subcommand(1);
  add_operation_list(*group, context);
  add_operation_show(*group, context);
  for (const auto& verb : bulk::operation_verbs) add_operation_verb(*group, context, verb);
}

}  // namespace fairlead::app
