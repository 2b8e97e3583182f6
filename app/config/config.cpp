#include "app/config/config.hpp"

#include <algorithm>
#include <tuple>

#include "app/config/changes.hpp"
#include "app/config/parts.hpp"
#include "store/directory.hpp"

namespace fairlead::app {

namespace {

constexpr std::int64_t longest_ms = std::int64_t{10} * 366 * 24 * hour;
constexpr std::uint64_t kib = 1'024;
constexpr std::uint64_t mib = kib * kib;
constexpr std::uint64_t gib = kib * mib;

void read_node(yaml_section& root, node_config& out) {
  const auto node = root.require("node", "a map with the node's name");
  if (!node) return;
  yaml_section section{*node};
  if (const auto name = section.require("name", "the node's name")) {
    if (const auto text = name->text()) {
      out.name = *text;
      if (!core::valid_agent_name(*text)) name->complain("expected a letter, then letters, digits, _, . and -; at most 64 in all");
    }
  }
  section.boolean("trusted_network", out.trusted_network);
  if (const auto listen = section.find("listen")) {
    if (const auto text = listen->text()) {
      const auto address = parse_address(*text);
      if (!address) {
        listen->expected("HOST:PORT, such as 127.0.0.1:7100");
      } else {
        out.listen = *address;
        if (!is_loopback(address->host) && !out.trusted_network)
          listen->complain("this address can be reached from other machines, and the port trusts everybody who can reach it",
                           "listen on 127.0.0.1, or add trusted_network: true if only trusted machines are in the network");
      }
    }
  }
  read_membership(section, out);
  section.not_yet({"tls"});
  section.finish();
}

void read_roles(yaml_section& root, node_config& out) {
  const auto node = root.find("roles");
  if (!node) return;
  out.shard_role = false;
  out.agent_role = false;
  const auto items = node->items();
  if (node->is_list() && items.empty()) node->complain("a node needs at least one role", "list shard, agent or both");
  for (const auto& item : items) {
    const auto index = item.word({"shard", "agent"});
    if (!index) continue;
    auto& role = *index == 0 ? out.shard_role : out.agent_role;
    if (role) item.complain("this role is listed twice", "remove one of them");
    role = true;
  }
}

void read_store(yaml_section& root, node_config& out) {
  const auto node = root.find("store");
  if (!node) {
    if (out.shard_role) root.node().child("store").complain("this key is missing; the role shard needs a map with the path of the store");
    return;
  }
  yaml_section section{*node};
  if (const auto path = section.require("path", "the folder of the store")) {
    if (const auto text = path->text()) out.store_path = beside(out.file, *text);
  }
  section.size_bytes("max_size", out.store_max_bytes, 16 * mib, 16 * 1024 * gib);
  section.finish();
}

void read_journal(yaml_section& root, node_config& out) {
  // A small store gets a small journal.
  out.journal_segment_bytes = std::clamp(out.store_max_bytes / 256, mib, 64 * mib) / mib * mib;
  out.journal_path = out.store_path.empty() ? "" : store::journal_in(out.store_path);
  constexpr auto block = 4 * kib;  // the journal is written in these
  const auto use_default_size = [&out] { out.journal_max_bytes = std::max(64 * mib, 16 * out.journal_segment_bytes); };
  use_default_size();
  if (const auto node = root.find("journal")) {
    yaml_section section{*node};
    if (const auto path = section.find("path")) {
      if (const auto text = path->text()) out.journal_path = beside(out.file, *text);
    }
    if (section.size_bytes("segment_size", out.journal_segment_bytes, mib, gib))
      out.journal_segment_bytes = (out.journal_segment_bytes + block - 1) / block * block;
    use_default_size();
    if (section.size_bytes("max_size", out.journal_max_bytes, 64 * mib, 1024 * gib) &&
        out.journal_max_bytes < 6 * out.journal_segment_bytes)
      section.find("max_size")
          ->complain("the journal needs room for six files of journal.segment_size", "raise max_size, or lower segment_size");
    section.finish();
  }
}

void read_limits(yaml_section& root, node_config& out) {
  if (const auto node = root.find("limits")) {
    yaml_section section{*node};
    section.integer("running_tasks", out.running_tasks, 1, 1'000'000);
    section.integer("pending_tasks", out.pending_tasks, 1, 100'000'000);
    section.size_bytes("input_bytes", out.input_bytes, 1, 256 * kib);
    section.size_bytes("uncommitted_bytes", out.uncommitted_bytes, mib, 16 * gib);
    section.finish();
  }
}

void read_times(yaml_section& root, node_config& out) {
  if (const auto node = root.find("supervisor")) {
    yaml_section section{*node};
    section.duration_ms("scan_period", out.scan_period_ms, 10, hour);
    section.finish();
  }
  if (const auto node = root.find("retention")) {
    yaml_section section{*node};
    section.duration_ms("archive_after", out.archive_after_ms, second, longest_ms);
    section.duration_ms("keep", out.keep_ms, hour, longest_ms);
    section.finish();
  }
  root.duration_ms("shutdown_timeout", out.shutdown_timeout_ms, 100, hour);
  if (const auto node = root.find("expressions")) {
    yaml_section section{*node};
    section.duration_ms("time_limit", out.expression_time_limit_ms, 10, 60 * second);
    section.size_bytes("memory", out.expression_memory_bytes, 64 * mib, 64 * gib);
    section.finish();
  }
}

void read_log(yaml_section& root, node_config& out) {
  const auto node = root.find("log");
  if (!node) return;
  yaml_section section{*node};
  section.word<note_level>(
      "level", out.log.level,
      {{"debug", note_level::debug}, {"info", note_level::info}, {"warning", note_level::warning}, {"error", note_level::error}});
  section.word<bool>("format", out.log.json, {{"text", false}, {"json", true}});
  if (section.text("file", out.log.file)) out.log.file = beside(out.file, out.log.file);
  section.finish();
}

void read_config(yaml_document& document, node_config& out) {
  yaml_section root{yaml_node::root(document)};
  if (!root.node().is_map()) return;
  read_node(root, out);
  read_roles(root, out);
  read_store(root, out);
  read_journal(root, out);
  read_shards(root, out);
  read_http_port(root, out);
  read_api(root, out);
  read_callback_url(root, out);
  settle_data_path(root, out);
  read_limits(root, out);
  read_times(root, out);
  read_log(root, out);
  if (const auto node = root.find("agents")) read_agents(*node, out);
  if (const auto node = root.find("alerts")) read_alerts(*node, out);
  if (const auto node = root.find("undo_brake")) read_undo_brake(*node, out);
  if (const auto node = root.find("cron")) read_cron(*node, out);
  if (const auto node = root.find("replies")) read_replies(*node, out);
  if (const auto node = root.find("caf")) read_caf(*node, out);
  if (const auto node = root.find("secrets")) read_secrets(*node, out);
  check_secret_references(root.node(), out);
  root.not_yet({"replication", "tls", "breakers"});
  root.finish();
}

}  // namespace

config_file parse_node_config(const std::string& path, const std::string& text) {
  config_file out;
  out.config.file = path;
  auto document = parse_yaml(path, text);
  if (document.root) {
    read_config(document, out.config);
    out.config.written = written_keys(*document.root);
  }
  out.problems = std::move(document.problems);
  std::stable_sort(out.problems.begin(), out.problems.end(),
                   [](const problem& a, const problem& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  return out;
}

config_file read_node_config(const std::string& path) {
  config_file out;
  const auto text = read_text_file(path, out.problems);
  if (text) return parse_node_config(path, *text);
  out.config.file = path;
  return out;
}

}  // namespace fairlead::app
