#pragma once
// What a node says of itself when it is asked from within its own process. No CAF here.

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

/// An answer, or why there is none.
template <class Reply>
struct answer_of {
  std::optional<Reply> reply;
  std::string reason;  // one sentence
};

struct node_answers {
  answer_of<v1::StatusReply> status;                           // of the node as a whole, and of the others as far as they answer
  answer_of<v1::InspectReply> tree;                            // of the own node
  std::map<std::uint32_t, answer_of<v1::StatusReply>> shards;  // about that shard alone
};

/// Asks for all of it at once and is back within the limit, with what has come until then. `shards`: about which to ask one by one.
using ask_node = std::function<node_answers(const std::vector<std::uint32_t>& shards, duration limit)>;

}  // namespace fairlead
