#include "actors/replication/wire.hpp"

#include <string>
#include <utility>

#include "store/journal/payloads.hpp"

namespace fairlead {

namespace {

// Kinds of entries are types of records.
static_assert(static_cast<int>(raft::entry_kind::batches) == static_cast<int>(store::record_type::batch));
static_assert(static_cast<int>(raft::entry_kind::epoch) == static_cast<int>(store::record_type::epoch));
static_assert(static_cast<int>(raft::entry_kind::members) == static_cast<int>(store::record_type::members));
static_assert(static_cast<int>(raft::entry_kind::rows) == static_cast<int>(store::record_type::rows));

error senseless(const std::string& why) {
  return invalid("A replica's message is refused: " + why + ".", "Check that all nodes run releases that work together.");
}

error of_a_later_release(const store::journal_record& entry, const std::string& what) {
  return {v1::ERROR_CODE_STORE_NEWER,
          "Entry " + std::to_string(entry.index) + " of shard " + std::to_string(entry.shard) + " has a " + what +
              ", which this release does not know.",
          "Run the release of the node that leads the shard, or a later one."};
}

std::string records_of(const std::vector<raft::entry>& entries, std::uint16_t shard) {
  std::size_t bytes = 0;
  for (const auto& each : entries) bytes += store::record_bytes(each.bytes().size());
  std::string out(bytes, '\0');
  auto* to = out.data();
  for (const auto& each : entries) {
    store::journal_record record;
    record.type = static_cast<store::record_type>(each.kind);
    record.shard = shard;
    record.index = each.index;
    record.term = each.term;
    record.stamp_ms = each.stamp_ms;
    record.payload = each.bytes();
    store::encode_record(record, to);
    to += store::record_bytes(record.payload.size());
  }
  return out;
}

result<std::vector<raft::entry>> entries_of(std::string_view records, std::uint32_t shard) {
  std::vector<raft::entry> out;
  while (!records.empty()) {
    const auto record = store::next_record(records);
    if (!record) return senseless("the entries are damaged behind the first " + std::to_string(out.size()));
    if (record->shard != shard || record->more_follows || record->continues) return senseless("an entry is part of something else");
    if (!record->known) return of_a_later_release(*record, "type " + std::to_string(static_cast<int>(record->type)));
    if (const auto what = store::unknown_in(record->type, record->payload); !what.empty()) return of_a_later_release(*record, what);
    out.push_back({record->index, record->term, record->stamp_ms, static_cast<raft::entry_kind>(record->type),
                   record->payload.empty() ? nullptr : std::make_shared<const std::string>(record->payload)});
  }
  return out;
}

struct encode_body {
  v1::ReplicaMessage& out;
  std::uint16_t shard;

  void operator()(const raft::vote_request& from) const {
    auto& to = *out.mutable_vote_request();
    to.set_pre(from.pre);
    to.set_transfer(from.transfer);
    to.set_last_index(from.last_index);
    to.set_last_term(from.last_term);
  }
  void operator()(const raft::vote_reply& from) const {
    auto& to = *out.mutable_vote_reply();
    to.set_pre(from.pre);
    to.set_granted(from.granted);
  }
  void operator()(const raft::append& from) const {
    auto& to = *out.mutable_append();
    to.set_number(from.number);
    to.set_previous_index(from.previous_index);
    to.set_previous_term(from.previous_term);
    to.set_commit(from.commit);
    to.set_stamp_ms(from.stamp_ms);
    to.set_records(records_of(from.entries, shard));
  }
  void operator()(const raft::append_reply& from) const {
    auto& to = *out.mutable_append_reply();
    to.set_number(from.number);
    to.set_rejected(from.rejected);
    to.set_matched(from.matched);
    to.set_previous_index(from.previous_index);
    to.set_hint_index(from.hint_index);
    to.set_hint_term(from.hint_term);
  }
  void operator()(const raft::heartbeat& from) const {
    auto& to = *out.mutable_heartbeat();
    to.set_commit(from.commit);
    to.set_round(from.round);
    to.set_stamp_ms(from.stamp_ms);
    to.set_lacks_index(from.lacks_index);
    to.set_lacks_term(from.lacks_term);
  }
  void operator()(const raft::heartbeat_reply& from) const {
    auto& to = *out.mutable_heartbeat_reply();
    to.set_round(from.round);
    to.set_declines(from.declines);
    to.set_has_index(from.has_index);
  }
  void operator()(const raft::timeout_now&) const { out.mutable_timeout_now(); }
};

/// The body, but for the entries of an append.
std::optional<decltype(raft::message::body)> body_of(const v1::ReplicaMessage& in) {
  switch (in.body_case()) {
    case v1::ReplicaMessage::kVoteRequest: {
      const auto& from = in.vote_request();
      return raft::vote_request{from.pre(), from.transfer(), from.last_index(), from.last_term()};
    }
    case v1::ReplicaMessage::kVoteReply: return raft::vote_reply{in.vote_reply().pre(), in.vote_reply().granted()};
    case v1::ReplicaMessage::kAppend: {
      const auto& from = in.append();
      return raft::append{from.number(), from.previous_index(), from.previous_term(), from.commit(), from.stamp_ms(), {}};
    }
    case v1::ReplicaMessage::kAppendReply: {
      const auto& from = in.append_reply();
      return raft::append_reply{from.number(), from.rejected(), from.matched(), from.previous_index(), from.hint_index(), from.hint_term()};
    }
    case v1::ReplicaMessage::kHeartbeat: {
      const auto& from = in.heartbeat();
      return raft::heartbeat{from.commit(), from.round(), from.stamp_ms(), from.lacks_index(), from.lacks_term()};
    }
    case v1::ReplicaMessage::kHeartbeatReply: {
      const auto& from = in.heartbeat_reply();
      return raft::heartbeat_reply{from.round(), from.declines(), from.has_index()};
    }
    case v1::ReplicaMessage::kTimeoutNow: return raft::timeout_now{};
    case v1::ReplicaMessage::BODY_NOT_SET: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

v1::ReplicaMessage encode(const raft::message& what, std::uint16_t shard) {
  v1::ReplicaMessage out;
  out.set_shard(shard);
  out.set_from(what.from);
  out.set_to(what.to);
  out.set_term(what.term);
  std::visit(encode_body{out, shard}, what.body);
  return out;
}

result<raft::message> decode(const v1::ReplicaMessage& in) {
  auto body = body_of(in);
  if (!body) return senseless("it says nothing that this release knows");
  raft::message out{in.from(), in.to(), in.term(), *std::move(body)};
  if (auto* what = std::get_if<raft::append>(&out.body)) {
    auto entries = entries_of(in.append().records(), in.shard());
    if (!entries) return entries.failure();
    what->entries = *std::move(entries);
  }
  if (const auto why = raft::fault_of(out); !why.empty()) return senseless(why);
  return out;
}

}  // namespace fairlead
