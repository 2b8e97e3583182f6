#include <unistd.h>

#include <filesystem>

#include "actors/agents/exec/command.hpp"
#include "actors/agents/exec/exec.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t most_exec_concurrency = 1'024;
constexpr std::uint64_t most_output = std::uint64_t{64} << 20;
constexpr std::int64_t longest_grace = 60 * second;
constexpr std::int64_t longest_key = 3'660 * day;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50;

// A single code, `75`, needs no list around it. With `signals` the word of that name is allowed as well; the result says whether it is there.
bool read_codes(yaml_section& section, const char* key, std::vector<agents::exit_range>& out, bool signals = false) {
  const auto node = section.find(key);
  if (!node) return false;
  bool named = false;
  for (const auto& item : node->is_list() ? node->items() : std::vector<yaml_node>{*node}) {
    if (signals && item.is_word("signals")) {
      named = true;
      continue;
    }
    agents::exit_range range;
    if (item.value().kind == yaml_value::kind_type::scalar && agents::parse_exit_range(item.value().text, range)) {
      out.push_back(range);
    } else {
      item.expected(signals ? "an exit code from 0 to 255, such as 75 or 64-78, or signals"
                            : "an exit code from 0 to 255, such as 75 or 64-78");
    }
  }
  return named;
}

void read_exit_codes(const yaml_node& node, agents::exec_exit_codes& out) {
  yaml_section section{node};
  read_codes(section, "success", out.success);
  const auto transient = read_codes(section, "transient", out.transient, true);
  const auto in_doubt = read_codes(section, "in_doubt", out.in_doubt, true);
  const auto permanent = read_codes(section, "permanent", out.permanent, true);
  if (transient + in_doubt + permanent > 1) node.complain("signals are given two meanings", "name them in one list");
  if (transient) out.signals = agents::exec_meaning::transient;
  if (permanent) out.signals = agents::exec_meaning::permanent;
  section.finish();
}

void read_command(yaml_section& section, std::vector<std::string>& out, node_config& config) {
  const auto node = section.require("command", "a list: the program's path, then its arguments");
  if (!node) return;
  for (const auto& item : node->items())
    if (auto word = item.scalar_text()) out.push_back(std::move(*word));
  if (!node->is_list() || out.size() != node->items().size()) return;
  if (const auto checked = agents::check_command(out, "the command"); !checked.ok()) {
    node->complain(checked.failure().sentence, checked.failure().remedy);
    return;
  }
  config.exec_needs.push_back({exec_need::kind::program, out.front(), {}, node->where(), node->line(), node->column()});
}

agents::exec_lookup read_lookup(const yaml_node& node, node_config& config) {
  agents::exec_lookup out;
  yaml_section section{node};
  if (!node.is_map()) return out;
  read_command(section, out.command, config);
  if (const auto codes = section.find("exit_codes")) {
    yaml_section meanings{*codes};
    read_codes(meanings, "done", out.done);
    read_codes(meanings, "never_happened", out.never_happened);
    read_codes(meanings, "unknown", out.unknown);
    meanings.finish();
  }
  section.finish();
  return out;
}

void read_call(const std::string& name, const yaml_node& node, agents::exec_agent_config& agent, node_config& config) {
  agents::exec_call call;
  if (!core::valid_agent_name(name)) node.complain("expected a name: a letter, then letters, digits, _, . and -; at most 64 in all");
  yaml_section section{node};
  if (!node.is_map()) return;
  read_command(section, call.command, config);
  section.word<agents::exec_input>("input", call.input, {{"json", agents::exec_input::json}, {"none", agents::exec_input::none}});
  section.word<agents::exec_output>("output", call.output,
                                    {{"json", agents::exec_output::json},
                                     {"text", agents::exec_output::text},
                                     {"lines", agents::exec_output::lines},
                                     {"log", agents::exec_output::log}});
  if (const auto codes = section.find("exit_codes")) read_exit_codes(*codes, call.exit_codes);
  if (const auto idempotency = section.find("idempotency")) {
    yaml_section promise{*idempotency};
    promise.duration_ms("valid_for", call.key_valid_for_ms, second, longest_key);
    promise.finish();
  }
  if (const auto lookup = section.find("lookup")) call.lookup = read_lookup(*lookup, config);
  if (const auto retry = section.find("retry"))
    read_retry(*retry, agent.settings.call_retry.emplace(name, agent.settings.retry).first->second);
  section.finish();
  agent.calls.emplace(name, std::move(call));
}

void read_environment(const yaml_node& node, agents::exec_agent_config& agent) {
  for (const auto& [name, value] : node.entries()) {
    if (!agents::valid_variable_name(name)) {
      value.complain("'" + name + "' is not a valid variable name",
                     "use letters, digits and _; names that begin with FAIRLEAD_ are reserved for the agent");
      continue;
    }
    auto text = value.scalar_text();
    if (!text) continue;
    if (text->find('\0') != std::string::npos) {
      value.complain("a variable cannot have a character with the code 0");
      continue;
    }
    agent.environment.emplace_back(name, std::move(*text));
  }
}

void read_process(const yaml_node& node, agents::exec_process_limits& out) {
  yaml_section section{node};
  section.size_bytes("memory", out.memory_bytes, mebibyte, most_bytes);
  std::int64_t cpu_ms = 0;
  if (const auto cpu = section.find("cpu")) {
    cpu_ms = cpu->duration_ms(second, 365 * day).value_or(0);
    if (cpu_ms % second != 0) cpu->expected("whole seconds");
    out.cpu_seconds = static_cast<std::uint64_t>(cpu_ms / second);
  }
  // Fewer would leave no room for input, output, errors and progress.
  section.integer("files", out.files, 8, 1'048'576);
  section.integer("processes", out.processes, 1, 1'048'576);
  section.size_bytes("file_size", out.file_bytes, 1, most_bytes);
  section.finish();
}

void read_user(yaml_section& section, agents::exec_agent_config& agent, node_config& config) {
  const auto user = section.find("user");
  const auto group = section.find("group");
  const auto read = [](const std::optional<yaml_node>& node, std::string& out) {
    const auto text = node ? node->scalar_text() : std::nullopt;
    if (!text) return;
    if (text->empty() || text->find('\0') != std::string::npos) {
      node->expected("a name or a number");
    } else {
      out = *text;
    }
  };
  read(user, agent.user);
  read(group, agent.group);
  if (group && !user) group->complain("group is given without user", "add user");
  if (!agent.user.empty())
    config.exec_needs.push_back({exec_need::kind::user, agent.user, agent.group, user->where(), user->line(), user->column()});
}

}  // namespace

agent_section read_exec(const std::string& name, yaml_section& section, node_config& out) {
  agents::exec_agent_config agent;
  agent.name = name;
  agent.settings.retry.tries = default_remote_tries;
  read_agent_settings(section, agent.settings);
  section.integer("concurrency", agent.concurrency, 1, most_exec_concurrency);
  read_user(section, agent, out);
  if (const auto directory = section.find("directory")) {
    const auto text = directory->text();
    if (text && (text->front() != '/' || text->find('\0') != std::string::npos)) {
      directory->expected("an absolute path, such as /srv/backup");
    } else if (text) {
      agent.directory = *text;
      out.exec_needs.push_back({exec_need::kind::directory, *text, {}, directory->where(), directory->line(), directory->column()});
    }
  }
  if (const auto environment = section.find("environment")) read_environment(*environment, agent);
  if (const auto process = section.find("process")) read_process(*process, agent.process);
  section.size_bytes("max_output", agent.max_output_bytes, 1, most_output);
  section.duration_ms("stop_grace", agent.stop_grace_ms, 0, longest_grace);
  if (const auto calls = section.require("calls", "a map of calls by name")) {
    if (calls->is_map() && calls->value().entries.empty()) calls->complain("an agent needs at least one call");
    for (const auto& [call, node] : calls->entries()) read_call(call, node, agent, out);
  }
  return agent;
}

std::vector<problem> check_exec_needs(const node_config& config) {
  std::vector<problem> out;
  for (const auto& need : config.exec_needs) {
    const auto complain = [&](std::string sentence, std::string remedy) {
      out.push_back({config.file, need.line, need.column, need.where, std::move(sentence), std::move(remedy)});
    };
    std::error_code failure;
    switch (need.what) {
      case exec_need::kind::program:
        if (!std::filesystem::exists(need.name, failure)) {
          complain("there is no program " + need.name + " on this machine", "install it, or correct the path");
        } else if (!std::filesystem::is_regular_file(need.name, failure) || access(need.name.c_str(), X_OK) != 0) {
          complain(need.name + " is not an executable program", "make the file executable (chmod +x), or correct the path");
        }
        break;
      case exec_need::kind::directory:
        if (!std::filesystem::is_directory(need.name, failure))
          complain("there is no directory " + need.name + " on this machine", "create it, or correct the path");
        break;
      case exec_need::kind::user:
        if (const auto found = agents::find_identity(need.name, need.group); !found.ok())
          complain(found.failure().sentence, found.failure().remedy);
        break;
    }
  }
  return out;
}

}  // namespace fairlead::app
