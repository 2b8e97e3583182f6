#include "store/journal/log_standing.hpp"

#include <algorithm>

#include "store/integers.hpp"
#include "store/journal/payloads.hpp"

namespace fairlead::store {

namespace {
constexpr std::size_t hard_bytes = 2 * sizeof(std::uint64_t);
}

bool log_standing::take(const journal_record& what) {
  switch (what.type) {
    case record_type::hard: {
      const auto vote = decode_vote(what.payload);
      if (!vote) return false;
      term_ = what.term;
      vote_ = *vote;
      return true;
    }
    case record_type::cut:
      members_.erase(members_.lower_bound(what.index), members_.end());
      if (!what.payload.empty()) members_[what.index - 1] = what.payload;
      last_index_ = what.index - 1;
      last_term_ = what.term;
      return true;
    case record_type::standing:
      if (what.payload.size() < hard_bytes) return false;
      term_ = read_little_endian<std::uint64_t>(what.payload.data());
      vote_ = read_little_endian<std::uint64_t>(what.payload.data() + sizeof(std::uint64_t));
      // A reader that was here before knows more. Whoever begins here does not know since when they are in force: what cuts them away says
      // which are instead.
      if (const auto members = what.payload.substr(hard_bytes); !members.empty() && members_.empty()) members_[0] = members;
      break;
    case record_type::members:
      // Parts of a large entry would be no members; no such list is so long.
      members_[what.index] = what.payload;
      break;
    case record_type::base:
      if (!what.payload.empty()) members_ = {{what.index, std::string{what.payload}}};
      break;
    case record_type::batch:
    case record_type::epoch:
    case record_type::rows: break;
    default: return true;
  }
  last_index_ = what.index;
  last_term_ = what.term;
  last_stamp_ms_ = what.stamp_ms;
  return true;
}

void log_standing::settled(std::uint64_t index) {
  const auto after = members_.upper_bound(index);
  if (after != members_.begin()) members_.erase(members_.begin(), std::prev(after));
}

journal_record log_standing::record(std::uint16_t shard, std::string& payload) const {
  payload.clear();
  append_little_endian(payload, term_);
  append_little_endian(payload, vote_);
  payload += members();
  journal_record out;
  out.type = record_type::standing;
  out.shard = shard;
  out.index = last_index_;
  out.term = last_term_;
  out.stamp_ms = last_stamp_ms_;
  out.payload = payload;
  return out;
}

}  // namespace fairlead::store
