#pragma once
// The doctor: looks at every live task at once, where the running check takes its time. An operator asks for it.

#include "actors/protocol/ports.hpp"
#include "store/store.hpp"

namespace fairlead {

/// What was found, and with what requests the Scheduler would repair it.
struct diagnosis {
  v1::DoctorReply reply;
  v1::RecoverBatch repairs;
};

/// Reads the whole task table and the due index, in parts over snapshots of their own, so that it holds up nobody.
diagnosis examine(const store::store& from, const v1::DoctorRequest& what);

}  // namespace fairlead
