#include "app/node/reload.hpp"

#include <algorithm>
#include <utility>

#include "app/config/secrets.hpp"
#include "app/node/agents.hpp"
#include "app/node/setup.hpp"

namespace fairlead::app {

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

error refusal(const std::string& file, const std::vector<problem>& problems) {
  const auto more = problems.size() - 1;
  auto remedy = std::string{"nothing was changed"};
  if (more > 0)
    remedy +=
        "; the file has " + std::to_string(more) + (more == 1 ? " more problem" : " more problems") + ": fairlead config check " + file;
  return {v1::ERROR_CODE_INVALID_ARGUMENT, to_text(problems.front()), std::move(remedy)};
}

error unchanged(error why) {
  why.remedy = "nothing was changed" + (why.remedy.empty() ? "" : "; " + why.remedy);
  return why;
}

/// The keys that count at once have their new values, all others those that are in force.
node_config in_force(const node_config& running, node_config read, const config_changes& changes) {
  auto out = running;
  out.agents = std::move(read.agents);
  out.exec_needs = std::move(read.exec_needs);
  out.secrets = std::move(read.secrets);
  out.log.level = read.log.level;
  if (changes.certificates) out.access.certificates = std::move(read.access.certificates);
  out.written = std::move(read.written);
  for (const auto& key : changes.kept) {
    out.written.erase(key);
    if (const auto was = running.written.find(key); was != running.written.end()) out.written.insert(*was);
  }
  return out;
}

std::string listed(const char* what, const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? std::string{"; "} + what + " " : ", ") + name;
  return out;
}

}  // namespace

result<reload_plan> plan_reload(const node_config& running, const node_parts& parts, std::shared_ptr<const agents::secrets> secrets,
                                const std::function<void(const std::string&)>& warn) {
  auto file = read_node_config(running.file);
  if (!file.problems.empty()) return refusal(running.file, file.problems);
  auto& read = file.config;
  reload_plan out;
  out.changes = changes_of(running, read);
  if (out.changes.secrets) {
    auto made = make_secrets(read, warn);
    if (!made) return unchanged(made.failure());
    secrets = std::move(*made);
  }
  std::vector<agent_section> sections;
  for (const auto& section : read.agents) {
    const auto& name = std::visit([](const auto& one) -> const std::string& { return one.name; }, section);
    if (has(out.changes.added, name) || has(out.changes.changed, name)) sections.push_back(section);
  }
  auto made = agents_of(read, sections, parts.agents, secrets, parts.program);
  if (!made) return unchanged(made.failure());
  if (const auto sound = check_limits(*made); !sound.ok()) return unchanged(sound.failure());
  for (auto& agent : *made) (has(out.changes.added, agent.name) ? out.agents.added : out.agents.changed).push_back(std::move(agent));
  out.agents.removed = out.changes.removed;
  out.secrets = std::move(secrets);
  out.config = in_force(running, std::move(read), out.changes);
  return out;
}

v1::NodeReload to_proto(const std::string& file, const config_changes& changes) {
  v1::NodeReload out;
  out.set_file(file);
  out.mutable_added()->Assign(changes.added.begin(), changes.added.end());
  out.mutable_changed()->Assign(changes.changed.begin(), changes.changed.end());
  out.mutable_removed()->Assign(changes.removed.begin(), changes.removed.end());
  out.mutable_applied()->Assign(changes.applied.begin(), changes.applied.end());
  out.mutable_kept()->Assign(changes.kept.begin(), changes.kept.end());
  return out;
}

std::string to_text(const v1::NodeReload& what) {
  const auto changes = listed("agents added", what.added()) + listed("agents changed", what.changed()) +
                       listed("agents removed", what.removed()) + listed("keys applied", what.applied()) +
                       listed("keys that need a restart", what.kept());
  return what.file() + " was read again" + (changes.empty() ? "; nothing has changed" : changes);
}

error could_not_start(const std::vector<std::pair<std::string, error>>& failed) {
  const auto& [name, first] = failed.front();
  auto why = first;
  why.sentence =
      "all of the node file counts, but agent " + name +
      (failed.size() > 1 ? " and " + std::to_string(failed.size() - 1) + " more could not be started: " : " could not be started: ") +
      first.sentence;
  return why;
}

}  // namespace fairlead::app
