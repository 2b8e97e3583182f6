#pragma once
// The store of one shard behind the node's journal. A commit is durable in the journal when it returns; the applier brings what has
// gathered to the shard's tables behind it. Readers see both as one.
//
// An entry of the journal is one gather of batches, a new epoch, or rows of the store itself. Entries of a shard are counted by `index`,
// batches by `sequence`; the index of an epoch's entry is the epoch.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/journal/journal.hpp"
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
  /// With so many bytes not applied a commit applies them itself before it goes on.
  std::size_t most_unapplied_bytes = std::size_t{256} << 20;
};

class journaled_store final : public restorable {
 public:
  /// Reads where the tables stand. `below` outlives the store. Errors: corrupt, wrong_state (the tables are another shard's).
  static result<std::unique_ptr<journaled_store>> open(tables& below, journaled_options options);

  /// The journal that the tables name; nullopt: they were not behind a journal yet.
  const std::optional<journal_id>& journal_of_tables() const noexcept { return named_; }
  std::uint16_t shard() const noexcept { return shard_; }
  /// What the tables have of the journal.
  shard_position position() const { return {shard_, last_.index, applied_.index}; }

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
  /// Brings everything to the tables and takes them out of the journal, so that they are whole by themselves, also for releases that know
  /// no journal.
  status settle();
  /// Nothing is committed any more, and everything is applied: the tables say that they are whole.
  status note_end();
  /// Recovery is over, and commits go to `to`, which outlives the store's use. The tables take note of the journal, durably, if they have
  /// not before.
  status attach(journal& to);

  status commit(const std::vector<batch>& group) override;
  result<std::uint64_t> raise_epoch() override;
  std::unique_ptr<snapshot> read() const override;
  usage get_usage() const override;

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
  status journal_entry(journal_record entry, std::uint64_t epoch, entry_position& at);
  status append(record_type type, std::shared_ptr<std::string> payload, std::vector<operation> operations, std::uint64_t sequence,
                std::uint64_t epoch, std::string shard_state);
  void add(std::shared_ptr<std::string> bytes, std::vector<operation> operations, const entry_position& at);
  status write_meta_rows(const meta_rows& rows, std::uint64_t least_epoch) override;
  std::string place() const override { return options_.place; }
  status fail(const error& why);
  status do_archive_work(const std::shared_ptr<const generation>& sealed, const std::vector<operation>& whole, batch& out);

  tables& below_;
  const journaled_options options_;
  std::uint16_t shard_ = 0;
  std::optional<journal_id> named_;
  std::optional<std::uint64_t> settled_;
  journal* journal_ = nullptr;
  overlay over_;

  std::mutex commit_guard_;
  std::optional<error> failed_;             // after an error of the disk nothing more is written
  entry_position last_;                     // of the last entry in the journal
  entry_position applied_;                  // of the last one that the tables had at the opening, or by an apply before attach()
  std::atomic<std::uint64_t> sequence_{0};  // written under the guard
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::int64_t> ahead_ms_{0};
  shard_time time_;
  std::uint64_t epoch_ = 0;
  std::string shard_state_;

  std::mutex applying_;
  std::function<void()> told_;
};

}  // namespace fairlead::store
