#pragma once
// What nodes have noted in their audits, as a table.

#include <string>

#include "messages/node.pb.h"

namespace fairlead::app {

std::string audit_text(const v1::AuditListReply& reply);

}  // namespace fairlead::app
