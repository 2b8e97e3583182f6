#include "actors/gateway/gateway.hpp"

#include <memory>
#include <utility>

#include "actors/gateway/shell.hpp"
#include "actors/supervision/guardian.hpp"

namespace fairlead {

namespace {

/// One handler for each request of the table, plus the others.
template <class... Rows, class... More>
gateway_actor::behavior_type behavior_of(request_table<Rows...>, const std::shared_ptr<gateway_shell>& shell, More... more) {
  return {[shell](typename Rows::request& what) { return shell->take(what); }..., std::move(more)...};
}

}  // namespace

gateway_actor::behavior_type run_gateway(supervised_pointer<gateway_actor> self, gateway_setup setup) {
  end_on_bug(self, "gateway");
  const auto shell = std::make_shared<gateway_shell>(self, std::move(setup));
  return behavior_of(
      client_requests{}, shell, [shell](v1::Hello& what, const caf::strong_actor_ptr& who) { return shell->hello(what, who); },
      [shell](v1::ReplicaHello& what, const caf::strong_actor_ptr& who) { return shell->meet_replica(what, who); },
      [shell](v1::RegisterAgent& what, const caf::strong_actor_ptr& who) { return shell->register_agent(what, who); },
      [shell](const v1::FinishedNotice& notice) { shell->relay(notice); },
      [shell](const v1::CertificateReport& what) { shell->report(what); }, [shell](const shard_route& route) { shell->learn(route); },
      [shell](const shard_total& total) { shell->learn(total); });
}

}  // namespace fairlead
