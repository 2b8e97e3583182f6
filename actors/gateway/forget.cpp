// The gateway's part when a node is to be forgotten: whoever it reaches is asked whether that node is connected, and forgets it when nobody is.

#include <algorithm>
#include <set>

#include "actors/gateway/shell.hpp"
#include "actors/cluster/links.hpp"

namespace fairlead {

namespace {

/// Nodes with agents alone do not know each other, and all know those with shards.
constexpr std::uint32_t most_hops = 2;
/// Of one round, beside the report of the links here; both rounds are over within the 5 s that a client waits.
constexpr duration round_limit{1'200};
constexpr duration further_limit{600};

/// What the nodes have answered, put together. One that is connected with the node weighs most.
struct answers_of_all {
  v1::NodeOperateReply reply;
  std::set<std::string> nodes;

  void add(const v1::NodeOperateReply& one) {
    const auto code = one.error().code();
    // One of a release that keeps no names.
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
      // A node that was asked by two others had forgotten it at the second time.
      if (!done.has_error()) done.set_known(known);
      deliver(std::move(done));
    });
  });
  return promise;
}

/// Asks the links here, and whoever is connected with this node and may know of others still.
void gateway_shell::ask_round(v1::NodeOperateRequest what, std::function<void(v1::NodeOperateReply)> then) {
  if (!setup_.links) {
    v1::NodeOperateReply alone;
    if (what.forgotten() == setup_.node) alone = refusal<v1::NodeOperateReply>(forgets_itself(setup_.node));
    alone.set_node(setup_.node);
    return then(std::move(alone));
  }
  const auto silent = [](const std::string& node) {
    return refusal<v1::NodeOperateReply>({v1::ERROR_CODE_UNAVAILABLE, "node " + node + " does not answer", "say it again in a moment"});
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
