#pragma once
// The store of one shard behind the node's journal: entries are written there, and those that count are shown to readers and brought to the
// shard's tables by the applier. Readers see both as one.
//
// An entry of the journal is one gather of batches, a new epoch, or rows of the store itself. Entries of a shard are counted by `index`,
// batches by `sequence`; the index of an epoch's entry is the epoch.
//
// Which entries count is decided by consensus among the replicas of the shard (actors/replication), by write() and show(). As long as nobody has
// taken the log for that, the store itself writes and shows in one: an opening, tools, and tests do.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/journal/journal.hpp"
#include "store/journaled/log_record.hpp"
#include "store/journaled/overlay.hpp"
#include "store/journaled/shard_time.hpp"
#include "store/restorable.hpp"
#include "store/tables.hpp"

namespace fairlead::store {

struct journaled_options {
  std::optional<std::uint16_t> shard;         // nullopt: which the tables say; 0, if they say nothing
  std::string place;                          // the store's location, for sentences
  archives_below* archives = nullptr;         // outlives the store; needed to apply what concerns them
  std::function<std::int64_t()> now_unix_ms;  // the wall clock
  std::function<std::int64_t()> boot_ms;      // CLOCK_BOOTTIME, or another clock that nobody sets
  /// Other replicas have a vote. So entries above what is applied count only once they are shown again, and all that the journal has are
  /// kept for replicas that lack them.
  bool replicated = false;
  /// With so many bytes not applied a commit applies them itself before it goes on.
  std::size_t most_unapplied_bytes = std::size_t{256} << 20;
  std::uint32_t reads = shard_format;  // the latest format of a shard that the program knows: a copy in a later one is refused
};

/// The tables exactly as of an entry that asks for a comparison of states.
struct marked_state {
  std::uint64_t number = 0;  // of the comparison
  std::uint64_t index = 0;   // of the entry
  std::unique_ptr<snapshot> state;
};

class journaled_store final : public restorable {
 public:
  /// Reads where the tables stand. `below` outlives the store. Errors: corrupt, wrong_state (the tables are another shard's).
  static result<std::unique_ptr<journaled_store>> open(tables& below, journaled_options options);

  /// The journal that the tables name; nullopt: they were not behind a journal yet.
  const std::optional<journal_id>& journal_of_tables() const noexcept { return named_; }
  std::uint16_t shard() const noexcept { return shard_; }
  /// For copies of them alone: nobody else writes to them.
  tables& below() const noexcept { return below_; }
  /// Which copy of a replicated shard this is; nullopt: the shard lives on one node.
  const std::optional<meta::replica_identity>& replica() const noexcept { return replica_; }
  /// The store is to be a copy of a shard: a new one, or, with `members` (v1::ShardMembers), that of a shard which has lived on this node alone:
  /// all of its log counts. `nodes`: the row of the nodes that are to hold the shard (v1::ShardNodes); empty: it stays. On return it is durable.
  /// Whoever has taken the log writes no more, and says in which `term` it was; the log can be taken once more.
  status be_replica(std::uint64_t id, const std::string& members = {}, const std::string& nodes = {}, std::uint64_t term = 0);
  /// The shard begins, with these replicas (v1::ShardMembers), as this shard and of this lineage. On return it is durable. Nothing was written
  /// to the shard yet. `nodes`: as of be_replica().
  status begin_shard(const std::string& members, const meta::shard_identity& shard, const v1::Lineage& lineage,
                     const std::string& nodes = {});
  /// What the tables have of the journal.
  shard_position position() const { return {shard_, written_index_, applied_.index}; }
  /// What it needs of the journal: entries above the applied index of this.
  shard_position needs() const { return {shard_, written_index_, replicated_ ? log_.base_index : applied_.index}; }

  /// A record of this shard that recovery has read. What the tables have already is left out.
  status replay(const journal_record& record, std::uint64_t group);
  /// Whether what recovery has found is all that was acknowledged. `path`: the journal, for sentences.
  status check_whole(const recovered_journal& found, const std::string& path) const;
  /// Whether the tables are whole without a journal that has entries of this shard up to `last_index`: the node ended cleanly, or the store
  /// was settled or restored.
  bool is_settled(std::uint64_t last_index) const noexcept { return settled_ && *settled_ >= last_index; }
  /// Forgets the journal that the tables name. Only if they are settled.
  void leave();
  /// The tables were taken out of a journal, and come back to it: their entries go on behind its last one. Only if they are settled.
  void adopt(std::uint64_t last_index);
  /// How far the log goes, and with which members. Before take_log().
  log_base log_end() const;
  /// Whatever the log has counts, also entries of which only the other replicas know whether they do. Instead of take_log().
  status accept_log();
  /// Brings everything to the tables and takes them out of the journal, so that they are whole by themselves, also for releases that know
  /// no journal.
  status settle();
  /// Nothing is committed any more, and everything is applied: the tables say that they are whole.
  status note_end();
  /// Recovery is over, and commits go to `to`, which outlives the store's use. The tables take note of the journal, durably, if they have
  /// not before.
  status attach(journal& to);

  /// Hands the log over: from now on only write() and show() change anything. Once, after attach(); once more after be_replica().
  recovered_log take_log();
  /// Appends records in order; on return they are durable. Blocks until then.
  status write(const std::vector<log_record>& records);
  /// Whether a copy of another replica's tables is whole, this shard's, and ends with this entry. Reads all of it. From any thread. Errors: corrupt,
  /// wrong_state.
  status check_copy(incoming_copy& from, const log_base& behind) const;
  /// The tables are replaced by a copy that was checked. The log here has no such entry, and all that was written is durable. On return all of this
  /// is, and the log goes on behind that entry. wrong_state: it is older than what is shown, and nothing has changed. Other errors end the process.
  status install(incoming_copy& from, const log_base& behind);
  /// The entry counts: readers see it. In the order of indexes; each was written, or came with the log.
  status show(const log_record& entry);
  /// A reading of the shard's time. For the thread that writes.
  std::int64_t read_time();
  /// Payloads of entries for batches that follow `sequence` under `epoch`; each fits one append, of a replicated shard those of all replicas, if
  /// no batch is too large for it. Error:
  /// stale_epoch, wrong_state.
  result<std::vector<std::shared_ptr<const std::string>>> payloads_of(const std::vector<batch>& group, std::uint64_t sequence,
                                                                      std::uint64_t epoch) const;
  /// How far the clock by which the shard is led is ahead of this node's wall clock: kept with what is applied next, of a replicated shard. From
  /// any thread.
  void note_clock_ahead(std::int64_t ms) { clock_ahead_ms_.store(ms); }
  /// What an earlier process has noted last, so or by a record of type clock; nullopt: nothing ever.
  const std::optional<meta::clock_note>& noted_clock() const noexcept { return noted_clock_; }
  /// Of the last entry shown.
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_relaxed); }
  /// Of the last entry in the journal. For the thread that writes.
  std::uint64_t written_index() const noexcept { return written_index_; }
  std::uint64_t shown_index() const noexcept { return shown_index_.load(std::memory_order_relaxed); }
  /// Entries up to here are durable in the tables. From any thread.
  std::uint64_t applied_index() const noexcept { return applied_index_.load(std::memory_order_relaxed); }
  /// What is kept for others must go, or the journal fills. From any thread.
  std::size_t journal_used_percent() const { return journal_ != nullptr ? journal_->used_percent() : 0; }
  std::size_t journal_files_left() const;
  /// The oldest file of the journal is in use because of this shard.
  bool keeps_oldest_file() const { return journal_ != nullptr && journal_->get_usage().kept_by == shard_; }
  /// They come to the journal together or not at all.
  bool fits_one_append(const std::vector<log_record>& records) const;
  /// Entries above this index stay in the journal even if they are applied, for replicas that lack them. It never falls.
  void keep_above(std::uint64_t index);

  status commit(const std::vector<batch>& group) override;
  result<std::uint64_t> raise_epoch() override;
  std::unique_ptr<snapshot> read() const override;
  usage get_usage() const override;
  /// The state as of the last entry that has asked for it since the opening, once; nullopt: none has. From any thread.
  std::optional<marked_state> take_marked();
  /// The comparison for which that is not taken yet; 0: there is none. From any thread.
  std::uint64_t marks_number();
  /// The last entry of the copy of another replica's tables that was put here last; 0: none ever was. From any thread.
  std::uint64_t copied_index() const noexcept { return copied_index_.load(std::memory_order_relaxed); }

  /// The tables alone: a committed state, usually some 100 ms old. For counts, and for what reads much.
  std::unique_ptr<snapshot> read_settled() const override { return below_.read_tables(); }

  /// Brings what has been committed so far to the tables, in one transaction. From any thread.
  status apply();
  /// Everything, in as many transactions as it takes.
  status apply_all();
  /// `told` is called, on the thread that commits, after each entry.
  void on_pending(std::function<void()> told) {
    const std::lock_guard lock(commit_guard_);
    told_ = std::move(told);
  }
  /// Sequence of the last committed batch, and entries journalled since the opening. From any thread.
  std::uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }
  std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_relaxed); }
  /// The stamp of the last entry. For the thread that commits.
  std::int64_t shard_time_ms() const noexcept { return time_.last_ms(); }
  /// How far the shard's time is ahead of the wall clock; negative: behind it. Of the last entry; 0 before the first one. From any thread.
  std::int64_t ahead_ms() const noexcept { return ahead_ms_.load(std::memory_order_relaxed); }
  /// What is not applied yet.
  std::size_t unapplied_bytes() const { return over_.bytes(); }
  std::size_t unapplied_operations() const { return over_.operations(); }
  std::size_t unapplied_generations() const { return over_.view()->size(); }

 private:
  journaled_store(tables& below, journaled_options options);
  void stand_at(const entry_position& where);
  status replay_term(const journal_record& record, bool counts);
  journal_record as_journal_record(const log_record& of) const;
  status write_alone(record_type type, std::shared_ptr<const std::string> payload, std::uint64_t least_epoch = 0);
  status write_entry(const log_record& entry, std::vector<journal_record>& before);
  status show_written(const log_record& entry);
  status take(const log_record& entry, std::uint64_t group);
  status take_rows(const std::vector<operation>& rows, std::uint64_t index);
  bool is_mark(std::uint64_t index);
  void release_applied();
  status note_copy();
  std::optional<meta::clock_note> clock_to_note() const;
  status write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) override;
  std::string place() const override { return options_.place; }
  status fail(const error& why);
  status do_archive_work(const std::shared_ptr<const generation>& sealed, const std::vector<operation>& whole, batch& out);

  tables& below_;
  const journaled_options options_;
  std::uint16_t shard_ = 0;
  std::optional<journal_id> named_;
  std::optional<std::uint64_t> settled_;
  std::optional<meta::replica_identity> replica_;
  std::optional<meta::installed_copy> installed_;
  std::atomic<bool> replicated_ = false;
  journal* journal_ = nullptr;
  overlay over_;

  std::mutex commit_guard_;
  std::optional<error> failed_;                                  // after an error of the disk nothing more is written
  bool taken_ = false;                                           // the log was handed over
  bool gap_ = false;                                             // recovery lacks entries
  recovered_log log_;                                            // until then
  std::uint64_t written_index_ = 0;                              // of the last entry in the journal
  std::deque<std::pair<std::uint64_t, std::uint64_t>> written_;  // index and group of those that are not shown
  entry_position applied_;                     // of the last one that the tables had at the opening, or by an apply before attach()
  std::atomic<std::uint64_t> shown_index_{0};  // these are written under the guard
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::int64_t> ahead_ms_{0};
  std::atomic<std::uint64_t> applied_index_{0};
  std::atomic<std::uint64_t> copied_index_{0};
  std::atomic<std::uint64_t> keep_above_;
  static constexpr auto never_noted = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> clock_ahead_ms_{never_noted};  // by this process
  std::optional<meta::clock_note> noted_clock_;
  std::atomic<std::uint64_t> last_group_{0};  // of the journal that has something of this shard
  shard_time time_;
  std::string shard_state_;

  std::mutex applying_;
  std::function<void()> told_;

  std::mutex marking_;
  std::optional<marked_state> marked_;  // without the state: it is not applied yet
};

}  // namespace fairlead::store
