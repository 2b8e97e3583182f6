#pragma once
// Where the log of a shard stands: what a reader that begins at a segment has to know of what lies before it. Shards without a term have
// none: nobody but their node has ever written to them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "store/journal/format.hpp"

namespace fairlead::store {

/// The record of type `standing`: index, term and stamp are those of the last entry. Its payload:
///   u64 term of the replica | u64 its vote | v1::ShardMembers of the last entry of type members; empty: there was none
class log_standing {
 public:
  /// A record of the shard, in the order of the journal. False: it is one of these types and cannot be read.
  bool take(const journal_record& what);
  /// Entries up to here are never cut.
  void settled(std::uint64_t index);

  /// False: nothing to say.
  bool known() const noexcept { return term_ != 0; }
  /// The record. Its payload is a view of `payload`.
  journal_record record(std::uint16_t shard, std::string& payload) const;

  /// Of the log's last entry.
  std::uint64_t last_index() const noexcept { return last_index_; }
  std::uint64_t last_term() const noexcept { return last_term_; }
  std::uint64_t term() const noexcept { return term_; }
  std::uint64_t vote() const noexcept { return vote_; }
  /// Of the last entry of type members; empty: there was none.
  std::string_view members() const noexcept { return members_.empty() ? std::string_view{} : members_.rbegin()->second; }

 private:
  std::uint64_t last_index_ = 0;
  std::uint64_t last_term_ = 0;
  std::int64_t last_stamp_ms_ = 0;
  std::uint64_t term_ = 0;
  std::uint64_t vote_ = 0;
  std::map<std::uint64_t, std::string> members_;  // by index: those of which one may still be cut, and the one before
};

/// Of the payload, with as many replicas as a shard may have.
inline constexpr std::size_t max_standing_bytes = 2 * sizeof(std::uint64_t) + 128;

}  // namespace fairlead::store
