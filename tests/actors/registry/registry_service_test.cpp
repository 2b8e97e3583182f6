// What becomes of a service: its breaker, the health of its instances, draining, absence, and what is shown of it.

#include "tests/actors/registry/registry_world.hpp"

namespace fairlead::testing {
namespace {

class registry_service_test : public registry_fixture {};

// ---- breaker ----

TEST_F(registry_service_test, makes_steps_wait_while_the_breaker_is_open_and_says_so) {
  it->add(agent("n1/svc", 100));
  break_it();
  EXPECT_FALSE(claim_or_wait(1));
  EXPECT_EQ(reasons(), (std::vector<std::string>{"breaker of svc is open until 22:13:30Z: 20 of 20 tries failed within 30s"}));
  const auto changes = make_durable();
  ASSERT_EQ(changes.size(), 1u);
  ASSERT_TRUE(changes[0].breaker_alert.has_value());
  EXPECT_EQ(changes[0].breaker_alert->kind(), v1::ALERT_KIND_BREAKER_OPEN);
  EXPECT_NE(changes[0].breaker_alert->sentence().find("20 of 20 tries failed"), std::string::npos);
  EXPECT_EQ(changes[0].breaker_alert->sentence().find("until"), std::string::npos) << "it is read long after that moment";
  EXPECT_NE(changes[0].breaker_alert->remedy().find("fairlead agent breaker close svc"), std::string::npos);
  EXPECT_EQ(changes[0].record.open_until_unix_ms(), start_ms + 10'000);
  EXPECT_TRUE(make_durable().empty());
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 10'000));
  EXPECT_EQ(it->next_waiting(), std::nullopt);
}

TEST_F(registry_service_test, sends_one_canary_after_the_other_and_closes) {
  it->add(agent("n1/svc", 100));
  break_it();
  for (std::uint64_t task = 1; task <= 10; ++task) claim_or_wait(task);
  make_durable();
  pass(10'000);
  EXPECT_EQ(make_durable().at(0).record.breaker(), v1::BREAKER_STATE_HALF_OPEN);
  for (std::uint64_t task = 1; task <= 3; ++task) {
    EXPECT_EQ(serve(), (std::vector<std::uint64_t>{task})) << "one at a time";
    end(task, slot_end::succeeded, 5);
  }
  EXPECT_EQ(serve().size(), 7u);
  const auto changes = make_durable();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].record.breaker(), v1::BREAKER_STATE_CLOSED);
  EXPECT_EQ(changes[0].resolved, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(changes[0].record.breaker_alert(), 0u);
}

TEST_F(registry_service_test, raises_the_alert_though_the_clock_passes_the_pause_before_the_opening_is_written) {
  it->add(agent("n1/svc", 100));
  break_it();
  pass(10'000);
  const auto changes = make_durable();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].record.breaker(), v1::BREAKER_STATE_HALF_OPEN);
  EXPECT_TRUE(changes[0].breaker_alert.has_value());
}

TEST_F(registry_service_test, raises_one_alert_however_often_canaries_fail) {
  it->add(agent("n1/svc", 100));
  break_it();
  make_durable();
  for (std::uint64_t task = 1; task <= 3; ++task) {
    pass(100'000);
    ASSERT_NE(claimed(task), "none");
    end(task, slot_end::failed);
    const auto changes = make_durable();
    for (const auto& change : changes) EXPECT_FALSE(change.breaker_alert.has_value());
  }
  EXPECT_EQ(durable["svc"].openings(), 4u);
  EXPECT_EQ(durable["svc"].breaker_alert(), 1u);
}

TEST_F(registry_service_test, frees_the_place_of_a_canary_whose_process_died) {
  it->add(agent("n1/svc", 100, 1));
  break_it();
  pass(10'000);
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(claim_or_wait(2));
  it->add(agent("n1/svc", 100, 2));
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  end(1, slot_end::lost);
  EXPECT_EQ(claimed(3), "none") << "what was known to be lost frees no second place";
}

TEST_F(registry_service_test, frees_the_place_of_a_canary_that_was_not_used) {
  it->add(agent("n1/svc", 100));
  break_it();
  pass(10'000);
  EXPECT_TRUE(claim_or_wait(1));
  EXPECT_FALSE(claim_or_wait(2));
  end(1, slot_end::unused);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
}

TEST_F(registry_service_test, takes_a_breaker_up_where_the_process_before_left_it) {
  it->add(agent("n1/svc", 100));
  break_it();
  make_durable();
  restart();
  it->restore(durable["svc"]);
  it->add(agent("n1/svc", 100));
  EXPECT_FALSE(claim_or_wait(1));
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 10'000));
  pass(10'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
  const auto changes = make_durable();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_FALSE(changes[0].breaker_alert.has_value()) << "it was raised before the restart";
  restart();
  it->restore(durable["svc"]);
  it->add(agent("n1/svc", 100));
  EXPECT_TRUE(claim_or_wait(2));
  EXPECT_FALSE(claim_or_wait(3)) << "half-open begins with its canaries anew";
}

TEST_F(registry_service_test, leaves_an_opened_breaker_to_the_operator) {
  it->add(agent("n1/svc", 100));
  EXPECT_EQ(operate(v1::AGENT_VERB_BREAKER_OPEN, "svc", "maintenance").error().code(), v1::ERROR_CODE_OK);
  EXPECT_FALSE(claim_or_wait(1));
  make_durable();
  EXPECT_EQ(durable["svc"].breaker_by(), "mara");
  EXPECT_EQ(durable["svc"].open_until_unix_ms(), 0);
  EXPECT_NE(durable["svc"].breaker_alert(), 0u);
  pass(100'000'000);
  EXPECT_EQ(it->next_waiting(), std::nullopt);
  EXPECT_EQ(reasons(), (std::vector<std::string>{"breaker of svc is open until an operator closes it: opened by mara: maintenance"}));
  const auto reply = operate(v1::AGENT_VERB_BREAKER_CLOSE, "svc");
  EXPECT_EQ(reply.waiting(), 1u);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(make_durable().at(0).resolved.size(), 1u);
}

TEST_F(registry_service_test, does_not_pretend_to_open_a_breaker_that_is_off) {
  auto what = agent("n1/svc", 100);
  what.mutable_breaker()->set_off(true);
  it->add(what);
  EXPECT_EQ(operate(v1::AGENT_VERB_BREAKER_OPEN, "svc").error().code(), v1::ERROR_CODE_WRONG_STATE);
  EXPECT_TRUE(claim_or_wait(1));
}

// ---- health ----

TEST_F(registry_service_test, gives_a_sick_instance_one_attempt_a_second_until_it_is_well) {
  auto off = [](v1::RegisterAgent what) {
    what.mutable_breaker()->set_off(true);
    return what;
  };
  for (int i = 1; i <= 3; ++i) it->add(off(agent("n" + std::to_string(i) + "/svc", 10)));
  std::uint64_t task = 0;
  const auto run_some = [&](bool bad_one_fails, int count) {
    int to_bad = 0;
    for (int i = 0; i < count; ++i) {
      const auto bad = claimed(++task) == "n1/svc#1";
      to_bad += bad ? 1 : 0;
      end(task, bad && bad_one_fails ? slot_end::failed : slot_end::succeeded, 5);
    }
    return to_bad;
  };
  run_some(true, 60);
  ASSERT_TRUE(instance("n1/svc").sick());
  EXPECT_GT(instance("n1/svc").error_percent(), 50u);
  EXPECT_NE(instance("n1/svc").sickness(), "");
  EXPECT_FALSE(instance("n2/svc").sick());
  int trickled = 0;
  for (int second = 0; second < 20; ++second) {
    pass(1'000);
    trickled += run_some(true, 50);
  }
  EXPECT_EQ(trickled, 20);
  int seconds = 0;
  for (; instance("n1/svc").sick() && seconds < 60; ++seconds) {
    pass(1'000);
    run_some(false, 50);
  }
  EXPECT_LE(seconds, 12);
  EXPECT_GT(run_some(false, 300), 80) << "it takes its share again";
}

TEST_F(registry_service_test, holds_a_sick_instance_to_one_attempt_at_a_time) {
  auto one = agent("n1/svc", 10);
  one.mutable_breaker()->set_off(true);
  it->add(one);
  for (std::uint64_t task = 1; task <= 10; ++task) {
    claimed(task);
    end(task, slot_end::failed);
  }
  one.set_instance("n2/svc");
  one.set_capacity(2);
  it->add(one);
  pass(1'000);
  std::multiset<std::string> got;
  for (std::uint64_t task = 20; task < 26; ++task) {
    const auto where = try_claim(task);
    got.insert(where.instance ? std::string{where.instance->name} : "none");
    if (!where.instance) it->wait(where.queue, task, task, false);
    pass(1'000);
  }
  EXPECT_EQ(got.count("n1/svc"), 1u);
  EXPECT_EQ(got.count("n2/svc"), 2u);
  EXPECT_EQ(reasons(), (std::vector<std::string>{"all 1 healthy instance are at capacity, and 1 sick instance gets single attempts"}));
}

TEST_F(registry_service_test, wakes_up_for_a_trickle_only_while_something_waits) {
  auto one = agent("n1/svc", 10);
  one.mutable_breaker()->set_off(true);
  it->add(one);
  for (std::uint64_t task = 1; task <= 10; ++task) {
    claimed(task);
    end(task, slot_end::failed);
  }
  one.set_instance("n2/svc");
  one.set_capacity(1);
  it->add(one);
  EXPECT_TRUE(claim_or_wait(20));
  EXPECT_EQ(it->next_wake(), std::nullopt);
  EXPECT_FALSE(claim_or_wait(21));
  ASSERT_TRUE(it->next_wake().has_value());
  EXPECT_LE(*it->next_wake(), from_unix_ms(start_ms + 1'000));
  pass(1'000);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{21}));
}

TEST_F(registry_service_test, treats_none_as_sick_when_all_are) {
  for (int i = 1; i <= 2; ++i) {
    auto one = agent("n" + std::to_string(i) + "/svc", 10);
    one.mutable_breaker()->set_off(true);
    it->add(one);
  }
  std::uint64_t task = 0;
  for (int i = 0; i < 100; ++i) {
    claimed(++task);
    end(task, slot_end::failed);
    pass(500);
  }
  ASSERT_TRUE(instance("n1/svc").sick() && instance("n2/svc").sick());
  for (int i = 0; i < 20; ++i) EXPECT_NE(claimed(++task), "none");
}

TEST_F(registry_service_test, finds_an_instance_sick_that_is_much_slower_than_its_peers) {
  for (int i = 1; i <= 4; ++i) it->add(agent("n" + std::to_string(i) + "/svc", 10));
  for (std::uint64_t task = 1; task <= 200; ++task) {
    const auto where = claimed(task);
    end(task, slot_end::succeeded, where == "n1/svc#1" ? 1'000 : 100);
  }
  EXPECT_TRUE(instance("n1/svc").sick());
  EXPECT_EQ(instance("n2/svc").latency_ms(), 100);
}

TEST_F(registry_service_test, starts_a_new_process_healthy) {
  auto one = agent("n1/svc", 10);
  one.mutable_breaker()->set_off(true);
  it->add(one);
  for (std::uint64_t task = 1; task <= 20; ++task) {
    claimed(task);
    end(task, slot_end::failed);
  }
  ASSERT_TRUE(instance("n1/svc").sick());
  one.set_incarnation(2);
  it->add(one);
  EXPECT_FALSE(instance("n1/svc").sick());
}

TEST_F(registry_service_test, shows_when_an_instance_was_heard) {
  it->add(agent("n1/svc", 10));
  pass(1'000);
  it->heard("n1/svc");
  it->heard("nobody");
  EXPECT_EQ(instance("n1/svc").heard_unix_ms(), start_ms + 1'000);
  claimed(1);
  pass(1'000);
  end(1, slot_end::expired);
  EXPECT_EQ(instance("n1/svc").heard_unix_ms(), start_ms + 1'000) << "silence is no sign of life";
  claimed(2);
  end(2);
  EXPECT_EQ(instance("n1/svc").heard_unix_ms(), start_ms + 2'000);
  EXPECT_EQ(instance("n1/svc").handed_over(), 2u);
}

// ---- draining ----

TEST_F(registry_service_test, gives_an_instance_that_drains_nothing_more) {
  it->add(agent("n1/svc", 10));
  claimed(1);
  const auto reply = operate(v1::AGENT_VERB_DRAIN, "n1/svc");
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(reply.held(), 1u);
  EXPECT_FALSE(claim_or_wait(2));
  EXPECT_EQ(instance("n1/svc").drained_by(), "mara");
  EXPECT_EQ(reasons(), (std::vector<std::string>{"all instances are draining"}));
  make_durable();
  restart();
  it->restore(durable["svc"]);
  it->add(agent("n1/svc", 10));
  EXPECT_FALSE(claim_or_wait(2)) << "it is remembered";
  EXPECT_EQ(operate(v1::AGENT_VERB_RESUME, "n1/svc").error().code(), v1::ERROR_CODE_OK);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{2}));
  make_durable();
  EXPECT_EQ(durable["svc"].drained_size(), 0);
}

TEST_F(registry_service_test, forgets_a_drain_with_the_process_that_it_was_meant_for) {
  it->add(agent("n1/svc", 10, 1));
  operate(v1::AGENT_VERB_DRAIN, "n1/svc");
  it->add(agent("n1/svc", 10, 1));
  EXPECT_EQ(claimed(1), "none");
  it->add(agent("n1/svc", 10, 2));
  EXPECT_EQ(claimed(1), "n1/svc#2");
  make_durable();
  EXPECT_EQ(durable["svc"].drained_size(), 0);
}

TEST_F(registry_service_test, lets_an_instance_drain_itself) {
  auto what = agent("n1/svc", 10);
  what.set_draining(true);
  it->add(what);
  EXPECT_FALSE(claim_or_wait(1));
  EXPECT_TRUE(instance("n1/svc").draining());
  EXPECT_EQ(operate(v1::AGENT_VERB_RESUME, "n1/svc").error().code(), v1::ERROR_CODE_WRONG_STATE);
  what.set_draining(false);
  it->add(what);
  EXPECT_EQ(serve(), (std::vector<std::uint64_t>{1}));
}

TEST_F(registry_service_test, names_the_nearest_of_what_an_operator_misspelt) {
  it->add(agent("n1/payment", 10, 1, "payment"));
  auto reply = operate(v1::AGENT_VERB_DRAIN, "n1/paymnet");
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(reply.error().remedy().find("n1/payment"), std::string::npos) << reply.error().remedy();
  reply = operate(v1::AGENT_VERB_BREAKER_OPEN, "paymnet");
  EXPECT_EQ(reply.error().code(), v1::ERROR_CODE_NOT_FOUND);
  EXPECT_NE(reply.error().remedy().find("payment"), std::string::npos);
  EXPECT_EQ(operate(v1::AGENT_VERB_UNSPECIFIED, "payment").error().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_TRUE(it->take_changes().empty());
}

TEST_F(registry_service_test, shows_what_failed_before_the_breaker_opens_and_after) {
  it->add(agent("n1/svc", 100));
  const auto fail = [this](std::uint64_t task) {
    claimed(task);
    it->release({task, 1}, {slot_end::failed, 3, 0, "http_503"});
  };
  for (std::uint64_t task = 1; task <= 6; ++task) fail(task);
  EXPECT_EQ(status().services(0).record().breaker(), v1::BREAKER_STATE_CLOSED);
  EXPECT_EQ(status().services(0).record().breaker_reason(), "http_503 (18)");
  fail(7);
  EXPECT_EQ(status().services(0).record().breaker_reason(), "21 of 21 tries failed within 30s: http_503 (21)");
  const auto changes = make_durable();
  ASSERT_EQ(changes.size(), 1u);
  ASSERT_TRUE(changes[0].breaker_alert.has_value());
  EXPECT_EQ(changes[0].breaker_alert->sentence(),
            "the breaker of svc is open: 21 of 21 tries failed within 30s: http_503 (21); its steps wait");
  EXPECT_EQ(changes[0].record.breaker_reason(), "21 of 21 tries failed within 30s: http_503 (21)");
}

TEST_F(registry_service_test, says_why_the_breaker_is_open_now) {
  it->add(agent("n1/svc", 100));
  break_it();
  make_durable();
  v1::AgentOperateRequest by;
  by.set_verb(v1::AGENT_VERB_BREAKER_OPEN);
  by.set_agent("svc");
  by.set_who("ann");
  by.set_reason("it is being moved");
  it->operate(by);
  const auto changes = make_durable();
  EXPECT_FALSE(changes.at(0).breaker_alert.has_value());
  const auto& [number, now] = changes.at(0).restated.at(0);
  EXPECT_EQ(now.sentence(), "the breaker of svc is open: opened by ann: it is being moved; its steps wait") << number;
}

// ---- absence ----

TEST_F(registry_service_test, raises_an_alert_when_nobody_has_come_for_a_minute_and_resolves_it_when_one_does) {
  claim_or_wait(1);
  EXPECT_EQ(make_durable().at(0).record.absent_since_unix_ms(), start_ms);
  ASSERT_EQ(it->next_wake(), from_unix_ms(start_ms + 60'000));
  pass(59'999);
  EXPECT_TRUE(make_durable().empty());
  pass(1);
  const auto raised = make_durable();
  ASSERT_EQ(raised.size(), 1u);
  ASSERT_TRUE(raised[0].absent_alert.has_value());
  EXPECT_EQ(raised[0].absent_alert->kind(), v1::ALERT_KIND_AGENT_ABSENT);
  EXPECT_NE(raised[0].absent_alert->sentence().find("no instance of svc"), std::string::npos) << raised[0].absent_alert->sentence();
  EXPECT_EQ(it->next_wake(), std::nullopt);
  pass(600'000);
  EXPECT_TRUE(make_durable().empty()) << "once";
  it->add(agent("n1/svc", 1));
  const auto resolved = make_durable();
  ASSERT_EQ(resolved.size(), 1u);
  EXPECT_EQ(resolved[0].resolved, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(resolved[0].record.absent_since_unix_ms(), 0);
}

TEST_F(registry_service_test, misses_instances_with_labels_though_others_are_there) {
  it->add(agent("n1/svc", 1));
  claim_or_wait(1, {"svc", "do", {{"zone", "eu"}}, {}});
  make_durable();
  pass(60'000);
  const auto raised = make_durable();
  ASSERT_EQ(raised.size(), 1u);
  ASSERT_TRUE(raised[0].absent_alert.has_value());
  EXPECT_NE(raised[0].absent_alert->sentence().find("no instance with labels zone=eu"), std::string::npos);
  it->forget(1);
  EXPECT_EQ(make_durable().at(0).resolved.size(), 1u) << "nothing waits any more";
}

TEST_F(registry_service_test, is_not_absent_while_it_is_merely_full_or_broken) {
  it->add(agent("n1/svc", 1));
  claim_or_wait(1);
  claim_or_wait(2);
  pass(600'000);
  EXPECT_TRUE(make_durable().empty());
}

TEST_F(registry_service_test, keeps_an_alert_about_absence_over_a_restart) {
  claim_or_wait(1);
  pass(60'000);
  make_durable();
  ASSERT_EQ(durable["svc"].absent_alert(), 1u);
  restart();
  it->restore(durable["svc"]);
  EXPECT_TRUE(make_durable().empty());
  claim_or_wait(1);
  pass(3'600'000);
  EXPECT_TRUE(make_durable().empty()) << "neither resolved nor raised again";
  restart();
  it->restore(durable["svc"]);
  ASSERT_EQ(it->next_wake(), time.now() + std::chrono::minutes{1});
  pass(60'000);
  EXPECT_EQ(make_durable().at(0).resolved, (std::vector<std::uint64_t>{1})) << "nothing came back to wait for it";
}

TEST_F(registry_service_test, an_absence_is_over_soon_after_a_restart_that_finds_an_instance_there) {
  policy.absent_alert_after = std::chrono::hours{24};
  restart();
  claim_or_wait(1);
  pass(24 * 3'600'000);
  make_durable();
  ASSERT_EQ(durable["svc"].absent_alert(), 1u);
  restart();
  it->restore(durable["svc"]);
  it->hold_back(true);
  it->add(agent("n1/svc", 1));
  pass(60'000);
  EXPECT_TRUE(make_durable().empty()) << "what waits has not been gone through";
  it->hold_back(false);
  pass(5'000);
  EXPECT_EQ(make_durable().at(0).resolved, (std::vector<std::uint64_t>{1}));
}

TEST_F(registry_service_test, an_absence_goes_on_after_a_restart_that_finds_the_step_still_waiting) {
  claim_or_wait(1);
  pass(60'000);
  make_durable();
  restart();
  it->restore(durable["svc"]);
  it->hold_back(true);
  claim_or_wait(1);
  it->hold_back(false);
  pass(3'600'000);
  EXPECT_TRUE(make_durable().empty()) << "neither resolved nor raised again";
  it->add(agent("n1/svc", 1));
  EXPECT_EQ(make_durable().at(0).resolved, (std::vector<std::uint64_t>{1})) << "an instance is there";
}

// ---- what is shown ----

TEST_F(registry_service_test, describes_agents_and_those_that_are_missed) {
  it->add(agent("n2/svc", 5, 7));
  it->add(labelled(agent("n1/svc", 4), {{"zone", "eu"}}));
  claimed(100);
  claim_or_wait(1, {"missing", "do", {}, {}});
  pass(5'000);
  const auto out = status();
  ASSERT_EQ(out.agents_size(), 3);
  EXPECT_EQ(out.agents(0).agent(), "missing");
  EXPECT_EQ(out.agents(0).waiting(), 1u);
  EXPECT_EQ(out.agents(0).instance(), "");
  EXPECT_EQ(out.agents(1).instance(), "n1/svc");
  EXPECT_EQ(out.agents(1).labels(0).value(), "eu");
  EXPECT_EQ(out.agents(2).held(), 1u);
  EXPECT_EQ(out.agents(2).capacity(), 5u);
  EXPECT_EQ(out.agents(2).incarnation(), 7u);
  ASSERT_EQ(out.services_size(), 2);
  EXPECT_EQ(out.services(0).record().agent(), "missing");
  EXPECT_EQ(out.services(0).oldest_wait_unix_ms(), start_ms);
  EXPECT_EQ(out.services(0).reasons(0), "no instance of missing");
  EXPECT_EQ(out.services(1).record().breaker(), v1::BREAKER_STATE_CLOSED);
}

TEST_F(registry_service_test, says_that_all_are_at_capacity) {
  for (int i = 1; i <= 4; ++i) it->add(agent("n" + std::to_string(i) + "/svc", 1));
  for (std::uint64_t task = 1; task <= 5; ++task) claim_or_wait(task);
  EXPECT_EQ(reasons(), (std::vector<std::string>{"all 4 instances are at capacity"}));
}

}  // namespace
}  // namespace fairlead::testing
