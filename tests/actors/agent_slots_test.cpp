#include "actors/agent_slots.hpp"

#include <gtest/gtest.h>

#include "tests/actors/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

using arrival = agent_slots::arrival;

std::string claimed(agent_slots& slots, const std::string& agent = "svc") {
  const auto got = slots.claim(agent);
  return got ? std::string{got->name} + "#" + std::to_string(got->incarnation) : "none";
}

TEST(agent_slots, tell_a_new_process_from_one_that_reports_again) {
  agent_slots slots;
  EXPECT_EQ(slots.add(agent("n1/svc", 1, 3)), arrival::fresh);
  EXPECT_EQ(slots.add(agent("n1/svc", 1, 3)), arrival::same);
  EXPECT_EQ(slots.add(agent("n1/svc", 1, 2)), arrival::stale);
  EXPECT_EQ(slots.incarnation_of("n1/svc"), 3u);
  EXPECT_EQ(slots.add(agent("n1/svc", 1, 4)), arrival::replaced);
  EXPECT_EQ(slots.incarnation_of("n1/svc"), 4u);
  EXPECT_EQ(slots.incarnation_of("n2/svc"), std::nullopt);
}

TEST(agent_slots, give_no_more_than_an_instance_can_hold) {
  agent_slots slots;
  slots.add(agent("n1/svc", 2));
  EXPECT_EQ(claimed(slots), "n1/svc#1");
  EXPECT_EQ(claimed(slots), "n1/svc#1");
  EXPECT_EQ(claimed(slots), "none");
  slots.release("n1/svc", 1);
  EXPECT_EQ(claimed(slots), "n1/svc#1");
  EXPECT_EQ(claimed(slots, "other"), "none");
}

TEST(agent_slots, prefer_the_instance_with_most_room) {
  agent_slots slots;
  slots.add(agent("n1/svc", 2));
  slots.add(agent("n2/svc", 4));
  EXPECT_EQ(claimed(slots), "n2/svc#1");
  EXPECT_EQ(claimed(slots), "n2/svc#1");
  slots.hold("n2/svc");
  EXPECT_EQ(claimed(slots), "n1/svc#1");
}

TEST(agent_slots, keep_what_is_held_when_the_same_process_reports_again_and_forget_it_with_a_new_one) {
  agent_slots slots;
  slots.add(agent("n1/svc", 1, 1));
  claimed(slots);
  slots.add(agent("n1/svc", 1, 1));
  EXPECT_EQ(claimed(slots), "none");
  slots.add(agent("n1/svc", 1, 2));
  EXPECT_EQ(claimed(slots), "n1/svc#2");
  slots.release("n1/svc", 1);
  EXPECT_EQ(claimed(slots), "none") << "the slot of a dead process is not given back to the new one";
}

TEST(agent_slots, survive_a_release_too_many) {
  agent_slots slots;
  slots.add(agent("n1/svc", 1));
  slots.release("n1/svc", 1);
  slots.release("nobody", 1);
  slots.hold("nobody");
  EXPECT_EQ(claimed(slots), "n1/svc#1");
  EXPECT_EQ(claimed(slots), "none");
}

TEST(agent_slots, follow_an_instance_that_serves_another_agent_now) {
  agent_slots slots;
  slots.add(agent("n1/svc", 1, 1, "svc"));
  slots.add(agent("n1/svc", 1, 2, "other"));
  EXPECT_EQ(claimed(slots, "svc"), "none");
  EXPECT_EQ(claimed(slots, "other"), "n1/svc#2");
}

TEST(agent_slots, serve_what_is_to_be_undone_first) {
  agent_slots slots;
  slots.add(agent("n1/svc", 1));
  EXPECT_EQ(claimed(slots), "n1/svc#1");
  slots.wait("svc", 10, false);
  slots.wait("svc", 20, true);
  slots.release("n1/svc", 1);
  EXPECT_EQ(slots.next_waiting(), 20u);
  EXPECT_EQ(slots.next_waiting(), 10u);
}

TEST(agent_slots, name_the_task_that_waited_longest_once_there_is_room) {
  agent_slots slots;
  slots.wait("svc", 30, false);
  slots.wait("svc", 10, false);
  slots.wait("svc", 30, false);
  EXPECT_EQ(slots.next_waiting(), std::nullopt);
  slots.add(agent("n1/svc", 1));
  EXPECT_EQ(slots.next_waiting(), 30u);
  claimed(slots);
  EXPECT_EQ(slots.next_waiting(), std::nullopt);
  slots.release("n1/svc", 1);
  EXPECT_EQ(slots.next_waiting(), 10u);
  EXPECT_EQ(slots.next_waiting(), std::nullopt) << "each task waits once";
  slots.wait("svc", 30, false);
  slots.release("n1/svc", 1);
  EXPECT_EQ(slots.next_waiting(), std::nullopt) << "nothing was held";
  slots.add(agent("n1/svc", 1));
  EXPECT_EQ(slots.next_waiting(), 30u);
}

TEST(agent_slots, serve_the_queues_of_all_agents) {
  agent_slots slots;
  slots.wait("a", 1, false);
  slots.wait("b", 2, false);
  slots.add(agent("n1/a", 5, 1, "a"));
  slots.add(agent("n1/b", 5, 1, "b"));
  std::vector<std::uint64_t> got;
  while (const auto next = slots.next_waiting()) got.push_back(*next);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (std::vector<std::uint64_t>{1, 2}));
}

TEST(agent_slots, give_nothing_once_closed) {
  agent_slots slots;
  slots.add(agent("n1/svc", 5));
  slots.close();
  EXPECT_EQ(claimed(slots), "none");
}

TEST(agent_slots, describe_agents_and_those_that_are_missed) {
  agent_slots slots;
  slots.add(agent("n1/svc", 5, 7));
  claimed(slots);
  slots.wait("missing", 1, false);
  v1::StatusReply out;
  slots.describe(out);
  ASSERT_EQ(out.agents_size(), 2);
  EXPECT_EQ(out.agents(0).agent(), "missing");
  EXPECT_EQ(out.agents(0).waiting(), 1u);
  EXPECT_EQ(out.agents(0).instance(), "");
  EXPECT_EQ(out.agents(1).agent(), "svc");
  EXPECT_EQ(out.agents(1).held(), 1u);
  EXPECT_EQ(out.agents(1).capacity(), 5u);
  EXPECT_EQ(out.agents(1).incarnation(), 7u);
  EXPECT_TRUE(slots.offers("svc", "do"));
  EXPECT_FALSE(slots.offers("svc", "fly"));
  EXPECT_FALSE(slots.offers("missing", "do"));
}

}  // namespace
}  // namespace fairlead::testing
