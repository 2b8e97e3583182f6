// `fairlead agent check`: tests an agent in any language, or a service.

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/agent_check/server.hpp"
#include "app/agent_check/service.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/json_argument.hpp"
#include "app/cli/words.hpp"
#include "app/config/parts.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

namespace {

struct check_words {
  std::string url, undo, lookup;
  std::string listen = "127.0.0.1:0";
  std::string agent, call;
  std::string input = agent_check::plan{}.input;
  bool two_nodes = false;
  std::vector<std::string> command;
};

void say_progress(const std::string& line) { std::cerr << printable(line) << std::endl; }

const char* verdict_word(agent_check::verdict what) {
  switch (what) {
    case agent_check::verdict::not_seen: return "not_seen";
    case agent_check::verdict::kept: return "kept";
    case agent_check::verdict::broken: return "broken";
  }
  return "";
}

std::string agent_report_json(const agent_check::check_report& what) {
  json_writer out;
  out.begin_object().key("ok").boolean(what.findings.empty()).key("rules").begin_array();
  for (const auto& one : what.rules)
    out.begin_object()
        .key("rule")
        .number(one.number)
        .key("words")
        .string(one.words)
        .key("verdict")
        .string(verdict_word(one.how))
        .end_object();
  out.end_array().key("findings").begin_array();
  for (const auto& one : what.findings)
    out.begin_object().key("rule").number(static_cast<int>(one.broken)).key("sentence").string(one.sentence).end_object();
  return out.end_array().end_object().text() + "\n";
}

std::string agent_report_text(const agent_check::check_report& what) {
  std::string out;
  for (const auto& one : what.rules) {
    const auto how = one.how == agent_check::verdict::not_seen ? "not seen" : verdict_word(one.how);
    out += "rule " + std::to_string(one.number) + "  " + std::string{how} + std::string(10 - std::string_view{how}.size(), ' ') +
           one.words + "\n";
  }
  for (const auto& one : what.findings) {
    const auto number = static_cast<int>(one.broken);
    out += (number == 0 ? std::string{"requests"} : "rule " + std::to_string(number)) + ": " + printable(one.sentence) + "\n";
  }
  return out + (what.findings.empty() ? "No rule is broken.\n" : "");
}

std::string service_report_json(const agent_check::service_report& what) {
  json_writer out;
  out.begin_object().key("ok").boolean(what.findings.empty()).key("tried").begin_array();
  for (const auto& one : what.seen) out.string(one);
  out.end_array().key("findings").begin_array();
  for (const auto& one : what.findings) out.begin_object().key("about").string(one.what).key("sentence").string(one.sentence).end_object();
  return out.end_array().end_object().text() + "\n";
}

std::string service_report_text(const agent_check::service_report& what) {
  std::string out;
  for (const auto& one : what.seen) {
    const bool broken = std::any_of(what.findings.begin(), what.findings.end(), [&](const auto& each) { return each.what == one; });
    out += one + (broken ? "  broken\n" : "  kept\n");
  }
  for (const auto& one : what.findings) out += one.what + ": " + printable(one.sentence) + "\n";
  return out;
}

template <class Report, class ToJson, class ToText>
void show_report(cli_context& context, const result<Report>& report, ToJson to_json, ToText to_text) {
  if (!report) {
    context.code = fail(report.failure());
    return;
  }
  print(context, context.json ? to_json(*report) : to_text(*report));
  if (context.code == exit_ok && !report->findings.empty()) context.code = exit_failed;
}

void check_an_agent(cli_context& context, const check_words& words) {
  const auto at = parse_address(words.listen);
  if (!at) {
    context.code = fail(invalid("'" + words.listen + "' is no address", "Give HOST:PORT, such as 127.0.0.1:7190"));
    return;
  }
  agent_check::check_options options;
  options.what.agent = words.agent;
  options.what.call = words.call;
  options.what.input = words.input;
  options.what.two_nodes = words.two_nodes;
  options.listen = *at;
  options.command = words.command;
  options.say = say_progress;
  show_report(context, agent_check::check_agent(options), agent_report_json, agent_report_text);
}

void check_a_service(cli_context& context, const check_words& words) {
  const agent_check::service_check what{words.url, words.undo, words.lookup, words.input, say_progress};
  show_report(context, agent_check::check_service(what), service_report_json, service_report_text);
}

}  // namespace

void add_agent_check(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand(
      "check", "Test an agent in any language, or a service: plays the Scheduler to it, loses answers, and names the rules that it breaks");
  auto words = std::make_shared<check_words>();
  auto rest = std::make_shared<std::vector<std::string>>();
  command->add_option("URL", *rest, "URL of a service for an http agent; or, behind --, the command that starts the agent");
  command->add_option("--listen", words->listen, "Address at which the agent finds the tester; port 0 takes a free one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command->add_option("--agent", words->agent, "The agent must register by this name")->type_name("NAME");
  command->add_option("--call", words->call, "The call to try (default: the first that the agent registers)")->type_name("CALL");
  command->add_option("--input", words->input, "Input of the call: JSON, or @FILE")->type_name("JSON")->capture_default_str();
  command->add_flag("--two-nodes", words->two_nodes,
                    "Without URL: name two nodes in FAIRLEAD_API, and lose one while the agent holds an attempt");
  command->add_option("--undo", words->undo, "With URL: URL of the undo")->type_name("URL");
  command->add_option("--lookup", words->lookup, "With URL: URL of the look-up, with {perform_key} in it")->type_name("URL");
  add_json_option(*command, context);
  command->callback([&context, words, rest] {
    const auto input = read_json_argument(words->input, "The input");
    if (!input) {
      context.code = fail(input.failure());
      return;
    }
    words->input = *input;
    const bool is_url = !rest->empty() && (rest->front().starts_with("http://") || rest->front().starts_with("https://"));
    if (is_url && rest->size() > 1) {
      context.code = fail(invalid("A URL and a command cannot be combined", "Give a URL for a service, or -- COMMAND for an agent"));
      return;
    }
    if (is_url && words->two_nodes) {
      context.code = fail(invalid("--two-nodes cannot be combined with a URL: it loses a node that an agent talks to",
                                  "Leave --two-nodes out, or give -- COMMAND for an agent"));
      return;
    }
    if (is_url) {
      words->url = rest->front();
      check_a_service(context, *words);
    } else {
      words->command = *rest;
      check_an_agent(context, *words);
    }
  });
}

}  // namespace fairlead::app
