#pragma once
// Status events on their way to those who submitted: the durable outbox.
//
// Each event is one row, under the hash of its receiver and a position that grows over the whole shard. The row carries the address itself, so
// that whoever finds it needs nothing else: no second row has to appear and vanish with it. The table `reply_address` belongs to the courier
// alone; it holds how it goes with receivers that fail.

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

/// Why nobody could be told under this address: neither or both of client and webhook, a name or a URL that is none. Nothing when it is fine.
std::optional<error> check_reply_address(const v1::ReplyAddress& address);

/// Writes `event` for `to` at the next position and counts it. `to` has been checked.
void put_status(store::batch& out, v1::ShardState& shard, const v1::ReplyAddress& to, v1::StatusEvent event);

/// At most `limit` events of one receiver behind `after`, by position. `address` is a store::reply_address_hash.
result<std::vector<v1::StatusEvent>> read_outbox(const store::snapshot& view, std::string_view address, std::uint64_t after,
                                                 std::size_t limit);

/// The receivers that fail, at most 20 of them, for the status of a node.
void add_failing_receivers(const store::snapshot& view, v1::StatusReply& to);

/// Takes events off the outbox. An erasure is a row of a later batch, so for a while what was taken can still be read; without a common memory
/// of it the courier and the gateway could take, and count, the same event twice. What a Scheduler has been told and never wrote is taken again
/// under the next epoch: its erasures carry the epoch, and a Scheduler passes those of an earlier one over. Any thread may call.
class reply_outbox {
 public:
  /// Rows erased by one call, so that a batch stays small.
  static constexpr std::size_t rows_at_once = 10'000;

  explicit reply_outbox(const store::store& reads) : reads_(reads) {}

  /// What erases the events of one receiver up to `position` that were not taken before; at most `rows_at_once`, the oldest ones. To be sent
  /// to the Scheduler unless it is empty.
  result<courier_rows> take(std::string_view address, std::uint64_t position);

  /// Up to which position the events of one receiver are taken and may still be seen; 0: none is.
  std::uint64_t taken(std::string_view address) const;

  /// Forgets what is erased durably. Costs nothing when nothing was taken.
  status settle();

 private:
  /// What was taken under an earlier epoch and is still there was lost with its Scheduler.
  void look_at_epoch(const store::snapshot& view);

  const store::store& reads_;
  std::uint64_t epoch_ = 0;
  mutable std::mutex guard_;
  std::map<std::string, std::uint64_t, std::less<>> taken_;
};

}  // namespace fairlead
