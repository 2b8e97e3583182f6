#pragma once
// What nodes have noted in their audits, as JSON.

#include <string>

#include "messages/node.pb.h"

namespace fairlead::app {

std::string audit_entry_json(const v1::AuditEntry& entry);
std::string audit_list_json(const v1::AuditListReply& reply);

}  // namespace fairlead::app
