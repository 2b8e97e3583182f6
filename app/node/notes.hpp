#pragma once
// What a node notes beside its stores, in case these are damaged: files of text.
//   in its data folder:
//     others      OthersNote: the nodes that hold its shards, too
//     rebuilding  RebuildNote: damaged stores are set aside, and new ones take their places
//     written     WrittenNote: how far the journal has been written
//     later       LaterNote: shards that go on elsewhere in a later lineage
//   in the folder of each store, where a command that goes on with the store finds it, too:
//     damaged     DamageNote: damage ended the last process

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "actors/protocol/ports.hpp"
#include "messages/error.hpp"
#include "messages/replica.pb.h"
#include "store/disk/disk_stores.hpp"
#include "store/disk/set_aside.hpp"

namespace fairlead::app {

/// From any thread.
class node_notes {
 public:
  /// `folder` exists.
  explicit node_notes(std::string folder) : folder_(std::move(folder)) {}

  /// Which nodes hold a shard with this one. An older list, and one without the lineage that is noted, change nothing. Errors: disk. It is only of
  /// use once the stores are damaged.
  status note_others(const v1::ReplicaHello& shard);
  /// Other shards are not held with others any more.
  status keep_others(const std::vector<std::uint32_t>& shards);
  /// By shard. What cannot be read is not there.
  v1::OthersNote others() const;

  /// The journal has been written so far. Error: disk.
  status note_written(const store::journal_end& now);
  /// Of a journal that was found. Errors: corrupt, this node has written more of it, so the stores are an older copy; disk; wrong_state, the file
  /// is not what was written.
  status check_written(const store::journal_end& found) const;

  /// The shard goes on elsewhere in that lineage. Errors: disk; wrong_state, the file is not what was written.
  status note_later(std::uint32_t shard, const v1::Lineage& lineage);
  /// nullopt: nothing is known of that. Errors: as above.
  result<std::optional<v1::Lineage>> later(std::uint32_t shard) const;

  /// `folders`: of the node's stores.
  status note_damage(const error& why, const std::vector<std::string>& folders);
  /// nullopt: there is none, or other stores have taken the places of those that it names.
  result<std::optional<error>> damage(const std::vector<std::string>& folders) const;
  status forget_damage(const std::vector<std::string>& folders);

  status begin_rebuilding(const v1::RebuildNote& how);
  /// nullopt: no rebuilding was cut short. Errors: disk; wrong_state, the file is not what was written.
  result<std::optional<v1::RebuildNote>> rebuilding() const;
  status end_rebuilding();

  std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
  mutable std::mutex guard_;
};

/// Notes every minute how far the journal has been written, so that an older copy is recognised although this process is killed. Returns when it is
/// asked to stop. `now`: nullopt, there is nothing to note.
void keep_noting_written(node_notes& notes, const std::function<std::optional<store::journal_end>()>& now, observer& log,
                         const std::stop_token& stop);

/// For commands that go on with a store as it is. Error: wrong_state, the node of the store in `directory` gives the store up.
status check_not_given_up(const std::string& directory);
/// Error: wrong_state, the node of the store in `directory` has heard that its shard goes on elsewhere.
status check_not_outlived(const std::string& directory, std::uint32_t shard);

v1::NotedFile noted(const store::found_part& part);
store::found_part part_of(const v1::NotedFile& noted);

}  // namespace fairlead::app
