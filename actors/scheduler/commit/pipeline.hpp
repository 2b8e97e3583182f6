#pragma once
// Commit, then act: the batches of a Scheduler on their way to the store. Rows and effects gather in the open batch; `flush` hands the rows
// to the commit port, and the effects come back through `committed_up_to` once the rows are durable. Batches are numbered by their
// sequence, without gaps: rows written now are durable when `sequence()` has been committed. One thread.

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
    bool confirms = false;  // other nodes may lead the shard: what leaves without a commit is asked for first
  };

  /// `lineage` and `planted` must outlive the pipeline.
  commit_pipeline(ports world, std::uint32_t shard, const v1::Lineage& lineage, const core::planted_faults& planted);

  /// Starts under `epoch` after the newest batch of the store, with the store's counters. They are counted anew if an earlier release wrote
  /// last.
  status open(std::uint64_t epoch);
  std::uint64_t epoch() const noexcept { return epoch_; }

  // The open batch: its rows, the effects that leave once they are durable, and the counters stored with it.
  store::batch& rows() noexcept { return rows_; }
  const store::batch& rows() const noexcept { return rows_; }
  effects& after() noexcept { return after_; }
  v1::ShardState& counts() noexcept { return counts_; }
  const v1::ShardState& counts() const noexcept { return counts_; }
  std::uint64_t sequence() const noexcept { return next_sequence_; }
  alert_book::page page() { return {counts_, rows_, next_sequence_, world_.time->now()}; }

  // Durable state.
  const store::snapshot& committed();
  /// The next look at durable state is a new one.
  void look_again() { snapshot_.reset(); }
  /// How long the latest batch took from its flush until it was durable, by the steady clock.
  duration commit_time() const noexcept { return commit_time_; }
  std::uint64_t committed_sequence() const noexcept { return committed_sequence_; }
  const v1::ShardState& committed_counts() const noexcept { return committed_counts_; }
  bool durable(std::uint64_t sequence) const noexcept { return sequence <= committed_sequence_; }

  /// The open batch holds something.
  bool wants_flush() const { return !rows_.empty() || !after_.empty() || retention_wanted_; }
  /// The open batch is large enough to be closed although more messages wait: the store then writes it while the next one fills.
  bool is_large() const;
  /// Closes the open batch and hands it to the commit port. Returns the effects if there is nothing to write, no uncommitted batch that
  /// they could depend on, and no other leader: they may leave at once.
  std::optional<effects> flush();
  /// The answer to a confirm() of the port: calls `act` as committed_up_to does. If another node leads, the messages are dropped.
  void confirmed(std::uint64_t ticket, bool led, const std::function<void(effects)>& act);
  /// Everything up to `sequence` is durable: calls `act` with the effects of each batch, in order.
  void committed_up_to(std::uint64_t sequence, const std::function<void(effects)>& act);
  /// Sends committed effects. Agents count leases from now.
  void release(effects& what);
  bool empty() const { return sent_.empty() && !wants_flush(); }

  /// Drops hand-overs of the task's attempts that have ended before the messages left, and shortens leases in messages as in the record.
  void bring_up_to(const v1::TaskRecord& task);
  /// Drops the hand-overs to the instance that have not left, and returns them.
  std::vector<v1::Perform> keep_back(const std::string& instance);

  /// Advances retention time. If it has moved, the next flush makes it durable even without rows.
  void put_retention_forward();

  /// Bytes handed to the store and not durable, plus those of the open batch.
  std::uint64_t uncommitted_bytes() const { return sent_bytes_ + rows_.bytes().size(); }
  /// How full the store is, uncommitted bytes included. Between two reads of the store's usage this is estimated from the bytes written.
  core::store_room room(std::uint64_t reserved_bytes) const;
  void look_at_usage();

 private:
  struct sent_batch {
    std::uint64_t sequence = 0;
    std::size_t bytes = 0;
    moment flushed_at{};  // steady clock
    v1::ShardState counts;
    effects after;
    std::uint64_t ticket = 0;  // without rows, behind the batch of the sequence: the answer that it waits for; 0: none
  };
  void act_on_front(const std::function<void(effects)>& act);
  void advance_retention();

  ports world_;
  std::uint32_t shard_;
  const v1::Lineage& lineage_;
  const core::planted_faults& planted_;

  std::uint64_t epoch_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::uint64_t committed_sequence_ = 0;
  v1::ShardState counts_;            // with every decision
  v1::ShardState committed_counts_;  // as readers may see them
  store::batch rows_;
  effects after_;
  std::deque<sent_batch> sent_;
  std::size_t sent_bytes_ = 0;
  std::uint64_t last_ticket_ = 0;
  duration commit_time_{};
  std::unique_ptr<store::snapshot> snapshot_;  // dropped when a newer one may be needed
  store::usage usage_;                         // as last read from the store
  std::uint64_t bytes_since_usage_ = 0;        // handed to the store since then
  std::uint64_t commits_since_usage_ = 0;
  moment retention_at_{};          // steady clock, when retention time was last advanced
  bool retention_wanted_ = false;  // must become durable even without rows
};

}  // namespace fairlead
