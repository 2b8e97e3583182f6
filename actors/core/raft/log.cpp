#include "actors/core/raft/log.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fairlead::raft {

log::log(base from, std::vector<entry> entries) : base_index_{from.index}, base_term_{from.term}, base_stamp_ms_{from.stamp_ms} {
  members_.push_back({from.index, std::move(from.who)});
  for (auto& each : entries) append(std::move(each));
}

std::size_t log::bytes_behind(log_index after) const {
  if (after <= base_index_) return bytes_;
  std::size_t out = 0;
  for (auto where = last_index(); where > after; --where) out += at(where).bytes().size();
  return out;
}

std::optional<log_term> log::term_at(log_index where) const {
  if (where == base_index_) return base_term_;
  if (where < base_index_ || where > last_index()) return std::nullopt;
  return at(where).term;
}

bool log::is_covered_by(log_index other_index, log_term other_term) const {
  return std::pair{other_term, other_index} >= std::pair{last_term(), last_index()};
}

log_index log::last_of_term(log_index limit, log_term term) const {
  auto where = std::min(limit, last_index());
  while (where > base_index_ && at(where).term > term) --where;
  return where;
}

std::vector<entry> log::slice(log_index from, std::size_t max_bytes) const {
  std::vector<entry> out;
  std::size_t bytes = 0;
  for (auto where = from; where <= last_index(); ++where) {
    const auto& each = at(where);
    bytes += each.bytes().size();
    if (!out.empty() && bytes > max_bytes) break;
    out.push_back(each);
  }
  return out;
}

void log::append(entry what) {
  if (what.index != last_index() + 1) throw std::logic_error{"a log has no gaps"};
  if (what.kind == entry_kind::members) {
    auto who = decode_members(what.bytes());
    if (!who) throw std::logic_error{"an entry of members that cannot be read came past the check of messages"};
    members_.push_back({what.index, *std::move(who)});
  }
  bytes_ += what.bytes().size();
  entries_.push_back(std::move(what));
}

void log::cut_from(log_index first_removed, bool keep_members) {
  if (first_removed <= base_index_) throw std::logic_error{"what is below the base cannot be cut"};
  while (last_index() >= first_removed) {
    bytes_ -= entries_.back().bytes().size();
    entries_.pop_back();
  }
  while (!keep_members && members_.size() > 1 && members_.back().index >= first_removed) members_.pop_back();
}

void log::raise_base(log_index up_to) {
  const auto term = term_at(up_to);
  if (!term) throw std::logic_error{"the base is an entry of the log"};
  while (members_.size() > 1 && members_[1].index <= up_to) members_.pop_front();
  while (base_index_ < up_to) {
    base_stamp_ms_ = entries_.front().stamp_ms;
    bytes_ -= entries_.front().bytes().size();
    entries_.pop_front();
    ++base_index_;
  }
  base_term_ = *term;
}

const members& log::members_at(log_index where) const {
  const auto after = std::find_if(members_.begin(), members_.end(), [&](const known_members& each) { return each.index > where; });
  return after == members_.begin() ? members_.front().who : std::prev(after)->who;
}

std::optional<base> log::base_at(log_index where) const {
  const auto term = term_at(where);
  if (!term) return std::nullopt;
  return base{where, *term, members_at(where), where == base_index_ ? base_stamp_ms_ : at(where).stamp_ms};
}

bool log::votes_since(log_index where, replica_id id) const {
  for (auto each = members_.rbegin(); each != members_.rend(); ++each) {
    if (each->who.votes(id)) return true;
    if (each->index <= where) return false;
  }
  return false;
}

}  // namespace fairlead::raft
