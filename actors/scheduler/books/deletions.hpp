#pragma once
// The rows of a deletion. From its commit on only the id of the task is known; copies in archives are erased after it (archiver).

#include <string>

#include "messages/task.pb.h"
#include "messages/time.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead {

class deletion {
 public:
  deletion(std::string who, moment now) : who_(std::move(who)), now_(now) {}

  /// Of an ended task in the store. `from` must hold this version of it.
  status of_stored(const v1::TaskRecord& record, const store::snapshot& from, v1::ShardState& counts, store::batch& out) const;
  /// Of a task in an archive.
  void of_archived(const std::string& id, v1::TaskTombstone tombstone, v1::ShardState& counts, store::batch& out) const;

 private:
  void leave(const std::string& id, v1::TaskTombstone tombstone, store::batch& out) const;

  std::string who_;
  moment now_;
};

}  // namespace fairlead
