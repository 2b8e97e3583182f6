#pragma once
// A node whose stores are damaged gets its shards from the other nodes that hold them.
//
// It first asks the leader of each shard for a place with a new store. That answer is an entry of the shard's log, so a majority of the votes has
// confirmed it without the damaged store. Only then are the stores and the journal set aside. A note says what is to be set aside and which stores
// are made; whenever the node ends in between, the next start goes on with it.

#include <chrono>
#include <cstddef>
#include <functional>

#include "actors/replication/damage_watch.hpp"
#include "app/config/config.hpp"
#include "app/node/notes.hpp"
#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

/// The folders of the node's stores.
std::vector<std::string> store_folders_of(const node_config& config);

/// Where the node has files that are to be set aside when they are damaged.
std::vector<std::string> working_folders_of(const node_config& config);
/// In how many of the folders there is something that was set aside.
std::size_t count_set_aside(const std::vector<std::string>& folders);

/// Other nodes hold each of the shards, as far as is noted.
bool others_hold_all(const v1::OthersNote& noted, const std::vector<std::uint32_t>& shards);

/// Each of the node's shards may be on other nodes.
bool others_may_hold_all(const node_config& config, const node_notes& notes);

/// Whether the node may begin with empty stores: the leader of each of its shards is asked, and nothing is changed. While the node runs; blocks for some
/// seconds. Error: why not.
status can_begin_anew(const node_config& config, const node_notes& notes);

/// Of this node among those that hold its shards, as far as is noted.
node_turn turn_of(const node_config& config, const node_notes& notes);

struct rebuild_patience {
  duration answer_within = std::chrono::seconds{10};  // of each question
  /// What prevents it may pass. Returns after a while whether it is to be tried again. Empty: never.
  std::function<bool(const error& why)> goes_on;
  bool at_once = false;  // also within an hour of the last time: that one was cut short
};

/// The other nodes are asked; the damaged stores are not open. On success it is noted what is to be set aside and made. The error is `why`, with
/// what prevents it: corrupt, or unavailable where that may pass. If a shard is on this node alone, it is `why` as it is.
result<v1::RebuildNote> agree_to_rebuild(const node_config& config, node_notes& notes, const error& why, const rebuild_patience& patience);

/// Sets aside what is noted, and is still there. Can be repeated. The stores can be opened then, and are to be what is noted.
status set_stores_aside(const node_config& config, const node_notes& notes, const v1::RebuildNote& how);

/// The new stores are what is noted.
status end_rebuilding(const node_config& config, node_notes& notes);

}  // namespace fairlead::app
