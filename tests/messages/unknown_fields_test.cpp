// Whoever runs an earlier release for a while, in the middle of an upgrade or after going back, writes rows again that a later one has written. What it
// does not know of them stays in them.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "messages/job.pb.h"
#include "messages/replica.pb.h"
#include "messages/task.pb.h"

namespace fairlead {
namespace {

using google::protobuf::Descriptor;

/// Field 19,000,000 as a varint, which no message has.
std::string later_field() {
  std::string out;
  for (std::uint64_t tag = std::uint64_t{19'000'000} << 3; tag != 0; tag >>= 7)
    out += static_cast<char>((tag & 0x7f) | (tag > 0x7f ? 0x80 : 0));
  return out + "\x2a";
}

void expect_kept(const Descriptor& type, int& types) {
  const std::unique_ptr<google::protobuf::Message> row(google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->New());
  ASSERT_TRUE(row->ParseFromString(later_field())) << type.full_name();
  EXPECT_EQ(row->SerializeAsString(), later_field()) << type.full_name();
  ++types;
  for (int i = 0; i < type.nested_type_count(); ++i)
    if (!type.nested_type(i)->options().map_entry()) expect_kept(*type.nested_type(i), types);
}

TEST(unknown_fields, stay_in_every_message_that_is_read_and_written_again) {
  int types = 0;
  for (const auto* file :
       {v1::TaskRecord::descriptor()->file(), v1::JobRecord::descriptor()->file(), v1::ShardNodes::descriptor()->file()}) {
    for (int i = 0; i < file->message_type_count(); ++i) expect_kept(*file->message_type(i), types);
    for (int i = 0; i < file->dependency_count(); ++i)
      for (int j = 0; j < file->dependency(i)->message_type_count(); ++j) expect_kept(*file->dependency(i)->message_type(j), types);
  }
  EXPECT_GT(types, 30);
}

}  // namespace
}  // namespace fairlead
