// The state of the node and its cluster, and what operators do to nodes.

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "app/api/api.hpp"
#include "app/json/node/cluster.hpp"
#include "app/json/node/doctor.hpp"
#include "app/json/node/nodes.hpp"
#include "app/json/node/operations.hpp"

namespace fairlead::app::api {

namespace {

struct node_verb {
  const char* word;
  v1::NodeVerb verb;
};
constexpr node_verb node_verbs[] = {{"drain", v1::NODE_VERB_DRAIN},
                                    {"resume", v1::NODE_VERB_RESUME},
                                    {"reload", v1::NODE_VERB_RELOAD},
                                    {"log_level", v1::NODE_VERB_LOG_LEVEL},
                                    {"forget", v1::NODE_VERB_FORGET}};
constexpr const char* log_levels[] = {"debug", "info", "warning", "error"};

/// The name is checked first: the gateway could only say that no node of the name is connected.
void ask_node(const exchange_ptr& x, std::function<void()> then) {
  x->ask<v1::StatusRequest>({}, [x, then = std::move(then)](const v1::StatusReply& known) {
    const auto checked = check_node(known, x->part(0));
    checked ? then() : x->refuse(checked.failure());
  });
}

void say_operated(const exchange_ptr& x, const v1::NodeOperateRequest& asked, const v1::NodeOperateReply& reply,
                  const std::vector<std::uint32_t>& needed) {
  const auto& name = x->part(0);
  switch (asked.verb()) {
    case v1::NODE_VERB_RELOAD: return x->say(200, node_reloaded_json(name, reply));
    case v1::NODE_VERB_LOG_LEVEL: return x->say(200, node_level_json(name, asked.log_level(), reply));
    case v1::NODE_VERB_FORGET: return x->say(200, node_forgotten_json(name, reply));
    default: return x->say(200, node_drained_json(name, asked.verb() == v1::NODE_VERB_DRAIN, reply, needed));
  }
}

void operate(const exchange_ptr& x, const v1::NodeOperateRequest& request) {
  x->ask<v1::NodeOperateRequest>(
      request,
      [x, request](const v1::NodeOperateReply& reply) {
        if (request.verb() != v1::NODE_VERB_DRAIN) return say_operated(x, request, reply, {});
        x->ask_any<v1::StatusRequest>({}, {}, [x, request, reply](const result<v1::StatusReply>& known) {
          say_operated(x, request, reply, known ? needed_by(*known, x->part(0)) : std::vector<std::uint32_t>{});
        });
      },
      operate_time);
}

}  // namespace

void show_status(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->ask<v1::StatusRequest>({}, [x](const v1::StatusReply& reply) { x->say(200, status_json(reply)); });
}

void show_cluster(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->ask<v1::StatusRequest>({}, [x](const v1::StatusReply& reply) { x->say(200, cluster_json(reply)); });
}

void list_nodes(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->ask<v1::StatusRequest>({}, [x](const v1::StatusReply& reply) { x->say(200, nodes_json(reply)); });
}

void show_tree(exchange_ptr x) {
  if (x->refuse_rest()) return;
  ask_node(x, [x] {
    v1::InspectRequest request;
    request.set_node(x->part(0));
    x->ask<v1::InspectRequest>(request, [x](const v1::InspectReply& reply) { x->say(200, tree_json(reply)); });
  });
}

void act_on_node(exchange_ptr x) {
  std::string word, reason;
  std::optional<std::string> level;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"verb", text_into(word), true}, {"reason", text_into(reason)}, {"log_level", text_into(level)}})) return;
  x->note_action(word, reason);
  const auto* const verb = std::find_if(std::begin(node_verbs), std::end(node_verbs), [&](const auto& one) { return word == one.word; });
  if (verb == std::end(node_verbs))
    return x->refuse_at("/verb", invalid("There is no verb '" + word + "'.", "Verbs are drain, resume, reload, log_level and forget."));
  if (verb->verb != v1::NODE_VERB_LOG_LEVEL && level)
    return x->refuse_at("/log_level", invalid("Only 'log_level' takes a log level.", "Leave it out."));
  if (verb->verb == v1::NODE_VERB_LOG_LEVEL &&
      std::find(std::begin(log_levels), std::end(log_levels), level.value_or("")) == std::end(log_levels))
    return x->refuse_at("/log_level",
                        invalid("'" + level.value_or("") + "' is no log level.", "Log levels are debug, info, warning and error."));
  v1::NodeOperateRequest request;
  request.set_verb(verb->verb);
  request.set_who(x->who());
  request.set_reason(reason);
  request.set_log_level(level.value_or(""));
  if (verb->verb == v1::NODE_VERB_FORGET) {
    request.set_forgotten(x->part(0));
    return operate(x, request);
  }
  request.set_node(x->part(0));
  ask_node(x, [x, request] { operate(x, request); });
}

void call_doctor(exchange_ptr x) {
  bool repair = false;
  if (x->refuse_rest()) return;
  if (!x->read_body({{"repair", flag_into(repair)}})) return;
  v1::DoctorRequest request;
  request.set_repair(repair);
  request.set_who(x->who());
  x->ask<v1::DoctorRequest>(
      request, [x](const v1::DoctorReply& reply) { x->say(200, doctor_json(reply)); }, doctor_time);
}

}  // namespace fairlead::app::api
