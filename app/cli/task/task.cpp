#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "app/cli/attempts/logs.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/screen/screen.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/filter.hpp"
#include "app/cli/task/operate.hpp"
#include "app/cli/task/text.hpp"
#include "app/cli/task/watch.hpp"
#include "app/cli/words.hpp"
#include "app/json/times.hpp"

namespace fairlead::app {

namespace {

struct list_options {
  task_filter filter;
  std::uint32_t limit = 100;
  std::string cursor;
  bool all = false;
  std::shared_ptr<bool> quiet;
  bool archived = false;
  std::optional<std::string> ended_since, ended_until, day;
  std::optional<std::string> job, id_prefix, agent, fault;
};

/// What the list has besides the filters of actions on many tasks. An empty value is refused, as theirs is.
status read_texts(const list_options& options, v1::TaskListRequest& out) {
  for (const auto& [name, given, to] :
       {std::tuple{"--job", &options.job, out.mutable_job()}, std::tuple{"--id-prefix", &options.id_prefix, out.mutable_id_prefix()},
        std::tuple{"--agent", &options.agent, out.mutable_agent()}, std::tuple{"--fault", &options.fault, out.mutable_fault_code()}}) {
    if (!*given) continue;
    if ((*given)->empty()) return invalid(std::string{name} + " is empty", "Give a value, or leave " + std::string{name} + " out");
    *to = **given;
  }
  return nothing{};
}

/// When the tasks ended that are asked for.
status read_end(const list_options& options, v1::TaskListRequest& out) {
  const auto now = now_unix_ms();
  std::int64_t since = 0, until = 0;
  if (options.day && options.day->size() != std::string_view{"2026-11-22"}.size())
    return invalid("'" + *options.day + "' is not a day for --day", "Write it in UTC like 2026-11-22");
  if (const auto read = read_since("--day", options.day, now, since); !read) return read;
  if (options.day) until = since + std::chrono::milliseconds{std::chrono::hours{24}}.count();
  if (const auto read = read_since("--ended-since", options.ended_since, now, since); !read) return read;
  if (const auto read = read_since("--ended-until", options.ended_until, now, until); !read) return read;
  out.set_ended_since_unix_ms(since);
  out.set_ended_until_unix_ms(until);
  if (options.ended_since && options.ended_until && since >= until)
    return invalid("--ended-since is not before --ended-until", "Give the earlier time as --ended-since");
  return nothing{};
}

void add_row(text_table& table, const v1::TaskSummary& task) {
  table.add({task.id(), task.workflow(), task_state_text(task.state(), task.parked(), task.paused()),
             std::to_string(task.steps_done()) + "/" + std::to_string(task.steps_total()), time_cell(task.created_at_unix_ms()),
             time_cell(task.finished_at_unix_ms()), shortened(labels_text(task.labels()), 40), shortened(task.reason(), 160)});
}

/// Prints page by page, so that memory use does not grow with the list.
void list_tasks(cli_context& context, const list_options& options) {
  auto request = list_request(options.filter);
  if (!request) {
    context.code = fail(request.failure());
    return;
  }
  request->set_cursor(options.cursor);
  request->set_partial(true);
  request->set_archived(options.archived);
  const auto texts = read_texts(options, *request);
  if (const auto read = texts.ok() ? read_end(options, *request) : texts; !read.ok()) {
    context.code = fail(read.failure());
    return;
  }
  auto connected = connect(context);
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  text_table table{{{"TASK"},
                    {"WORKFLOW"},
                    {"STATE"},
                    {"STEPS", align::right, narrow::drop},
                    {"CREATED", align::left, narrow::drop},
                    {"FINISHED", align::left, narrow::drop},
                    {"LABELS", align::left, narrow::drop},
                    {"WHY", align::left, narrow::below}}};
  std::uint64_t shown = 0;
  google::protobuf::RepeatedPtrField<v1::Error> missing;
  std::uint64_t archived = 0;
  bool titled = false;
  if (context.json) print(context, R"({"tasks":[)");
  for (;;) {
    request->set_page_size(options.all ? max_page_size
                                       : static_cast<std::uint32_t>(std::min<std::uint64_t>(options.limit - shown, max_page_size)));
    auto reply = connected->list(*request);
    if (!reply) {
      context.code = fail(reply.failure());
      return;
    }
    if (const auto why = conditions_left_out(*request, *reply)) {
      context.code = fail(*why);
      return;
    }
    if (!reply->missing().empty()) missing = reply->missing();
    archived = reply->archived();
    std::string page;
    for (const auto& task : reply->items()) {
      if (context.json)
        page += (shown == 0 ? "" : ",") + task_summary_json(task);
      else if (*options.quiet)
        page += task.id() + "\n";
      else
        add_row(table, task);
      ++shown;
    }
    const auto last = reply->cursor().empty() || (!options.all && shown >= options.limit);
    // A sorted list is one table.
    if (!context.json && !table.empty() && (last || shown_on().sort.empty())) {
      page = table.text(!std::exchange(titled, true));
      table.clear_rows();
    }
    print(context, page);
    request->set_cursor(reply->cursor());
    if (context.code != exit_ok || last) break;
  }
  const auto lists_archives = options.archived || options.ended_since || options.ended_until || options.day;
  const auto ended = [](int state) { return has_ended(static_cast<v1::TaskState>(state)); };
  const auto may_have_ended = !request->parked_only() && !options.fault &&
                              (request->states().empty() || std::any_of(request->states().begin(), request->states().end(), ended));
  if (context.json)
    print(context, "],\"cursor\":" + json_writer{}.string(request->cursor()).text() + ",\"missing\":" + missing_json(missing) + "}\n");
  else if (shown == 0 && !*options.quiet)
    print(context, options.filter.given() || lists_archives || options.job || options.id_prefix || options.agent || options.fault ||
                           !options.cursor.empty()
                       ? "No task matches.\n"
                       : "There are no tasks.\n");
  else if (!request->cursor().empty() && !*options.quiet)
    print(context, "\nThere are more: continue with --cursor " + request->cursor() + ", or give --all.\n");
  else if (archived > 0 && !*options.quiet && !lists_archives && may_have_ended)
    print(context,
          (archived == 1 ? "\n1 task has ended and is archived" : "\n" + std::to_string(archived) + " tasks have ended and are archived") +
              ": --archived or --ended-since lists them.\n");
  if (context.code == exit_ok) context.code = fail_if_missing(missing);
}

void add_list(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("list", "List tasks, with filters and paging");
  auto options = std::make_shared<list_options>();
  add_filter_options(*command, options->filter);
  command->add_option("--job", options->job, "Only launches of this job")->type_name("NAME");
  command->add_option("--id-prefix", options->id_prefix, "Only tasks whose ID begins so")->type_name("TEXT");
  command->add_option("--agent", options->agent, "Only tasks whose workflow has a step of this agent")->type_name("NAME");
  command->add_option("--fault", options->fault, "Only tasks that are parked because of a fault with this code")->type_name("CODE");
  command->add_flag("--archived", options->archived, "Only ended tasks that are in the archives, latest first");
  auto* const since = command
                          ->add_option("--ended-since", options->ended_since,
                                       "Only tasks that ended then or later, archived ones included, latest first: 3d (ago), or in UTC "
                                       "2026-11-19 or 2026-11-19T08:00")
                          ->type_name("TIME");
  auto* const until =
      command->add_option("--ended-until", options->ended_until, "Only tasks that ended before, archived ones included, latest first")
          ->type_name("TIME");
  command->add_option("--day", options->day, "Only tasks that ended on this day in UTC, archived ones included, latest first")
      ->type_name("YYYY-MM-DD")
      ->excludes(since)
      ->excludes(until);
  command->add_option("--limit", options->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000'000U))
      ->capture_default_str();
  command->add_option("--cursor", options->cursor, "Continue an earlier list, with the cursor that it printed")->type_name("CURSOR");
  command->add_flag("--all", options->all, "List all tasks; --limit is ignored");
  add_client_options(*command, context);
  options->quiet = add_quiet_option(*command, "ids");
  command->callback([&context, options] { list_tasks(context, *options); });
}

/// Asks for the agents only if some step may wait for one. Without that answer the task is still
/// shown.
void show_task(cli_context& context, const std::string& id) {
  known_agents agents;
  v1::TaskShowRequest request;
  request.set_id(id);
  run_request(
      context,
      [&](client& to) {
        auto reply = to.show(request);
        if (!reply || !may_wait_for_agent(*reply)) return reply;
        if (const auto status = to.status_of_node({})) agents = agents_of(*status);
        return reply;
      },
      [&](const v1::TaskShowReply& reply) { return task_show_json(reply, agents); },
      [&](const v1::TaskShowReply& reply) { return task_show_text(reply, agents); });
}

void add_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "show", "Show one task: steps, payloads and history; for a parked task also the reason and the commands that help");
  auto id = std::make_shared<std::string>();
  command->add_option("ID", *id, "Id of the task")->required();
  add_client_options(*command, context);
  command->callback([&context, id] { show_task(context, *id); });
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
  auto* group = app.add_subcommand("task", "List, show, follow and control tasks");
  group->require_subcommand(1);
  add_list(*group, context);
  add_show(*group, context);
  add_watch(*group, context);
  add_task_logs(*group, context);
  add_operate_commands(*group, context);
  add_task_doctor(*group, context);
}

}  // namespace fairlead::app
