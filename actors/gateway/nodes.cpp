// The gateway's part about nodes: the status of the cluster, registrations of agents, hellos of other nodes, and operators' requests about
// one node.

#include <algorithm>
#include <set>

#include "actors/cluster/links.hpp"
#include "actors/core/text/text.hpp"
#include "actors/gateway/from_any_thread.hpp"
#include "actors/gateway/shell.hpp"
#include "actors/gateway/status.hpp"

namespace fairlead {

namespace {

error no_links(const std::string& node) {
  return {v1::ERROR_CODE_UNAVAILABLE, "node " + node + " does not belong to a cluster", "see node.cluster in its node file"};
}

}  // namespace

// ---- status ----

/// A status in progress: the shards and the links are asked at once.
struct gateway_shell::status_round {
  std::vector<shard_answer> answers;
  link_report links;
  std::size_t missing = 0;
  promise_of<v1::StatusReply> promise;
};

caf::result<v1::StatusReply> gateway_shell::answer(v1::StatusRequest& what) {
  if (what.has_shard()) {
    if (const auto why = refuse(what)) return refusal<v1::StatusReply>(*why);
    return at(what.shard(), what, status_limit);
  }
  const auto round = std::make_shared<status_round>();
  round->promise = self_->make_response_promise<v1::StatusReply>();
  // Plus one for the links.
  round->missing = routes_.count() + 1;
  for (std::uint32_t shard = 0; shard < routes_.count(); ++shard)
    round->answers.push_back({shard, routes_.holder(shard), routes_.here(shard) != nullptr, {}});
  const auto one_less = [this, round] {
    if (--round->missing == 0) complete_status(round);
  };
  for (std::uint32_t shard = 0; shard < routes_.count(); ++shard)
    asks_.ask<v1::StatusRequest>(shard, what, status_limit, [round, shard, one_less](v1::StatusReply answer) {
      round->answers[shard].reply = std::move(answer);
      one_less();
    });
  if (!setup_.links) {
    one_less();
    return round->promise;
  }
  self_->request(setup_.links, report_limit, report_atom_v)
      .then(
          [round, one_less](link_report& report) {
            round->links = std::move(report);
            one_less();
          },
          [one_less](const caf::error&) { one_less(); });
  return round->promise;
}

void gateway_shell::complete_status(const std::shared_ptr<status_round>& round) {
  auto reply = merge_status(std::move(round->answers));
  // A replica here knows its store, and without an answer of the shard's leader something of the shard.
  for (auto& line : *reply.mutable_shards()) {
    const auto* const desk = routes_.desk(line.shard());
    if (desk == nullptr || !desk->is_of_several() || !desk->describe) continue;
    v1::ShardStatus own;
    desk->describe(own);
    if (!reply.has_store()) *reply.mutable_store() = own.store();
    line.set_aside(own.replication().trouble());
    if (!line.has_replication()) line.mutable_replication()->Swap(own.mutable_replication());
  }
  reply.set_node(setup_.node);
  reply.set_version(setup_.version);
  reply.set_started_at_unix_ms(setup_.started_at_unix_ms);
  reply.set_cluster(setup_.cluster);
  reply.set_incarnation(setup_.incarnation);
  for (const auto& role : setup_.roles) reply.add_roles(role);
  for (auto& peer : round->links.peers) *reply.add_peers() = std::move(peer);
  reply.set_draining(setup_.draining && setup_.draining());
  reply.set_refused_messages(refused_ + round->links.refused_messages);
  round->promise.deliver(std::move(reply));
}

// ---- nodes ----

caf::result<v1::HelloReply> gateway_shell::hello(v1::Hello& what, caf::strong_actor_ptr who) {
  if (setup_.links && who) return self_->delegate(setup_.links, std::move(what), std::move(who));
  ++refused_;
  v1::HelloReply reply;
  *reply.mutable_error() = no_links(setup_.node).to_proto();
  return reply;
}

caf::result<v1::ReplicaWelcome, caf::strong_actor_ptr> gateway_shell::meet_replica(v1::ReplicaHello& what, caf::strong_actor_ptr who) {
  if (const auto replica = routes_.replica_here(what.shard())) return self_->delegate(replica, std::move(what), std::move(who));
  ++refused_;
  v1::ReplicaWelcome out;
  *out.mutable_error() = error{v1::ERROR_CODE_UNAVAILABLE,
                               "node " + setup_.node + " holds no replica of shard " + std::to_string(what.shard()) + ", but node " +
                                   core::clean_text(what.node(), 64) + " expects one there",
                               "write the same shards.replicas in the node files of all nodes that hold the shard"}
                             .to_proto();
  return {std::move(out), caf::strong_actor_ptr{}};
}

caf::result<v1::AgentWelcome, caf::strong_actor_ptr> gateway_shell::register_agent(v1::RegisterAgent& what, caf::strong_actor_ptr who) {
  auto why = check_request(what);
  if (!who) why = error{v1::ERROR_CODE_INVALID_ARGUMENT, "the registration of an instance has no actor", "report this as a bug"};
  if (why) ++refused_;
  const auto* desk = routes_.here(what.shard());
  if (!why && desk == nullptr)
    why = error{v1::ERROR_CODE_UNAVAILABLE, "shard " + std::to_string(what.shard()) + " is not on node " + setup_.node,
                "register again in a moment"};
  if (!why) return self_->delegate(desk->scheduler, std::move(what), std::move(who));
  v1::AgentWelcome out;
  out.set_shard(what.shard());
  *out.mutable_error() = why->to_proto();
  return {std::move(out), caf::strong_actor_ptr{}};
}

void gateway_shell::report(const v1::CertificateReport& what) {
  const auto keep = [this, what] {
    const auto* const desk = routes_.here(0);
    if (desk != nullptr && desk->scheduler) self_->send(desk->scheduler, what);
    return desk != nullptr;
  };
  const auto& who = self_->current_sender();
  if (who && who->node() == self_->node()) {
    if (keep()) return;
    // Without a route it is lost, and repeated soon. It is a question because a gateway of an earlier release answers with an error,
    // which as a message would end this gateway.
    if (const auto via = routes_.there(0))
      self_->request(caf::actor_cast<gateway_actor>(via), answer_limit, what).then([] {}, [](const caf::error&) {});
    return;
  }
  if (!who || !setup_.links) {
    ++refused_;
    return;
  }
  // A client cannot speak for a node: whoever sends it has introduced itself under that name.
  self_->request(setup_.links, report_limit, report_atom_v)
      .then(
          [this, what, keep, from = who->node()](const link_report& known) {
            const auto is_sender = [&](const auto& one) { return one.first == what.node() && one.second && one.second->node() == from; };
            if (std::any_of(known.gateways.begin(), known.gateways.end(), is_sender))
              keep();
            else
              ++refused_;
          },
          [](const caf::error&) {});
}

template <class Request, class Reply>
void gateway_shell::ask_node(const std::string& node, Request what, promise_of<Reply> promise) {
  const auto absent =
      error{v1::ERROR_CODE_UNAVAILABLE, "node " + node + " is not connected to node " + setup_.node, "fairlead status shows the nodes"};
  if (!setup_.links) return give(promise, refusal<Reply>(absent));
  // The receiver is the node meant: without a name it cannot pass the request on.
  what.clear_node();
  if constexpr (requires { what.set_passed_on(true); }) what.set_passed_on(true);
  self_->request(setup_.links, report_limit, report_atom_v)
      .then(
          [this, node, what, promise, absent](const link_report& report) mutable {
            const auto found =
                std::find_if(report.gateways.begin(), report.gateways.end(), [&](const auto& one) { return one.first == node; });
            if (found == report.gateways.end() || !found->second) return give(promise, refusal<Reply>(absent));
            const auto silent = error{v1::ERROR_CODE_UNAVAILABLE, "node " + node + " does not answer", "read the log of that node"};
            self_->request(caf::actor_cast<gateway_actor>(found->second), answer_limit, std::move(what))
                .then([promise](Reply& answer) mutable { promise.deliver(std::move(answer)); },
                      [promise, silent](const caf::error&) mutable { promise.deliver(refusal<Reply>(silent)); });
          },
          [promise, absent](const caf::error&) mutable { promise.deliver(refusal<Reply>(absent)); });
}

template <class Request>
std::optional<caf::result<reply_of<Request>>> gateway_shell::not_here(Request& what) {
  using reply = reply_of<Request>;
  if (const auto why = check_request(what)) {
    ++refused_;
    return caf::result<reply>{refusal<reply>(*why)};
  }
  if (what.node().empty() || what.node() == setup_.node) return std::nullopt;
  auto promise = self_->make_response_promise<reply>();
  const auto node = what.node();
  ask_node(node, std::move(what), promise);
  return caf::result<reply>{promise};
}

caf::result<v1::InspectReply> gateway_shell::answer(v1::InspectRequest& what) {
  if (auto answer = not_here(what)) return std::move(*answer);
  v1::InspectReply out;
  out.set_node(setup_.node);
  if (setup_.tree != nullptr)
    for (auto& one : setup_.tree->describe()) *out.add_actors() = std::move(one);
  out.set_outside(static_cast<std::uint32_t>(std::max<std::int64_t>(outside_actors().load(), 0)));
  if (setup_.log_level) out.set_log_level(setup_.log_level());
  return out;
}

caf::result<v1::NodeOperateReply> gateway_shell::answer(v1::NodeOperateRequest& what) {
  if (what.verb() == v1::NODE_VERB_FORGET) return forget_node(what);
  if (auto answer = not_here(what)) return std::move(*answer);
  if (!setup_.operate)
    return refusal<v1::NodeOperateReply>(
        {v1::ERROR_CODE_UNAVAILABLE, "no action is possible for node " + setup_.node, "read the log of that node"});
  auto promise = self_->make_response_promise<v1::NodeOperateReply>();
  setup_.operate(what, [deliver = from_any_thread(self_, promise), node = setup_.node](v1::NodeOperateReply reply) {
    if (reply.node().empty()) reply.set_node(node);
    deliver(std::move(reply));
  });
  return promise;
}

caf::result<v1::AuditListReply> gateway_shell::answer(v1::AuditListRequest& what) {
  if (const auto why = check_request(what)) {
    ++refused_;
    return refusal<v1::AuditListReply>(*why);
  }
  return audits_.answer(what);
}

caf::result<v1::ShardNodesReply> gateway_shell::answer(v1::ShardNodesRequest& what) {
  auto why = check_request(what);
  const auto where = "shard " + std::to_string(what.shard());
  const bool joins = what.verb() == v1::ShardNodesRequest::JOIN;
  if (why)
    ++refused_;
  else if (joins && what.cluster() != setup_.cluster)
    why = error{v1::ERROR_CODE_CONFLICT,
                "node " + what.node().name() + " belongs to cluster " + what.cluster() + ", and node " + setup_.node + " to cluster " +
                    setup_.cluster,
                "write the same node.cluster in both node files, or give the address of a node of its cluster"};
  else if (routes_.count() == 0)
    why = routes_.unknown_count();
  else if (joins && what.shard_count() != routes_.count())
    why = error{v1::ERROR_CODE_CONFLICT,
                "the node file of " + what.node().name() + " says that the cluster has " + std::to_string(what.shard_count()) +
                    " shards, but it has " + std::to_string(routes_.count()),
                "write shards.count: " + std::to_string(routes_.count()) + " in that node file"};
  else if (what.shard() >= routes_.count())
    why = error{v1::ERROR_CODE_NOT_FOUND, "there is no " + where + ": the cluster has " + std::to_string(routes_.count()) + " shards",
                "fairlead cluster status lists them"};
  else if (const auto* const desk = routes_.here(what.shard()); desk != nullptr && !desk->is_of_several())
    why = error{v1::ERROR_CODE_WRONG_STATE, where + " lives on node " + setup_.node + " alone", "run fairlead cluster init on that node"};
  else if (what.passed_on() && routes_.here(what.shard()) == nullptr)
    why = routes_.led_elsewhere(what.shard());
  if (why) return refusal<v1::ShardNodesReply>(*why);
  what.set_passed_on(true);
  return at(what.shard(), what, answer_limit);
}

// ---- forgetting a node: every reachable node is asked whether it is connected to that node; all forget it if none is ----

namespace {

/// Nodes with agents only do not know each other, but all know the nodes with shards.
constexpr std::uint32_t most_hops = 2;
/// Of one round, without the report of the links here; both rounds end within the 5 s that a client waits.
constexpr duration round_limit{1'200};
constexpr duration further_limit{600};

/// The merged answers of the nodes. The answer of a node that is connected to the forgotten one wins.
struct answers_of_all {
  v1::NodeOperateReply reply;
  std::set<std::string> nodes;

  void add(const v1::NodeOperateReply& one) {
    const auto code = one.error().code();
    // A node of a release that keeps no names.
    if (code == v1::ERROR_CODE_INVALID_ARGUMENT) return;
    if (code != v1::ERROR_CODE_OK) {
      if (!reply.has_error() || code == v1::ERROR_CODE_WRONG_STATE) *reply.mutable_error() = one.error();
      return;
    }
    reply.set_known(reply.known() || one.known());
    nodes.insert(one.nodes().begin(), one.nodes().end());
  }
};

}  // namespace

caf::result<v1::NodeOperateReply> gateway_shell::forget_node(v1::NodeOperateRequest& what) {
  if (const auto why = check_request(what)) {
    ++refused_;
    return refusal<v1::NodeOperateReply>(*why);
  }
  auto promise = self_->make_response_promise<v1::NodeOperateReply>();
  const std::function<void(v1::NodeOperateReply)> deliver = [promise](v1::NodeOperateReply reply) mutable {
    promise.deliver(std::move(reply));
  };
  if (what.hops() != 0) {
    ask_round(std::move(what), deliver);
    return promise;
  }
  auto question = what;
  question.set_only_ask(true);
  ask_round(std::move(question), [this, what, deliver](v1::NodeOperateReply asked) mutable {
    if (asked.has_error()) return deliver(std::move(asked));
    what.set_only_ask(false);
    ask_round(std::move(what), [deliver, known = asked.known()](v1::NodeOperateReply done) mutable {
      // A node asked by two others may have forgotten the name already at the second request.
      if (!done.has_error()) done.set_known(known);
      deliver(std::move(done));
    });
  });
  return promise;
}

/// Asks the links of this node, and connected nodes, which may know further ones.
void gateway_shell::ask_round(v1::NodeOperateRequest what, std::function<void(v1::NodeOperateReply)> then) {
  if (!setup_.links) {
    v1::NodeOperateReply alone;
    if (what.forgotten() == setup_.node) alone = refusal<v1::NodeOperateReply>(forgets_itself(setup_.node));
    alone.set_node(setup_.node);
    return then(std::move(alone));
  }
  const auto silent = [](const std::string& node) {
    return refusal<v1::NodeOperateReply>(
        {v1::ERROR_CODE_UNAVAILABLE, "node " + node + " does not answer", "repeat the command in a moment"});
  };
  struct round {
    answers_of_all all;
    std::size_t missing = 0;
  };
  const auto state = std::make_shared<round>();
  const auto take = [this, state, then = std::move(then)](const v1::NodeOperateReply& one) {
    state->all.add(one);
    if (--state->missing != 0) return;
    auto& reply = state->all.reply;
    reply.set_node(setup_.node);
    for (const auto& node : state->all.nodes) reply.add_nodes(node);
    then(std::move(reply));
  };
  self_->request(setup_.links, report_limit, report_atom_v)
      .then(
          [this, what, state, take, silent](const link_report& report) {
            auto further = what;
            further.set_hops(what.hops() + 1);
            const auto pass_on = what.hops() < most_hops;
            state->missing = 1 + (pass_on ? report.gateways.size() : 0);
            self_->request(setup_.links, report_limit, what)
                .then([take](const v1::NodeOperateReply& reply) { take(reply); },
                      [this, take, silent](const caf::error&) { take(silent(setup_.node)); });
            if (!pass_on) return;
            for (const auto& [node, gateway] : report.gateways)
              self_->request(caf::actor_cast<gateway_actor>(gateway), what.hops() == 0 ? round_limit : further_limit, further)
                  .then([take](const v1::NodeOperateReply& reply) { take(reply); },
                        [take, silent, name = node](const caf::error&) { take(silent(name)); });
          },
          [this, state, take, silent](const caf::error&) {
            state->missing = 1;
            take(silent(setup_.node));
          });
}

}  // namespace fairlead
