#pragma once
// Verbs of actions on jobs that differ only in whether they change anything.

#include "messages/job.pb.h"

namespace fairlead {

inline bool is_backfill(v1::JobVerb verb) { return verb == v1::JOB_VERB_BACKFILL || verb == v1::JOB_VERB_BACKFILL_DRY_RUN; }
inline bool is_rewind(v1::JobVerb verb) { return verb == v1::JOB_VERB_REWIND || verb == v1::JOB_VERB_REWIND_DRY_RUN; }

}  // namespace fairlead
