#pragma once
// The status of a node and of a cluster as JSON.

#include <string>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"

namespace fairlead::app {

/// What `fairlead status` shows.
std::string status_json(const v1::StatusReply& reply);
/// What `fairlead cluster status` shows: who leads each shard, what the shard survives, and how far its replicas are.
std::string cluster_json(const v1::StatusReply& reply);

/// A node's journal.
void write_journal(json_writer& out, const v1::JournalStatus& journal);
/// The last comparison of the states of a shard's replicas, or null.
void write_comparison(json_writer& out, const v1::ReplicationStatus& of);

/// The release of a node, as the node that was asked knows it; empty: it does not.
std::string release_of(const std::string& node, const v1::StatusReply& reply);
/// The name or the URL of the client that gets these replies.
const std::string& reply_receiver(const v1::ReplyAddressRecord& of);

}  // namespace fairlead::app
