#include <algorithm>

#include "actors/delivery/webhook_port.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t most_messages = 1'000;
constexpr std::size_t most_arguments = 256;

/// The name is part of a durable row's key, so webhooks and commands share one set of names.
bool name_is_sound(const std::string& name, const yaml_node& node, const node_config& out) {
  if (!valid_alert_target_name(name)) {
    node.complain("expected a name of lower-case letters, digits, _ and -; at most 64 in all");
    return false;
  }
  const auto same = [&name](const alert_target& one) { return one.name == name; };
  if (std::any_of(out.alert_targets.begin(), out.alert_targets.end(), same)) {
    node.complain("this name is already the name of a webhook", "webhooks and commands share their names: choose another name");
    return false;
  }
  return true;
}

void read_common(yaml_section& section, alert_target& out) {
  section.boolean("resolved", out.resolved);
  section.integer("at_most", out.at_most, 1, most_messages);
  std::int64_t window_ms = out.window.count();
  if (section.duration_ms("window", window_ms, second, 24 * hour)) out.window = duration{window_ms};
}

void read_webhook(const std::string& name, const yaml_node& node, node_config& out) {
  alert_target target;
  target.name = name;
  yaml_section section{node};
  if (const auto url = section.require("url", "the http or https URL to post to")) {
    if (const auto text = url->text()) {
      target.url = *text;
      if (const auto checked = check_webhook_url(*text); !checked.ok()) url->complain(checked.failure().sentence, checked.failure().remedy);
    }
  }
  read_common(section, target);
  section.finish();
  if (name_is_sound(name, node, out)) out.alert_targets.push_back(std::move(target));
}

void read_words(const yaml_node& node, std::vector<std::string>& out) {
  const auto items = node.items();
  if (!node.is_list()) return;
  if (items.empty()) node.complain("the list is empty", "name the program, then its arguments: [/usr/local/bin/page, --urgent]");
  if (items.size() > most_arguments) node.complain("more than 256 words", "use a script that has these arguments in it");
  for (const auto& item : items) {
    auto word = item.scalar_text();
    if (!word) continue;
    // A zero byte would end the word early in the child.
    if (word->find('\0') != std::string::npos) item.complain("a word of a command cannot have a character with the code 0");
    if (out.empty() && (word->empty() || word->front() != '/')) item.expected("the program's absolute path, such as /usr/local/bin/page");
    out.push_back(std::move(*word));
  }
}

void read_command(const std::string& name, const yaml_node& node, node_config& out) {
  alert_target target;
  target.name = name;
  yaml_section section{node};
  if (const auto run = section.require("run", "a list: the program's path, then its arguments")) read_words(*run, target.run);
  std::int64_t timeout_ms = target.timeout.count();
  if (section.duration_ms("timeout", timeout_ms, 100, hour / 6)) target.timeout = duration{timeout_ms};
  read_common(section, target);
  section.finish();
  if (name_is_sound(name, node, out)) out.alert_targets.push_back(std::move(target));
}

/// `50%`. The brake needs more than the share, so 100% would mean off.
std::optional<std::uint32_t> percent_of(const std::string& text) {
  if (text.size() < 2 || text.size() > 4 || text.back() != '%') return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint32_t>(text[i] - '0');
  }
  if (value < 1 || value > 99) return std::nullopt;
  return value;
}

}  // namespace

void read_alerts(const yaml_node& node, node_config& out) {
  yaml_section section{node};
  if (!node.is_map()) return;
  if (const auto webhooks = section.find("webhooks"))
    for (const auto& [name, target] : webhooks->entries()) read_webhook(name, target, out);
  if (const auto commands = section.find("commands"))
    for (const auto& [name, target] : commands->entries()) read_command(name, target, out);
  section.duration_ms("agent_absent_after", out.agent_absent_after_ms, second, 24 * hour);
  section.duration_ms("step_failing_after", out.step_failing_after_ms, second, 24 * hour);
  section.duration_ms("replica_behind_after", out.replica_behind_after_ms, second, 24 * hour);
  section.finish();
}

void read_undo_brake(const yaml_node& node, node_config& out) {
  if (node.is_word("off")) {
    out.undo_brake_on = false;
    return;
  }
  if (!node.is_map()) {
    node.expected("off, or a map with share, window and at_least");
    return;
  }
  yaml_section section{node};
  if (const auto share = section.find("share")) {
    const auto percent = share->value().kind == yaml_value::kind_type::scalar ? percent_of(share->value().text) : std::nullopt;
    if (percent) {
      out.undo_brake_share_percent = *percent;
    } else {
      share->expected("a share from 1% to 99%, such as 50%");
    }
  }
  section.duration_ms("window", out.undo_brake_window_ms, second, 24 * hour);
  section.integer("at_least", out.undo_brake_at_least, 1, 1'000'000);
  section.finish();
}

}  // namespace fairlead::app
