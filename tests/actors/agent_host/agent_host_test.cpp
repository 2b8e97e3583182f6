#include <thread>

#include "tests/actors/agent_host/agent_host_world.hpp"

namespace fairlead::testing {
namespace {

TEST_F(agent_host_test, introduces_itself) {
  const auto who = host().registration(0);
  EXPECT_EQ(who.agent(), "svc");
  EXPECT_EQ(who.instance(), "n1/svc");
  EXPECT_EQ(who.incarnation(), 4u);
  EXPECT_EQ(who.kind(), "native");
  EXPECT_EQ(who.capacity(), 3u);
  EXPECT_EQ(who.calls_size(), 2);
  ASSERT_EQ(who.lookups_size(), 1);
  EXPECT_EQ(who.lookups(0), "do");
}

TEST_F(agent_host_test, reports_how_an_attempt_ended) {
  hand_over({attempt(1), attempt(2)});
  EXPECT_EQ(backend.started.size(), 2u);
  EXPECT_TRUE(out.sent.empty());
  finish(1);
  v1::Fault fault;
  fault.set_kind(v1::FAULT_KIND_PERMANENT);
  fault.set_code("declined");
  finish(2, 1, {"", fault, 3});
  ASSERT_EQ(out.sent.size(), 2u);
  EXPECT_EQ(out.sent[0].instance(), "n1/svc");
  EXPECT_EQ(out.sent[0].incarnation(), 4u);
  EXPECT_EQ(out.sent[0].items(0).output(), "7");
  EXPECT_EQ(out.sent[0].items(0).tries(), 2u);
  EXPECT_FALSE(out.sent[0].items(0).has_fault());
  EXPECT_EQ(out.sent[1].items(0).fault().code(), "declined");
}

TEST_F(agent_host_test, takes_a_completion_inside_start_without_a_detour) {
  backend.at_once = true;
  hand_over({attempt(1), attempt(2)});
  EXPECT_TRUE(out.later.empty());
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(out.sent[0].items_size(), 2);
  EXPECT_EQ(host().next_expiry(), time.now() + std::chrono::seconds{2}) << "only the sending again is left to do";
}

TEST_F(agent_host_test, takes_a_completion_from_another_thread_through_its_mailbox) {
  hand_over({attempt(1)});
  std::thread{[this] { backend.completions[0]({1, 0, v1::DIRECTION_PERFORM, 1}, {"5", std::nullopt, 1}); }}.join();
  ASSERT_EQ(out.later.size(), 1u);
  EXPECT_FALSE(host().wants_flush());
  host().finished(out.later[0].first, out.later[0].second);
  EXPECT_TRUE(host().wants_flush());
}

TEST_F(agent_host_test, stops_at_complete_by_and_keeps_silent) {
  hand_over({attempt(1, 1, 5'000), attempt(2, 1, 9'000)});
  EXPECT_EQ(host().next_expiry(), time.now() + duration{5'000});
  pass(4'999);
  EXPECT_TRUE(backend.stopped.empty());
  pass(1);
  ASSERT_EQ(backend.stopped.size(), 1u);
  EXPECT_EQ(backend.stopped[0].task_number, 1u);
  finish(1);
  EXPECT_TRUE(out.sent.empty()) << "it says nothing of work that it had not finished";
  EXPECT_EQ(host().next_expiry(), time.now() + duration{4'000});
  finish(2);
  EXPECT_EQ(out.sent.size(), 1u);
}

TEST_F(agent_host_test, keeps_silent_after_complete_by_though_nobody_reminded_it) {
  hand_over({attempt(1, 1, 5'000)});
  time.now_ms += 5'000;  // the wall clock was set on, and the reminder is still on its way
  finish(1);
  EXPECT_TRUE(out.sent.empty());
  backend.at_once = true;
  auto slow = attempt(2, 1, 1);
  hand_over({slow});
  EXPECT_EQ(out.sent.size(), 1u) << "what ends in time is said";
}

TEST_F(agent_host_test, registers_what_its_section_and_its_backend_say) {
  agents::agent_settings settings;
  settings.labels.emplace_back().set_key("zone");
  settings.labels.back().set_value("west");
  settings.limits.emplace_back().set_concurrency(7);
  settings.breaker.set_slow_ms(900);
  backend.promised.emplace_back().set_call("do");
  backend.promised.back().set_key_valid_for_ms(86'400'000);
  restart(settings);
  const auto who = host().registration(0);
  ASSERT_EQ(who.labels_size(), 1);
  EXPECT_EQ(who.labels(0).value(), "west");
  ASSERT_EQ(who.limits_size(), 1);
  EXPECT_EQ(who.limits(0).concurrency(), 7u);
  EXPECT_EQ(who.breaker().slow_ms(), 900);
  ASSERT_EQ(who.policies_size(), 1);
  EXPECT_EQ(who.policies(0).key_valid_for_ms(), 86'400'000);
}

TEST_F(agent_host_test, says_how_long_it_took) {
  hand_over({attempt(1)});
  time.now_ms += 321;
  finish(1);
  EXPECT_EQ(last().busy_ms(), 321);
}

TEST_F(agent_host_test, does_not_begin_what_is_over_already) {
  hand_over({attempt(1, 1, 0), attempt(2, 1, -1)});
  EXPECT_TRUE(backend.started.empty());
  EXPECT_TRUE(out.sent.empty());
}

TEST_F(agent_host_test, carries_out_once_what_is_handed_over_twice) {
  const auto one = attempt(1);
  hand_over({one, one});
  hand_over({one}, 2);
  EXPECT_EQ(backend.started.size(), 1u);
  finish(1);
  hand_over({one}, 3);
  EXPECT_EQ(backend.started.size(), 1u);
  ASSERT_EQ(out.sent.size(), 2u) << "the outcome is said again instead";
  EXPECT_EQ(out.sent[1].items(0).output(), "7");
  hand_over({attempt(1, 2)}, 3);
  EXPECT_EQ(backend.started.size(), 2u) << "another attempt is another piece of work";
}

TEST_F(agent_host_test, does_not_begin_anew_what_is_acknowledged_and_comes_once_more) {
  const auto one = attempt(1);
  hand_over({one});
  finish(1);
  acknowledge(1);
  hand_over({one});
  EXPECT_EQ(backend.started.size(), 1u);
}

TEST_F(agent_host_test, repeats_an_outcome_until_it_is_acknowledged) {
  hand_over({attempt(1), attempt(2)});
  finish(1);
  ASSERT_EQ(out.sent.size(), 1u);
  pass(1'999);
  EXPECT_EQ(out.sent.size(), 1u);
  pass(1);
  ASSERT_EQ(out.sent.size(), 2u);
  EXPECT_EQ(out.sent[1].items(0).task_number(), 1u);
  pass(60'000);
  EXPECT_EQ(out.sent.size(), 3u) << "also long after complete_by: it had finished before";
  acknowledge(1);
  EXPECT_EQ(host().next_expiry(), std::nullopt);
  pass(60'000);
  EXPECT_EQ(out.sent.size(), 3u);
}

TEST_F(agent_host_test, forgets_an_outcome_that_was_refused_for_good) {
  hand_over({attempt(1)});
  finish(1);
  acknowledge(1, 1, false);
  pass(10'000);
  EXPECT_EQ(out.sent.size(), 1u);
}

TEST_F(agent_host_test, forgets_exactly_what_was_acknowledged) {
  hand_over({attempt(1, 1), attempt(1, 2)});
  finish(1, 1);
  finish(1, 2);
  acknowledge(1, 2);
  pass(2'000);
  ASSERT_EQ(out.sent.size(), 3u);
  ASSERT_EQ(out.sent[2].items_size(), 1);
  EXPECT_EQ(out.sent[2].items(0).attempt(), 1u);
}

TEST_F(agent_host_test, takes_no_orders_from_an_older_epoch) {
  hand_over({attempt(1)}, 5);
  hand_over({attempt(2)}, 4);
  EXPECT_EQ(backend.started.size(), 1u);
  hand_over({attempt(3)}, 5);
  hand_over({attempt(4)}, 6);
  EXPECT_EQ(backend.started.size(), 3u);
}

TEST_F(agent_host_test, says_what_a_lookup_found_out) {
  const auto done = found(1, agents::looked_up_done(R"({"id":1})"));
  EXPECT_EQ(done.direction(), v1::DIRECTION_LOOKUP);
  EXPECT_EQ(done.verdict(), v1::LOOKUP_VERDICT_DONE);
  EXPECT_EQ(done.output(), R"({"id":1})");
  EXPECT_EQ(found(2, agents::never_happened()).verdict(), v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_EQ(found(3, agents::not_known()).verdict(), v1::LOOKUP_VERDICT_UNKNOWN);
  EXPECT_EQ(backend.started.size(), 3u);
}

TEST_F(agent_host_test, takes_a_lookup_that_says_nothing_for_one_that_does_not_know) {
  const auto silent = found(1, {"7", std::nullopt, 1});
  EXPECT_EQ(silent.verdict(), v1::LOOKUP_VERDICT_UNKNOWN);
  EXPECT_EQ(silent.output(), "");
}

TEST_F(agent_host_test, gives_no_verdict_with_a_fault_or_of_a_perform) {
  auto broken = agents::transient_fault("away", "the service is away");
  broken.verdict = v1::LOOKUP_VERDICT_NEVER_HAPPENED;
  const auto failed = found(1, std::move(broken));
  EXPECT_EQ(failed.fault().code(), "away");
  EXPECT_EQ(failed.verdict(), v1::LOOKUP_VERDICT_UNSPECIFIED);
  hand_over({attempt(2)});
  finish(2, 1, agents::looked_up_done("7"));
  EXPECT_EQ(out.sent.back().items(0).verdict(), v1::LOOKUP_VERDICT_UNSPECIFIED);
  EXPECT_EQ(out.sent.back().items(0).output(), "7");
}

TEST_F(agent_host_test, answers_for_a_backend_that_cannot_look_it_up) {
  backend.at_once = true;  // as one that took it for the call itself would
  hand_over({lookup(1, "undo")});
  backend.looked_up.clear();
  hand_over({lookup(2)});
  EXPECT_TRUE(backend.started.empty());
  ASSERT_EQ(out.sent.size(), 2u);
  for (const auto& batch : out.sent) {
    EXPECT_EQ(batch.items(0).direction(), v1::DIRECTION_LOOKUP);
    EXPECT_EQ(batch.items(0).verdict(), v1::LOOKUP_VERDICT_UNKNOWN);
    EXPECT_FALSE(batch.items(0).has_fault());
  }
  pass(2'000);
  ASSERT_EQ(out.sent.size(), 3u) << "kept until it is acknowledged, as any outcome";
  EXPECT_EQ(out.sent[2].items_size(), 2);
}

TEST_F(agent_host_test, tells_the_directions_of_a_step_apart) {
  auto undo = attempt(1);
  undo.set_direction(v1::DIRECTION_UNDO);
  undo.set_call("undo");
  hand_over({attempt(1), undo, lookup(1)});
  EXPECT_EQ(backend.started.size(), 3u) << "the same number of an attempt in another direction is another piece of work";
  host().finished({1, 0, v1::DIRECTION_UNDO, 1}, {"null", std::nullopt, 1});
  host().flush();
  ASSERT_EQ(out.sent.size(), 1u);
  EXPECT_EQ(out.sent[0].items(0).direction(), v1::DIRECTION_UNDO);
  acknowledge(1);
  pass(2'000);
  ASSERT_EQ(out.sent.size(), 2u) << "the perform was acknowledged, and not the undo";
  EXPECT_EQ(out.sent[1].items(0).direction(), v1::DIRECTION_UNDO);
}

TEST_F(agent_host_test, does_not_know_a_completion_it_did_not_ask_for) {
  finish(9);
  EXPECT_TRUE(out.sent.empty());
  hand_over({attempt(1)});
  finish(1);
  finish(1);
  EXPECT_EQ(out.sent.size(), 1u);
}

TEST_F(agent_host_test, says_where_the_callback_of_a_step_goes) {
  restart_at("https://fairlead.example/flows");
  auto what = attempt(1);
  what.set_callback("AbC-_9");
  hand_over({what, attempt(2)});
  ASSERT_EQ(backend.started.size(), 2u);
  EXPECT_EQ(backend.started[0].callback_url(), "https://fairlead.example/flows/v1/callbacks/AbC-_9");
  EXPECT_EQ(backend.started[1].callback_url(), "") << "of a step without one";
}

TEST_F(agent_host_test, begins_nothing_that_nobody_could_answer) {
  auto what = attempt(1);
  what.set_callback("AbC-_9");
  hand_over({what, attempt(2)});
  ASSERT_EQ(backend.started.size(), 1u);
  EXPECT_EQ(backend.started[0].task_number(), 2u) << "a step without a callback needs no address";
  EXPECT_EQ(last().fault().code(), "no_callback_url");
  EXPECT_EQ(last().fault().kind(), v1::FAULT_KIND_TRANSIENT);
  EXPECT_NE(last().fault().message().find("set callback_url in its node file"), std::string::npos) << last().fault().message();
}

TEST_F(agent_host_test, lets_no_callback_out) {
  restart_at("http://h");
  const auto with_callback = [this](std::uint64_t task) {
    auto out = attempt(task);
    out.set_callback("AbC-_9");
    return out;
  };
  hand_over({with_callback(1)});
  auto result = agents::permanent_fault("AbC-_9", "http://h/v1/callbacks/AbC-_9 and AbC-_9 are unknown");
  result.log = "posts to http://h/v1/callbacks/AbC-_9\n";
  finish(1, 1, std::move(result));
  EXPECT_EQ(last().fault().code(), "[callback]");
  EXPECT_EQ(last().fault().message(), "http://h/v1/callbacks/[callback] and [callback] are unknown");
  EXPECT_EQ(last().log(), "posts to http://h/v1/callbacks/[callback]\n");
  hand_over({with_callback(2)});
  backend.sink({2, 0, v1::DIRECTION_PERFORM, 1}, {10, "told AbC-_9", {}});
  host().progressed({2, 0, v1::DIRECTION_PERFORM, 1});
  host().flush();
  ASSERT_EQ(out.beats.size(), 1u);
  EXPECT_EQ(out.beats[0].note(), "told [callback]");
}

}  // namespace
}  // namespace fairlead::testing
