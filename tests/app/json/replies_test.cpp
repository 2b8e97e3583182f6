#include "app/json/replies.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

v1::RepliesRequest asked(std::vector<std::pair<std::uint32_t, std::uint64_t>> positions) {
  v1::RepliesRequest out;
  for (const auto& [shard, acknowledged] : positions) {
    auto* one = out.add_positions();
    one->set_shard(shard);
    one->set_acknowledged(acknowledged);
  }
  return out;
}

void add(v1::RepliesReply& to, std::uint32_t shard, std::uint64_t position) {
  auto* event = to.add_events();
  event->set_shard(shard);
  event->set_position(position);
  event->set_task_id("t" + std::to_string(position));
  event->set_sequence(1);
  event->set_kind(v1::STATUS_KIND_RECEIVED);
  event->set_state(v1::TASK_STATE_PENDING);
}

TEST(replies_json, has_the_events_and_the_last_position_of_each_shard) {
  v1::RepliesReply reply;
  add(reply, 1, 7);
  add(reply, 0, 3);
  add(reply, 1, 9);
  const auto text = replies_json({}, reply);
  EXPECT_EQ(text.find(R"({"replies":[{"task":"t7","sequence":1,)"), 0u) << text;
  EXPECT_NE(text.find(R"(],"positions":[{"shard":0,"acknowledged":3},{"shard":1,"acknowledged":9}]})"), std::string::npos) << text;
}

TEST(replies_json, keeps_the_positions_of_the_request_where_a_shard_has_nothing_new) {
  v1::RepliesReply reply;
  EXPECT_EQ(replies_json(asked({{0, 5}, {2, 6}}), reply),
            R"({"replies":[],"positions":[{"shard":0,"acknowledged":5},{"shard":2,"acknowledged":6}]})");
  add(reply, 2, 8);
  const auto text = replies_json(asked({{0, 5}, {2, 6}}), reply);
  EXPECT_NE(text.find(R"("positions":[{"shard":0,"acknowledged":5},{"shard":2,"acknowledged":8}]})"), std::string::npos) << text;
  EXPECT_EQ(replies_json({}, {}), R"({"replies":[],"positions":[]})");
}

}  // namespace
}  // namespace fairlead::app
