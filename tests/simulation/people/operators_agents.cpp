// What operators do to agents: drain instances, open and close breakers.

#include "store/rows/service_rows.hpp"
#include "tests/simulation/people/operators.hpp"

namespace fairlead::simulation {

void operators::order_agents(v1::AgentOperateRequest what) {
  ++orders_;
  what.set_who("ops");
  what.set_reason("because");
  world_.count("orders about agents");
  world_.tell("operator", "scheduler", world_.weigh(what),
              [&] { return v1::AgentVerb_Name(what.verb()).substr(11) + " " + what.agent() + what.instance(); });
  home_.request<v1::AgentOperateReply>(
      "operator", [what](scheduler& to, std::uint64_t ticket) { to.answer(what, ticket); },
      [what](const v1::AgentOperateReply& reply) {
        if (reply.error().code() == v1::ERROR_CODE_INTERNAL)
          throw rule_broken{"internal_error",
                            "an order about " + what.agent() + what.instance() + " met a bug: " + reply.error().sentence(), false};
      });
}

void operators::order_of_agents() {
  auto& luck = world_.profiles;
  const auto& site = luck.pick(sites_);
  const auto how = luck.below(5);
  const auto breaker = how < 2;
  if (!world_.troubled(concern::operators) || !world_.troubled(breaker ? concern::breakers : concern::drains)) return;
  if (orders_ >= world_.settings.most_orders) return;
  v1::AgentOperateRequest what;
  if (breaker) {
    what.set_agent(site.agent);
    what.set_verb(how == 0 ? v1::AGENT_VERB_BREAKER_OPEN : v1::AGENT_VERB_BREAKER_CLOSE);
  } else {
    what.set_instance(site.instance);
    what.set_verb(how == 4 ? v1::AGENT_VERB_RESUME : v1::AGENT_VERB_DRAIN);
  }
  order_agents(std::move(what));
}

/// What a person holds is let go; a breaker that opened by itself has to close by itself.
void operators::let_agents_go() {
  std::vector<v1::AgentOperateRequest> wanted;
  const auto read = store::for_each_service(*home_.reads().read(), [&](const v1::ServiceRecord& record) {
    if (record.breaker() == v1::BREAKER_STATE_OPEN && record.open_until_unix_ms() == 0) {
      auto& one = wanted.emplace_back();
      one.set_verb(v1::AGENT_VERB_BREAKER_CLOSE);
      one.set_agent(record.agent());
    }
    for (const auto& drained : record.drained()) {
      auto& one = wanted.emplace_back();
      one.set_verb(v1::AGENT_VERB_RESUME);
      one.set_instance(drained.instance());
    }
    return true;
  });
  if (!read.ok()) world::broken("store_check", "services cannot be read: " + read.failure().sentence);
  for (auto& one : wanted) order_agents(std::move(one));
}

}  // namespace fairlead::simulation
