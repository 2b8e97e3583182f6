#pragma once
// A store whose shard has a lineage (messages/lineage.hpp), and can be given another one. Both stores are such.

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
  /// The lineage of this store, which becomes `fresh` where it has none yet. An error (wrong_state): a restore of it has begun and not ended.
  result<v1::Lineage> claim_lineage(const v1::Lineage& fresh);

  /// The two ends of a restore. In between the store belongs to no lineage, and no node takes it; begun again it goes on.
  status begin_restore(std::int64_t now_unix_ms);
  /// From now on it is of `lineage`, under `epoch`, and its next process has an incarnation above `boot`. Neither number ever falls.
  status end_restore(const v1::Lineage& lineage, std::uint64_t epoch, std::uint64_t boot);

 protected:
  /// Rows of the meta table: name and payload.
  using meta_rows = std::vector<std::pair<std::string_view, std::string>>;
  /// Writes them in one transaction, and makes the epoch at least this. Durable on return.
  virtual status write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) = 0;
  /// For sentences: where it is.
  virtual std::string place() const = 0;

  result<std::optional<std::string>> read_meta(std::string_view row) const;
};

}  // namespace fairlead::store
