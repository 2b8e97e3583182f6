#include "app/config/secrets.hpp"

#include <stdlib.h>
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "actors/agents/secrets/file.hpp"
#include "actors/agents/secrets/memory.hpp"
#include "actors/agents/secrets/vault.hpp"
#include "actors/agents/secrets_reference.hpp"
#include "actors/core/text/nearest.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t most_secrets_of_a_node = 256;
constexpr const char* how_to_write = "write { file: /run/secrets/NAME } or { environment: NAME }";

/// The text, or a complaint that does not show the value.
std::optional<std::string> unseen_text(const yaml_node& node, const char* what) {
  const auto& value = node.value();
  if (value.kind == yaml_value::kind_type::scalar && !value.text.empty() && value.text.find('\0') == std::string::npos) return value.text;
  node.complain(std::string{"expected "} + what);
  return std::nullopt;
}

void read_secret(const std::string& name, const yaml_node& node, node_config& out) {
  if (!agents::valid_secret_name(name)) node.complain("expected a name of letters, digits, _, . and -; at most 64 in all");
  // Unlike in other sections the value is not shown: it may be the secret itself.
  if (!node.is_map()) {
    node.complain("expected a map with the source of the secret, not the secret itself", how_to_write);
    return;
  }
  yaml_section section{node};
  const auto file = section.find("file");
  const auto variable = section.find("environment");
  section.finish();
  if (file && variable) variable->complain("both file and environment are given", "keep one of them");
  if (!file && !variable) node.complain("the secret has neither file nor environment", how_to_write);
  if (static_cast<bool>(file) == static_cast<bool>(variable)) return;
  secret_section secret;
  secret.name = name;
  const auto& place = file ? *file : *variable;
  secret.line = place.line();
  secret.column = place.column();
  const auto text = unseen_text(place, file ? "the path of a file" : "the name of an environment variable");
  if (!text) return;
  if (file) {
    const std::filesystem::path given{*text};
    const auto joined = given.is_absolute() ? given : std::filesystem::path{out.file}.parent_path() / given;
    secret.path = joined.lexically_normal().string();
  } else if (text->find('=') != std::string::npos) {
    place.complain("expected the name of an environment variable, without =");
    return;
  } else {
    secret.environment = *text;
  }
  out.secrets.push_back(std::move(secret));
}

// ---- references ----

class reference_check {
 public:
  explicit reference_check(std::vector<std::string> declared) : declared_(std::move(declared)) {}

  void agent_values(const yaml_node& node, bool of_agent = false) const {
    if (node.is_map()) {
      for (const auto& [key, value] : node.entries()) {
        if (agents::secrets::mentioned(key)) value.complain("a key contains a reference to a secret", "use references in values only");
        if (of_agent && key == "input_secrets" && value.is_list()) {
          for (const auto& item : value.items())
            if (item.value().kind == yaml_value::kind_type::scalar && agents::valid_secret_name(item.value().text))
              declared(item, item.value().text);
        } else {
          agent_values(value);
        }
      }
    } else if (node.is_list()) {
      for (const auto& item : node.items()) agent_values(item);
    } else if (agents::secrets::mentioned(node.value().text)) {
      const auto names = agents::secrets::names_in(node.value().text);
      if (!names) return node.complain(names.failure().sentence, names.failure().remedy);
      for (const auto& name : *names) declared(node, name);
    }
  }

  /// Outside of agents no value is put in: the reference itself would be used as the value.
  static void elsewhere(const yaml_node& node) {
    if (node.is_map()) {
      for (const auto& entry : node.entries()) elsewhere(entry.second);
    } else if (node.is_list()) {
      for (const auto& item : node.items()) elsewhere(item);
    } else if (agents::secrets::mentioned(node.value().text)) {
      node.complain("references to secrets are only allowed under agents", "write the value itself, or leave the key out");
    }
  }

 private:
  void declared(const yaml_node& at, const std::string& name) const {
    if (std::find(declared_.begin(), declared_.end(), name) != declared_.end()) return;
    const auto close = core::nearest(name, declared_);
    at.complain("there is no secret " + name, close.empty() ? "declare it: secrets: { " + name + ": { file: /run/secrets/" + name + " } }"
                                                            : "did you mean " + close + "?");
  }

  std::vector<std::string> declared_;
};

// ---- values ----

/// Variables taken out of the environment, kept because a process may start more than one node.
class taken_variables {
 public:
  /// nullopt: there is no such variable. `keep` false removes it.
  std::optional<std::string> value_of(const std::string& name, bool keep) {
    const std::lock_guard lock{mutex_};
    if (auto* found = ::getenv(name.c_str())) {
      std::string value{found};
      if (!keep) {
        taken_.insert_or_assign(name, agents::secret_memory::copy_of(value));
        // /proc/PID/environ shows the variables with which the process was started.
        ::explicit_bzero(found, std::strlen(found));
        ::unsetenv(name.c_str());
      }
      return value;
    }
    const auto known = taken_.find(name);
    if (known == taken_.end()) return std::nullopt;
    return std::string{known->second.view()};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, agents::secret_memory> taken_;
};

taken_variables& variables() {
  static taken_variables all;
  return all;
}

/// Reads a secret for the first time; `vault` null: only checks that it can be read.
status read_value(const secret_section& secret, agents::secret_vault* vault) {
  if (!secret.path.empty()) {
    if (vault != nullptr) return vault->add_file(secret.name, secret.path);
    agents::secret_file_mark mark;
    auto value = agents::read_secret_file(secret.path, mark);
    if (!value) return value.failure();
    agents::wipe(*value);
    return nothing{};
  }
  auto value = variables().value_of(secret.environment, vault == nullptr);
  if (!value)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the variable " + secret.environment + " is not set",
                 "start the node with this variable, or use a file"};
  const agents::wiped_at_end wiping{*value};
  return vault != nullptr ? vault->add_value(secret.name, *value) : agents::check_secret_value(*value);
}

problem problem_of(const node_config& config, const secret_section& secret, const error& why) {
  return {config.file,  secret.line, secret.column, "secrets." + secret.name + (secret.path.empty() ? ".environment" : ".file"),
          why.sentence, why.remedy};
}

}  // namespace

void read_secrets(const yaml_node& node, node_config& out) {
  if (!node.is_map()) {
    node.complain("expected a map of secrets by name", how_to_write);
    return;
  }
  const auto entries = node.entries();
  if (entries.size() > most_secrets_of_a_node) node.complain("more than " + std::to_string(most_secrets_of_a_node) + " secrets");
  for (const auto& [name, secret] : entries) read_secret(name, secret, out);
}

void check_secret_references(const yaml_node& root, const node_config& config) {
  std::vector<std::string> declared;
  for (const auto& secret : config.secrets) declared.push_back(secret.name);
  for (const auto& [key, section] : root.entries())
    if (key == "secrets" && section.is_map())  // secrets with a problem of their own count as declared
      for (const auto& entry : section.entries()) declared.push_back(entry.first);
  const reference_check check{std::move(declared)};
  for (const auto& [key, section] : root.entries()) {
    if (key == "secrets") continue;
    if (key != "agents" || !section.is_map()) {
      reference_check::elsewhere(section);
      continue;
    }
    for (const auto& [name, agent] : section.entries()) check.agent_values(agent, true);
  }
}

std::vector<problem> check_secret_values(const node_config& config) {
  std::vector<problem> out;
  for (const auto& secret : config.secrets)
    if (const auto read = read_value(secret, nullptr); !read.ok()) out.push_back(problem_of(config, secret, read.failure()));
  return out;
}

result<std::shared_ptr<const agents::secrets>> make_secrets(const node_config& config, std::function<void(const std::string&)> warn) {
  if (config.secrets.empty()) return std::shared_ptr<const agents::secrets>{};
  if (const auto forbidden = agents::forbid_core_files(); !forbidden.ok()) return forbidden.failure();
  auto vault = std::make_shared<agents::secret_vault>(std::move(warn));
  for (const auto& secret : config.secrets) {
    const auto read = read_value(secret, vault.get());
    if (read.ok()) continue;
    const auto all = check_secret_values(config).size();
    auto what = problem_of(config, secret, read.failure());
    const auto remedy = std::exchange(what.remedy, {});
    return error{
        v1::ERROR_CODE_INVALID_ARGUMENT, to_text(what),
        all > 1 ? remedy + "; 'fairlead config check " + config.file + "' names all " + std::to_string(all) + " problems" : remedy};
  }
  return std::shared_ptr<const agents::secrets>{std::move(vault)};
}

}  // namespace fairlead::app
