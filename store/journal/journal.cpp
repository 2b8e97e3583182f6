#include "store/journal/journal.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "store/failpoint.hpp"

namespace fairlead::store {

namespace {

// A group and the head of a new segment together take at most a quarter of a segment.
std::size_t most_of_a_group(std::uint64_t segment_bytes, std::size_t shards) {
  const auto standings = shards * record_bytes(max_standing_bytes);
  const auto head = blocks_of_group(record_bytes(max_checkpoint_bytes) + standings) * journal_block_bytes;
  return static_cast<std::size_t>(std::min<std::uint64_t>(segment_bytes / 4, max_group_bytes)) - head;
}

error no_room_to_end(const std::string& path) {
  return {v1::ERROR_CODE_STORE_FULL, "The journal " + path + " has no room to note its end.",
          "Nothing is lost. Make room on the disk and start the node again."};
}

}  // namespace

journal::journal(journal_files& files, journal_options options)
    : files_(files), options_(std::move(options)), pool_(files, options_.segment_bytes) {}

result<std::unique_ptr<journal>> journal::open(journal_files& files, std::optional<recovered_journal> found,
                                               const std::vector<shard_position>& shards, journal_options options) {
  std::unique_ptr<journal> out(new journal(files, std::move(options)));
  out->opening_ = out->options_.random();
  for (const auto& one : shards) out->positions_[one.shard] = one;
  if (found) {
    out->id_ = found->id;
    out->next_group_ = found->end.next_group;
    out->durable_ = found->end.next_group - 1;
    out->chain_ = found->end.chain;
    out->offset_ = found->end.offset;
    out->header_.segment = found->last_segment;
    out->used_.assign(std::make_move_iterator(found->used.begin()), std::make_move_iterator(found->used.end()));
    for (const auto& [shard, log] : found->shards) {
      // What the tables of a shard say goes before what the journal has heard of them: they may be older.
      const bool has_tables = out->positions_.count(shard) != 0;
      auto& position = out->positions_[shard];
      position.shard = shard;
      position.last_index = std::max(position.last_index, log.last_index);
      if (!has_tables) position.applied_index = log.applied_index;
      out->standings_[shard] = log.standing;
    }
    if (auto adopted = out->pool_.adopt(found->staged, found->retired); !adopted) return adopted.failure();
  } else {
    out->id_ = {out->options_.random(), out->options_.random()};
  }
  out->max_append_bytes_ = most_of_a_group(out->options_.segment_bytes, out->positions_.size());
  // Nothing is written behind a recovered end: the next segment states where that end was, so what lies behind it can never come back.
  if (auto begun = out->append({}); !begun) return begun.failure();
  return out;
}

result<std::uint64_t> journal::append(const std::vector<journal_record>& records) {
  ticket mine;
  mine.records = &records;
  for (const auto& one : records) mine.bytes += record_bytes(one.payload.size());
  if (mine.bytes > max_append_bytes_) {
    return error{v1::ERROR_CODE_INTERNAL,
                 "One append of " + std::to_string(mine.bytes) + " bytes does not fit the journal, which takes " +
                     std::to_string(max_append_bytes_) + " at once.",
                 "This is a bug; report it."};
  }
  std::unique_lock lock(guard_);
  queue_.push_back(&mine);
  // After a failure the leader may still read the records that it has taken.
  while (!mine.done && (mine.taken || !failed_)) {
    if (writing_) {
      turn_.wait(lock);
    } else {
      lead(lock);
    }
  }
  if (!mine.done) {
    queue_.erase(std::remove(queue_.begin(), queue_.end(), &mine), queue_.end());
    return *failed_;
  }
  return mine.group;
}

/// Writes one group of what waits. Holds the lock at its begin and end, not during the write.
void journal::lead(std::unique_lock<std::mutex>& lock) {
  writing_ = true;
  std::vector<ticket*> taken;
  std::size_t bytes = 0;
  while (!queue_.empty() && (taken.empty() || bytes + queue_.front()->bytes <= max_append_bytes_)) {
    taken.push_back(queue_.front());
    taken.back()->taken = true;
    bytes += queue_.front()->bytes;
    queue_.pop_front();
  }
  lock.unlock();
  std::uint64_t group = 0;
  auto written = write(taken, group);
  lock.lock();
  writing_ = false;
  if (written.ok()) {
    wrote(taken);
    for (auto* one : taken) {
      one->group = group;
      one->done = true;
    }
  } else if (!failed_) {
    failed_ = written.failure();
  }
  for (auto* one : taken) one->taken = false;
  turn_.notify_all();
}

/// Notes the entries of a group that is durable now. The caller holds the lock.
void journal::wrote(const std::vector<ticket*>& what) {
  for (const auto* one : what) {
    for (const auto& record : *one->records) {
      if (record.type == record_type::hard) standings_[record.shard].take(record);
      if (record.type == record_type::cut) cut(record);
      if (record.type == record_type::base) begin_anew(record);
      if (!is_entry(record.type)) continue;
      used_.back().last_index[record.shard] = record.index;
      if (record.more_follows) continue;
      if (const auto standing = standings_.find(record.shard); standing != standings_.end()) standing->second.take(record);
      auto& position = positions_[record.shard];
      position.shard = record.shard;
      position.last_index = record.index;
    }
  }
}

/// What is void is waited for by nobody. The caller holds the lock.
void journal::cut(const journal_record& what) {
  standings_[what.shard].take(what);
  positions_[what.shard].last_index = what.index - 1;
  for (auto& one : used_) one.cut(what.shard, what.index - 1);
}

/// What was before it is in the tables, or void. The caller holds the lock.
void journal::begin_anew(const journal_record& what) {
  if (const auto standing = standings_.find(what.shard); standing != standings_.end()) standing->second.take(what);
  auto& position = positions_[what.shard];
  position.shard = what.shard;
  position.last_index = what.index;
  for (auto& one : used_) one.cut(what.shard, what.index);
}

/// Whether the current segment has room for a group of these records.
bool journal::fits(std::size_t payload_bytes) const {
  return current_ != nullptr && offset_ + std::uint64_t{blocks_of_group(payload_bytes)} * journal_block_bytes <= current_->size();
}

/// Writes the records as one group, in a new segment if the current one has no room. Only the leader calls it, without the lock.
status journal::write(const std::vector<ticket*>& what, std::uint64_t& group) {
  std::size_t payload = 0;
  std::uint32_t records = 0;
  for (const auto* one : what) {
    payload += one->bytes;
    records += static_cast<std::uint32_t>(one->records->size());
  }
  segment_head head;
  std::string positions;
  const bool nothing_new = records == 0;
  const bool fresh = !fits(payload);
  if (fresh) {
    std::unique_lock lock(guard_);
    auto begun = begin_segment(lock);
    if (!begun) return begun.failure();
    head = std::move(*begun);
    positions = encode_checkpoint(head.positions);
    payload += record_bytes(positions.size());
    for (const auto& one : head.standings) payload += record_bytes(one.payload.size());
    records += 1 + static_cast<std::uint32_t>(head.standings.size());
  }
  group = next_group_;
  const std::size_t begin = fresh ? journal_block_bytes : 0;
  const auto blocks = blocks_of_group(payload);
  const auto bytes = begin + std::size_t{blocks} * journal_block_bytes;
  if (payload > max_group_bytes || offset_ - begin + bytes > current_->size()) {
    return error{v1::ERROR_CODE_INTERNAL,
                 "A group of " + std::to_string(bytes) + " bytes does not fit its segment in " + files_.path() + ".",
                 "This is a bug; report it."};
  }
  buffer_.reserve(std::max<std::size_t>(bytes, std::size_t{1} << 18));
  auto* const group_at = buffer_.data() + begin;
  auto* at = group_at + group_header_bytes;
  const auto put = [&at](const journal_record& one) {
    encode_record(one, at);
    at += record_bytes(one.payload.size());
  };
  if (fresh) {
    encode_segment_header(header_, buffer_.data());
    journal_record first;
    first.type = record_type::checkpoint;
    first.stamp_ms = header_.begun_unix_ms;
    first.payload = positions;
    put(first);
    for (const auto& one : head.standings) put(one);
  }
  for (const auto* one : what) {
    for (const auto& record : *one->records) put(record);
  }
  std::memset(at, 0, static_cast<std::size_t>(buffer_.data() + bytes - at));
  group_header header;
  header.blocks = blocks;
  header.segment = header_.segment;
  header.group = group;
  header.durable = failpoint("plant.durable_stands_still") ? 0 : durable_;
  header.opening = opening_;
  header.payload_bytes = static_cast<std::uint32_t>(payload);
  header.records = records;
  header.chain = group_chain({group_at + group_header_bytes, payload}, id_, header_.segment, group, chain_);
  encode_group_header(header, id_, group_at);
  {
    const std::lock_guard lock(guard_);
    ++usage_.begun;
  }
  if (failpoint("journal.before_write")) return failpoint_error("journal.before_write");
  if (!failpoint("plant.ack_before_write")) {
    auto written = current_->write(offset_ - begin, buffer_.data(), bytes);
    if (!written && failpoint("plant.write_again")) written = current_->write(offset_ - begin, buffer_.data(), bytes);
    if (!written) return written;
  }
  if (failpoint("journal.after_write")) return failpoint_error("journal.after_write");
  offset_ += bytes - begin;
  chain_ = header.chain;
  durable_ = next_group_++;
  last_was_empty_ = nothing_new;
  const std::lock_guard lock(guard_);
  ++usage_.groups;
  last_group_ = group;
  usage_.written_bytes += bytes;
  if (fresh) {
    // The checkpoint that does not need them is durable now.
    for (; used_.front().number < head.positions.first_needed_segment; used_.pop_front())
      pool_.retire(used_.front().number, used_.front().bytes == options_.segment_bytes);
  }
  return nothing{};
}

/// The checkpoint of the next segment lets the oldest file go. The caller holds the lock.
bool journal::next_frees_one() const { return first_needed() > used_.front().number; }

/// Whether the next segment can be begun now. At the opening it is begun in any case: nothing can be applied yet. The caller holds the lock.
bool journal::may_begin_segment() const {
  if (current_ == nullptr) return true;
  // With the last file a checkpoint has to come that frees one, else there would never be another.
  const std::size_t needed = next_frees_one() ? 1 : 2;
  return (needed == 1 || used_.size() + 1 < options_.most_segments()) && (!crowded_ || pool_.staged() >= needed);
}

/// Takes the file of the next segment. Waits while all files are in use and none may be added.
result<journal::segment_head> journal::begin_segment(std::unique_lock<std::mutex>& lock) {
  const auto number = header_.segment + 1;
  segment_head head;
  for (;;) {
    waits_ = true;
    room_.wait(lock, [&] { return failed_ || closing_ || may_begin_segment(); });
    waits_ = false;
    if (failed_) return *failed_;
    if (closing_ && !may_begin_segment()) return no_room_to_end(files_.path());
    head.positions.first_needed_segment = first_needed();
    head.positions.shards.clear();
    for (const auto& [shard, position] : positions_) head.positions.shards.push_back(position);
    const bool takes_the_last = current_ != nullptr && !next_frees_one() && pool_.staged() < 2;
    lock.unlock();
    auto ready = takes_the_last ? pool_.stage_at_once(2) : status(nothing{});
    auto file = ready ? pool_.take(number) : result<std::unique_ptr<block_file>>(ready.failure());
    lock.lock();
    if (file) {
      current_ = std::move(*file);
      break;
    }
    if (current_ == nullptr || file.failure().code != v1::ERROR_CODE_STORE_FULL) return file.failure();
    crowded_ = true;
  }
  header_.previous_segment = header_.segment;
  header_.previous_end = header_.segment == 0 ? 0 : offset_;
  header_.previous_chain = chain_;
  header_.segment = number;
  offset_ = journal_block_bytes;
  header_.journal = id_;
  header_.opening = opening_;
  header_.file_bytes = current_->size();
  header_.first_group = next_group_;
  header_.begun_unix_ms = options_.now_unix_ms();
  header_.release = options_.release;
  used_segment used;
  used.number = header_.segment;
  used.bytes = current_->size();
  used_.push_back(std::move(used));
  // Nobody has written since the file was taken: this thread is the leader.
  for (const auto& [shard, standing] : standings_) {
    if (standing.known()) head.standings.push_back(standing.record(shard, head.payloads.emplace_back()));
  }
  lock.unlock();
  return head;
}

/// The oldest segment with an entry that some shard has not applied, and the shard; nullopt: there is none. The caller holds the lock.
std::optional<journal::keeper> journal::find_keeper() const {
  for (const auto& one : used_) {
    for (const auto& [shard, last_index] : one.last_index) {
      const auto at = positions_.find(shard);
      if (at == positions_.end() || at->second.applied_index < last_index) return keeper{one.number, shard};
    }
  }
  return std::nullopt;
}

/// The oldest segment that is kept; none: the one that comes next. The caller holds the lock.
std::uint64_t journal::first_needed() const {
  if (failpoint("plant.recycle_unapplied") && !used_.empty()) return used_.back().number;
  if (const auto keeper = find_keeper()) return keeper->segment;
  return used_.empty() ? 1 : used_.back().number + 1;
}

void journal::applied(std::uint16_t shard, std::uint64_t index) {
  const std::lock_guard lock(guard_);
  auto& position = positions_[shard];
  position.shard = shard;
  position.applied_index = std::max(position.applied_index, index);
  if (const auto standing = standings_.find(shard); standing != standings_.end()) standing->second.settled(index);
  room_.notify_all();
}

void journal::fail(const error& why) {
  const std::lock_guard lock(guard_);
  if (!failed_) failed_ = why;
  room_.notify_all();
  turn_.notify_all();
}

status journal::stage(std::size_t segments) {
  {
    const std::lock_guard lock(guard_);
    // On a disk without room a file more has to be tried, or nobody would know that there is room again.
    segments = std::max<std::size_t>(segments, used_.size() > 1 && !crowded_ ? 1 : 2);
  }
  const auto done = pool_.stage(segments);
  const bool crowded = !done && done.failure().code == v1::ERROR_CODE_STORE_FULL;
  {
    const std::lock_guard lock(guard_);
    crowded_ = crowded;
  }
  room_.notify_all();
  return crowded ? status(nothing{}) : done;
}

status journal::seal() {
  static const std::vector<journal_record> none;
  ticket mine;
  mine.records = &none;
  std::unique_lock lock(guard_);
  // In a segment of its own the group would wait for room, and everybody else behind it.
  if (failed_ || writing_ || !queue_.empty() || last_was_empty_ || !fits(0)) return nothing{};
  queue_.push_back(&mine);
  lead(lock);
  return mine.done ? status(nothing{}) : *failed_;
}

status journal::close() {
  {
    const std::lock_guard lock(guard_);
    closing_ = true;
    room_.notify_all();
  }
  journal_record last;
  last.type = record_type::close;
  last.stamp_ms = options_.now_unix_ms();
  auto done = append({last});
  return done ? status(nothing{}) : done.failure();
}

journal_usage journal::get_usage() const {
  const std::lock_guard lock(guard_);
  auto out = usage_;
  out.segments = used_.size();
  out.most_segments = options_.most_segments();
  if (const auto keeper = find_keeper(); keeper && keeper->segment == used_.front().number) out.kept_by = keeper->shard;
  out.staged = pool_.staged();
  out.crowded = crowded_;
  out.waits = waits_;
  out.file_steps_begun = pool_.steps_begun();
  out.file_steps_ended = pool_.steps_ended();
  return out;
}

journal::end_of_log journal::log_end(std::uint16_t shard) const {
  const std::lock_guard lock(guard_);
  const auto found = standings_.find(shard);
  return found == standings_.end() ? end_of_log{} : end_of_log{found->second.last_index(), found->second.last_term()};
}

std::uint64_t journal::last_group() const {
  const std::lock_guard lock(guard_);
  return last_group_;
}

std::size_t journal::used_percent() const {
  const std::lock_guard lock(guard_);
  return static_cast<std::size_t>(100 * used_.size() / options_.most_segments());
}

std::size_t journal::files_left() const {
  const std::lock_guard lock(guard_);
  const std::size_t most = options_.most_segments();
  return most - std::min<std::size_t>(used_.size(), most);
}

std::size_t journal::waiting() const {
  const std::lock_guard lock(guard_);
  return queue_.size();
}

}  // namespace fairlead::store
