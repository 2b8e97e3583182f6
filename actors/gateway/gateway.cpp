#include "actors/gateway/gateway.hpp"

#include <memory>
#include <utility>

#include "actors/gateway/shell.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

/// Only the process of this node speaks for the node: what others say of that is dropped.
template <class Request>
Request& heard_from(const caf::strong_actor_ptr& asker, const caf::node_id& here, Request& what) {
  if constexpr (requires { what.clear_by_node(); })
    if (!asker || asker->node() != here) what.clear_by_node();
  return what;
}

/// One handler for each request of the table, plus the others.
template <class... Rows, class... More>
gateway_actor::behavior_type behavior_of(request_table<Rows...>, supervised_pointer<gateway_actor> self,
                                         const std::shared_ptr<gateway_shell>& shell, More... more) {
  return {[self, shell](typename Rows::request& what) { return shell->take(heard_from(self->current_sender(), self->node(), what)); }...,
          std::move(more)...};
}

}  // namespace

gateway_actor::behavior_type run_gateway(supervised_pointer<gateway_actor> self, gateway_setup setup) {
  end_on_bug(self, "gateway");
  const auto shell = std::make_shared<gateway_shell>(self, std::move(setup));
  return behavior_of(
      client_requests{}, self, shell, [shell](v1::Hello& what, const caf::strong_actor_ptr& who) { return shell->hello(what, who); },
      [shell](v1::ReplicaHello& what, const caf::strong_actor_ptr& who) { return shell->meet_replica(what, who); },
      [shell](v1::RegisterAgent& what, const caf::strong_actor_ptr& who) { return shell->register_agent(what, who); },
      [shell](const v1::FinishedNotice& notice) { shell->relay(notice); },
      [shell](const v1::CertificateReport& what) { shell->report(what); }, [shell](const shard_route& route) { shell->learn(route); },
      [shell](const shard_total& total) { shell->learn(total); });
}

}  // namespace fairlead
