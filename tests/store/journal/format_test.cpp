// The bytes of a journal.

#include "store/journal/format.hpp"

#include <gtest/gtest.h>

#include <random>

#include "store/journal/files.hpp"
#include "store/journal/payloads.hpp"
#include "store/journal/recovery.hpp"

namespace fairlead::store {
namespace {

constexpr journal_id some_journal{0x1122334455667788, 0x99aabbccddeeff00};

segment_header some_segment() {
  segment_header out;
  out.journal = some_journal;
  out.segment = 7;
  out.file_bytes = 1 << 20;
  out.first_group = 42;
  out.opening = 5;
  out.previous_segment = 6;
  out.previous_end = 8'192;
  out.previous_chain = 77;
  out.begun_unix_ms = 1'760'000'000'000;
  out.release = "1.2.3";
  return out;
}

TEST(journal_format, a_segment_header_comes_back) {
  block_buffer block(journal_block_bytes);
  encode_segment_header(some_segment(), block.data());
  const auto back = decode_segment_header(block.data());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->journal, some_journal);
  EXPECT_EQ(back->segment, 7u);
  EXPECT_EQ(back->file_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(back->first_group, 42u);
  EXPECT_EQ(back->opening, 5u);
  EXPECT_EQ(back->previous_segment, 6u);
  EXPECT_EQ(back->previous_end, 8'192u);
  EXPECT_EQ(back->previous_chain, 77u);
  EXPECT_EQ(back->begun_unix_ms, 1'760'000'000'000);
  EXPECT_EQ(back->release, "1.2.3");
}

TEST(journal_format, a_header_stands_where_the_table_says) {
  block_buffer block(journal_block_bytes);
  encode_segment_header(some_segment(), block.data());
  EXPECT_EQ(std::string(block.data(), 8), "FLJRNL01");
  EXPECT_EQ(block.data()[8], 1);
  EXPECT_EQ(block.data()[32], 7);
  EXPECT_EQ(block.data()[48], 42);
  EXPECT_EQ(static_cast<unsigned char>(block.data()[16]), 0x88) << "little-endian";
}

TEST(journal_format, a_changed_bit_of_a_segment_header_is_noticed_wherever_it_is) {
  block_buffer block(journal_block_bytes);
  encode_segment_header(some_segment(), block.data());
  for (std::size_t at = 0; at < journal_block_bytes; ++at) {
    block.data()[at] = static_cast<char>(block.data()[at] ^ (1 << at % 8));
    EXPECT_FALSE(decode_segment_header(block.data())) << at;
    block.data()[at] = static_cast<char>(block.data()[at] ^ (1 << at % 8));
  }
  EXPECT_TRUE(decode_segment_header(block.data()));
}

TEST(journal_format, a_changed_bit_of_a_group_header_and_another_journal_are_noticed) {
  char bytes[group_header_bytes];
  group_header in;
  in.payload_bytes = 5'000;
  in.blocks = blocks_of_group(in.payload_bytes);
  in.segment = 7;
  in.group = 42;
  in.durable = 41;
  in.opening = 5;
  in.records = 3;
  in.chain = 99;
  encode_group_header(in, some_journal, bytes);
  const auto back = decode_group_header(bytes, some_journal);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->blocks, 2u);
  EXPECT_EQ(back->durable, 41u);
  EXPECT_EQ(back->chain, 99u);
  EXPECT_FALSE(decode_group_header(bytes, {1, 2}));
  for (std::size_t at = 0; at < sizeof bytes; ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    EXPECT_FALSE(decode_group_header(bytes, some_journal)) << at;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
  }
}

TEST(journal_format, the_chain_of_a_group_holds_its_place_and_what_came_before) {
  const auto chain = group_chain("records", some_journal, 7, 42, 1);
  EXPECT_NE(chain, group_chain("recordS", some_journal, 7, 42, 1));
  EXPECT_NE(chain, group_chain("records", {1, 2}, 7, 42, 1));
  EXPECT_NE(chain, group_chain("records", some_journal, 8, 42, 1));
  EXPECT_NE(chain, group_chain("records", some_journal, 7, 43, 1));
  EXPECT_NE(chain, group_chain("records", some_journal, 7, 42, 2));
}

std::string encoded(const journal_record& in) {
  std::string out(record_bytes(in.payload.size()), 'x');
  encode_record(in, out.data());
  return out;
}

TEST(journal_format, records_come_back_one_after_the_other) {
  journal_record one;
  one.type = record_type::epoch;
  one.shard = 300;
  one.index = 12;
  one.term = 3;
  one.stamp_ms = -5;
  journal_record two = one;
  two.type = record_type::batch;
  two.payload = "13 characters";
  const auto bytes = encoded(one) + encoded(two);
  EXPECT_EQ(bytes.size() % 8, 0u);
  std::string_view rest = bytes;
  const auto first = next_record(rest);
  const auto second = next_record(rest);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(first->type, record_type::epoch);
  EXPECT_EQ(first->shard, 300u);
  EXPECT_EQ(first->stamp_ms, -5);
  EXPECT_EQ(second->payload, "13 characters");
  EXPECT_EQ(second->term, 3u);
}

TEST(journal_format, a_changed_bit_of_a_record_is_noticed) {
  journal_record one;
  one.payload = "some bytes";
  one.index = 9;
  auto bytes = encoded(one);
  for (std::size_t at = 0; at < record_header_bytes + one.payload.size(); ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    std::string_view rest = bytes;
    EXPECT_FALSE(next_record(rest)) << at;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
  }
}

TEST(journal_format, a_record_of_a_later_release_is_sound_but_unknown) {
  journal_record one;
  one.type = static_cast<record_type>(99);
  const auto bytes = encoded(one);
  std::string_view rest = bytes;
  const auto back = next_record(rest);
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->known);
}

TEST(journal_format, random_bytes_are_never_taken_for_anything) {
  std::mt19937_64 random(2'026);
  block_buffer block(journal_block_bytes);
  for (int round = 0; round < 2'000; ++round) {
    for (std::size_t at = 0; at < block.size(); at += 8) {
      const auto value = random();
      std::copy_n(reinterpret_cast<const char*>(&value), 8, block.data() + at);
    }
    std::string_view rest{block.data(), block.size()};
    EXPECT_FALSE(decode_segment_header(block.data()) || decode_group_header(block.data(), some_journal) || next_record(rest));
    EXPECT_FALSE(decode_batches({block.data(), 100}));
  }
}

TEST(journal_format, batches_and_checkpoints_come_back) {
  std::vector<batch> group(2);
  group[0].sequence = 5;
  group[0].epoch = 2;
  group[0].shard_state = "state";
  group[0].put(table::task, "key", "value");
  group[1].sequence = 6;
  const auto payload = encode_batches(group);
  const auto back = decode_batches(payload);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[0].operations, group[0].bytes());
  EXPECT_EQ((*back)[0].shard_state, "state");
  EXPECT_EQ((*back)[1].sequence, 6u);
  EXPECT_FALSE(decode_batches(std::string_view{payload}.substr(0, payload.size() - 1)));
  EXPECT_FALSE(decode_batches({}));

  const checkpoint head{3, {{0, 10, 8}, {7, 20, 20}}};
  const auto again = decode_checkpoint(encode_checkpoint(head));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->first_needed_segment, 3u);
  EXPECT_EQ(again->shards, head.shards);
  EXPECT_FALSE(decode_checkpoint("short"));
}

TEST(journal_format, names_of_segments_sort_as_their_numbers) {
  EXPECT_EQ(segment_name(255), "00000000000000ff.seg");
  EXPECT_EQ(segment_number("00000000000000ff.seg"), 255u);
  for (const auto* name : {"", "ff.seg", "0000000000000000.seg", "00000000000000fg.seg", "00000000000000ff.tmp", "00000000000000ff.seg2"})
    EXPECT_FALSE(segment_number(name)) << name;
}

}  // namespace
}  // namespace fairlead::store
