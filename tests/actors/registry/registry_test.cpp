// Who gets which step: instances, waiting, limits.

#include "tests/actors/registry/registry_world.hpp"

namespace fairlead::testing {
namespace {

class registry_test : public registry_fixture {};

// ---- instances ----

TEST_F(registry_test, tells_a_new_process_from_one_that_reports_again) {
  EXPECT_EQ(it->add(agent("n1/svc", 1, 3)), arrival::fresh);
  EXPECT_EQ(it->add(agent("n1/svc", 1, 3)), arrival::same);
  EXPECT_EQ(it->add(agent("n1/svc", 1, 2)), arrival::stale);
  EXPECT_EQ(it->incarnation_of("n1/svc"), 3u);
  EXPECT_EQ(it->add(agent("n1/svc", 1, 4)), arrival::replaced);
  EXPECT_EQ(it->incarnation_of("n1/svc"), 4u);
  EXPECT_EQ(it->incarnation_of("n2/svc"), std::nullopt);
}

TEST_F(registry_test, gives_no_more_than_an_instance_can_hold) {
  it->add(agent("n1/svc", 2));
  EXPECT_EQ(claimed(1), "n1/svc#1");
  EXPECT_EQ(claimed(2), "n1/svc#1");
  EXPECT_EQ(claimed(3), "none");
  EXPECT_EQ(it->held(), 2u);
  end(1);
  EXPECT_EQ(claimed(3), "n1/svc#1");
  EXPECT_EQ(claimed(4, {"other", "do", {}, {}}), "none");
}

TEST_F(registry_test, prefers_the_instance_with_most_room) {
  it->add(agent("n1/svc", 2));
  it->add(agent("n2/svc", 4));
  EXPECT_EQ(claimed(1), "n2/svc#1");
  EXPECT_EQ(claimed(2), "n2/svc#1");
  hold("n2/svc", 3);
  EXPECT_EQ(claimed(4), "n1/svc#1");
}

TEST_F(registry_test, shares_evenly_among_equals) {
  for (int i = 0; i < 4; ++i) it->add(agent("n" + std::to_string(i) + "/svc", 10));
  std::map<std::string, int> got;
  for (std::uint64_t task = 1; task <= 400; ++task) {
    ++got[claimed(task)];
    end(task);
  }
  for (const auto& [name, count] : got) EXPECT_EQ(count, 100) << name;
}

TEST_F(registry_test, keeps_what_is_held_when_the_same_process_reports_again_and_forgets_it_with_a_new_one) {
  it->add(agent("n1/svc", 1, 1));
  claimed(1);
  it->add(agent("n1/svc", 1, 1));
  EXPECT_EQ(claimed(2), "none");
  it->add(agent("n1/svc", 1, 2));
  EXPECT_EQ(claimed(2), "n1/svc#2");
  end(1, slot_end::lost);
  EXPECT_EQ(claimed(3), "none") << "the slot of a dead process is not given back to the new one";
}

TEST_F(registry_test, survives_a_release_too_many) {
  it->add(agent("n1/svc", 1));
  end(1);
  claimed(1);
  end(1);
  end(1);
  hold("nobody", 5);
  end(5);
  EXPECT_EQ(claimed(2), "n1/svc#1");
  EXPECT_EQ(claimed(3), "none");
}

TEST_F(registry_test, counts_a_holder_once_however_often_it_claims) {
  it->add(limited(agent("n1/svc", 2), "", "", 2));
  claimed(1);
  claimed(1);
  hold("n1/svc", 1);
  EXPECT_EQ(it->held(), 1u);
  EXPECT_EQ(claimed(2), "n1/svc#1");
  end(1);
  end(2);
  EXPECT_EQ(it->held(), 0u);
  EXPECT_EQ(service().limits(0).held(), 0u);
}

TEST_F(registry_test, counts_a_holder_that_claims_again_against_the_limit_of_its_key) {
  it->add(limited(agent("n1/svc", 10), "", ".customer", 2));
  claimed(1, by("a"));
  claimed(1, by("a"));
  EXPECT_EQ(service().limits(0).held(), 1u);
  EXPECT_EQ(claimed(2, by("a")), "n1/svc#1");
  EXPECT_EQ(claimed(3, by("a")), "none");
}

TEST_F(registry_test, follows_an_instance_that_serves_another_agent_now) {
  it->add(agent("n1/svc", 1, 1, "svc"));
  it->add(agent("n1/svc", 1, 2, "other"));
  EXPECT_EQ(claimed(1), "none");
  EXPECT_EQ(claimed(2, {"other", "do", {}, {}}), "n1/svc#2");
}

TEST_F(registry_test, goes_only_where_the_labels_are) {
  it->add(labelled(agent("n1/svc", 100), {{"zone", "us"}}));
  it->add(labelled(agent("n2/svc", 1), {{"zone", "eu"}, {"disk", "fast"}}));
  EXPECT_EQ(claimed(1, {"svc", "do", {{"zone", "eu"}}, {}}), "n2/svc#1");
  EXPECT_FALSE(claim_or_wait(2, {"svc", "do", {{"disk", "fast"}, {"zone", "eu"}}, {}}));
  EXPECT_FALSE(claim_or_wait(3, {"svc", "do", {{"zone", "asia"}}, {}}));
  EXPECT_EQ(claimed(4), "n1/svc#1") << "what needs no labels is not held up by what does";
  EXPECT_EQ(reasons(), (std::vector<std::string>{"no instance with labels zone=asia",
                                                 "the only instance with labels disk=fast, zone=eu is at capacity"}));
  it->add(labelled(agent("n3/svc", 1), {{"zone", "asia"}}));
  EXPECT_EQ(it->next_waiting(), 3u);
}

TEST_F(registry_test, goes_where_the_call_is_known_and_elsewhere_only_when_nobody_knows_it) {
  it->add(agent("n1/svc", 100));
  auto special = agent("n2/svc", 1);
  special.add_calls("fly");
  it->add(special);
  EXPECT_EQ(claimed(1, {"svc", "fly", {}, {}}), "n2/svc#1");
  EXPECT_EQ(claimed(2, {"svc", "fly", {}, {}}), "none");
  EXPECT_EQ(claimed(3, {"svc", "swim", {}, {}}), "n1/svc#1") << "the agent itself says that it does not know the call";
  operate(v1::AGENT_VERB_DRAIN, "n2/svc");
  end(1);
  EXPECT_EQ(claimed(4, {"svc", "fly", {}, {}}), "none") << "one that drains still shows that the call exists";
}

TEST_F(registry_test, gives_nothing_once_closed) {
  it->add(agent("n1/svc", 1));
  claim_or_wait(1);
  claim_or_wait(2);
  it->close();
  end(1);
  EXPECT_EQ(claimed(3), "none");
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  EXPECT_EQ(reasons(), (std::vector<std::string>{"the node is draining"}));
}

TEST_F(registry_test, knows_what_the_calls_promise) {
  auto what = agent("n1/svc");
  what.add_lookups("do");
  auto& promise = *what.add_policies();
  promise.set_call("do");
  promise.set_key_valid_for_ms(86'400'000);
  it->add(limited(what, "do", ".customer", 5));
  EXPECT_TRUE(it->offers("svc", "do"));
  EXPECT_FALSE(it->offers("svc", "fly"));
  EXPECT_FALSE(it->offers("missing", "do"));
  EXPECT_TRUE(it->looks_up("svc", "do"));
  EXPECT_FALSE(it->looks_up("svc", "fly"));
  EXPECT_EQ(it->key_valid_for_ms("svc", "do"), 86'400'000);
  EXPECT_EQ(it->key_valid_for_ms("svc", "fly"), 0);
  EXPECT_TRUE(it->wants_input("svc", "do"));
  EXPECT_FALSE(it->wants_input("svc", "fly"));
  EXPECT_FALSE(it->wants_input("missing", "do"));
}

// ---- waiting ----

TEST_F(registry_test, serves_what_is_to_be_undone_first_then_by_order) {
  it->add(agent("n1/svc", 1));
  claim_or_wait(1);
  claim_or_wait(30);
  claim_or_wait(10);
  claim_or_wait(20, {}, true);
  claim_or_wait(10);
  std::vector<std::uint64_t> got;
  for (auto last = std::uint64_t{1}; last != 0;) {
    end(last);
    const auto next = serve();
    ASSERT_LE(next.size(), 1u) << "there is one slot";
    last = next.empty() ? 0 : next[0];
    if (last != 0) got.push_back(last);
  }
  EXPECT_EQ(got, (std::vector<std::uint64_t>{20, 10, 30}));
}

TEST_F(registry_test, orders_by_the_key_and_not_by_the_number) {
  it->add(agent("n1/svc", 1));
  claim_or_wait(1);
  it->wait(try_claim(2).queue, 2, 500, false);
  it->wait(try_claim(3).queue, 3, 400, false);
  end(1);
  EXPECT_EQ(it->next_waiting(), 3u);
}

TEST_F(registry_test, lets_nobody_overtake_those_that_wait) {
  it->add(agent("n1/svc", 1));
  claim_or_wait(1);
  claim_or_wait(2);
  end(1);
  EXPECT_FALSE(claim_or_wait(3)) << "the slot is free, but it is task 2's turn";
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  end(2);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{3}));
}

TEST_F(registry_test, names_nobody_twice_and_nobody_for_whom_there_is_nothing) {
  claim_or_wait(30);
  claim_or_wait(10);
  claim_or_wait(30);
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  it->add(agent("n1/svc", 1));
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{10}));
  end(10);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{30}));
  end(30);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{}));
}

TEST_F(registry_test, goes_on_when_a_named_task_wants_nothing_any_more) {
  it->add(agent("n1/svc", 1));
  for (std::uint64_t task = 1; task <= 4; ++task) claim_or_wait(task);
  end(1);
  EXPECT_EQ(it->next_waiting(), 2u);
  EXPECT_EQ(it->next_waiting(), 3u) << "task 2 did not claim";
  it->forget(4);
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  EXPECT_EQ(service().waiting(), 0u);
}

TEST_F(registry_test, moves_a_task_that_is_to_be_undone_to_the_front_of_its_queue) {
  it->add(agent("n1/svc", 1));
  for (std::uint64_t task = 1; task <= 3; ++task) claim_or_wait(task);
  claim_or_wait(3, {}, true);
  EXPECT_EQ(service().waiting(), 2u);
  end(1);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{3}));
}

TEST_F(registry_test, never_loses_a_task_whose_queue_is_gone) {
  it->add(agent("n1/svc", 1));
  claimed(1);
  it->wait(123'456, 7, 7, false);
  EXPECT_EQ(it->next_waiting(), 7u);
}

TEST_F(registry_test, serves_the_queues_of_all_agents) {
  claim_or_wait(1, {"a", "do", {}, {}});
  claim_or_wait(2, {"b", "do", {}, {}});
  it->add(agent("n1/a", 5, 1, "a"));
  it->add(agent("n1/b", 5, 1, "b"));
  EXPECT_EQ(it->next_waiting(), 1u);
  EXPECT_EQ(it->next_waiting(), 2u);
}

// ---- limits ----

TEST_F(registry_test, holds_each_key_to_its_limit_and_lets_the_others_pass) {
  it->add(limited(agent("n1/svc", 100), "do", ".customer", 2));
  for (std::uint64_t task = 1; task <= 5; ++task) EXPECT_EQ(claim_or_wait(task, by("a")), task <= 2);
  EXPECT_TRUE(claim_or_wait(6, by("b")));
  EXPECT_EQ(reasons(), (std::vector<std::string>{"limit 2 at a time for do by .customer is used up for 1 key"}));
  const auto limit = service().limits(0);
  EXPECT_EQ(limit.held(), 3u);
  EXPECT_EQ(limit.keys(), 2u);
  EXPECT_EQ(limit.waiting(), 3u);
  end(6);
  EXPECT_EQ(it->next_waiting(), std::nullopt) << "that was another customer's";
  end(2);
  EXPECT_EQ(serve(by("a")), (std::vector<std::uint64_t>{3}));
  end(1);
  end(3);
  EXPECT_EQ(serve(by("a")), (std::vector<std::uint64_t>{4, 5}));
}

TEST_F(registry_test, takes_all_limits_together_or_none) {
  it->add(limited(limited(agent("n1/svc", 100), "", "", 3), "do", ".customer", 1));
  EXPECT_TRUE(claim_or_wait(1, by("a")));
  EXPECT_FALSE(claim_or_wait(2, by("a")));
  EXPECT_TRUE(claim_or_wait(3, by("b")));
  EXPECT_TRUE(claim_or_wait(4, by("c"))) << "the refused one took nothing of the whole agent's limit";
  EXPECT_FALSE(claim_or_wait(5, by("d")));
  EXPECT_EQ(service().limits(0).held(), 3u);
  end(3);
  EXPECT_EQ(serve(by("d")), (std::vector<std::uint64_t>{5})) << "task 2 comes first but is held back by its customer";
}

TEST_F(registry_test, keeps_to_a_rate_and_says_when_to_look_again) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 2));
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(claim_or_wait(2));
  EXPECT_FALSE(claim_or_wait(3));
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 500));
  pass(499);
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  pass(1);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 1'000));
  pass(500);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(it->next_wake(), std::nullopt) << "nobody waits";
}

TEST_F(registry_test, wakes_up_for_a_rate_also_when_those_who_waited_before_have_gone) {
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(claim_or_wait(2));
  end(1);
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  it->forget(2);
  EXPECT_FALSE(claim_or_wait(3));
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 1'000));
  pass(1'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{3}));
}

TEST_F(registry_test, looks_again_at_a_rate_that_somebody_else_has_used_up_meanwhile) {
  const auto limits = [](v1::RegisterAgent of) { return limited(limited(std::move(of), "", ".merchant", 1), "", ".customer", 0, 1); };
  it->add(limits(labelled(agent("n1/svc", 3), {{"zone", "eu"}})));
  it->add(limits(labelled(agent("n2/svc", 3), {{"zone", "us"}})));
  const auto of = [](const std::string& zone, const std::string& customer, const std::string& merchant) {
    return ask{"svc", "do", {{"zone", zone}}, R"({"customer":")" + customer + R"(","merchant":")" + merchant + "\"}"};
  };
  ASSERT_TRUE(claim_or_wait(1, of("eu", "a", "v")));
  ASSERT_FALSE(claim_or_wait(2, of("eu", "a", "w"))) << "the customer's rate";
  ASSERT_FALSE(claim_or_wait(3, of("eu", "a", "x")));
  ASSERT_TRUE(claim_or_wait(4, of("eu", "b", "w"))) << "now the merchant of task 2 is busy as well,";
  ASSERT_TRUE(claim_or_wait(5, of("eu", "c", "y"))) << "and so is the instance";
  pass(1'000);
  ASSERT_EQ(it->next_waiting(), std::nullopt);
  ASSERT_TRUE(claim_or_wait(6, of("us", "a", "z"))) << "takes what the customer's rate gave";
  end(5);
  ASSERT_EQ(it->next_waiting(), std::nullopt);
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 2'000));
  pass(1'000);
  EXPECT_EQ(serve(of("eu", "a", "x")), (std::vector<std::uint64_t>{3}));
}

TEST_F(registry_test, keeps_a_rate_for_each_key) {
  it->add(limited(agent("n1/svc", 100), "", ".customer", 0, 1));
  for (std::uint64_t task = 1; task <= 4; ++task) claim_or_wait(task, by(task % 2 == 0 ? "a" : "b"));
  EXPECT_EQ(service().waiting(), 2u);
  pass(1'000);
  EXPECT_EQ(it->next_waiting(), 3u);
  EXPECT_TRUE(claim_or_wait(3, by("b")));
  EXPECT_EQ(it->next_waiting(), 4u);
}

TEST_F(registry_test, frees_limits_of_a_process_that_died) {
  it->add(limited(agent("n1/svc", 100, 1), "", ".customer", 1));
  EXPECT_TRUE(claim_or_wait(1, by("a")));
  EXPECT_FALSE(claim_or_wait(2, by("a")));
  it->add(limited(agent("n1/svc", 100, 2), "", ".customer", 1));
  EXPECT_EQ(it->next_waiting(), std::nullopt) << "until the lost attempt is settled the customer has one out";
  end(1, slot_end::lost);
  EXPECT_EQ(serve(by("a")), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(it->held(), 1u);
  end(2);
  EXPECT_EQ(it->held(), 0u);
  EXPECT_EQ(service().limits(0).held(), 0u);
}

TEST_F(registry_test, counts_attempts_that_a_restart_found_against_the_limits) {
  it->add(limited(agent("n1/svc", 100), "", "", 2));
  hold("n1/svc", 1);
  hold("n1/svc", 2);
  hold("n1/svc", 3);
  EXPECT_EQ(claimed(4), "none");
  end(1);
  EXPECT_EQ(claimed(4), "none") << "three were out, two are too many still";
  end(2);
  EXPECT_EQ(claimed(4), "n1/svc#1");
}

TEST_F(registry_test, asks_those_that_wait_anew_when_the_limits_are_others) {
  it->add(limited(agent("n1/svc", 100), "", ".customer", 1));
  claim_or_wait(1, by("a"));
  for (std::uint64_t task = 2; task <= 5; ++task) claim_or_wait(task, by("a"));
  it->add(limited(agent("n1/svc", 100), "", "", 3));
  std::set<std::uint64_t> started;
  while (const auto next = it->next_waiting())
    if (claim_or_wait(*next, by("a"))) started.insert(*next);
  EXPECT_EQ(started, (std::set<std::uint64_t>{2, 3, 4}));
  end(1);
  EXPECT_EQ(it->next_waiting(), std::nullopt) << "that one never counted against the new limit";
  end(2);
  EXPECT_EQ(serve(by("a")), (std::vector<std::uint64_t>{5}));
  it->add(agent("n1/svc", 100));
  EXPECT_FALSE(it->wants_input("svc", "do"));
  EXPECT_EQ(claimed(6, by("a")), "n1/svc#1");
}

TEST_F(registry_test, lets_more_through_when_a_limit_is_raised) {
  it->add(limited(agent("n1/svc", 100), "", ".customer", 1));
  for (std::uint64_t task = 1; task <= 4; ++task) claim_or_wait(task, by("a"));
  it->add(limited(agent("n1/svc", 100), "", ".customer", 3));
  EXPECT_EQ(serve(by("a")), (std::vector<std::uint64_t>{2, 3}));
}

// ---- away, look-ups, shards ----

TEST_F(registry_test, gives_an_instance_that_is_away_nothing_until_it_registers_again) {
  it->add(agent("n1/svc", 2));
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(it->set_away("n1/svc", 2)) << "another process";
  EXPECT_TRUE(it->set_away("n1/svc", 1));
  EXPECT_FALSE(it->set_away("n1/svc", 1)) << "it is already";
  EXPECT_FALSE(claim_or_wait(2));
  EXPECT_EQ(instance("n1/svc").held(), 1u) << "what it holds it keeps";
  EXPECT_EQ(reasons(), std::vector<std::string>{"no node with an instance is connected"});
  EXPECT_TRUE(it->looks_up("svc", "do") == false && it->offers("svc", "do")) << "what it offers is known still";
  it->add(agent("n1/svc", 2));
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(instance("n1/svc").held(), 2u);
}

TEST_F(registry_test, takes_look_ups_only_where_they_are_answered) {
  auto knows = agent("n2/svc", 1);
  knows.add_lookups("do");
  it->add(agent("n1/svc", 100));
  const auto look_up = [this](std::uint64_t task) {
    const auto got = it->claim({{task, 1}, "svc", "do", nullptr, {}, true});
    if (!got.instance) it->wait(got.queue, task, task, false);
    return got.instance ? std::string{got.instance->name} : "none";
  };
  EXPECT_EQ(look_up(1), "n1/svc") << "nobody can: whoever gets it says so";
  it->add(knows);
  EXPECT_EQ(look_up(2), "n2/svc");
  EXPECT_EQ(look_up(3), "none") << "and waits for that one";
  EXPECT_EQ(claimed(4), "n1/svc#1") << "to perform it anyone will do";
  end(2);
  EXPECT_EQ(it->next_waiting(), 3u);
  EXPECT_EQ(look_up(3), "n2/svc");
  it->set_away("n2/svc", 1);
  EXPECT_EQ(look_up(5), "none") << "it will be back";
  EXPECT_EQ(service().waiting(), 1u);
}

TEST_F(registry_test, keeps_to_its_part_of_a_limit) {
  policy.shard_count = 4;
  const auto held_by = [this](std::uint32_t shard, std::uint32_t concurrency) {
    policy.shard = shard;
    restart();
    it->add(limited(agent("n1/svc", 100), "", "", concurrency));
    std::uint64_t task = 0;
    while (claimed(++task) != "none") {
    }
    return task - 1;
  };
  EXPECT_EQ(held_by(0, 10) + held_by(1, 10) + held_by(2, 10) + held_by(3, 10), 10u);
  EXPECT_EQ(held_by(3, 2), 1u) << "none at all would be a standstill";
  policy.shard = 0;
  restart();
  it->add(limited(agent("n1/svc", 100), "", "", 0, 1));  // one a second
  EXPECT_EQ(claimed(1), "n1/svc#1");
  pass(3'000);
  EXPECT_EQ(claimed(2), "none");
  pass(1'000);
  EXPECT_EQ(claimed(2), "n1/svc#1");
}

TEST_F(registry_test, counts_what_was_out_before_it_once_whoever_is_there) {
  it->add(limited(agent("n1/svc", 100), "", "", 2));
  it->hold("", {{1, 1}, "svc", "do", nullptr, {}});
  EXPECT_EQ(it->held(), 0u);
  EXPECT_EQ(service().limits(0).held(), 1u);
  hold("n1/svc", 1);
  hold("n1/svc", 1);
  EXPECT_EQ(it->held(), 1u);
  EXPECT_EQ(service().limits(0).held(), 1u);
  end(1);
  EXPECT_EQ(it->held(), 0u);
  EXPECT_EQ(service().limits(0).held(), 0u);
}

TEST_F(registry_test, takes_no_more_instances_than_it_can_keep) {
  for (std::size_t i = 0; i < max_instances; ++i) ASSERT_EQ(it->add(agent("n" + std::to_string(i) + "/svc")), arrival::fresh);
  EXPECT_EQ(it->add(agent("one/more")), arrival::refused);
  EXPECT_EQ(it->add(agent("n7/svc", 3)), arrival::same);
}

}  // namespace
}  // namespace fairlead::testing
