#include "app/console/commands.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "actors/core/text/nearest.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/screen/table.hpp"
#include "app/json/node/task_verbs.hpp"

namespace fairlead::app {

namespace {

constexpr std::uint32_t longest_watch_s = 3'600;
constexpr std::uint32_t longest_watched_page = 1'000;

const CLI::App* child(const CLI::App& of, const std::string& name) {
  const auto found = of.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// Commands that only read, so that a watch may repeat them.
const std::set<std::string>& watchable() {
  static const std::set<std::string> out{"nodes",          "tree",           "actors",     "shards",     "agents",      "counters",
                                         "status",         "cluster status", "steps",      "history",    "task list",   "task show",
                                         "operation list", "operation show", "alert list", "alert show", "agent list",  "agent show",
                                         "workflow list",  "workflow show",  "job list",   "job show",   "job history", "job next"};
  return out;
}

/// The command at the beginning of `words`, and the number of words in its name.
std::pair<std::string, std::size_t> command_of(const CLI::App& app, const console_words& words) {
  std::string name;
  const auto* at = &app;
  std::size_t used = 0;
  for (; used < words.size(); ++used) {
    const auto* next = child(*at, words[used]);
    if (next == nullptr) break;
    name += (name.empty() ? "" : " ") + words[used];
    at = next;
  }
  return {name, used};
}

/// Refuses commands that read standard input: the console's own lines, or the operator's keys, come
/// from there.
status check_input(const console_words& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "@-" || (words[i].size() > 3 && words[i].compare(words[i].size() - 3, 3, "=@-") == 0) || words[i] == "--batch=-" ||
        (words[i] == "-" && i > 0 && (words[i - 1] == "--batch" || (words[0] == "job" && words[1] == "import"))))
      return invalid("The console itself reads standard input, so a command cannot read it",
                     "Write the data to a file and give its name: @FILE, --batch FILE, or FILE for a crontab");
  return nothing{};
}

void add_watch(CLI::App& app, console_memory& memory) {
  auto* command = app.add_subcommand("watch", "Repeat a command that shows something, until Enter or Ctrl-C");
  auto plan = std::make_shared<watch_plan>();
  auto seconds = std::make_shared<std::uint32_t>(2);
  command->add_option("-n,--every", *seconds, "Seconds between two repetitions")
      ->type_name("SECONDS")
      ->check(CLI::Range(1U, longest_watch_s))
      ->capture_default_str();
  command->add_option("--times", plan->times, "End after this many repetitions")->type_name("N")->check(CLI::Range(1U, 1'000'000U));
  command->prefix_command();
  command->footer("The command to repeat comes last, such as: watch -n 1 tasks --parked");
  command->callback([&memory, command, plan, seconds] {
    plan->command = command->remaining();
    if (plan->command.empty()) throw CLI::RequiredError("COMMAND");
    plan->every = std::chrono::seconds{*seconds};
    memory.watch = *plan;
  });
}

}  // namespace

const std::vector<console_alias>& console_aliases() {
  static const auto out = [] {
    std::vector<console_alias> all{
        {"tasks", {"task", "list"}, "List tasks, with the filters of 'task list'"},
        {"alerts", {"alert", "list"}, "List alerts"},
        {"workflows", {"workflow", "list"}, "List workflows"},
        {"jobs", {"job", "list"}, "List jobs"},
    };
    for (const auto& verb : task_verbs)
      if (!verb.of_workflow) all.push_back({verb.word, {"task", verb.word}, verb.short_help});
    all.push_back({"ack", {"alert", "ack"}, "Acknowledge alerts"});
    return all;
  }();
  return out;
}

console_parser::console_parser(cli_context& context, console_memory& memory)
    : context_(context), memory_(memory), app_("The console of a Fairlead cluster.", "") {
  app_.set_help_flag("-h,--help", "Show this help");
  app_.require_subcommand(1);
  app_.formatter(help_formatter());
  add_console_views(app_, context, memory);
  add_status_command(app_, context);
  add_cluster_commands(app_, context);
  add_task_commands(app_, context);
  add_operation_commands(app_, context);
  add_alert_commands(app_, context);
  add_brake_commands(app_, context);
  add_audit_command(app_, context);
  add_agent_commands(app_, context);
  add_console_actions(app_, context);
  add_workflow_commands(app_, context);
  add_job_commands(app_, context);
  add_submit_command(app_, context);
  add_replies_command(app_, context);
  add_config_commands(app_, context);
  add_store_commands(app_, context);
  add_watch(app_, memory);
  auto* help_command = app_.add_subcommand("help", "List the commands, or show the help of one");
  auto words = std::make_shared<std::vector<std::string>>();
  help_command->add_option("COMMAND", *words, "The command, such as: task list");
  help_command->callback([this, words] { help(*words); });
  for (const auto* name : {"quit", "exit"})
    app_.add_subcommand(name, "Leave the console; so does Ctrl-D")->callback([&memory] { memory.quit = true; });
}

console_words console_parser::expand(const console_words& words) const {
  auto out = words;
  if (!out.empty() && out.front() == "fairlead") out.erase(out.begin());
  if (out.empty()) return out;
  for (const auto& alias : console_aliases()) {
    if (out.front() != alias.name) continue;
    out.erase(out.begin());
    out.insert(out.begin(), alias.stands_for.begin(), alias.stands_for.end());
    return out;
  }
  for (const auto* group : {"task", "job"})
    if (out.front() == group && out.size() > 1 && !out[1].empty() && out[1].front() != '-' && child(*child(app_, group), out[1]) == nullptr)
      out.insert(out.begin() + 1, "show");
  return out;
}

int console_parser::run(const console_words& words) {
  const auto full = expand(words);
  if (full.empty()) return exit_ok;
  if (const auto checked = check_input(full); !checked) return fail(checked.failure());
  if (child(app_, full.front()) == nullptr && full.front().front() != '-') {
    std::vector<std::string> names;
    for (const auto* one : app_.get_subcommands([](const CLI::App*) { return true; })) names.push_back(one->get_name());
    for (const auto& alias : console_aliases()) names.emplace_back(alias.name);
    const auto close = core::nearest(full.front(), names);
    return fail(invalid("There is no command '" + full.front() + "' here",
                        close.empty() ? "'help' lists all commands" : "Did you mean " + close + "?"));
  }
  const auto code = run_words(app_, context_, full, "help ", "");
  if (code != exit_ok || !memory_.watch) return code;
  memory_.watch->command = expand(memory_.watch->command);
  const auto checked = check_watch(*memory_.watch);
  if (checked) return code;
  memory_.watch.reset();
  return fail(checked.failure());
}

status console_parser::check_watch(const watch_plan& plan) const {
  const auto [name, used] = command_of(app_, plan.command);
  if (watchable().count(name) == 0) {
    const auto what = name.empty() ? plan.command.front() : name;
    return invalid("'" + what + "' cannot be watched",
                   "These commands can be watched: nodes, tree, actors, shards, agents, tasks, alerts, jobs, counters, status");
  }
  for (auto at = used; at < plan.command.size(); ++at) {
    const auto& word = plan.command[at];
    const auto size = word.rfind("--limit=", 0) == 0                      ? word.substr(8)
                      : word == "--limit" && at + 1 < plan.command.size() ? plan.command[at + 1]
                                                                          : "";
    // The command itself refuses a limit that is not a number.
    const bool number = !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
    if ((word == "--all" && name == "task list") || (number && (size.size() > 9 || std::stoul(size) > longest_watched_page)))
      return invalid("A watch that lists more than " + std::to_string(longest_watched_page) + " rows would cost the node too much",
                     "Use filters, or a --limit");
  }
  return nothing{};
}

void console_parser::help(const console_words& words) {
  if (words.empty()) return print(context_, overview());
  print_help(app_, context_, expand(words), "help");
}

std::string console_parser::overview() const {
  text_table table{{{"COMMAND"}, {"WHAT IT DOES"}}};
  const auto add = [&](const char* name) {
    if (const auto* command = child(app_, name)) table.add({name, command->get_description()});
  };
  std::string out;
  const auto end_section = [&](const char* title) {
    out += (out.empty() ? "" : "\n") + std::string{title} + "\n" + table.text(false);
    table.clear_rows();
  };
  const auto add_aliases = [&](bool that_list) {
    for (const auto& alias : console_aliases())
      if ((alias.stands_for.back() == "list") == that_list) table.add({alias.name, alias.summary});
  };
  add("status");
  table.add({"cluster status", "Show what each shard survives, who leads it, and how far its replicas are"});
  for (const auto* name : {"nodes", "tree", "actors", "shards", "agents", "counters"}) add(name);
  add_aliases(true);
  table.add({"task ID", "Show one task: steps, payloads, history and the commands that help"});
  table.add({"job NAME", "Show one job: why it waits, its next times, its latest launches and the commands that help"});
  for (const auto* name : {"steps", "history"}) add(name);
  end_section("Look");
  add_aliases(false);
  table.add({"agent drain | resume", "Drain an instance, or give it steps again"});
  table.add({"agent breaker open | close", "Open or close the circuit breaker of an agent's service"});
  table.add({"job pause | resume | run", "Pause, resume or launch a job; also backfill, skip, rewind, delete"});
  for (const auto* name : {"brake", "node", "log"}) add(name);
  end_section("Act");
  for (const auto* name : {"watch", "help", "quit"}) add(name);
  end_section("The console");
  for (const auto* name : {"task", "operation", "alert", "audit", "agent", "workflow", "job", "submit", "replies", "config", "store"})
    add(name);
  end_section("Same as on the command line");
  return out + "\n'help COMMAND' shows the help of a command. Separate commands with ; and quote words as in a shell.\n";
}

}  // namespace fairlead::app
