#include "app/json/node/operations.hpp"

#include "actors/core/task/task.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

std::string operated_json(const v1::OperateResult& result) {
  json_writer out;
  out.begin_object().key("id").string(result.id()).key("state").string(core::state_word(result.state()));
  out.key("parked").boolean(result.parked()).key("paused").boolean(result.paused()).key("reason").string(result.reason());
  out.key("notice").text_or_null(result.notice()).key("sequence").number(std::uint64_t{result.sequence()});
  out.key("repeated").boolean(result.repeated());
  return out.end_object().text();
}

std::string signaled_json(const v1::OperateResult& result, const std::string& signal) {
  json_writer out;
  out.begin_object().key("id").string(result.id()).key("signal").string(signal).key("kept").boolean(result.kept());
  out.key("state").string(core::state_word(result.state())).key("parked").boolean(result.parked()).key("paused").boolean(result.paused());
  out.key("sequence").number(std::uint64_t{result.sequence()}).key("repeated").boolean(result.repeated());
  return out.end_object().text();
}

std::string node_drained_json(const std::string& node, bool draining, const v1::NodeOperateReply& reply,
                              const std::vector<std::uint32_t>& needed_by) {
  json_writer out;
  out.begin_object().key("node").string(node).key("state").string(draining ? "draining" : "resumed");
  out.key("held").number(reply.held()).key("leads").number(reply.leads()).key("needed_by").begin_array();
  for (const auto shard : needed_by) out.number(std::uint64_t{shard});
  return out.end_array().end_object().text();
}

std::string node_reloaded_json(const std::string& node, const v1::NodeOperateReply& reply) {
  const auto& read = reply.reload();
  json_writer out;
  const auto list = [&out](const char* key, const auto& names) {
    out.key(key).begin_array();
    for (const auto& name : names) out.string(name);
    out.end_array();
  };
  out.begin_object().key("node").string(node).key("file").string(read.file());
  out.key("agents").begin_object();
  list("added", read.added());
  list("changed", read.changed());
  list("removed", read.removed());
  out.end_object();
  list("applied", read.applied());
  list("needs_restart", read.kept());
  return out.end_object().text();
}

std::string node_level_json(const std::string& node, const std::string& level, const v1::NodeOperateReply& reply) {
  json_writer out;
  out.begin_object().key("node").string(node).key("log_level").string(level);
  return out.key("before").string(reply.before()).end_object().text();
}

std::string node_forgotten_json(const std::string& node, const v1::NodeOperateReply& reply) {
  json_writer out;
  out.begin_object().key("node").string(node).key("state").string(reply.known() ? "forgotten" : "unknown");
  out.key("asked").begin_array();
  for (const auto& asked : reply.nodes()) out.string(asked);
  return out.end_array().end_object().text();
}

}  // namespace fairlead::app
