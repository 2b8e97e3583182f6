#pragma once
// Queries of clients about alerts: committed states only, straight from a snapshot. Pure over the snapshot; bounded in work.

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "store/store.hpp"

namespace fairlead {

/// One page, newest first. Reads at most a fixed number of rows, so a page may be short or empty and still have a next one.
v1::AlertListReply list_alerts(const v1::AlertListRequest& what, const store::snapshot& from);

v1::AlertShowReply show_alert(const v1::AlertShowRequest& what, const store::snapshot& from);

/// Why a request is refused before it reaches the Scheduler; ok if it is not.
status check_acknowledgement(const v1::AlertAckRequest& what);

}  // namespace fairlead
