// `agent`: lists agents and their health, and carries out an operator's actions on them.

#include <chrono>
#include <memory>
#include <thread>

#include "app/cli/commands.hpp"
#include "app/cli/node/agent_text.hpp"
#include "app/cli/operator_name.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/agents.hpp"

namespace fairlead::app {

namespace {

constexpr std::chrono::seconds agent_patience{15};
constexpr std::chrono::milliseconds look_every{250};

struct operate_words {
  std::string name;
  std::string by;
  std::string reason;
  bool no_wait = false;
};

void add_list(CLI::App& group, cli_context& context) {
  auto* command =
      group.add_subcommand("list", "List the instances of all agents, and the services that have an open breaker or waiting steps");
  add_client_options(*command, context);
  const auto quiet = add_quiet_option(*command, "instances");
  command->callback([&context, quiet] {
    run_request(
        context, [](client& to) { return to.status_of_node({}); }, agent_list_json,
        [&](const v1::StatusReply& reply) {
          if (*quiet) return only(reply.agents(), [](const auto& agent) { return agent.instance(); });
          return agent_list_text(reply);
        });
  });
}

void add_show(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("show", "Show an agent with its breaker, limits and instances, or one instance");
  auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "Name of an agent or of an instance")->required();
  add_client_options(*command, context);
  command->callback([&context, name] {
    shown_agent which;
    run_request(
        context,
        [&](client& to) -> result<v1::StatusReply> {
          auto reply = to.status_of_node({});
          if (!reply) return reply;
          auto found = find_agent(*reply, *name);
          if (!found) return found.failure();
          which = *found;
          return reply;
        },
        [&](const v1::StatusReply& reply) { return agent_show_json(reply, which); },
        [&](const v1::StatusReply& reply) { return agent_show_text(reply, which); });
  });
}

v1::AgentOperateRequest request_of(v1::AgentVerb verb, const operate_words& words) {
  v1::AgentOperateRequest out;
  out.set_verb(verb);
  const bool of_instance = verb == v1::AGENT_VERB_DRAIN || verb == v1::AGENT_VERB_RESUME;
  (of_instance ? out.mutable_instance() : out.mutable_agent())->assign(words.name);
  out.set_who(operator_name(words.by));
  out.set_reason(words.reason);
  return out;
}

/// Why the drain goes on.
std::string still_held(const std::string& instance, const drain_view& view) {
  if (view.held == 0 && !view.unanswered.empty()) return "Instance " + instance + " may still hold something: " + view.unanswered;
  return "Instance " + instance + " still holds " + std::to_string(view.held) + (view.unanswered.empty() ? "" : ", and " + view.unanswered);
}

/// Polls until all shards say that the instance holds no attempts. `limit` zero: no time limit.
result<drain_view> wait_for_drain(client& to, const cli_context& context, const std::string& instance, std::uint64_t incarnation,
                                  duration limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  progress_line progress{context.json};
  for (;;) {
    const auto status = to.status_of_node({});
    if (!status) return status.failure();
    const auto view = drain_of(*status, instance, incarnation);
    if (view.state == drain_view::end::resumed)
      return error{v1::ERROR_CODE_WRONG_STATE, "Instance " + instance + " was resumed meanwhile and gets work again",
                   "'fairlead agent show " + instance + "' shows how many steps it holds"};
    if (view.state != drain_view::end::not_yet) return view;
    if (limit.count() != 0 && std::chrono::steady_clock::now() >= deadline)
      return error{v1::ERROR_CODE_TIMED_OUT, still_held(instance, view),
                   "The instance goes on draining; to wait for it again: 'fairlead agent drain " + instance + "'"};
    if (stopped(context)) return error{v1::ERROR_CODE_TIMED_OUT, still_held(instance, view) + "; it goes on draining", ""};
    if (progress.is_due()) progress.show(printable(still_held(instance, view)));
    std::this_thread::sleep_for(look_every);
  }
}

void drain(cli_context& context, const operate_words& words) {
  const auto limit = timeout_of(context);
  if (!limit) {
    context.code = fail(limit.failure());
    return;
  }
  auto connected = connect_with(context, agent_patience, duration{0});
  if (!connected) {
    context.code = fail(connected.failure());
    return;
  }
  // The status is read before the request. A process that later takes the instance's name has
  // another incarnation and is not mistaken for it.
  const auto before = connected->status_of_node({});
  if (!before) {
    context.code = fail(before.failure());
    return;
  }
  std::uint64_t incarnation = 0;
  for (const auto& agent : before->agents())
    if (agent.instance() == words.name) incarnation = agent.incarnation();

  const auto reply = connected->agent_operate(request_of(v1::AGENT_VERB_DRAIN, words));
  if (!reply) {
    context.code = fail(reply.failure());
    return;
  }
  if (!context.json)
    print(context, "Instance " + printable(words.name) + " is draining: it finishes the steps that it holds and gets no new ones.\n");
  if (words.no_wait) {
    print(context, context.json ? agent_drain_json(words.name, reply->held(), reply->held() == 0 ? "drained" : "draining") + "\n"
                                : "It holds " + std::to_string(reply->held()) + ".\n");
    return;
  }
  const auto drained = wait_for_drain(*connected, context, words.name, incarnation, limit->value_or(duration{0}));
  if (!drained) {
    context.code = fail(drained.failure());
    return;
  }
  const bool gone = drained->state == drain_view::end::gone;
  print(context, context.json ? agent_drain_json(words.name, 0, gone ? "gone" : "drained") + "\n"
                 : gone       ? "The process of the instance has ended.\n"
                              : "The instance is drained.\n");
}

void add_words(CLI::App& command, cli_context& context, operate_words& words, const char* what, const char* about,
               const std::string& timeout_help = "How long to wait for the answer (default 15s)") {
  command.add_option(what, words.name, about)->required();
  command.add_option("--reason", words.reason, "Reason, for the node's log and for other operators")->type_name("TEXT");
  add_operator_option(command, words.by);
  add_client_options(command, context, timeout_help);
}

void add_drain(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "drain", "Drain an instance: it finishes the steps that it holds and gets no new ones; waits until it has finished");
  auto words = std::make_shared<operate_words>();
  command->add_flag("--no-wait", words->no_wait, "Do not wait until the instance has finished");
  add_words(*command, context, *words, "INSTANCE", "Name of the instance",
            "How long to wait until the instance has finished (default: no limit)");
  command->callback([&context, words] { drain(context, *words); });
}

void add_resume(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("resume", "Give steps to a drained instance again");
  auto words = std::make_shared<operate_words>();
  add_words(*command, context, *words, "INSTANCE", "Name of the instance");
  command->callback([&context, words] {
    run_request(
        context, [&](client& to) { return to.agent_operate(request_of(v1::AGENT_VERB_RESUME, *words)); },
        [&](const v1::AgentOperateReply&) { return agent_resumed_json(words->name); },
        [&](const v1::AgentOperateReply&) { return "Instance " + printable(words->name) + " gets work again.\n"; });
  });
}

std::string breaker_reply_text(const std::string& agent, bool open, std::uint64_t waiting) {
  const auto steps = std::to_string(waiting) + (waiting == 1 ? " step" : " steps");
  if (open)
    return "The breaker of " + printable(agent) + " is open until an operator closes it; " + steps +
           (waiting == 1 ? " waits.\n" : " wait.\n") + "'fairlead agent breaker close " + printable(agent) + "' closes it.\n";
  return "The breaker of " + printable(agent) + " is closed; " + steps + " waited.\n";
}

void add_breaker_verb(CLI::App& group, cli_context& context, const char* name, const char* help, v1::AgentVerb verb) {
  auto* command = group.add_subcommand(name, help);
  auto words = std::make_shared<operate_words>();
  add_words(*command, context, *words, "NAME", "Name of the agent");
  const bool open = verb == v1::AGENT_VERB_BREAKER_OPEN;
  command->callback([&context, words, verb, open] {
    run_request(
        context, [&](client& to) { return to.agent_operate(request_of(verb, *words)); },
        [&](const v1::AgentOperateReply& reply) { return breaker_json(words->name, open, reply); },
        [&](const v1::AgentOperateReply& reply) { return breaker_reply_text(words->name, open, reply.waiting()); });
  });
}

}  // namespace

void add_agent_commands(CLI::App& app, cli_context& context) {
  auto* group = app.add_subcommand("agent", "List, show, drain and resume agents; open and close the breakers of their services");
  group->require_subcommand(1);
  add_list(*group, context);
  add_show(*group, context);
  add_drain(*group, context);
  add_resume(*group, context);
  auto* breaker = group->add_subcommand("breaker", "Open or close the circuit breaker of an agent's service");
  breaker->require_subcommand(1);
  add_breaker_verb(*breaker, context, "open", "Open the breaker: the service gets no steps until an operator closes it",
                   v1::AGENT_VERB_BREAKER_OPEN);
  add_breaker_verb(*breaker, context, "close", "Close the breaker: the service gets steps again", v1::AGENT_VERB_BREAKER_CLOSE);
}

}  // namespace fairlead::app
