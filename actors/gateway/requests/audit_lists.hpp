#pragma once
// Merges the audits of nodes. Each node's own order is kept; between nodes the newest entry goes first. The cursor holds the place in the list of each
// node, so no entry is left out or shown twice while others are added. Pure; no CAF.

#include <map>
#include <string>
#include <vector>

#include "actors/gateway/requests/lists.hpp"
#include "messages/error.hpp"
#include "messages/node.pb.h"

namespace fairlead {

/// Where the list of each node goes on, by its name. A node that is not here begins with its newest entry.
using audit_places = std::map<std::string, list_place>;

std::string audit_cursor(const audit_places& places);
/// Reads the text of `audit_cursor`; empty: all from the beginning.
result<audit_places> read_audit_cursor(const std::string& cursor);

/// What one node has answered.
struct audit_source {
  std::string node;
  v1::AuditListReply answer;
};

/// One page of all nodes. A node that answers with an error is left out and named, as long as some node has answered; its place stays, so its entries come
/// with the page for which it is there again. Only a cursor that some node does not know is an error of the page.
v1::AuditListReply merge_audits(const v1::AuditListRequest& what, audit_places places, std::vector<audit_source> sources);

}  // namespace fairlead
