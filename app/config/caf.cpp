// CAF silently ignores unknown keys and wrong types in its configuration, so both are refused here.

#include <algorithm>
#include <array>
#include <limits>

#include "actors/core/text/nearest.hpp"
#include "app/config/parts.hpp"

namespace fairlead::app {

namespace {

enum class option_type { word, text, count, flag, time, words };

struct option {
  const char* name;
  option_type type;
};

// The options of CAF 0.17.6 that affect a node: not its command line, not its TLS module, nothing deprecated.
constexpr std::array<option, 34> options{{
    {"stream.desired-batch-complexity", option_type::time},
    {"stream.max-batch-delay", option_type::time},
    {"stream.credit-round-interval", option_type::time},
    {"scheduler.policy", option_type::word},
    {"scheduler.max-threads", option_type::count},
    {"scheduler.max-throughput", option_type::count},
    {"scheduler.enable-profiling", option_type::flag},
    {"scheduler.profiling-resolution", option_type::time},
    {"scheduler.profiling-output-file", option_type::text},
    {"work-stealing.aggressive-poll-attempts", option_type::count},
    {"work-stealing.aggressive-steal-interval", option_type::count},
    {"work-stealing.moderate-poll-attempts", option_type::count},
    {"work-stealing.moderate-steal-interval", option_type::count},
    {"work-stealing.moderate-sleep-duration", option_type::time},
    {"work-stealing.relaxed-steal-interval", option_type::count},
    {"work-stealing.relaxed-sleep-duration", option_type::time},
    {"logger.verbosity", option_type::word},
    {"logger.file-name", option_type::text},
    {"logger.file-format", option_type::text},
    {"logger.file-verbosity", option_type::word},
    {"logger.console", option_type::word},
    {"logger.console-format", option_type::text},
    {"logger.console-verbosity", option_type::word},
    {"logger.component-blacklist", option_type::words},
    {"logger.inline-output", option_type::flag},
    {"middleman.network-backend", option_type::word},
    {"middleman.app-identifiers", option_type::words},
    {"middleman.enable-automatic-connections", option_type::flag},
    {"middleman.max-consecutive-reads", option_type::count},
    {"middleman.heartbeat-interval", option_type::time},
    {"middleman.connection-timeout", option_type::time},
    {"middleman.attach-utility-actors", option_type::flag},
    {"middleman.manual-multiplexing", option_type::flag},
    {"middleman.workers", option_type::count},
}};

const option* find_option(const std::string& name) {
  const auto* found = std::find_if(options.begin(), options.end(), [&](const option& o) { return name == o.name; });
  return found == options.end() ? nullptr : found;
}

bool is_group(const std::string& name) {
  return std::any_of(options.begin(), options.end(), [&](const option& o) { return std::string{o.name}.rfind(name + ".", 0) == 0; });
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// CAF's own notation: its intervals may be far below a millisecond.
bool is_caf_time(const std::string& text) {
  const auto unit = text.find_first_not_of("0123456789");
  if (unit == std::string::npos || unit == 0 || unit > 15) return false;
  const auto name = text.substr(unit);
  return name == "ns" || name == "us" || name == "ms" || name == "s" || name == "min" || name == "h";
}

std::string caf_value(const yaml_node& node, option_type type) {
  switch (type) {
    case option_type::word: return node.text().value_or("");
    case option_type::text: {
      const auto text = node.text();
      return text ? quoted(*text) : "";
    }
    case option_type::count: {
      const auto count = node.integer(0, std::numeric_limits<std::int64_t>::max());
      return count ? std::to_string(*count) : "";
    }
    case option_type::flag: {
      const auto flag = node.boolean();
      return flag ? (*flag ? "true" : "false") : "";
    }
    case option_type::time: {
      const auto text = node.text();
      if (!text || is_caf_time(*text)) return text.value_or("");
      node.expected("a time such as 50us, 500ms, 2s or 1min");
      return "";
    }
    case option_type::words: break;
  }
  std::string out;
  for (const auto& item : node.items()) {
    if (const auto text = item.text()) out += (out.empty() ? "" : ", ") + quoted(*text);
  }
  return "[" + out + "]";
}

void read_option(const std::string& name, const yaml_node& node, node_config& out) {
  const auto* known = find_option(name);
  if (known == nullptr) {
    std::vector<std::string> names;
    for (const auto& o : options) names.emplace_back(o.name);
    const auto close = core::nearest(name, names);
    node.complain("CAF has no option " + name + " for a node", close.empty() ? "" : "did you mean " + close + "?");
    return;
  }
  const auto value = caf_value(node, known->type);
  if (name == "middleman.enable-automatic-connections" && value == "true") {
    node.complain("this option would open a second port on every interface", "leave the option out");
    return;
  }
  if (!value.empty()) out.caf.emplace_back(name, value);
}

}  // namespace

void read_caf(const yaml_node& node, node_config& out) {
  for (const auto& [group, section] : node.entries()) {
    // `scheduler.max-threads: 2` and the nested form are the same.
    if (!section.is_map()) {
      read_option(group, section, out);
      continue;
    }
    if (!is_group(group)) {
      section.complain("CAF has no options under " + group, "");
      continue;
    }
    for (const auto& [name, value] : section.entries()) read_option(group + "." + name, value, out);
  }
}

}  // namespace fairlead::app
