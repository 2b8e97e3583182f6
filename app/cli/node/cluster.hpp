#pragma once
// What `fairlead cluster status` shows: who leads each shard, what the shard survives, and how far its replicas are.

#include <string>

#include "messages/api.pb.h"

namespace fairlead::app {

std::string cluster_json(const v1::StatusReply& reply);
std::string cluster_text(const v1::StatusReply& reply);

}  // namespace fairlead::app
