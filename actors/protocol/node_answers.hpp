#pragma once
// A node's answers about itself to callers in its own process. No CAF here.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/api.pb.h"
#include "messages/node.pb.h"
#include "messages/time.hpp"

namespace fairlead {

/// An answer, or the reason why there is none.
template <class Reply>
struct answer_of {
  std::optional<Reply> reply;
  std::string reason;  // one sentence
};

struct node_answers {
  answer_of<v1::StatusReply> status;                           // of the whole node, and of other nodes that answer
  answer_of<v1::InspectReply> tree;                            // of the own node
  std::map<std::uint32_t, answer_of<v1::StatusReply>> shards;  // of single shards
};

/// Sends all requests at once and returns within the limit, with the answers so far. `shards`: those to ask one by one.
using ask_node = std::function<node_answers(const std::vector<std::uint32_t>& shards, duration limit)>;

}  // namespace fairlead
