#include "actors/node/steward_actor.hpp"

#include <utility>

#include "actors/supervision/guardian.hpp"

namespace fairlead {

steward_actor::behavior_type run_steward(supervised_pointer<steward_actor> self,
                                         std::function<v1::NodeOperateReply(const v1::NodeOperateRequest&)> carry_out) {
  end_on_bug(self, "steward");
  return {[carry_out = std::move(carry_out)](steward_order& order) { order.done(carry_out(order.what)); }};
}

}  // namespace fairlead
