#pragma once
// Effects without a task: work that agents did for an earlier lineage of the shard, for tasks that the backup does not know. Kept as rows
// and a counter of the Scheduler's open batch. All of them are in memory too, because they are few. One thread.

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

  /// Makes the effect of one outcome that an agent sent for an earlier lineage; nullopt: the outcome had no effect.
  static std::optional<v1::EffectRecord> effect_of(const v1::OutcomeBatch& batch, const v1::Outcome& item, moment now);

  /// False: the effect is listed already. If the list is full the oldest effect is dropped and counted.
  bool add(v1::EffectRecord what, v1::ShardState& shard, store::batch& out);

  /// Whether a task submitted again under the same id performs under this very key. Keys of an undo or of a later generation are not used
  /// again.
  static bool comes_again(const v1::EffectRecord& what);

  /// A task of this id exists again: effects whose key it will use again are taken off the list.
  void task_is_back(const std::string& id, store::batch& out);

  /// Empties the list and returns the effects that were in it.
  v1::DoctorReply forget_all(v1::ShardState& shard, store::batch& out);

 private:
  std::map<std::uint64_t, v1::EffectRecord> all_;  // by number
};

}  // namespace fairlead
