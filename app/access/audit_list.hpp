#pragma once
// A node's own audit as its gateway uses it: pages, as the other nodes of the cluster ask for them, and entries of what came over the port between nodes.

#include <memory>

#include "actors/protocol/ports.hpp"
#include "app/access/audit.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// From any thread. The cursor is one of this node.
v1::AuditListReply read_audit(const audit_log& from, const v1::AuditListRequest& what);

/// For the node's gateway.
std::shared_ptr<audit_port> audit_port_of(std::shared_ptr<audit_log> audit, const clock& time);

}  // namespace fairlead::app
