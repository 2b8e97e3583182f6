#pragma once
// A store whose shard has a lineage (messages/lineage.hpp) and can get another one. Base of both stores.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/common.pb.h"
#include "store/store.hpp"

namespace fairlead::store {

class restorable : public store {
 public:
  /// The id of the store; empty: it is of no shard yet. Error invalid_argument: it is another shard than this one of so many.
  result<std::string> known_shard(std::uint32_t shard, std::uint32_t count) const;
  /// Sets, before any other use, which shard of how many this store is. The first call fixes this for ever, under the id `fresh_id`. Error
  /// invalid_argument: the store is another shard. Returns the store's id.
  result<std::string> claim_shard(std::uint32_t shard, std::uint32_t count, const std::string& fresh_id);

  /// How many processes have run a node on this store, as releases before the journal counted them, and what a restore says.
  result<std::uint64_t> boot() const;

  /// Error wrong_state: a restore or a recovery of the store has begun and not ended.
  status check_complete() const;
  /// The lineage of this store; `fresh`, if the store has none yet. Error: as above.
  result<v1::Lineage> claim_lineage(const v1::Lineage& fresh);

  /// Begin and end of a restore. In between the store belongs to no lineage, and no node takes it. A restore begun again goes on.
  status begin_restore(std::int64_t now_unix_ms);
  /// Begin of a restore of one of several replicas, before the entries come to it of which only the others know whether they count. What
  /// it has at the first call counts.
  status begin_recovery(std::int64_t now_unix_ms);
  /// The latest write that counts for sure; nullopt: everything counts.
  result<std::optional<std::int64_t>> counted_until() const;
  /// The store now has `lineage` and `epoch`, and its next process has an incarnation above `boot`. Neither number ever falls.
  status end_restore(const v1::Lineage& lineage, std::uint64_t epoch, std::uint64_t boot);

 protected:
  /// Rows of the meta table: name and payload.
  using meta_rows = std::vector<std::pair<std::string_view, std::string>>;
  /// Writes the rows in one transaction, and raises the epoch to at least this. Durable on return.
  virtual status write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) = 0;
  /// The store's location, for sentences.
  virtual std::string place() const = 0;

  result<std::optional<std::string>> read_meta(std::string_view row) const;
};

}  // namespace fairlead::store
