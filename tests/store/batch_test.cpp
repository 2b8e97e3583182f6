#include "store/batch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "store/checksum.hpp"
#include "store/content_hash.hpp"
#include "store/lmdb/group_operations.hpp"

namespace fairlead::store {
namespace {

TEST(batch, has_the_bytes_that_are_documented) {
  batch one;
  one.put(table::task, "k", "hello");
  one.erase(table::due, "xyz");
  EXPECT_EQ(to_hex(one.bytes()),
            "01"
            "01"
            "01000000"
            "6b"
            "09000000"
            "68656c6c6f"
            "37004de7"
            "02"
            "03"
            "03000000"
            "78797a");
  EXPECT_EQ(one.size(), 2u);
}

TEST(batch, gives_its_operations_back_in_order) {
  batch one;
  one.put(table::history, "a", "1");
  one.erase(table::payload, "b");
  one.put(table::workflow_version, "c", "");
  std::vector<std::string> seen;
  one.for_each([&](const operation& op) {
    seen.push_back(std::string(table_name(op.where)) + " " + std::string(op.key) + " " + std::to_string(op.value.size()));
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"history a 5", "payload b 0", "workflow_version c 4"}));
}

TEST(batch, appends_another_ones_operations) {
  batch one, two;
  one.put(table::task, "a", "1");
  two.erase(table::task, "b");
  const auto joined = one.bytes() + two.bytes();
  one.append(two);
  EXPECT_EQ(one.bytes(), joined);
  EXPECT_EQ(one.size(), 2u);
}

TEST(batch, is_empty_again_after_clear) {
  batch one;
  one.sequence = 7;
  one.put(table::task, "a", "1");
  one.clear();
  EXPECT_TRUE(one.empty());
  EXPECT_TRUE(one.bytes().empty());
  EXPECT_EQ(one.sequence, 0u);
}

TEST(batch, refuses_every_truncation_and_unknown_kind_or_table) {
  batch one;
  one.put(table::task, "key", "value");
  operation op;
  for (std::size_t size = 1; size < one.bytes().size(); ++size) {
    std::string_view rest(one.bytes().data(), size);
    EXPECT_THROW(batch::next(rest, op), std::logic_error) << size;
  }
  const std::string no_such_table{"\x02", 1};
  for (const auto& bytes :
       {std::string("\x03\x01\x00\x00\x00\x00", 6), no_such_table + static_cast<char>(table_count) + std::string(4, '\0')}) {
    std::string_view rest = bytes;
    EXPECT_THROW(batch::next(rest, op), std::logic_error);
  }
}

TEST(batch, refuses_keys_that_the_store_could_not_take) {
  batch one;
  EXPECT_THROW(one.put(table::task, "", "x"), std::logic_error);
  EXPECT_THROW(one.put(table::task, std::string(512, 'k'), "x"), std::logic_error);
  EXPECT_THROW(one.erase(table::task, std::string(512, 'k')), std::logic_error);
  one.put(table::task, std::string(511, 'k'), "x");
  EXPECT_EQ(one.size(), 1u);
}

TEST(checksum, depends_on_table_key_and_every_byte_of_the_payload) {
  const auto right = checksum(table::task, "key", "payload");
  EXPECT_NE(right, checksum(table::due, "key", "payload"));
  EXPECT_NE(right, checksum(table::task, "kez", "payload"));
  const std::string payload = "payload";
  for (std::size_t i = 0; i < payload.size() * 8; ++i) {
    auto damaged = payload;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    EXPECT_NE(right, checksum(table::task, "key", damaged)) << "bit " << i;
  }
}

TEST(checksum, takes_itself_off_a_sound_value_only) {
  batch one;
  one.put(table::task, "key", "payload");
  one.for_each([](const operation& op) {
    EXPECT_EQ(verified_payload(table::task, "key", op.value), "payload");
    EXPECT_EQ(verified_payload(table::task, "other", op.value), std::nullopt);
    EXPECT_EQ(verified_payload(table::task, "key", op.value.substr(1)), std::nullopt);
  });
  EXPECT_EQ(verified_payload(table::task, "key", "abc"), std::nullopt);
}

TEST(group_operations, keep_the_last_operation_of_each_key_in_key_order) {
  batch one, two;
  one.put(table::task, "b", "1");
  one.put(table::task, "a", "1");
  one.put(table::due, "z", "");
  two.put(table::task, "b", "22");
  two.erase(table::due, "z");
  two.put(table::task, "c", "1");
  two.erase(table::task, "c");
  two.put(table::task, "c", "333");
  const std::vector<batch> group{one, two};
  group_operations gathered;
  gathered.gather(group);
  std::string seen;
  for (int i = 0; i < table_count; ++i) {
    for (const auto& op : gathered.of(i)) {
      seen +=
          std::to_string(i) + (op.what == operation::kind::put ? "+" : "-") + std::string(op.key) + std::to_string(op.value.size()) + " ";
    }
  }
  EXPECT_EQ(seen, "1+a5 1+b6 1+c7 3-z0 ");
}

TEST(content_hash, has_sixteen_bytes_and_keeps_its_value_for_ever) {
  EXPECT_EQ(to_hex(content_hash("")), "99aa06d3014798d86001c324468d497f");
  google::protobuf::RepeatedPtrField<v1::Label> labels;
  auto* label = labels.Add();
  label->set_key("shop");
  label->set_value("berlin");
  EXPECT_EQ(to_hex(submission_hash("order", R"({"a":1})", labels, -3)), "d054cf61e19fc31922d96a240eeab0b1");
}

TEST(content_hash, of_a_submission_tells_every_part_from_every_other) {
  google::protobuf::RepeatedPtrField<v1::Label> none, one, swapped;
  one.Add()->set_key("ab");
  swapped.Add()->set_value("ab");
  const auto hash = submission_hash("order", "1", none, 0);
  EXPECT_NE(hash, submission_hash("orde", "r1", none, 0));
  EXPECT_NE(hash, submission_hash("order", "2", none, 0));
  EXPECT_NE(hash, submission_hash("order", "1", none, 1));
  EXPECT_NE(hash, submission_hash("order", "1", one, 0));
  EXPECT_NE(submission_hash("order", "1", one, 0), submission_hash("order", "1", swapped, 0));
  EXPECT_EQ(hash, submission_hash("order", "1", none, 0));
}

TEST(content_hash, of_a_submission_tells_a_moment_from_a_delay_and_both_from_none) {
  google::protobuf::RepeatedPtrField<v1::Label> none;
  const auto with = [&](std::int64_t start_at, std::int64_t delay) {
    return submission_hash("order", "1", none, 0, nullptr, start_at, delay);
  };
  EXPECT_EQ(with(0, 0), submission_hash("order", "1", none, 0));
  EXPECT_NE(with(5, 0), with(0, 0));
  EXPECT_NE(with(5, 0), with(6, 0));
  EXPECT_NE(with(5, 0), with(0, 5));
  EXPECT_EQ(to_hex(with(0, 60'000)), "99b5738e0987f96e84704076a78c2c6a") << "for ever";
}

TEST(content_hash, of_a_submission_tells_every_part_of_its_reply_address_apart_and_ignores_one_that_names_nobody) {
  google::protobuf::RepeatedPtrField<v1::Label> none;
  const auto with = [&](const char* client, const char* webhook, bool steps) {
    v1::ReplyAddress reply;
    reply.set_client(client);
    reply.set_webhook(webhook);
    reply.set_steps(steps);
    return submission_hash("order", "1", none, 0, &reply);
  };
  const auto without = submission_hash("order", "1", none, 0);
  EXPECT_EQ(without, with("", "", true));
  EXPECT_NE(without, with("shop", "", false));
  EXPECT_NE(with("shop", "", false), with("shop", "", true));
  EXPECT_NE(with("shop", "", false), with("", "shop", false));
  EXPECT_NE(with("shop", "", false), with("shops", "", false));
  EXPECT_EQ(to_hex(with("shop", "", true)), "667bb9a90333b4aa8eaba4f12f09d72c");
}

TEST(content_hash, of_a_reply_address_is_the_receivers_whatever_it_wants_to_hear) {
  v1::ReplyAddress one, steps, hook;
  one.set_client("shop");
  steps.set_client("shop");
  steps.set_steps(true);
  hook.set_webhook("shop");
  EXPECT_EQ(reply_address_hash(one), reply_address_hash(steps));
  EXPECT_NE(reply_address_hash(one), reply_address_hash(hook));
  EXPECT_EQ(reply_address_hash(one), content_hash("cshop"));
  EXPECT_EQ(reply_address_hash(hook), content_hash("wshop"));
}

TEST(content_hash, of_a_definition_changes_with_any_field) {
  v1::WorkflowDefinition definition;
  definition.set_name("order");
  const auto hash = definition_hash(definition);
  EXPECT_EQ(hash.size(), content_hash_bytes);
  definition.add_steps()->set_name("ship");
  EXPECT_NE(hash, definition_hash(definition));
}

}  // namespace
}  // namespace fairlead::store
