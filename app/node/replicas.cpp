#include "app/node/replicas.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "actors/core/cluster/shard_nodes.hpp"
#include "actors/core/raft/types.hpp"
#include "messages/ids.hpp"
#include "messages/lineage.hpp"
#include "store/disk/one_store.hpp"
#include "store/failpoint.hpp"
#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "store/rows/node_rows.hpp"

namespace fairlead::app {

namespace {

constexpr duration peers_answer_within{1'000};

std::string name_of(std::uint32_t number) { return "shard " + std::to_string(number); }

/// Nothing was ever in it. Error: it cannot be read, or is another shard.
result<bool> is_new(store::journaled_store& store, const node_config& config, std::uint32_t number) {
  const auto known = store.known_shard(number, config.shard_count);
  if (!known) return known.failure();
  const auto at = store.read()->get_progress();
  return known->empty() && at.epoch == 0 && at.sequence == 0 && store.position().last_index == 0;
}

/// Whether others can take the shard from this store.
status check_whole(store::journaled_store& store, const node_config& config, std::uint32_t number) {
  const auto known = store.known_shard(number, config.shard_count);
  if (!known) return known.failure();
  if (known->empty())
    return error{v1::ERROR_CODE_WRONG_STATE, "The store of " + name_of(number) + " does not say which shard it is.",
                 "Start the node once without shards.replicas in the node file."};
  // A restore that is not complete is none of several copies, nor the only one.
  const auto lineage = store.claim_lineage({});
  if (!lineage) return lineage.failure();
  if (lineage->made_unix_ms() == 0)
    return error{v1::ERROR_CODE_WRONG_STATE, "The store of " + name_of(number) + " does not say of which lineage it is.",
                 "Run `fairlead restore` on it."};
  return nothing{};
}

/// The list replaces whatever the store says of nodes: that may come from a backup.
status be_only_replica(store::journaled_store& store, std::uint64_t id, v1::ShardNodes nodes, std::uint64_t term = 0) {
  const auto before = store::nodes_in(*store.read());
  nodes.set_version((before ? before->version() : 0) + 1);
  // Nobody was asked before this release wrote to it.
  nodes.set_format(std::max(before ? before->format() : 0, store::format_known()));
  return store.be_replica(id, *raft::encode({{id}, {}}), nodes.SerializeAsString(), term);
}

/// This node, as the list of a shard's nodes has it.
v1::ShardNodes::Node node_of(const node_config& config, std::uint64_t replica) {
  v1::ShardNodes::Node out;
  out.set_name(config.name);
  // Others cannot reach a node by an address that means all of its own.
  const auto& host = config.listen.host;
  if (host != "0.0.0.0" && host != "::") out.set_address(to_text(config.listen));
  out.set_replica(replica);
  return out;
}

}  // namespace

std::uint64_t new_replica_id() { return std::max<std::uint64_t>(random_bits(), 1); }

v1::ShardNodesRequest request_to_join(const node_config& config, std::uint32_t number, std::uint64_t replica) {
  v1::ShardNodesRequest out;
  out.set_shard(number);
  out.set_verb(v1::ShardNodesRequest::JOIN);
  *out.mutable_node() = node_of(config, replica);
  out.set_cluster(config.cluster);
  out.set_shard_count(config.shard_count);
  out.set_reads(store::format_known());
  return out;
}

const std::string& data_folder_of(const node_config& config) { return config.data_path.empty() ? config.store_path : config.data_path; }

store::disk_stores_options stores_of(const node_config& config) {
  store::disk_stores_options out;
  for (const auto number : config.shards_here)
    out.shards.push_back({static_cast<std::uint16_t>(number), shard_store_path(config, number), !config.shard_nodes.empty()});
  out.shard_count = config.shard_count;
  out.journal = config.journal_path;
  out.max_bytes = config.store_max_bytes;
  out.segment_bytes = config.journal_segment_bytes;
  out.journal_max_bytes = config.journal_max_bytes;
  out.release = FAIRLEAD_VERSION;
  out.reads = store::format_known();
  return out;
}

status check_replica(store::journaled_store& store, const node_config& config, std::uint32_t number) {
  const auto now = store.read();
  if (auto known = store::check_format(*now, "The store of " + name_of(number)); !known.ok()) return known;
  // Between the steps of a recovery or a restore it is neither what it was nor what it is to be.
  if (auto complete = store.check_complete(); store.replica() && !complete.ok()) return complete;
  if (!config.shard_nodes.empty()) {
    const auto fresh = is_new(store, config, number);
    if (!fresh) return fresh.failure();
    return *fresh ? status(nothing{}) : check_whole(store, config, number);
  }
  // A store that has joined, or one whose list of nodes is a row of it, needs none in the node file.
  const bool has_list = store::nodes_in(*now).has_value();
  if (!store.replica() && has_list) return check_whole(store, config, number);
  if (store.replica() && !store.replica()->members.empty() && !has_list)
    return error{v1::ERROR_CODE_WRONG_STATE, "The store of " + name_of(number) + " is one of several copies of the shard.",
                 "Name the nodes that hold the others under shards.replicas in the node file."};
  return nothing{};
}

bool is_of_several(const store::journaled_store& store, const node_config& config) {
  return !config.shard_nodes.empty() || store.replica() || store::nodes_in(*store.read());
}

store_look look_at_store(const std::string& directory) {
  store_look out;
  out.directory = directory;
  const auto opened = store::one_store::open_tables(directory, store::one_store::access::read);
  if (!opened) return out;
  const auto now = (*opened)->read();
  const auto nodes = store::nodes_in(*now);
  if (nodes && nodes->nodes_size() > 1) out.nodes = core::names_of(*nodes);
  out.is_replica = (*opened)->replica().has_value();
  out.shard = (*opened)->shard();
  const auto row = now->get(store::table::meta, store::keys::meta(store::meta::restoring_row));
  out.restoring = row.ok() && *row && store::meta::decode_u64(**row).value_or(0) != 0;
  return out;
}

status check_held_alone(const store_look& of) {
  if (of.nodes.empty() || !of.is_replica || of.restoring) return nothing{};
  return error{
      v1::ERROR_CODE_WRONG_STATE, "The shard of the store " + of.directory + " is held by several nodes: " + of.nodes + ".",
      "If it is damaged, start the node: it gets the shard from the others, as it does with an empty store. If the others are lost, run "
      "`fairlead cluster recover`."};
}

status check_can_settle(const store_look& of) {
  if (!of.is_replica) return nothing{};
  return error{
      v1::ERROR_CODE_WRONG_STATE,
      "Other nodes can join the shard of the store " + of.directory + ", so the store needs its journal, which has the log for them.",
      "Keep the journal with the store. If the journal is lost or damaged, add --accept-loss, and run `fairlead restore` on the "
      "store then."};
}

status check_others_are_lost(const store_look& backup) {
  if (backup.nodes.empty()) return nothing{};
  return error{
      v1::ERROR_CODE_WRONG_STATE, "The backup " + backup.directory + " is of a shard that several nodes hold: " + backup.nodes + ".",
      "If one of them is left, start this node on an empty folder: it gets the shard from them, with all that is newer than the backup. If "
      "all are lost, add --accept-loss. A node that is left all the same stops serving the shard then."};
}

status be_first_of_several(store::journaled_store& store, const node_config& config, std::uint64_t term) {
  const auto id = new_replica_id();
  v1::ShardNodes nodes;
  *nodes.add_nodes() = node_of(config, id);
  return be_only_replica(store, id, std::move(nodes), term);
}

status be_as_agreed(store::journaled_store& store, const node_config& config, std::uint32_t number, const v1::RebuildNote& how) {
  if (store.replica()) return nothing{};
  const auto fresh = is_new(store, config, number);
  if (!fresh) return fresh.failure();
  const auto is_it = [&](const auto& one) { return one.shard() == number; };
  const auto one = std::find_if(how.stores().begin(), how.stores().end(), is_it);
  if (!*fresh || one == how.stores().end()) return nothing{};
  return store.be_replica(one->replica(), {}, one->nodes().SerializeAsString());
}

error held_by_several(const node_config& config, std::uint32_t number) {
  return {v1::ERROR_CODE_WRONG_STATE,
          "Several other nodes hold " + name_of(number) + ", and the store of node " + config.name + " in " +
              shard_store_path(config, number) + " is none of theirs.",
          "If the node is to hold the shard, too, move this store and the journal away, and run `fairlead cluster join ADDRESS` with the "
          "address of one of them. Otherwise take the shard out of shards.here. Work that this node has acknowledged is in that store "
          "alone: if it is "
          "the one to keep, stop the others, and run `fairlead restore --accept-loss` on it."};
}

bool peers_asked::hold(std::uint32_t number) {
  if (config_.peers.empty()) return false;
  if (!std::exchange(tried_, true)) {
    client_options options;
    options.nodes = config_.peers;
    options.request_timeout = options.connect_timeout = peers_answer_within;
    // They may be started later. What they say then counts all the same.
    if (auto to = client::connect(options)) to_.emplace(std::move(*to));
  }
  if (!to_) return false;
  v1::ShardNodesRequest what;
  what.set_shard(number);
  what.set_cluster(config_.cluster);
  const auto known = to_->change_nodes(what);
  return known && known->nodes().nodes_size() > 0;
}

result<v1::ShardClaim> claim_alone(store::journaled_store& store, const node_config& config, std::uint32_t number, const node_notes& notes,
                                   peers_asked& peers, std::int64_t now_unix_ms) {
  const auto fresh = is_new(store, config, number);
  if (!fresh) return fresh.failure();
  if (*fresh && peers.hold(number)) return held_by_several(config, number);
  auto store_id = store.claim_shard(number, config.shard_count, make_uuid_v7(now_unix_ms));
  if (!store_id) return store_id.failure();
  const auto lineage = store.claim_lineage(first_lineage(now_unix_ms, random_bits()));
  if (!lineage) return lineage.failure();
  const auto later = notes.later(number);
  if (!later) return later.failure();
  // Of one lineage the store of one node alone is a copy from before others could join.
  const auto order = *later ? compare(**later, *lineage) : lineage_order::earlier;
  if (order == lineage_order::later || (order == lineage_order::same && (*later)->several())) return held_by_several(config, number);
  v1::ShardClaim out;
  out.set_shard(number);
  out.set_store_id(std::move(*store_id));
  *out.mutable_lineage() = *lineage;
  return out;
}

result<bool> be_replica(store::journaled_store& store, const node_config& config, std::uint32_t number) {
  if (store.replica()) return false;
  const auto known = store.known_shard(number, config.shard_count);
  if (!known) return known.failure();
  const bool is_first = !known->empty();
  auto made = !is_first                    ? store.be_replica(new_replica_id())
              : config.shard_nodes.empty() ? be_first_of_several(store, config)
                                           : be_only_replica(store, new_replica_id(), core::shard_nodes_of(config.shard_nodes));
  if (!made.ok()) return made.failure();
  return is_first;
}

result<replicas_to_be> replicas_to_be::open(const node_config& config) {
  if (config.shards_here.empty())
    return error{v1::ERROR_CODE_WRONG_STATE, "Node " + config.name + " holds no shard: it has not the role shard.",
                 "Add the role shard, and say under shards.here which shards the node is to hold."};
  if (!config.shard_nodes.empty())
    return error{v1::ERROR_CODE_WRONG_STATE, "The node file of " + config.name + " names the nodes of its shards itself.",
                 "Remove shards.replicas from it; the shards say which nodes hold them."};
  replicas_to_be out(config);
  std::error_code failed;
  bool any = std::filesystem::exists(config.journal_path, failed);
  for (const auto number : config.shards_here) any = any || std::filesystem::exists(shard_store_path(config, number) + "/data.mdb", failed);
  if (any)
    if (auto opened = out.open_stores(); !opened.ok()) return opened.failure();
  return out;
}

status replicas_to_be::open_stores() {
  auto how = stores_of(config_);
  how.check_journal = [this](const store::journal_end& found) { return node_notes(data_folder_of(config_)).check_written(found); };
  auto opened = store::disk_stores::open(std::move(how));
  if (!opened) return opened.failure();
  stores_ = std::move(*opened);
  return nothing{};
}

result<std::vector<v1::ShardNodesRequest>> replicas_to_be::ask_to_join() {
  std::vector<v1::ShardNodesRequest> out;
  if (!stores_) {
    for (const auto number : config_.shards_here) {
      ids_.push_back(new_replica_id());
      out.push_back(request_to_join(config_, number, ids_.back()));
    }
    return out;
  }
  for (std::size_t i = 0; i < stores_->size(); ++i) {
    auto& store = stores_->at(i);
    const auto number = config_.shards_here[i];
    const auto fresh = is_new(store, config_, number);
    if (!fresh) return fresh.failure();
    const bool has_joined = store.replica() && store.replica()->members.empty();
    if (store.replica() && !has_joined) {
      ids_.push_back(store.replica()->id);
      continue;  // it holds the shard already
    }
    if (!*fresh)
      return error{v1::ERROR_CODE_WRONG_STATE, "The store of " + name_of(number) + " in " + stores_->directory(i) + " holds data already.",
                   "Give the node an empty folder; the shard comes from the other nodes."};
    ids_.push_back(has_joined ? store.replica()->id : new_replica_id());
    out.push_back(request_to_join(config_, number, ids_.back()));
  }
  if (out.empty())
    return error{v1::ERROR_CODE_WRONG_STATE, "Node " + config_.name + " holds all its shards together with others already.",
                 "Start the node. If it has left them, remove its stores and the journal first, and run the command again."};
  return out;
}

status replicas_to_be::join(const std::map<std::uint32_t, v1::ShardNodes>& nodes) {
  if (!stores_)
    if (auto opened = open_stores(); !opened.ok()) return opened;
  for (std::size_t i = 0; i < stores_->size(); ++i) {
    if (stores_->at(i).replica()) continue;
    const auto& list = nodes.at(config_.shards_here[i]);
    if (auto joined = stores_->at(i).be_replica(ids_[i], {}, list.SerializeAsString()); !joined.ok()) return joined;
  }
  return nothing{};
}

}  // namespace fairlead::app
