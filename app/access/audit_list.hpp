#pragma once
// A node's own audit as its gateway uses it: pages, as the other nodes of the cluster ask for them, and entries of what came over the port between nodes.

#include <functional>
#include <memory>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "app/access/audit.hpp"
#include "messages/node.pb.h"

namespace fairlead::app {

/// From any thread. The cursor is one of this node.
v1::AuditListReply read_audit(const audit_log& from, const v1::AuditListRequest& what);

/// Status and code, as the API has them.
void set_end(audit_entry& of, v1::ErrorCode end);
/// `of`, a request, as the entry of one thing that it did: when, method, path, verb, reason and end are those of `what`.
audit_entry with_deed(audit_entry of, const noted_request& what);
/// Calls `then` from a thread of the log once all are on the disk, or one of them cannot be written. `all`: at least one.
void note_all(audit_log& to, const std::vector<audit_entry>& all, std::function<void(const status&)> then);

/// For the node's gateway.
std::shared_ptr<audit_port> audit_port_of(std::shared_ptr<audit_log> audit, const clock& time);

}  // namespace fairlead::app
