#pragma once
// The doctor checks every live task at once, at an operator's request; the running check takes its time.

#include "actors/protocol/ports.hpp"
#include "store/store.hpp"

namespace fairlead {

/// The findings, and the requests by which the Scheduler would repair them.
struct diagnosis {
  v1::DoctorReply reply;
  v1::RecoverBatch repairs;
};

/// Reads the whole task table and the due index in parts, each over its own snapshot, so that no other work is held up.
diagnosis examine(const store::store& from, const v1::DoctorRequest& what);

}  // namespace fairlead
