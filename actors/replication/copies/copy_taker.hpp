#pragma once
// What a replica does with a copy of the state that its leader offers: asks for its bytes, in order, looks at all of it, and puts it in the place of
// what it has. Written against ports, without CAF. One thread; looking at a copy blocks it for as long as reading it takes.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "actors/replication/replica.hpp"
#include "messages/replica.pb.h"
#include "store/journaled/store.hpp"
#include "store/lmdb/archive.hpp"

namespace fairlead {

class copy_taker {
 public:
  static constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
  static constexpr int chunks_at_once = 4;
  /// Not for whoever gives a copy.
  static bool is_for_taker(const v1::ReplicaCopy& what) {
    return what.has_offer() || what.has_chunk() || what.has_archives() || what.has_archive_part();
  }
  static void put(const store::archive::summary& what, v1::ReplicaCopy::Archive& to);

  struct world {
    replica* of = nullptr;
    store::journaled_store* own = nullptr;
    store::archive* archives = nullptr;
    std::function<std::int64_t()> boot_ms;
    std::function<void(v1::ReplicaCopy)> send;
    std::function<void(const std::string& sentence)> note;
    /// The disk, or a bug: the process has to end.
    std::function<void(const error&)> on_fatal;
  };

  explicit copy_taker(world in) : world_(std::move(in)) {}

  void tick();
  /// From the leader.
  void take(const v1::ReplicaCopy& what);

  /// Of the copy that comes in; both 0: none does.
  struct progress {
    std::uint64_t bytes = 0;
    std::uint64_t of_bytes = 0;
  };
  progress get_progress() const { return {incoming_ ? incoming_->bytes() : 0, incoming_ ? bytes_ : 0}; }

 private:
  void offered(const v1::ReplicaCopy& what);
  void came(const v1::ReplicaCopy::Chunk& chunk);
  void listed(const v1::ReplicaCopy::Archives& what);
  void came(const v1::ReplicaCopy::ArchivePart& part);
  v1::ReplicaCopy message() const;
  void ask();
  void refuse(const error& why, bool has_it = false);
  void finish();
  void follow_own_tables();

  world world_;
  std::unique_ptr<store::incoming_copy> incoming_;
  v1::ReplicaCopy offer_;
  std::uint64_t bytes_ = 0;  // of all of it
  std::uint64_t asked_up_to_ = 0;
  // Once all bytes are there:
  bool listed_ = false;
  std::deque<v1::ReplicaCopy::Archive> lacks_;  // archives; of the first some parts have come
  std::string begin_;                           // of the next part
  std::int64_t asked_ms_ = 0;
  std::int64_t heard_ms_ = 0;
};

}  // namespace fairlead
