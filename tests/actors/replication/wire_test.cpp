#include "actors/replication/wire.hpp"

#include <gtest/gtest.h>

#include "store/journal/payloads.hpp"

namespace fairlead {
namespace {

constexpr std::uint16_t shard = 7;

raft::entry text(raft::log_index index, raft::log_term term, std::string what) {
  return {index, term, 1'000 + static_cast<std::int64_t>(index), raft::entry_kind::batches,
          std::make_shared<const std::string>(std::move(what))};
}

raft::message some_append() {
  const raft::members three{{1, 2, 3}, {4}};
  return {1, 2, 9,
          raft::append{5,
                       40,
                       8,
                       39,
                       123,
                       {text(41, 8, "pay"),
                        {42, 9, 1'042, raft::entry_kind::epoch, nullptr},
                        {43, 9, 1'043, raft::entry_kind::members, raft::encode(three)},
                        text(44, 9, std::string(100'000, 'x'))}}};
}

TEST(wire, brings_every_kind_of_message_whole) {
  const raft::message all[] = {
      some_append(),
      {1, 2, 9, raft::append{5, 40, 8, 39, 123, {}}},
      {1, 2, 9, raft::vote_request{true, false, 40, 8}},
      {1, 2, 9, raft::vote_request{false, true, 40, 8}},
      {1, 2, 9, raft::vote_reply{true, true}},
      {1, 2, 9, raft::append_reply{5, false, 44, 0, 0, 0}},
      {1, 2, 9, raft::append_reply{5, true, 0, 40, 38, 7}},
      {1, 2, 9, raft::heartbeat{44, 17, 321}},
      {1, 2, 9, raft::heartbeat{0, 17, 321, 40, 8}},
      {1, 2, 9, raft::heartbeat_reply{17}},
      {1, 2, 9, raft::heartbeat_reply{17, true}},
      {1, 2, 9, raft::heartbeat_reply{17, false, 30}},
      {1, 2, 9, raft::timeout_now{}},
  };
  for (const auto& each : all) {
    v1::ReplicaMessage came;
    ASSERT_TRUE(came.ParseFromString(encode(each, shard).SerializeAsString()));
    EXPECT_EQ(came.shard(), shard);
    const auto there = decode(came);
    ASSERT_TRUE(there) << there.failure().sentence;
    EXPECT_EQ(there->body.index(), each.body.index());
    EXPECT_EQ(encode(*there, shard).SerializeAsString(), encode(each, shard).SerializeAsString());
  }
  const auto there = decode(encode(some_append(), shard));
  const auto& entries = std::get<raft::append>(there->body).entries;
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].bytes(), "pay");
  EXPECT_EQ(entries[0].stamp_ms, 1'041);
  EXPECT_EQ(entries[1].kind, raft::entry_kind::epoch);
  EXPECT_EQ(entries[2].term, 9U);
}

TEST(wire, refuses_entries_that_only_a_later_release_knows_by_name) {
  store::batch one;
  one.sequence = 3;
  one.put(store::table::task, "k", "v");
  const auto refusal_of = [](std::string payload, raft::entry_kind kind) {
    const raft::message sent{
        1, 2, 9, raft::append{5, 40, 8, 39, 123, {{41, 8, 1'041, kind, std::make_shared<const std::string>(std::move(payload))}}}};
    const auto there = decode(encode(sent, shard));
    return there ? std::string{} : code_word(there.failure().code) + (": " + there.failure().sentence);
  };
  const auto group = [](const store::batch& from, std::size_t at, char byte) {
    auto out = store::encode_batches({&from, 1});
    out[out.size() - from.bytes().size() + at] = byte;
    return out;
  };
  auto rows = one.bytes();
  EXPECT_EQ(refusal_of(rows, raft::entry_kind::rows), "");
  EXPECT_EQ(refusal_of(group(one, 0, 1), raft::entry_kind::batches), "");
  EXPECT_EQ(refusal_of(group(one, 0, 3), raft::entry_kind::batches),
            "store_newer: Entry 41 of shard 7 has a kind of operation 3, which this release does not know.");
  EXPECT_EQ(refusal_of(group(one, 1, static_cast<char>(store::table_count)), raft::entry_kind::batches),
            "store_newer: Entry 41 of shard 7 has a table " + std::to_string(store::table_count) + ", which this release does not know.");
  rows[1] = 'x';
  EXPECT_EQ(refusal_of(rows, raft::entry_kind::rows),
            "store_newer: Entry 41 of shard 7 has a table 120, which this release does not know.");
  EXPECT_EQ(refusal_of("", static_cast<raft::entry_kind>(200)),
            "store_newer: Entry 41 of shard 7 has a type 200, which this release does not know.");
}

TEST(wire, refuses_entries_of_which_a_byte_is_changed_or_missing) {
  auto whole = encode(some_append(), shard);
  whole.mutable_append()->mutable_records()->resize(3 * 48 + 40);  // the large one is cut off
  EXPECT_FALSE(decode(whole));
  auto sound = encode({1, 2, 9, raft::append{5, 40, 8, 39, 123, {text(41, 8, "pay")}}}, shard);
  ASSERT_TRUE(decode(sound));
  auto& records = *sound.mutable_append()->mutable_records();
  const auto before = records;
  for (std::size_t i = 0; i < 40 + 3; ++i) {
    records[i] = static_cast<char>(records[i] ^ 0x10);
    EXPECT_FALSE(decode(sound)) << "byte " << i;
    records = before;
  }
  for (std::size_t length = 1; length < before.size(); ++length) {
    records.resize(length);
    EXPECT_FALSE(decode(sound)) << length << " bytes";
    records = before;
  }
}

TEST(wire, refuses_what_no_replica_sends) {
  v1::ReplicaMessage empty;
  empty.set_from(1);
  empty.set_to(2);
  empty.set_term(3);
  const auto nothing = decode(empty);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.failure().sentence, "A replica's message is refused: it says nothing that this release knows.");

  auto other_shard = encode(some_append(), shard);
  other_shard.set_shard(8);
  EXPECT_EQ(decode(other_shard).failure().sentence, "A replica's message is refused: an entry is part of something else.");

  auto gap = encode(some_append(), shard);
  gap.mutable_append()->set_previous_index(39);
  EXPECT_EQ(decode(gap).failure().sentence, "A replica's message is refused: the entries have a gap.");

  auto to_itself = encode(some_append(), shard);
  to_itself.set_to(1);
  EXPECT_FALSE(decode(to_itself));
}

}  // namespace
}  // namespace fairlead
