#include "store/disk/disk_stores.hpp"

#include <utility>

#include "messages/ids.hpp"
#include "messages/time.hpp"
#include "store/disk/working_mark.hpp"
#include "store/journal/disk_files.hpp"

namespace fairlead::store {

result<std::unique_ptr<disk_stores>> disk_stores::open(disk_stores_options options) {
  std::unique_ptr<disk_stores> out(new disk_stores);
  std::vector<journaled_stores::member> members;
  for (const auto& one : options.shards) {
    if (auto own = check_not_copied(one.directory); !own) return own.failure();
    auto opened = lmdb_store::open({one.directory, options.max_bytes, false}, true);
    if (!opened) return opened.failure();
    // A store under the wrong number would look damaged beside the journal.
    if (const auto known = (*opened)->known_shard(one.number, options.shard_count); !known) return known.failure();
    (*opened)->on_other_file([directory = one.directory](const std::string& that_in) {
      mark_working(directory, that_in != directory ? that_in : std::string{});
    });
    out->archives_.push_back(std::make_shared<archive>(archives_in(one.directory)));
    members.push_back({one.number, one.directory, opened->get(), out->archives_.back().get(), one.replicated, options.reads});
    out->tables_.push_back(std::move(*opened));
  }
  auto files = disk_files::in(options.journal);
  if (!files) return files.failure();
  out->direct_ = (*files)->direct();
  journal_options of_journal;
  of_journal.segment_bytes = options.segment_bytes;
  of_journal.max_bytes = options.journal_max_bytes;
  of_journal.release = options.release;
  of_journal.now_unix_ms = now_unix_ms;
  of_journal.boot_ms = now_boot_ms;
  of_journal.random = random_bits;
  of_journal.check_found = options.check_journal;
  auto joined = journaled_stores::open(std::move(*files), members, std::move(of_journal));
  if (!joined) return joined.failure();
  out->joined_ = std::move(*joined);
  for (const auto& one : options.shards) mark_working(one.directory);
  out->options_ = std::move(options);
  return out;
}

disk_stores::~disk_stores() = default;

void disk_stores::begin_applying(applier::fatal on_fatal, applier::note on_note, applier::fatal on_hung) {
  applier_.emplace(*joined_, applier_options{}, std::move(on_fatal), std::move(on_note), std::move(on_hung));
}

status disk_stores::close() {
  applier_.reset();
  if (auto closed = joined_->close(); !closed) return closed;
  for (const auto& one : tables_) remove_working_mark(one->directory());
  return nothing{};
}

void disk_stores::describe(std::size_t place, v1::StoreStatus& out) const {
  const auto& store = joined_->at(place);
  const auto usage = store.get_usage();
  out.set_path(directory(place));
  out.set_used_bytes(usage.used_bytes);
  out.set_max_bytes(usage.max_bytes);
  out.set_sequence(store.sequence());
  out.set_commits(store.commits());
  out.set_unapplied_bytes(store.unapplied_bytes());
  out.set_shard_time_ahead_ms(store.ahead_ms());
  auto& journal = *out.mutable_journal();
  const auto written = joined_->log().get_usage();
  journal.set_path(options_.journal);
  journal.set_direct(direct_);
  journal.set_segment_bytes(options_.segment_bytes);
  journal.set_segments(written.segments);
  journal.set_most_segments(written.most_segments);
  if (written.kept_by) journal.set_kept_by_shard(*written.kept_by);
  journal.set_spare_segments(written.staged);
  journal.set_groups(written.groups);
  journal.set_written_bytes(written.written_bytes);
}

}  // namespace fairlead::store
