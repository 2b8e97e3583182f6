#include "store/journal/recovery.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "messages/time.hpp"
#include "store/integers.hpp"
#include "store/journal/payloads.hpp"

namespace fairlead::store {

namespace {

constexpr std::string_view segment_suffix = ".seg";
constexpr std::size_t number_digits = 16;
constexpr const char* restore_remedy = "Restore the node from a backup.";

struct segment_file {
  std::uint64_t number = 0;
  std::unique_ptr<block_file> file;
  segment_header header;
};

error inconsistent(const std::string& path, const std::string& what) {
  return {v1::ERROR_CODE_CORRUPT, "The journal " + path + " is damaged: " + what, restore_remedy};
}

bool is_being_removed(const std::vector<std::string>& names) { return std::find(names.begin(), names.end(), removing_name) != names.end(); }

class recovery {
 public:
  recovery(journal_files& files, const std::optional<journal_id>& expected, const record_visitor& visit)
      : files_(files), expected_(expected), visit_(visit) {}

  result<std::optional<recovered_journal>> run() {
    if (auto listed = list(); !listed) return listed.failure();
    if (segments_.empty()) return std::optional<recovered_journal>{};
    out_.id = segments_.back().header.journal;
    if (auto consistent = check_order(); !consistent) return consistent.failure();
    if (auto needed = leave_out_retired(); !needed) return needed.failure();
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      if (auto done = read(i); !done) return done.failure();
    }
    out_.last_segment = segments_.back().number;
    // A journal ends cleanly once everything is applied.
    for (auto& [shard, log] : out_.shards)
      if (out_.closed) log.applied_index = log.last_index;
    return std::optional(std::move(out_));
  }

 private:
  status list() {
    auto names = files_.list();
    if (!names) return names.failure();
    if (is_being_removed(*names)) return nothing{};
    std::sort(names->begin(), names->end());  // the numbers have as many digits each
    for (const auto& name : *names) {
      if (name.ends_with(".tmp")) out_.retired.push_back(name);
      const auto number = segment_number(name);
      if (!number) continue;
      if (auto taken = take(name, *number); !taken) return taken;
    }
    return nothing{};
  }

  status take(const std::string& name, std::uint64_t number) {
    auto file = files_.open(name);
    if (!file) return file.failure();
    block_buffer head(journal_block_bytes);
    std::optional<segment_header> header;
    bool newer = false;
    if ((*file)->size() >= journal_block_bytes) {
      if (auto got = (*file)->read(0, head.data(), head.size()); !got) return got;
      header = decode_segment_header(head.data(), &newer);
    }
    if (newer) {
      return error{v1::ERROR_CODE_STORE_NEWER, "The journal " + files_.path() + " was written by a later release (file " + name + ").",
                   "Run the release that wrote it, or a later release."};
    }
    if (header && header->segment == number) {
      if (expected_ && !(header->journal == *expected_)) {
        return error{v1::ERROR_CODE_WRONG_STATE, "The journal " + files_.path() + " belongs to another store (file " + name + ").",
                     "Give the node the journal that it wrote, or restore it from a backup."};
      }
      if ((*file)->size() != header->file_bytes) {
        return inconsistent(files_.path(), name + " has " + std::to_string((*file)->size()) + " of the " +
                                               std::to_string(header->file_bytes) + " bytes that it should have.");
      }
      if (!out_.staged.empty())
        return inconsistent(files_.path(), "the header of " + out_.staged.back() + ", which precedes " + name + ", is damaged.");
      segments_.push_back({number, std::move(*file), std::move(*header)});
      return nothing{};
    }
    // Only the first of the staged files can have been begun; whatever follows one that was has a sound header.
    const auto known = segments_.empty() ? expected_ : std::optional(segments_.back().header.journal);
    if (known && out_.staged.empty()) {
      const auto used = was_in_use(**file, *known, number);
      if (!used) return used.failure();
      if (*used) return inconsistent(files_.path(), "the header of " + name + " does not check, and groups follow it.");
    }
    out_.staged.push_back(name);
    return nothing{};
  }

  status check_order() const {
    for (const auto& one : segments_) {
      if (!(one.header.journal == out_.id))
        return inconsistent(files_.path(), segment_name(one.number) + " belongs to another journal than its neighbour.");
    }
    return nothing{};
  }

  /// Finds the newest checkpoint and retires the segments that it does not need.
  status leave_out_retired() {
    std::uint64_t needed = 0;
    for (auto it = segments_.rbegin(); it != segments_.rend() && needed == 0; ++it) {
      std::vector<journal_damage> ignored;
      const auto* next = it == segments_.rbegin() ? nullptr : &(it - 1)->header;
      auto end = read_segment(*it->file, it->header, next, ignored, [&](const whole_group& first) {
        auto rest = first.records;
        const auto record = next_record(rest);
        const auto found = record && record->type == record_type::checkpoint ? decode_checkpoint(record->payload) : std::nullopt;
        if (found) needed = found->first_needed_segment;
        return false;
      });
      if (!end) return end.failure();
    }
    auto first = segments_.begin();
    while (first != segments_.end() - 1 && first->number < needed) out_.retired.push_back(segment_name((first++)->number));
    segments_.erase(segments_.begin(), first);
    if (needed != 0 && segments_.front().number > needed)
      return inconsistent(files_.path(), "the segment " + segment_name(needed) + " is missing.");
    for (std::size_t i = 1; i < segments_.size(); ++i) {
      const auto expected = segments_[i].header.previous_segment;
      if (expected != segments_[i - 1].number) return inconsistent(files_.path(), "the segment " + segment_name(expected) + " is missing.");
    }
    return nothing{};
  }

  status read(std::size_t at) {
    const auto& from = segments_[at];
    const auto* next = at + 1 < segments_.size() ? &segments_[at + 1].header : nullptr;
    used_segment used;
    used.number = from.number;
    used.bytes = from.file->size();
    status stopped = nothing{};
    bool first = at == 0;
    // What one opening has begun no other goes on with.
    if (at > 0 && from.header.opening != segments_[at - 1].header.opening) parts_.clear();
    auto end = read_segment(*from.file, from.header, next, out_.damages, [&](const whole_group& group) {
      auto rest = group.records;
      while (stopped.ok()) {
        const auto record = next_record(rest);
        if (!record) break;
        stopped = take(*record, group.header.group, first, used);
        first = false;
      }
      return stopped.ok();
    });
    if (!end) return end.failure();
    if (!stopped) return stopped;
    out_.used.push_back(std::move(used));
    out_.end = *end;
    if (next == nullptr) return from.file->settle(out_.end.offset);
    return nothing{};
  }

  status take(const journal_record& record, std::uint64_t group, bool first, used_segment& used) {
    if (!record.known) {
      return error{v1::ERROR_CODE_STORE_NEWER,
                   "The journal " + files_.path() + " has a record of type " + std::to_string(static_cast<unsigned>(record.type)) + " in " +
                       segment_name(used.number) + ", which this release does not know.",
                   "Run the release that wrote it, or a later release."};
    }
    out_.closed = record.type == record_type::close;
    if (record.type == record_type::checkpoint) {
      const auto head = decode_checkpoint(record.payload);
      if (!head) return inconsistent(files_.path(), "the checkpoint of " + segment_name(used.number) + " is unreadable.");
      for (const auto& one : head->shards) {
        auto& log = out_.shards[one.shard];
        log.applied_index = one.applied_index;
        // A shard that has joined since begins here, and so does one that has come back with tables that have more than the journal.
        const bool came_back = one.last_index > log.last_index && one.applied_index == one.last_index;
        if (!first && log.first_index != 0 && !came_back) continue;
        log.gaps.clear();
        log.first_index = one.last_index + 1;
        log.last_index = one.last_index;
      }
    }
    if (record.type == record_type::base) {
      auto& log = out_.shards[record.shard];
      // The log that it replaces may have been longer, and its head may be gone.
      log.first_index = log.first_index == 0 ? record.index + 1 : std::min(log.first_index, record.index + 1);
      log.last_index = record.index;
      log.standing.take(record);
      forget_behind(record.index, record.shard, used);
    }
    if (record.type == record_type::cut) cut(record, used);
    if (record.type == record_type::cut || record.type == record_type::hard || record.type == record_type::standing) {
      if (!out_.shards[record.shard].standing.take(record))
        return inconsistent(files_.path(), "a record about the term of shard " + std::to_string(record.shard) + " is unreadable.");
    }
    if (is_entry(record.type)) {
      auto& log = out_.shards[record.shard];
      used.last_index[record.shard] = record.index;
      if (record.more_follows || record.continues) return take_part(record, group, log);
      log.standing.take(record);
      // A checkpoint says where the entries begin, also if that is the first one of all.
      if (log.first_index == 0)
        log.first_index = record.index;
      else if (record.index != log.last_index + 1)
        log.gaps.push_back({log.last_index + 1, record.index - 1, group});
      log.last_index = record.index;
      log.last_group = group;
      log.last_stamp_ms = record.stamp_ms;
    }
    return visit_(record, group);
  }

  void cut(const journal_record& record, used_segment& used) {
    auto& log = out_.shards[record.shard];
    const auto last = record.index - 1;
    log.last_index = std::min(log.last_index, last);
    if (log.first_index != 0) log.first_index = std::min(log.first_index, record.index);
    forget_behind(last, record.shard, used);
  }

  /// What is void is not missing.
  void forget_behind(std::uint64_t last, std::uint16_t shard, used_segment& used) {
    auto& gaps = out_.shards[shard].gaps;
    std::erase_if(gaps, [&](const auto& gap) { return gap.from > last; });
    for (auto& gap : gaps) gap.to = std::min(gap.to, last);
    parts_.erase(shard);
    for (auto& one : out_.used) one.cut(shard, last);
    used.cut(shard, last);
  }

  /// Puts the parts of a large entry together. An entry that lacks one is missing.
  status take_part(const journal_record& record, std::uint64_t group, shard_log& log) {
    auto& parts = parts_[record.shard];
    if (!record.continues) parts = {record.index, 0, {}};
    const bool has_number = record.payload.size() >= part_number_bytes;
    const bool in_order =
        has_number && parts.index == record.index && read_little_endian<std::uint32_t>(record.payload.data()) == parts.count;
    if (in_order) {
      ++parts.count;
      parts.payload += record.payload.substr(part_number_bytes);
      if (record.more_follows) return nothing{};
      auto whole = record;
      whole.more_follows = whole.continues = false;
      const auto payload = std::exchange(parts, {}).payload;
      whole.payload = payload;
      used_segment ignored;
      return take(whole, group, false, ignored);
    }
    parts = {};
    if (record.more_follows) return nothing{};
    log.gaps.push_back({record.index, record.index, group});
    log.last_index = std::max(log.last_index, record.index);
    log.last_group = group;
    return nothing{};
  }

  struct entry_parts {
    std::uint64_t index = 0;
    std::uint32_t count = 0;
    std::string payload;
  };

  journal_files& files_;
  const std::optional<journal_id>& expected_;
  const record_visitor& visit_;
  std::vector<segment_file> segments_;
  std::map<std::uint16_t, entry_parts> parts_;
  recovered_journal out_;
};

}  // namespace

std::string segment_name(std::uint64_t number) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out(number_digits, '0');
  for (std::size_t i = number_digits; number != 0; number >>= 4) out[--i] = digits[number & 15];
  return out.append(segment_suffix);
}

std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (name.size() != number_digits + segment_suffix.size() || !name.ends_with(segment_suffix)) return std::nullopt;
  std::uint64_t out = 0;
  const auto* end = name.data() + number_digits;
  const auto read = std::from_chars(name.data(), end, out, 16);
  if (read.ec != std::errc{} || read.ptr != end || out == 0) return std::nullopt;
  return out;
}

namespace {

/// Each file of a journal that is there, in order, until `visit(number, its first block)` returns false. Error: disk.
template <class Visitor>
status for_each_head(journal_files& files, const Visitor& visit) {
  const auto names = files.list();
  if (!names) return names.failure();
  if (is_being_removed(*names)) return nothing{};
  block_buffer head(journal_block_bytes);
  for (const auto& name : *names) {
    const auto number = segment_number(name);
    if (!number) continue;
    auto file = files.open(name);
    if (!file) return file.failure();
    if ((*file)->size() < head.size()) continue;
    if (auto got = (*file)->read(0, head.data(), head.size()); !got) return got.failure();
    if (!visit(*number, head)) break;
  }
  return nothing{};
}

}  // namespace

result<std::optional<journal_id>> find_journal_id(journal_files& files) {
  std::optional<journal_id> out;
  const auto read = for_each_head(files, [&](std::uint64_t number, const block_buffer& head) {
    const auto header = decode_segment_header(head.data());
    if (header && header->segment == number) out = header->journal;
    return !out;
  });
  return read ? result<std::optional<journal_id>>{out} : read.failure();
}

result<bool> has_unreadable_segment(journal_files& files) {
  bool out = false;
  const auto read = for_each_head(files, [&](std::uint64_t, const block_buffer& head) {
    const bool is_written = std::any_of(head.data(), head.data() + head.size(), [](auto byte) { return byte != 0; });
    out = is_written && !decode_segment_header(head.data());
    return !out;
  });
  return read ? result<bool>{out} : read.failure();
}

result<std::optional<recovered_journal>> recover_journal(journal_files& files, const std::optional<journal_id>& expected,
                                                         const record_visitor& visit) {
  return recovery(files, expected, visit).run();
}

std::string words_of(std::uint16_t shard, const shard_log::gap& gap) {
  return "entries " + std::to_string(gap.from) + " to " + std::to_string(gap.to) + " of shard " + std::to_string(shard) +
         " are missing before group " + std::to_string(gap.group);
}

std::string time_before(const journal_damage& what) {
  return what.last_good_stamp_ms == 0 ? "" : " (the last good record before it is of " + format_utc(what.last_good_stamp_ms) + ")";
}

std::string place_of(const journal_damage& what) {
  return "group " + std::to_string(what.group) + " in " + segment_name(what.segment) + " at offset " + std::to_string(what.offset);
}

namespace {

/// What says that these entries are gone, where they were, and how old the last good record before them is.
std::string missing_entries(const recovered_journal& journal, std::uint16_t shard, const shard_log::gap& gap) {
  auto out = "the " + words_of(shard, gap);
  const journal_damage* cause = nullptr;
  for (const auto& one : journal.damages)
    if (one.records_lost && one.group <= gap.group) cause = &one;
  return cause != nullptr ? out + ": " + place_of(*cause) + " is unreadable" + time_before(*cause) + "." : out + ".";
}

}  // namespace

status check_shard_log(const recovered_journal& journal, const std::string& path, std::uint16_t shard, const entry_position& applied) {
  const auto found = journal.shards.find(shard);
  const auto log = found == journal.shards.end() ? shard_log{} : found->second;
  const auto of_shard = " of shard " + std::to_string(shard);
  const auto last_group = journal.end.next_group - 1;
  if (applied.group > last_group || applied.index > log.last_index) {
    return error{v1::ERROR_CODE_CORRUPT,
                 "The journal " + path + " ends before what the store" + of_shard + " has already applied (entry " +
                     std::to_string(applied.index) + ", group " + std::to_string(applied.group) + "): its last file is missing or older.",
                 restore_remedy};
  }
  const bool head_lost = !journal.damages.empty() && journal.damages.front().records_lost;
  if (log.first_index != 0 && applied.index + 1 < log.first_index && head_lost) {
    return inconsistent(path, missing_entries(journal, shard, {applied.index + 1, log.first_index - 1, log.last_group}));
  }
  if (log.first_index != 0 && applied.index + 1 < log.first_index) {
    // Of a shard that other nodes hold, too, they have what is missing, and the node can get it from them.
    const bool others_have_it = !log.standing.members().empty();
    return error{others_have_it ? v1::ERROR_CODE_CORRUPT : v1::ERROR_CODE_WRONG_STATE,
                 "The store" + of_shard + " is older than the journal " + path + ": it has entries up to " + std::to_string(applied.index) +
                     ", and the journal begins at " + std::to_string(log.first_index) + ".",
                 "Give the node the data file that belongs to this journal, or restore it from a backup."};
  }
  for (const auto& gap : log.gaps) {
    if (gap.to <= applied.index) continue;
    return inconsistent(path, missing_entries(journal, shard, gap));
  }
  for (const auto& damage : journal.damages) {
    const bool before_known = damage.last_group >= damage.group && damage.last_group <= std::max(log.last_group, applied.group);
    if (!damage.records_lost || before_known) continue;
    return inconsistent(path, place_of(damage) + " is unreadable, and entries" + of_shard + " behind " +
                                  std::to_string(std::max(log.last_index, applied.index)) + " may have been in it" + time_before(damage) +
                                  ".");
  }
  return nothing{};
}

}  // namespace fairlead::store
