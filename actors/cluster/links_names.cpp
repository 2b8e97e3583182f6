// A node's name belongs to the node_id last connected under it, until an operator says that this one is not expected back.

#include <algorithm>
#include <string>
#include <utility>

#include "actors/cluster/links.hpp"
#include "actors/core/request_limits.hpp"
#include "actors/core/text/text.hpp"

namespace fairlead {

namespace {

constexpr std::size_t max_names = 4'096;

v1::NodeOperateReply refused(const error& why) {
  v1::NodeOperateReply out;
  *out.mutable_error() = why.to_proto();
  return out;
}

}  // namespace

error forgets_itself(const std::string& node) {
  return {v1::ERROR_CODE_WRONG_STATE, "node " + node + " is running",
          "Ask another node of the cluster. To replace this node, stop it first"};
}

void links::learn_name(const v1::Hello& you) {
  auto& names = memory_.names;
  // If a node was given another name, its earlier name is free.
  std::erase_if(names, [&](const auto& one) { return one.second == you.node_id() && one.first != you.node(); });
  if (names.size() >= max_names && names.count(you.node()) == 0) {
    const auto away = std::find_if(names.begin(), names.end(), [&](const auto& one) {
      const auto known = nodes_.find(one.first);
      return known == nodes_.end() || !known->second.connected;
    });
    if (away == names.end()) return;
    names.erase(away);
  }
  names[you.node()] = you.node_id();
}

v1::NodeOperateReply links::forget(const v1::NodeOperateRequest& what) {
  const auto& name = what.forgotten();
  if (name == options_.me.node()) return refused(forgets_itself(name));
  const auto known = nodes_.find(name);
  const bool is_connected = known != nodes_.end() && known->second.connected;
  if (is_connected && what.only_ask())
    return refused({v1::ERROR_CODE_WRONG_STATE, "node " + name + " is connected with node " + options_.me.node(),
                    "Stop that node before another node takes its name; it may still be running although you cannot reach it"});
  v1::NodeOperateReply out;
  out.set_node(options_.me.node());
  out.add_nodes(options_.me.node());
  out.set_known(known != nodes_.end() || memory_.names.count(name) != 0);
  // All were asked before any forgets it: the node that takes its place may have come meanwhile.
  if (what.only_ask() || is_connected) return out;
  memory_.names.erase(name);
  memory_.connects.erase(name);
  if (known != nodes_.end()) nodes_.erase(known);
  // Nodes refused because of this name may be accepted now.
  for (auto& line : dials_)
    if (line.node == name && line.state == dial_state::waiting) line.next_at = now();
  if (out.known())
    note(note_level::info, "node " + name + " was forgotten by " + core::clean_text(what.who(), who_limit) +
                               (what.reason().empty() ? "" : ": " + core::clean_text(what.reason(), reason_limit)) +
                               "; another node may take its name");
  update_routes();
  return out;
}

}  // namespace fairlead
