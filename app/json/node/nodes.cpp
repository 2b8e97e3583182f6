#include "app/json/node/nodes.hpp"

#include <algorithm>
#include <string>

#include "actors/core/text/nearest.hpp"

namespace fairlead::app {

const char* peer_state(const v1::PeerStatus& peer) {
  if (peer.connected()) return "connected";
  return peer.refused() ? "refused" : "away";
}

std::vector<std::uint32_t> shards_here(const v1::StatusReply& reply) {
  std::vector<std::uint32_t> out;
  for (const auto& shard : reply.shards())
    if (shard.here()) out.push_back(shard.shard());
  return out;
}

std::string nodes_json(const v1::StatusReply& reply) {
  json_writer out;
  out.begin_object().key("node").string(reply.node()).key("cluster").string(reply.cluster()).key("version").string(reply.version());
  out.key("started_at").moment(reply.started_at_unix_ms()).key("incarnation").number(std::uint64_t{reply.incarnation()});
  out.key("draining").boolean(reply.draining()).key("roles").begin_array();
  for (const auto& role : reply.roles()) out.string(role);
  out.end_array().key("shards").begin_array();
  for (const auto shard : shards_here(reply)) out.number(shard);
  out.end_array().key("refused_messages").number(std::uint64_t{reply.refused_messages()}).key("peers").begin_array();
  for (const auto& peer : reply.peers()) {
    out.begin_object().key("node").text_or_null(peer.node());
    out.key("address").string(peer.address()).key("listens_on").string(peer.listens_on()).key("state").string(peer_state(peer));
    out.key("reason")
        .string(peer.reason())
        .key("since")
        .moment(peer.since_unix_ms())
        .key("connects")
        .number(std::uint64_t{peer.connects()});
    out.key("version").string(peer.version()).key("incarnation").number(std::uint64_t{peer.incarnation()}).key("roles").begin_array();
    for (const auto& role : peer.roles()) out.string(role);
    out.end_array().key("shards").begin_array();
    for (const auto shard : peer.shards()) out.number(std::uint32_t{shard});
    out.end_array().end_object();
  }
  return out.end_array().end_object().text();
}

status check_node(const v1::StatusReply& reply, const std::string& name) {
  if (name == reply.node()) return nothing{};
  std::vector<std::string> names{reply.node()};
  const v1::PeerStatus* found = nullptr;
  for (const auto& peer : reply.peers()) {
    if (peer.node() == name && (found == nullptr || peer.connected())) found = &peer;
    if (!peer.node().empty()) names.push_back(peer.node());
  }
  if (found != nullptr && found->connected()) return nothing{};
  if (found != nullptr)
    return error{v1::ERROR_CODE_WRONG_STATE,
                 "Node " + name + " is not connected with node " + reply.node() + (found->reason().empty() ? "" : ": " + found->reason()),
                 "'nodes' shows the connections"};
  const auto close = core::nearest(name, names);
  return error{v1::ERROR_CODE_NOT_FOUND, "There is no node '" + name + "'",
               close.empty() ? "`fairlead console -c nodes` lists all nodes" : "Did you mean " + close + "?"};
}

void write_actor(json_writer& out, const v1::SupervisedActor& actor) {
  out.begin_object()
      .key("path")
      .string(actor.path())
      .key("guardian")
      .boolean(actor.guardian())
      .key("strategy")
      .text_or_null(actor.strategy());
  out.key("state").string(actor.state()).key("restart").string(actor.restart()).key("restarts").number(actor.restarts());
  out.key("last_reason").text_or_null(actor.last_reason());
  out.key("started_at").moment(actor.started_at_unix_ms()).key("handled").number(std::uint64_t{actor.handled()});
  out.key("mailbox").number(std::uint64_t{actor.mailbox()}).key("actor_id").number(std::uint64_t{actor.actor_id()}).end_object();
}

void begin_inspection(json_writer& out, const v1::InspectReply& reply) {
  out.begin_object().key("node").string(reply.node()).key("log_level").string(reply.log_level());
  out.key("outside").number(reply.outside()).key("actors").begin_array();
}

std::string tree_json(const v1::InspectReply& reply) {
  json_writer out;
  begin_inspection(out, reply);
  for (const auto& actor : reply.actors()) write_actor(out, actor);
  return out.end_array().end_object().text();
}

std::vector<std::uint32_t> needed_by(const v1::StatusReply& reply, const std::string& node) {
  std::vector<std::uint32_t> out;
  for (const auto& shard : reply.shards()) {
    const auto& its = shard.replication();
    const bool is_one = std::find(its.nodes().begin(), its.nodes().end(), node) != its.nodes().end();
    if (is_one && its.role() == "leader" && its.may_lose() == 0) out.push_back(shard.shard());
  }
  return out;
}

}  // namespace fairlead::app
