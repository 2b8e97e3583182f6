#pragma once
// The doctor of a node's shards in CAF: reads every task, so it needs a thread of its own (spawn it detached).

#include <vector>

#include "actors/protocol/handles.hpp"
#include "actors/queries/shard_access.hpp"
#include "actors/supervision/supervised.hpp"

namespace fairlead {

using doctor_actor = caf::typed_actor<
    // For the shard named in the request, which must be one of this node's.
    caf::replies_to<v1::DoctorRequest>::with<v1::DoctorReply>>;

struct doctor_setup {
  std::vector<shard_desk> desks;
};

doctor_actor::behavior_type run_doctor(supervised_pointer<doctor_actor> self, doctor_setup setup);

}  // namespace fairlead
