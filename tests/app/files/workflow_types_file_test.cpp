#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/files/workflow_file.hpp"
#include "tests/actors/core/task/proto_text.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

const std::string shop = R"(
syntax = "proto3";
package acme.v1;
message Item { string stock_keeping_unit = 1; int32 quantity = 2; }
message ChargeRequest { string order = 1; int64 amount_cents = 2; repeated Item items = 3; }
message ChargeReply { string receipt = 1; }
)";

class workflow_types_file : public ::testing::Test {
 protected:
  workflow_types_file() {
    std::filesystem::create_directories(folder_);
    put("shop.binpb", core::testing::descriptor_set({{"acme/shop.proto", shop}}));
  }
  ~workflow_types_file() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& name, const std::string& bytes) const { std::ofstream{folder_ / name, std::ios::binary} << bytes; }

  workflow_file parsed(const std::string& types, const std::string& lines) const {
    return parse_workflow((folder_ / "order.yaml").string(),
                          "workflow: order\ntypes: " + types + "\nsteps:\n  charge:\n    agent: payment\n    call: charge\n" + lines,
                          nullptr);
  }

  const std::filesystem::path folder_ = std::filesystem::path{::testing::TempDir()} / "workflow_types_file";
};

TEST_F(workflow_types_file, takes_what_fits) {
  const auto file = parsed("[shop.binpb]",
                           "    with: { order: \"${ .task.id }\", amountCents: 5, items: [{ quantity: 1 }, \"${ .input.item }\"] }\n"
                           "    input_type: acme.v1.ChargeRequest\n    output_type: acme.v1.ChargeReply\n");
  EXPECT_EQ(shown(file.problems), lines{});
  EXPECT_EQ(file.definition.steps(0).output_type(), "acme.v1.ChargeReply");
  // Only what is needed: nothing of google/protobuf.
  EXPECT_EQ(file.definition.types().find("google/protobuf"), std::string::npos);
  EXPECT_NE(file.definition.types().find("acme/shop.proto"), std::string::npos);
}

TEST_F(workflow_types_file, names_the_wrong_field_at_its_place) {
  const auto file = parsed("[shop.binpb]",
                           "    with:\n      items: [{}, {}, { sku: a }]\n      stock_keepin_unit: b\n      amount_cents: lots\n"
                           "    input_type: acme.v1.ChargeRequest\n");
  EXPECT_EQ(shown(file.problems), (lines{"8:30: steps.charge.with.items[2].sku: acme.v1.Item has no field sku",
                                         "9:26: steps.charge.with.stock_keepin_unit: acme.v1.ChargeRequest has no field stock_keepin_unit",
                                         "10:21: steps.charge.with.amount_cents: expected int64, found the text \"lots\""}));
}

TEST_F(workflow_types_file, names_types_and_files_that_are_not_there) {
  EXPECT_EQ(shown(parsed("[shop.binpb]", "    input_type: acme.v1.ChargeReqest\n").problems),
            (lines{"7:17: steps.charge.input_type: there is no message acme.v1.ChargeReqest in the workflow's types; did you mean "
                   "acme.v1.ChargeRequest?"}));
  EXPECT_EQ(shown(parsed("[]", "    input_type: acme.v1.ChargeRequest\n").problems).size(), 1U);
  EXPECT_EQ(shown(parsed("[shop.binpb]", "").problems),
            (lines{"2:8: types: no step uses a type, so types has no effect; set input_type or output_type on a step"}));
  put("order.binpb", "syntax = \"proto3\";");
  const auto text = shown(parsed("[order.binpb]", "    input_type: acme.v1.ChargeRequest\n").problems);
  ASSERT_EQ(text.size(), 1U);
  EXPECT_NE(text[0].find("order.binpb: the file is not a google.protobuf.FileDescriptorSet"), std::string::npos) << text[0];
  const auto missing = shown(parsed("[none.binpb]", "    input_type: acme.v1.ChargeRequest\n").problems);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_NE(missing[0].find("cannot read"), std::string::npos) << missing[0];
}

}  // namespace
}  // namespace fairlead::app
