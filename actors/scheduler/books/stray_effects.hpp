#pragma once
// Effects without a task: what agents have done for an earlier lineage of the shard, of tasks that the backup does not know. Rows and a counter of
// the Scheduler's open batch, and all of them in memory, because they are few. One thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/time.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead {

class stray_effects {
 public:
  static constexpr std::size_t most = 256;

  status open(const store::snapshot& from);

  /// Of the item of a batch that an agent has sent for an earlier lineage; nullopt: it has had no effect.
  static std::optional<v1::EffectRecord> effect_of(const v1::OutcomeBatch& batch, const v1::Outcome& item, moment now);

  /// False: it is listed already. Where there are too many the oldest makes room, and is counted.
  bool add(v1::EffectRecord what, v1::ShardState& shard, store::batch& out);

  /// Whether a task that is submitted again under this id performs by this very key. It does not by those of an undo or of a later generation.
  static bool comes_again(const v1::EffectRecord& what);

  /// A task of this id is there again: what it performs by the same key is listed no more.
  void task_is_back(const std::string& id, store::batch& out);

  /// Lists none any more; gives those that were.
  v1::DoctorReply forget_all(v1::ShardState& shard, store::batch& out);

 private:
  std::map<std::uint64_t, v1::EffectRecord> all_;  // by number
};

}  // namespace fairlead
