#include "tests/simulation/agents/agent_process.hpp"

namespace fairlead::simulation {

std::vector<std::string> lookups_of(const agent_site& site) {
  if (site.lookups) return {"do"};
  return {};
}

std::vector<v1::CallPolicy> policies_of(const agent_site& site) {
  if (site.profile->key_valid_for_ms == 0) return {};
  v1::CallPolicy out;
  out.set_call("do");
  out.set_key_valid_for_ms(site.profile->key_valid_for_ms);
  return {out};
}

agents::process::process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around)
    : labour(in, behind, site, incarnation, leases_, std::move(around.work)),
      leases_(in),
      host_(in, site, incarnation, *this, leases_, std::move(around.host), {}) {}

void agents::process::begins(const fairlead::agents::attempt_key& key, const v1::Perform& what) {
  if (what.try_number() <= 1) host_.judge_begin(key, what);
  host_.judge_lineage(what);
}

}  // namespace fairlead::simulation
