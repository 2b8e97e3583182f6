#include <algorithm>
#include <memory>

#include "actors/core/alert_words.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/queries/alert_queries.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/node/alert_text.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/pages.hpp"
#include "app/json/node/alerts.hpp"

namespace fairlead::app {

namespace {

constexpr std::uint32_t most_alerts = 1'000'000;  // that a list has

struct list_options {
  std::vector<std::string> states;
  bool all = false;
  std::string task;
  std::uint32_t limit = 100;
  std::uint64_t before = 0;
};

struct ack_options {
  std::vector<std::uint64_t> numbers;
  std::string kind;
  std::string workflow;
  std::string step;
  std::string by;
  std::string note;
};

result<v1::AlertListRequest> list_request(const list_options& options) {
  v1::AlertListRequest out;
  for (const auto& word : options.states) {
    const auto state = core::alert_state_from_word(word);
    if (!state)
      return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + word + "' is not a state of an alert",
                   "The states are open, acknowledged, resolved"};
    out.add_states(*state);
  }
  if (options.all)
    for (const auto state : {v1::ALERT_STATE_OPEN, v1::ALERT_STATE_ACKNOWLEDGED, v1::ALERT_STATE_RESOLVED}) out.add_states(state);
  out.set_task_id(options.task);
  out.set_before(options.before);
  out.set_partial(true);
  return out;
}

result<v1::AlertListReply> fetch(client& from, v1::AlertListRequest request, std::uint32_t limit) {
  return fetch_pages(
      std::move(request), limit, [&](const auto& one) { return from.alerts(one); },
      [](const auto& page, auto& to) {
        to.set_before(page.before());
        return page.before() != 0;
      });
}

std::string list_text(const v1::AlertListReply& reply, const list_options& options) {
  auto table = alert_table();
  for (const auto& alert : reply.items()) add_alert_row(table, alert);
  std::string out = table.text();
  if (table.empty()) {
    const bool filtered = !options.states.empty() || !options.task.empty() || options.before != 0;
    out = filtered ? "No alert matches.\n" : options.all ? "There are no alerts.\n" : "No alert is open.\n";
  }
  if (reply.before() != 0) out += "\nThere are more: continue with --before " + std::to_string(reply.before()) + ", or raise --limit.\n";
  return out;
}

void add_alert_list(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("list", "List alerts that are open or acknowledged, newest first");
  auto options = std::make_shared<list_options>();
  auto* all = command->add_flag("--all", options->all, "List resolved alerts too");
  command->add_option("--state", options->states, "Only alerts in this state (repeatable): open, acknowledged, resolved")
      ->type_name("STATE")
      ->allow_extra_args(false)
      ->excludes(all);
  command->add_option("--task", options->task, "Only alerts about this task")->type_name("ID");
  command->add_option("--limit", options->limit, "How many to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, most_alerts))
      ->capture_default_str();
  command->add_option("--before", options->before, "Only alerts with a smaller number; continues an earlier list")->type_name("N");
  add_client_options(*command, context);
  const auto quiet = add_quiet_option(*command, "numbers");
  command->callback([&context, options, quiet] {
    auto request = list_request(*options);
    if (!request) {
      context.code = fail(request.failure());
      return;
    }
    run_request(
        context, [&](client& to) { return fetch(to, *request, options->limit); }, alert_list_json,
        [&](const v1::AlertListReply& reply) {
          if (*quiet) return only(reply.items(), [](const auto& alert) { return std::to_string(alert.number()); });
          return list_text(reply, *options);
        });
  });
}

void add_alert_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("show", "Show one alert");
  auto number = std::make_shared<std::uint64_t>(0);
  command->add_option("NUMBER", *number, "Number of the alert")->required();
  add_client_options(*command, context);
  command->callback([&context, number] {
    v1::AlertShowRequest request;
    request.set_number(*number);
    run_request(
        context, [&](client& to) { return to.alert(request); }, [](const v1::AlertShowReply& reply) { return alert_json(reply.alert()); },
        [](const v1::AlertShowReply& reply) { return alert_text(reply.alert()); });
  });
}

/// Writes the numbers of the open alerts that `options` ask for to `request`.
status find_open(client& at, const ack_options& options, v1::AlertKind kind, v1::AlertAckRequest& request) {
  v1::AlertListRequest open;
  open.add_states(v1::ALERT_STATE_OPEN);
  const auto found = fetch(at, std::move(open), most_alerts);
  if (!found) return found.failure();
  for (const auto& alert : found->items()) {
    const auto fits = alert.kind() == kind && (options.workflow.empty() || alert.workflow() == options.workflow) &&
                      (options.step.empty() || alert.step() == options.step);
    if (fits) request.add_numbers(alert.number());
  }
  return nothing{};
}

/// In several requests if there are many.
result<v1::AlertAckReply> acknowledge_all(client& at, const v1::AlertAckRequest& all) {
  v1::AlertAckReply out;
  v1::AlertAckRequest part = all;
  for (int from = 0; from < all.numbers_size(); from += part.numbers_size()) {
    const auto to = std::min(all.numbers_size(), from + static_cast<int>(max_request_items));
    part.mutable_numbers()->Assign(all.numbers().begin() + from, all.numbers().begin() + to);
    auto reply = at.acknowledge(part);
    if (!reply) return reply;
    out.MergeFrom(*reply);
  }
  return out;
}

void acknowledge(cli_context& context, const ack_options& options) {
  v1::AlertAckRequest request;
  for (const auto number : options.numbers) request.add_numbers(number);
  request.set_who(operator_name(options.by));
  request.set_note(options.note);
  const auto kind = core::alert_kind_from_word(options.kind);
  if (!options.kind.empty() && !kind) {
    context.code = fail(error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + options.kind + "' is not a kind of alert",
                              "fairlead alert list shows the kinds of the open alerts"});
    return;
  }
  if (const auto checked = check_acknowledgement(request); !kind && !checked.ok()) {
    context.code = fail(checked.failure());
    return;
  }
  v1::AlertAckReply told;
  run_request(
      context,
      [&](client& to) -> result<v1::AlertAckReply> {
        if (kind)
          if (const auto found = find_open(to, options, *kind, request); !found.ok()) return found.failure();
        auto reply = acknowledge_all(to, request);
        if (reply) told = *reply;
        return reply;
      },
      [&](const v1::AlertAckReply& reply) { return acknowledged_json(request, reply); },
      [](const v1::AlertAckReply& reply) {
        return reply.results().empty() ? std::string{"No open alert matches.\n"} : acknowledged_text(reply);
      });
  // The errors follow the successful results. The first error gives the exit code.
  for (const auto& one : told.results()) {
    if (one.error().code() == v1::ERROR_CODE_OK) continue;
    const auto code = context.json ? exit_code_of(one.error().code()) : fail(error::from_proto(one.error()));
    if (context.code == exit_ok) context.code = code;
  }
}

void add_ack(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("ack", "Acknowledge alerts: say that an operator is working on them");
  auto options = std::make_shared<ack_options>();
  auto* numbers = command->add_option("NUMBER", options->numbers, "Numbers of the alerts");
  auto* kind = command->add_option("--kind", options->kind, "All open alerts of this kind, in place of numbers")->type_name("KIND");
  kind->excludes(numbers);
  command->add_option("--workflow", options->workflow, "With --kind: only those about this workflow")->type_name("NAME")->needs(kind);
  command->add_option("--step", options->step, "With --kind: only those about this step")->type_name("STEP")->needs(kind);
  command->add_option("--note", options->note, "Note for other operators")->type_name("TEXT");
  add_operator_option(*command, options->by);
  add_client_options(*command, context);
  command->callback([&context, options] { acknowledge(context, *options); });
}

std::string release_text(const v1::BrakeReleaseReply& reply) {
  if (reply.held() == 0) return "The brake on mass undo is released. It held no tasks.\n";
  return "The brake on mass undo is released: " + std::to_string(reply.held()) + (reply.held() == 1 ? " task goes" : " tasks go") +
         " on to be undone.\n";
}

void add_release(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("release", "Release the brake: the tasks that it holds are undone");
  auto by = std::make_shared<std::string>();
  auto reason = std::make_shared<std::string>();
  command->add_option("--reason", *reason, "Reason, for the history and the node's log")->type_name("TEXT");
  add_operator_option(*command, *by);
  add_client_options(*command, context);
  command->callback([&context, by, reason] {
    v1::BrakeReleaseRequest request;
    request.set_who(operator_name(*by));
    request.set_reason(*reason);
    run_request(
        context, [&](client& to) { return to.release_brake(request); }, brake_release_json, release_text);
  });
}

}  // namespace

void add_alert_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("alert", "List, show and acknowledge alerts");
  group->require_subcommand(1);
  add_alert_list(*group, context);
  add_alert_show(*group, context);
  add_ack(*group, context);
}

void add_brake_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("brake", "Release the brake on mass undo");
  group->require_subcommand(1);
  add_release(*group, context);
}

}  // namespace fairlead::app
