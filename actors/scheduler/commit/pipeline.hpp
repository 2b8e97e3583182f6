#pragma once
// Commit, then act: the batches of a Scheduler on their way to the store. Rows and effects gather in the open batch; `flush` hands the rows to the
// commit port, and the effects come back through `committed_up_to` once the rows are durable. Batches are numbered by their sequence, without gaps:
// what is written now is durable when `sequence()` has been committed. One thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/alerts/book.hpp"
#include "actors/core/planted_faults.hpp"
#include "actors/core/store_room.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/scheduler/commit/effects.hpp"
#include "store/store.hpp"

namespace fairlead {

class commit_pipeline {
 public:
  struct ports {
    const clock* time = nullptr;
    const store::store* reads = nullptr;
    commit_port* commits = nullptr;
    scheduler_outbox* out = nullptr;
    observer* log = nullptr;
  };

  /// `lineage` and `planted` have to outlive it.
  commit_pipeline(ports world, std::uint32_t shard, const v1::Lineage& lineage, const core::planted_faults& planted);

  /// Starts under `epoch` behind the newest batch of the store, with the counters that it holds; they are counted anew where an earlier release
  /// has written last.
  status open(std::uint64_t epoch);
  std::uint64_t epoch() const noexcept { return epoch_; }

  // The open batch: its rows, what leaves once they are durable, and the counters that travel with it.
  store::batch& rows() noexcept { return rows_; }
  const store::batch& rows() const noexcept { return rows_; }
  effects& after() noexcept { return after_; }
  v1::ShardState& counts() noexcept { return counts_; }
  const v1::ShardState& counts() const noexcept { return counts_; }
  std::uint64_t sequence() const noexcept { return next_sequence_; }
  alert_book::page page() { return {counts_, rows_, next_sequence_, world_.time->now()}; }

  // What is durable.
  const store::snapshot& committed();
  std::uint64_t committed_sequence() const noexcept { return committed_sequence_; }
  const v1::ShardState& committed_counts() const noexcept { return committed_counts_; }
  bool durable(std::uint64_t sequence) const noexcept { return sequence <= committed_sequence_; }

  /// Something waits in the open batch.
  bool wants_flush() const { return !rows_.empty() || !after_.empty() || retention_wanted_; }
  /// The open batch is closed when it has grown to this, though more messages wait: the store then works on it while the next one fills.
  bool is_large() const;
  /// Closes the open batch and hands it to the commit port. Returns the effects when there is nothing to write and nothing on its way that they
  /// could rest on: they may leave at once.
  std::optional<effects> flush();
  /// Everything up to `sequence` is durable: `act` is given the effects of each batch, in order.
  void committed_up_to(std::uint64_t sequence, const std::function<void(effects)>& act);
  /// Sends what may leave. Agents count leases from now.
  void release(effects& what);
  bool empty() const { return sent_.empty() && !wants_flush(); }

  /// Attempts of the task that have ended before their messages left are not handed over, and shorter leases are shorter in the messages.
  void bring_up_to(const v1::TaskRecord& task);
  /// Drops what was to be handed to the instance and has not left, and returns it.
  std::vector<v1::Perform> keep_back(const std::string& instance);

  /// Puts retention time forward; where it has moved, the next flush makes it durable though nothing else may be written.
  void put_retention_forward();

  /// Handed to the store and not durable, and waiting in the open batch.
  std::uint64_t uncommitted_bytes() const { return sent_bytes_ + rows_.bytes().size(); }
  /// How full the store is with all that. Between two looks at the store it is reckoned from what has been written.
  core::store_room room(std::uint64_t reserved_bytes) const;
  void look_at_usage();

 private:
  struct sent_batch {
    std::uint64_t sequence = 0;
    std::size_t bytes = 0;
    v1::ShardState counts;
    effects after;
  };
  void advance_retention();

  ports world_;
  std::uint32_t shard_;
  const v1::Lineage& lineage_;
  const core::planted_faults& planted_;

  std::uint64_t epoch_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t committed_sequence_ = 0;
  v1::ShardState counts_;            // with everything decided
  v1::ShardState committed_counts_;  // what readers may see
  store::batch rows_;
  effects after_;
  std::deque<sent_batch> sent_;
  std::size_t sent_bytes_ = 0;
  std::unique_ptr<store::snapshot> snapshot_;  // dropped whenever something newer may be wanted
  store::usage usage_;                         // as last looked at,
  std::uint64_t bytes_since_usage_ = 0;        // and what was handed to the store since
  std::uint64_t commits_since_usage_ = 0;
  moment retention_at_{};          // by the steady clock, when retention time was last put forward
  bool retention_wanted_ = false;  // it has to become durable though nothing else may be written
};

}  // namespace fairlead
