#pragma once
// Pages of a node's own audit, as the other nodes of its cluster ask for them.

#include "app/access/audit.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// From any thread. The cursor is one of this node.
v1::AuditListReply read_audit(const audit_log& from, const v1::AuditListRequest& what);

}  // namespace fairlead::app
