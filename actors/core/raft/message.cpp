#include "actors/core/raft/message.hpp"

namespace fairlead::raft {

namespace {

std::string fault_of_entries(const message& in, const append& what) {
  if ((what.previous_index == 0) != (what.previous_term == 0)) return "an entry at index 0 has term 0, and only that";
  if (what.previous_term > in.term) return "the entry before is of a later term than the message";
  auto index = what.previous_index;
  auto term = what.previous_term;
  std::int64_t stamp_ms = 0;
  for (const auto& each : what.entries) {
    if (each.index != ++index) return "the entries have a gap";
    if (each.term == 0 || each.term < term || each.term > in.term) return "the terms of the entries do not rise up to the message's";
    term = each.term;
    if (each.stamp_ms < stamp_ms) return "the stamps of the entries fall";
    stamp_ms = each.stamp_ms;
    switch (each.kind) {
      case entry_kind::batches:
      case entry_kind::rows: break;
      case entry_kind::epoch:
        if (!each.bytes().empty()) return "an epoch has no payload";
        break;
      case entry_kind::members:
        if (!decode_members(each.bytes())) return "an entry of members cannot be read";
        break;
      default: return "an entry is of unknown kind " + std::to_string(static_cast<int>(each.kind));
    }
  }
  return {};
}

}  // namespace

std::string fault_of(const message& in) {
  if (in.from == 0 || in.to == 0 || in.from == in.to) return "sender and receiver are two replicas";
  if (in.term == 0) return "there is no term 0";
  if (const auto* ask = std::get_if<vote_request>(&in.body)) {
    if ((ask->last_index == 0) != (ask->last_term == 0)) return "an entry at index 0 has term 0, and only that";
    if (ask->last_term >= in.term) return "the candidate's last entry is of no earlier term than the election";
    if (ask->pre && ask->transfer) return "a transfer needs no pre-vote";
  }
  if (const auto* what = std::get_if<append>(&in.body)) return fault_of_entries(in, *what);
  return {};
}

}  // namespace fairlead::raft
