#pragma once
// What a leader does for a replica that lacks more entries than are kept: it makes a copy of the shard's tables, offers it, and sends what is
// asked of it. Written against ports, without CAF. One thread; making a copy blocks it for as long as that takes.
//
// One copy at a time, of all shards of a node: each takes as much room as its store has, and the disk's time. Entries behind it are kept while it is on its way, so that the replica can follow from there on.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/replication/replica.hpp"
#include "messages/replica.pb.h"
#include "store/journaled/store.hpp"
#include "store/lmdb/archive.hpp"

namespace fairlead {

/// Whether one of those that share it makes or sends a copy.
using copy_turn = std::atomic<bool>;

class copy_giver {
 public:
  struct world {
    replica* of = nullptr;
    store::journaled_store* own = nullptr;
    store::archive* archives = nullptr;
    std::uint32_t shard = 0;
    std::function<std::int64_t()> boot_ms;
    std::function<std::string()> new_name;
    std::function<void(v1::ReplicaCopy)> send;
    /// Something that operators want to know.
    std::function<void(const std::string& sentence)> note;
    std::function<std::string(raft::replica_id)> node_of;  // for sentences
    std::shared_ptr<copy_turn> turn;                       // of the node's shards; null: there is no other
    std::function<void()> on_refused = {};                 // by a replica that needs a copy
  };

  explicit copy_giver(world in) : world_(std::move(in)) {}
  ~copy_giver() { give_turn_back(); }
  copy_giver(const copy_giver&) = delete;
  copy_giver& operator=(const copy_giver&) = delete;

  /// Some times a second.
  void tick();
  /// Another replica wants bytes of it, or archives.
  void asked(const v1::ReplicaCopy& what);

 private:
  bool wanted_by(raft::replica_id who) const;
  bool take_turn();
  void give_turn_back();
  void begin(raft::replica_id whom);
  bool make();
  void offer();
  void end(const std::string& why);
  /// Something is wrong here, and shown.
  void fail(const std::string& what, const error& why);
  void send_chunks(std::uint64_t offset);
  void list_archives();
  void send_part(const v1::ReplicaCopy::WantArchive& what);
  v1::ReplicaCopy message() const;

  world world_;
  std::unique_ptr<store::tables_copy> copy_;
  std::string name_;
  raft::replica_id to_ = 0;
  raft::base behind_;
  std::int64_t heard_ms_ = 0;  // when it was last asked for, or begun
  std::int64_t offered_ms_ = 0;
  std::map<raft::replica_id, std::int64_t> not_before_ms_;
  bool has_turn_ = false;
};

}  // namespace fairlead
