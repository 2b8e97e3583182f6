#pragma once
// Carries out operators' actions on a node. They may take seconds, so the actor has its own thread (spawn it detached).

#include <functional>

#include "actors/supervision/supervised.hpp"
#include "messages/node.pb.h"

namespace fairlead {

struct steward_order {
  v1::NodeOperateRequest what;
  std::function<void(v1::NodeOperateReply)> done;  // called once, from the steward's thread
};

}  // namespace fairlead

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::steward_order)

namespace fairlead {

using steward_actor = caf::typed_actor<caf::reacts_to<steward_order>>;

steward_actor::behavior_type run_steward(supervised_pointer<steward_actor> self,
                                         std::function<v1::NodeOperateReply(const v1::NodeOperateRequest&)> carry_out);

}  // namespace fairlead
