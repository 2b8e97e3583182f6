#pragma once
// The durable outbox of status events for submitters.
//
// Each event is one row, under the hash of its receiver and a position that grows over the whole shard. The row carries the address itself,
// so that no second row has to appear and vanish with it. Only the courier uses the table `reply_address`, which holds the state of failing
// receivers.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/protocol/local_messages.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead {

/// Letters, digits and . _ : @ / - ; 1 to 128 of them.
bool valid_client_name(const std::string& name);

/// Why an address is refused: neither or both of client and webhook, or an invalid name or URL. nullopt: it is valid.
std::optional<error> check_reply_address(const v1::ReplyAddress& address);

/// Writes `event` for `to` at the next position and counts it. `to` has been checked.
void put_status(store::batch& out, v1::ShardState& shard, const v1::ReplyAddress& to, v1::StatusEvent event);

/// At most `limit` events of one receiver after `after`, by position. `address` is a store::reply_address_hash.
result<std::vector<v1::StatusEvent>> read_outbox(const store::snapshot& view, std::string_view address, std::uint64_t after,
                                                 std::size_t limit);

/// Adds at most 20 failing receivers to the status of a node.
void add_failing_receivers(const store::snapshot& view, v1::StatusReply& to);

/// Takes events off the outbox. An erasure is a row of a later batch, so taken events can be read for a while. This object remembers them,
/// or the courier and the gateway could take and count an event twice. Events whose erasure a Scheduler never wrote are taken again under
/// the next epoch: erasures carry the epoch, and a Scheduler ignores those of an earlier one. Any thread may call.
class reply_outbox {
 public:
  /// Rows erased by one call, so that a batch stays small.
  static constexpr std::size_t rows_at_once = 10'000;

  explicit reply_outbox(const store::store& reads) : reads_(reads) {}

  /// The rows that erase the events of one receiver up to `position` that were not taken before; at most `rows_at_once`, the oldest ones.
  /// Send them to the Scheduler unless empty.
  result<courier_rows> take(std::string_view address, std::uint64_t position);

  /// Position up to which the events of one receiver are taken and may still be readable; 0: none.
  std::uint64_t taken(std::string_view address) const;

  /// Drops the memory of durable erasures. Free if nothing was taken.
  status settle();

 private:
  /// Events taken under an earlier epoch and still readable: their erasure was lost with its Scheduler.
  void look_at_epoch(const store::snapshot& view);

  const store::store& reads_;
  std::uint64_t epoch_ = 0;
  mutable std::mutex guard_;
  std::map<std::string, std::uint64_t, std::less<>> taken_;
};

}  // namespace fairlead
