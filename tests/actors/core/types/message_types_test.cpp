#include "actors/core/types/message_types.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <random>

#include "messages/api.pb.h"
#include "tests/actors/core/task/proto_text.hpp"

namespace fairlead::core {
namespace {

const std::string item = "syntax = \"proto3\"; package a; message Item { string sku = 1; }";
const std::string order = "syntax = \"proto3\"; package a; import \"item.proto\"; message Order { Item item = 1; message Inner {} }";

std::vector<std::string> files_of(const std::string& set) {
  google::protobuf::FileDescriptorSet read;
  EXPECT_TRUE(read.ParseFromString(set));
  std::vector<std::string> out;
  for (const auto& file : read.file()) out.push_back(file.name());
  return out;
}

std::string why(const std::string& set) {
  const auto read = message_types::read(set);
  return read ? "" : read.failure().sentence;
}

TEST(message_types, are_found_by_their_full_names) {
  const auto read = message_types::read(testing::descriptor_set({{"order.proto", order}, {"item.proto", item}}));
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  EXPECT_NE((*read)->find("a.Order"), nullptr);
  EXPECT_NE((*read)->find("a.Order.Inner"), nullptr);
  EXPECT_EQ((*read)->find("a.Orders"), nullptr);
  EXPECT_EQ((*read)->find("a.Order.item"), nullptr);
}

TEST(message_types, a_workflow_carries_only_the_files_that_are_needed_in_order_of_dependency) {
  const auto read = message_types::read(
      testing::descriptor_set({{"order.proto", order}, {"item.proto", item}, {"other.proto", "syntax = \"proto3\"; message Z {}"}}));
  ASSERT_TRUE(read.ok());
  const auto carried = describe_types({(*read)->find("a.Order")});
  ASSERT_TRUE(carried.ok());
  EXPECT_EQ(files_of(*carried), (std::vector<std::string>{"item.proto", "order.proto"}));
  EXPECT_EQ(*describe_types({}), "");
}

TEST(message_types, the_same_types_give_the_same_bytes_from_code_and_from_a_set) {
  google::protobuf::FileDescriptorSet set;
  testing::add_with_imports(set, v1::SubmitRequest::descriptor()->file());
  set.mutable_file(0)->mutable_source_code_info()->add_location()->set_leading_comments("for people");
  // As protoc writes it, and in another order.
  for (auto& file : *set.mutable_file())
    for (auto& message : *file.mutable_message_type())
      for (auto& field : *message.mutable_field()) field.clear_json_name();
  std::reverse(set.mutable_file()->pointer_begin(), set.mutable_file()->pointer_end());
  const auto read = message_types::read(set.SerializeAsString());
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  const auto from_set = describe_types({(*read)->find("fairlead.v1.SubmitRequest")});
  const auto from_code = describe_types({v1::SubmitRequest::descriptor()});
  ASSERT_TRUE(from_set.ok() && from_code.ok());
  EXPECT_EQ(*from_set, *from_code);
  EXPECT_EQ(from_set->find("for people"), std::string::npos);
  // And what is carried can be read again.
  EXPECT_TRUE(message_types::read(*from_set).ok());
}

TEST(message_types, what_is_wrong_with_a_set_is_named) {
  EXPECT_EQ(why("\xff\xff"), "the file is not a google.protobuf.FileDescriptorSet");
  EXPECT_EQ(why(""), "the descriptor set has no file");
  google::protobuf::FileDescriptorSet set;
  auto& first = *set.add_file();
  first.set_name("order.proto");
  first.add_dependency("item.proto");
  EXPECT_EQ(why(set.SerializeAsString()), "order.proto imports item.proto, which is not in the set");
  auto& second = *set.add_file();
  second.set_name("item.proto");
  second.add_dependency("order.proto");
  EXPECT_EQ(why(set.SerializeAsString()), "files of the set import each other in a circle");
  set.Clear();
  auto& bad = *set.add_file();
  bad.set_name("bad.proto");
  auto& message = *bad.add_message_type();
  message.set_name("M");
  auto& field = *message.add_field();
  field.set_name("one");
  field.set_number(1);
  field.set_type_name("Missing");
  EXPECT_EQ(why(set.SerializeAsString()), "the descriptor set is not valid: bad.proto: M.one: \"Missing\" is not defined.");
  EXPECT_EQ(why(std::string(max_types_bytes + 1, 'a')), "the descriptor set takes 262145 bytes; at most 262144 are allowed");
}

TEST(message_types, two_sets_may_share_files_that_are_the_same) {
  const auto first = testing::descriptor_set({{"item.proto", item}});
  const auto second = testing::descriptor_set({{"item.proto", item}, {"order.proto", order}});
  EXPECT_TRUE(message_types::read(std::vector<std::string>{first, second}).ok());
  const auto other = testing::descriptor_set({{"item.proto", "syntax = \"proto3\"; package a; message Item {}"}});
  const auto clash = message_types::read(std::vector<std::string>{first, other});
  ASSERT_FALSE(clash.ok());
  EXPECT_EQ(clash.failure().sentence, "two different files are named item.proto");
}

TEST(message_types, a_long_chain_of_imports_is_read_without_recursion) {
  google::protobuf::FileDescriptorSet set;
  for (int i = 0; i < max_type_files; ++i) {
    auto& file = *set.add_file();
    file.set_name(std::to_string(i));
    if (i > 0) {
      file.add_dependency(std::to_string(i - 1));
      file.add_public_dependency(0);
    }
  }
  EXPECT_EQ(why(set.SerializeAsString()), "");
  set.add_file()->set_name("one more");
  EXPECT_EQ(why(set.SerializeAsString()), "there are more than 1000 files in the descriptor set");
}

TEST(message_types, mangled_sets_are_refused_or_read_and_never_more) {
  auto bytes = testing::descriptor_set({{"item.proto", item}, {"order.proto", order}});
  std::mt19937 dice{3};
  int refused = 0;
  for (int round = 0; round < 3'000; ++round) {
    auto mangled = bytes;
    for (auto changes = 1 + dice() % 4; changes > 0; --changes) mangled[dice() % mangled.size()] = static_cast<char>(dice());
    const auto read = message_types::read(mangled);
    if (!read) {
      ++refused;
      EXPECT_LT(read.failure().sentence.size(), 2'000U);
    } else {
      for (const auto& name : (*read)->names()) EXPECT_NE((*read)->find(name), nullptr);
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace fairlead::core
