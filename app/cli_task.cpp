#include <algorithm>
#include <memory>

#include "app/cli_commands.hpp"
#include "app/cli_labels.hpp"
#include "app/cli_table.hpp"
#include "app/cli_task_json.hpp"
#include "app/cli_watch.hpp"
#include "app/cli_words.hpp"

namespace fairlead::app {

namespace {

struct list_options {
  std::vector<std::string> states;
  bool parked = false;
  std::string workflow;
  std::vector<std::string> labels;
  std::string older_than;
  std::string younger_than;
  std::uint32_t limit = 100;
  std::string cursor;
  bool all = false;
};

status read_age(const std::string& text, const std::string& option, std::int64_t& out_ms) {
  if (text.empty() || parse_duration(text, out_ms)) return nothing{};
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a duration for " + option, "Write it like 30s, 15m, 2h or 7d"};
}

result<v1::TaskListRequest> list_request(const list_options& options) {
  v1::TaskListRequest out;
  for (const auto& word : options.states) {
    auto state = task_state_from_word(word);
    if (!state)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + word + "' is not a state of a task",
                   "One of pending, running, completed, undoing, undone"};
    out.add_states(*state);
  }
  out.set_parked_only(options.parked);
  out.set_workflow(options.workflow);
  auto labels = parse_labels(options.labels);
  if (!labels) return labels.failure();
  for (auto& label : *labels) *out.add_labels() = std::move(label);
  std::int64_t older = 0, younger = 0;
  if (auto read = read_age(options.older_than, "--older-than", older); !read) return read.failure();
  if (auto read = read_age(options.younger_than, "--younger-than", younger); !read) return read.failure();
  out.set_older_than_ms(older);
  out.set_younger_than_ms(younger);
  out.set_cursor(options.cursor);
  return out;
}

void add_row(text_table& table, const v1::TaskSummary& task) {
  table.add({task.id(), task.workflow(), task_state_text(task.state(), task.parked(), task.paused()),
             std::to_string(task.steps_done()) + "/" + std::to_string(task.steps_total()), time_text(task.created_at_unix_ms()),
             time_text(task.finished_at_unix_ms()), shortened(labels_text(task.labels()), 40), shortened(task.reason(), 80)});
}

/// Page by page, so that a list of millions needs no memory for them.
void list_tasks(cli_context& context, const list_options& options) {
  auto request = list_request(options);
  if (!request) {
    context.code = fail(request.failure());
    return;
  }
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  text_table table{{{"TASK"}, {"WORKFLOW"}, {"STATE"}, {"STEPS", align::right}, {"CREATED"}, {"FINISHED"}, {"LABELS"}, {"WHY"}}};
  std::uint64_t shown = 0;
  if (context.json) print(context, R"({"tasks":[)");
  for (;;) {
    request->set_page_size(options.all ? 1'000 : static_cast<std::uint32_t>(std::min<std::uint64_t>(options.limit - shown, 1'000)));
    auto reply = connected->list(*request);
    if (!reply) {
      context.code = fail(reply.failure());
      return;
    }
    std::string page;
    for (const auto& task : reply->items()) {
      if (context.json)
        page += (shown == 0 ? "" : ",") + task_summary_json(task);
      else
        add_row(table, task);
      ++shown;
    }
    if (!context.json && !table.empty()) page = table.text(shown == static_cast<std::uint64_t>(reply->items_size()));
    table.clear_rows();
    print(context, page);
    request->set_cursor(reply->cursor());
    if (context.code != exit_ok || reply->cursor().empty() || (!options.all && shown >= options.limit)) break;
  }
  if (context.json) return print(context, "],\"cursor\":" + json_writer{}.string(request->cursor()).text() + "}\n");
  if (shown == 0) return print(context, "No such tasks.\n");
  if (!request->cursor().empty()) print(context, "\nThere are more: go on with --cursor " + request->cursor() + ", or give --all.\n");
}

void add_list(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("list", "List tasks, with filters and paging");
  auto options = std::make_shared<list_options>();
  command->add_option("--state", options->states, "Only tasks in this state (repeatable): pending, running, completed, undoing, undone")
      ->type_name("STATE")
      ->allow_extra_args(false);
  command->add_flag("--parked", options->parked, "Only tasks that wait for an operator");
  command->add_option("--workflow", options->workflow, "Only tasks of this workflow")->type_name("NAME");
  command->add_option("--label", options->labels, "Only tasks with this label (repeatable: all of them)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--older-than", options->older_than, "Only tasks submitted longer ago than this")->type_name("DURATION");
  command->add_option("--younger-than", options->younger_than, "Only tasks submitted within this time")->type_name("DURATION");
  command->add_option("--limit", options->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000'000U))
      ->capture_default_str();
  command->add_option("--cursor", options->cursor, "Go on where an earlier list ended")->type_name("CURSOR");
  command->add_flag("--all", options->all, "All of them, whatever --limit says");
  add_client_options(*command, context);
  command->callback([&context, options] { list_tasks(context, *options); });
}

void add_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("show", "Show one task: steps, payloads and history");
  auto id = std::make_shared<std::string>();
  command->add_option("ID", *id, "Id of the task")->required();
  add_client_options(*command, context);
  command->callback([&context, id] {
    v1::TaskShowRequest request;
    request.set_id(*id);
    run_request(
        context, [&](client& to) { return to.show(request); }, task_show_json, task_show_text);
  });
}

void add_watch(CLI::App& group, cli_context& context) {
  auto* command =
      group.add_subcommand("watch", "Follow a task until it has ended or is parked; exit code 0 when it completed, 1 otherwise");
  auto id = std::make_shared<std::string>();
  command->add_option("ID", *id, "Id of the task")->required();
  add_client_options(*command, context, "How long to follow at most (default: until the end)");
  command->callback([&context, id] { watch_task(context, *id); });
}

}  // namespace

void add_task_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("task", "List, show and follow tasks");
  group->require_subcommand(1);
  add_list(*group, context);
  add_show(*group, context);
  add_watch(*group, context);
}

}  // namespace fairlead::app
