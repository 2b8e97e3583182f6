// An agent host and the lineages of the shards that it serves.

#include "tests/actors/agent_host/agent_host_world.hpp"

namespace fairlead::testing {
namespace {

v1::Lineage lineage(std::int64_t made_unix_ms, std::uint64_t bits = 1) {
  v1::Lineage out;
  out.set_made_unix_ms(made_unix_ms);
  out.set_bits(bits);
  return out;
}

class agent_lineage_test : public agent_host_test {
 protected:
  v1::PerformBatch batch(const std::vector<v1::Perform>& items, const v1::Lineage& of, std::uint64_t epoch) const {
    v1::PerformBatch out;
    out.set_epoch(epoch);
    *out.mutable_lineage() = of;
    for (const auto& one : items) *out.add_items() = one;
    return out;
  }
  void order(const std::vector<v1::Perform>& items, const v1::Lineage& of, std::uint64_t epoch = 1) {
    host().perform(batch(items, of, epoch));
    host().flush();
  }
  bool welcome(const v1::Lineage& of, std::uint64_t epoch = 1) {
    v1::AgentWelcome what;
    what.set_epoch(epoch);
    *what.mutable_lineage() = of;
    const auto taken = host().welcomed(what);
    host().flush();
    return taken;
  }
  v1::Perform keyed(std::uint64_t task) const {
    auto out = attempt(task);
    out.set_idempotency_key("order-" + std::to_string(task) + "/charge/perform/0");
    return out;
  }
};

TEST_F(agent_lineage_test, obeys_a_later_lineage_whatever_its_epoch_and_stops_the_earlier_one_without_a_word) {
  order({attempt(1)}, lineage(1'000), 50);
  ASSERT_TRUE(welcome(lineage(2'000), 3));
  ASSERT_EQ(backend.stopped.size(), 1u);
  EXPECT_EQ(host().held(), 0u);
  EXPECT_TRUE(out.sent.empty());
  order({attempt(1)}, lineage(2'000), 3);
  EXPECT_EQ(backend.started.size(), 2u) << "the same number is another task's now";
  ASSERT_EQ(host().held(), 1u);
  host().finished(agents::key_of(backend.started[0]), {"\"of the earlier one\"", std::nullopt, 1});
  host().flush();
  EXPECT_TRUE(out.sent.empty()) << "what it finishes late is nobody's";
  host().finished(agents::key_of(backend.started[1]), {"7", std::nullopt, 1});
  host().flush();
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(out.sent[0].lineage().made_unix_ms(), 2'000);
}

TEST_F(agent_lineage_test, refuses_an_earlier_lineage_and_says_so_for_each_attempt_that_it_has_not_begun) {
  order({attempt(1)}, lineage(2'000), 3);
  EXPECT_FALSE(welcome(lineage(1'000), 50));
  order({attempt(1), attempt(2)}, lineage(1'000), 50);
  EXPECT_EQ(backend.started.size(), 1u);
  ASSERT_EQ(out.turned_down.size(), 1u);
  const auto& refused = out.turned_down[0];
  EXPECT_EQ(refused.items_size(), 2);
  EXPECT_EQ(refused.refused_epoch(), 50u);
  EXPECT_EQ(refused.lineage().made_unix_ms(), 1'000);
  EXPECT_EQ(refused.items(0).fault().kind(), v1::FAULT_KIND_TRANSIENT);
  EXPECT_TRUE(out.sent.empty());
}

TEST_F(agent_lineage_test, does_not_call_unbegun_what_it_had_begun_before_the_later_lineage_came) {
  order({attempt(1)}, lineage(1'000), 50);
  ASSERT_TRUE(welcome(lineage(2'000)));
  order({attempt(1), attempt(2)}, lineage(1'000), 50);
  ASSERT_EQ(out.turned_down.size(), 1u);
  ASSERT_EQ(out.turned_down[0].items_size(), 1);
  EXPECT_EQ(out.turned_down[0].items(0).task_number(), 2u);
}

TEST_F(agent_lineage_test, refuses_another_lineage_of_the_same_moment) {
  order({attempt(1)}, lineage(1'000, 1));
  EXPECT_FALSE(welcome(lineage(1'000, 2)));
  EXPECT_EQ(host().held(), 1u);
}

TEST_F(agent_lineage_test, says_so_when_it_drops_what_an_older_start_of_the_shard_hands_over) {
  order({attempt(1)}, lineage(1'000), 5);
  order({attempt(2)}, lineage(1'000), 4);
  ASSERT_EQ(out.turned_down.size(), 1u);
  EXPECT_EQ(out.turned_down[0].refused_epoch(), 4u);
  order({attempt(1)}, lineage(1'000), 4);
  EXPECT_EQ(out.turned_down.size(), 1u) << "nothing of what is under way: it goes on";
}

TEST_F(agent_lineage_test, registers_with_what_it_has_obeyed) {
  EXPECT_FALSE(host().registration(0).has_lineage());
  order({attempt(1)}, lineage(1'000), 5);
  const auto said = host().registration(0);
  EXPECT_EQ(said.lineage().made_unix_ms(), 1'000);
  EXPECT_EQ(said.epoch(), 5u);
  EXPECT_EQ(host().registration(1).epoch(), 0u) << "of another shard it knows nothing";
}

TEST_F(agent_lineage_test, keeps_what_it_holds_when_a_shard_begins_to_tell_its_lineage) {
  hand_over({attempt(1)}, 7);
  ASSERT_TRUE(welcome(lineage(1'000), 8)) << "after an upgrade";
  EXPECT_EQ(host().held(), 1u);
  EXPECT_TRUE(backend.stopped.empty());
  finish(1);
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(out.sent[0].lineage().made_unix_ms(), 1'000);
}

TEST_F(agent_lineage_test, takes_acknowledgements_of_the_lineage_that_it_obeys_alone) {
  order({attempt(1)}, lineage(2'000));
  finish(1);
  v1::OutcomeAckBatch ack;
  ack.add_items()->set_task_number(1);
  ack.mutable_items(0)->set_attempt(1);
  *ack.mutable_lineage() = lineage(1'000);
  host().acknowledged(ack);
  pass(3'000);
  EXPECT_EQ(out.sent.size(), 2u) << "it is said again";
  *ack.mutable_lineage() = lineage(2'000);
  host().acknowledged(ack);
  pass(3'000);
  EXPECT_EQ(out.sent.size(), 2u);
}

TEST_F(agent_lineage_test, tells_the_later_lineage_once_a_registration_what_was_done_and_not_acknowledged) {
  order({keyed(1), keyed(2)}, lineage(1'000));
  finish(1);
  finish(2, 1, {"", v1::Fault{}, 1});
  out.sent.clear();
  order({}, lineage(2'000));
  EXPECT_TRUE(out.sent.empty()) << "not before it is registered";
  ASSERT_TRUE(welcome(lineage(2'000)));
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(out.sent[0].lineage().made_unix_ms(), 1'000) << "in the name of the earlier one";
  ASSERT_EQ(out.sent[0].items_size(), 1) << "what failed is nobody's concern any more";
  EXPECT_EQ(out.sent[0].items(0).idempotency_key(), "order-1/charge/perform/0");
  pass(10'000);
  EXPECT_EQ(out.sent.size(), 1u);
}

TEST_F(agent_lineage_test, tells_the_later_lineage_also_what_may_have_been_done) {
  order({keyed(1)}, lineage(1'000));
  v1::Fault doubt;
  doubt.set_kind(v1::FAULT_KIND_IN_DOUBT);
  finish(1, 1, {"", doubt, 1});
  out.sent.clear();
  ASSERT_TRUE(welcome(lineage(2'000)));
  ASSERT_EQ(out.sent.size(), 1u);
  ASSERT_EQ(out.sent[0].items_size(), 1);
  EXPECT_EQ(out.sent[0].items(0).fault().kind(), v1::FAULT_KIND_IN_DOUBT);
  EXPECT_EQ(out.sent[0].items(0).idempotency_key(), "order-1/charge/perform/0");
}

TEST_F(agent_lineage_test, says_with_each_registration_what_is_left_over_of_all_earlier_lineages_until_that_is_acknowledged) {
  order({keyed(1), keyed(2)}, lineage(1'000));
  finish(1);
  finish(2);
  ASSERT_TRUE(welcome(lineage(2'000)));
  order({keyed(3)}, lineage(2'000));
  host().finished(agents::key_of(backend.started.back()), {"7", std::nullopt, 1});
  host().flush();
  out.sent.clear();
  ASSERT_TRUE(welcome(lineage(3'000)));
  ASSERT_EQ(out.sent.size(), 2u);
  EXPECT_EQ(out.sent[0].lineage().made_unix_ms(), 1'000);
  EXPECT_EQ(out.sent[0].items_size(), 2);
  EXPECT_EQ(out.sent[1].lineage().made_unix_ms(), 2'000);
  EXPECT_EQ(out.sent[1].items_size(), 1);

  v1::OutcomeAckBatch ack;
  *ack.mutable_lineage() = lineage(1'000);
  for (const auto number : {1u, 3u}) {
    auto& one = *ack.add_items();
    one.set_task_number(number);
    one.set_attempt(1);
  }
  host().acknowledged(ack);
  out.sent.clear();
  ASSERT_TRUE(welcome(lineage(3'000), 2)) << "the next start of the shard";
  ASSERT_EQ(out.sent.size(), 2u);
  ASSERT_EQ(out.sent[0].items_size(), 1);
  EXPECT_EQ(out.sent[0].items(0).task_number(), 2u);
  EXPECT_EQ(out.sent[1].items(0).task_number(), 3u) << "the third is the other lineage's";
}

}  // namespace
}  // namespace fairlead::testing
