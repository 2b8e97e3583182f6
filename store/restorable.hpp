#pragma once
// A store whose shard has a lineage (messages/lineage.hpp) and can get another one. Base of both stores.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/common.pb.h"
#include "store/store.hpp"

namespace fairlead::store {

class restorable : public store {
 public:
  /// The lineage of this store; `fresh`, if the store has none yet. Error wrong_state: a restore of the store has begun and not ended.
  result<v1::Lineage> claim_lineage(const v1::Lineage& fresh);

  /// Begin and end of a restore. In between the store belongs to no lineage, and no node takes it. A restore begun again goes on.
  status begin_restore(std::int64_t now_unix_ms);
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
