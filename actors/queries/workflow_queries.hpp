#pragma once
// The deployed workflows of a shard, and the versions by which its tasks go.

#include "messages/api.pb.h"
#include "store/store.hpp"

namespace fairlead {

/// So many tasks that have not ended are looked at for one list, at most: of more, the counts of versions are the least that there are.
inline constexpr std::size_t live_tasks_counted = 20'000;

v1::WorkflowListReply list_workflows(const store::snapshot& from);
/// `content_hash` may be the beginning of that of a version, at least 4 bytes.
v1::WorkflowShowReply show_workflow(const v1::WorkflowShowRequest& what, const store::snapshot& from);

/// Adds the counts of a version, as another shard has them.
void add_version(v1::WorkflowSummary& to, const v1::WorkflowVersion& version);
/// The current version first, then the newest.
void sort_versions(v1::WorkflowSummary& of);

}  // namespace fairlead
