#include "store/journal/segment_reader.hpp"

#include <algorithm>

#include "store/failpoint.hpp"

namespace fairlead::store {

namespace {

constexpr std::size_t read_ahead_bytes = std::size_t{1} << 20;

/// The bytes of a file by offset, read in large pieces.
class window {
 public:
  explicit window(const block_file& file) : file_(file) {}

  std::uint64_t file_bytes() const { return file_.size() / journal_block_bytes * journal_block_bytes; }

  /// `offset` is that of a block, and the bytes are in the file. Valid until the next call.
  result<const char*> at(std::uint64_t offset, std::size_t bytes) {
    if (offset < begin_ || offset + bytes > end_) {
      const auto whole = (bytes + journal_block_bytes - 1) / journal_block_bytes * journal_block_bytes;
      const auto wanted = std::min<std::uint64_t>(std::max(whole, read_ahead_bytes), file_bytes() - offset);
      buffer_.reserve(static_cast<std::size_t>(wanted));
      begin_ = end_ = 0;
      if (auto done = file_.read(offset, buffer_.data(), static_cast<std::size_t>(wanted)); !done) return done.failure();
      begin_ = offset;
      end_ = offset + wanted;
    }
    return static_cast<const char*>(buffer_.data() + (offset - begin_));
  }

 private:
  const block_file& file_;
  block_buffer buffer_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

struct found_group {
  group_header header;
  std::uint64_t offset = 0;
};

class reading {
 public:
  reading(const block_file& file, const segment_header& header, const segment_header* next, std::vector<journal_damage>& damaged)
      : bytes_(file),
        header_(header),
        next_(next),
        stop_(next == nullptr ? bytes_.file_bytes() : std::min(next->previous_end, bytes_.file_bytes())),
        damaged_(damaged) {
    at_.offset = journal_block_bytes;
    at_.next_group = header.first_group;
    at_.chain = header.previous_chain;
  }

  result<segment_end> run(const group_visitor& visit) {
    bool chained = true;  // false behind damage: the chain that the next group continues is not known
    while (at_.offset < stop_) {
      auto head = bytes_.at(at_.offset, group_header_bytes);
      if (!head) return head.failure();
      const auto found = decode_group_header(*head, header_.journal);
      if (!found || !continues(*found)) {
        auto next = look_ahead(at_.offset + journal_block_bytes, at_.next_group);
        if (!next) return next.failure();
        if (!next->has_value()) {
          if (next_ != nullptr) break;
          if (failpoint("plant.tear_is_damage")) note_damage(at_.next_group, true);
          auto again = bytes_.at(at_.offset, group_header_bytes);
          if (!again) return again.failure();
          at_.torn = !zero(*again);
          return at_;
        }
        note_damage((*next)->header.group - 1, true);
        at_.offset = (*next)->offset;
        at_.next_group = (*next)->header.group;
        chained = false;
        continue;
      }
      const auto bytes = std::uint64_t{found->blocks} * journal_block_bytes;
      auto whole = bytes_.at(at_.offset, group_header_bytes + found->payload_bytes);
      if (!whole) return whole.failure();
      const std::string_view records{*whole + group_header_bytes, found->payload_bytes};
      const bool sound = all_sound(*found, records);
      const bool whole_chain =
          failpoint("plant.records_unchecked") ||
          (chained ? found->chain == group_chain(records, header_.journal, found->segment, found->group, at_.chain) : sound);
      if (!whole_chain || !sound) {
        auto next = look_ahead(at_.offset + bytes, at_.next_group);
        if (!next) return next.failure();
        if (!next->has_value() && next_ == nullptr && !whole_chain) {
          at_.torn = true;
          return at_;
        }
        note_damage(at_.next_group, !sound);
        whole = bytes_.at(at_.offset, group_header_bytes + found->payload_bytes);
        if (!whole) return whole.failure();
      }
      if (sound && !deliver({*found, at_.offset, {*whole + group_header_bytes, found->payload_bytes}}, visit)) return at_;
      chained = true;
      at_.chain = found->chain;
      at_.next_group = found->group + 1;
      at_.offset += bytes;
    }
    if (next_ != nullptr &&
        (at_.offset != next_->previous_end || at_.next_group != next_->first_group || at_.chain != next_->previous_chain)) {
      note_damage(next_->first_group - 1, true);
      at_ = {next_->previous_end, next_->first_group, next_->previous_chain, false};
    }
    return at_;
  }

 private:
  static bool zero(const char* head) {
    return std::all_of(head, head + group_header_bytes, [](char byte) { return byte == 0; });
  }

  bool ours(const group_header& found) const { return found.segment == header_.segment && found.opening == header_.opening; }
  bool continues(const group_header& found) const {
    return ours(found) && found.group == at_.next_group && at_.offset + std::uint64_t{found.blocks} * journal_block_bytes <= stop_;
  }

  /// The next group from `offset` on whose header proves that group `bad` was durable. In a segment that has a successor each group does.
  result<std::optional<found_group>> look_ahead(std::uint64_t offset, std::uint64_t bad) {
    for (; offset < stop_; offset += journal_block_bytes) {
      auto head = bytes_.at(offset, group_header_bytes);
      if (!head) return head.failure();
      const auto found = decode_group_header(*head, header_.journal);
      if (!found || !ours(*found) || found->group <= bad) continue;
      if (next_ != nullptr || found->durable >= bad) return std::optional(found_group{*found, offset});
    }
    return std::optional<found_group>{};
  }

  static bool all_sound(const group_header& found, std::string_view records) {
    for (std::uint32_t i = 0; i < found.records; ++i) {
      if (!next_record(records)) return false;
    }
    return records.empty();
  }

  bool deliver(const whole_group& group, const group_visitor& visit) {
    auto rest = group.records;
    while (const auto one = next_record(rest)) stamp_ = std::max(stamp_, one->stamp_ms);
    return visit(group);
  }

  void note_damage(std::uint64_t last_group, bool records_lost) {
    damaged_.push_back({header_.segment, at_.offset, at_.next_group, last_group, stamp_, records_lost});
  }

  window bytes_;
  const segment_header& header_;
  const segment_header* next_;
  std::uint64_t stop_;
  std::vector<journal_damage>& damaged_;
  segment_end at_;
  std::int64_t stamp_ = 0;
};

}  // namespace

result<segment_end> read_segment(const block_file& file, const segment_header& header, const segment_header* next,
                                 std::vector<journal_damage>& damaged, const group_visitor& visit) {
  return reading(file, header, next, damaged).run(visit);
}

result<bool> was_in_use(const block_file& file, const journal_id& journal, std::uint64_t segment) {
  window bytes(file);
  for (std::uint64_t offset = 2 * journal_block_bytes; offset < bytes.file_bytes(); offset += journal_block_bytes) {
    auto head = bytes.at(offset, group_header_bytes);
    if (!head) return head.failure();
    const auto found = decode_group_header(*head, journal);
    if (found && found->segment == segment) return true;
  }
  return false;
}

}  // namespace fairlead::store
