#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cli/task/text.hpp"
#include "app/json/task.hpp"
#include "app/json/waits.hpp"
#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

/// Who is there, with nothing to say about why steps wait.
known_agents there(const std::vector<std::string>& names) {
  std::map<std::string, agent_wait> out;
  for (const auto& name : names) out[name].there = true;
  return out;
}

const known_agents all_there = there({"reserve_agent", "charge_agent", "ship_agent"});

/// The line of the text that begins like this.
std::string line_of(const std::string& text, const std::string& begin) {
  const auto at = text.find("\n" + begin);
  if (at == std::string::npos) return "";
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(task_show, a_parked_task_says_why_uncut_and_what_helps) {
  auto reply = parked_order();
  const std::string whole(900, 'x');
  step_of(reply, 1).mutable_fault()->set_message(whole);
  reply.mutable_task()->set_parked_reason("step charge failed (http_422): " + whole);
  const auto text = task_show_text(reply);
  EXPECT_EQ(line_of(text, "why "), "why       step charge failed (http_422): " + whole + ".");
  EXPECT_EQ(line_of(text, "fault "), "fault     charge: permanent http_422: " + whole);
  const auto helps = text.find("\nWhat helps:\n  fairlead task retry o-1 charge\n");
  ASSERT_NE(helps, std::string::npos) << text;
  EXPECT_LT(text.find("why "), helps);
  EXPECT_LT(helps, text.find("\nSteps\n"));
  EXPECT_NE(text.find("given up: waits for an operator"), std::string::npos);
}

TEST(task_show, names_the_version_of_the_workflow) {
  auto reply = order_task();
  reply.mutable_task()->set_workflow_hash(std::string{"\x3f\x2a\x0c\x11\xd9\xe4\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09", 16});
  EXPECT_EQ(line_of(task_show_text(reply), "workflow "), "workflow  order, version 3f2a0c11d9e4");
  EXPECT_EQ(nlohmann::json::parse(task_show_json(reply))["content_hash"], "3f2a0c11d9e400010203040506070809");
}

TEST(task_show, a_task_that_goes_on_has_no_remedies) {
  const auto text = task_show_text(order_task());
  EXPECT_EQ(text.find("What helps"), std::string::npos) << text;
  EXPECT_EQ(line_of(text, "why "), "");
}

TEST(task_show, a_step_that_waits_for_a_signal_says_for_which_and_until_when) {
  auto reply = waiting_order();
  EXPECT_EQ(waits_for(reply, 1, all_there), "waits for signal approved until 2026-03-29 01:00:00Z");
  EXPECT_EQ(waits_for(reply, 2, all_there), "needs charge");
  EXPECT_EQ(step_state_text(reply.task(), reply.task().steps(1)), "waiting");
  EXPECT_NE(task_show_text(reply).find("fairlead task signal o-1 approved --data JSON"), std::string::npos);

  reply.mutable_definition()->mutable_steps(1)->set_kind(v1::STEP_KIND_WAIT);
  EXPECT_EQ(waits_for(reply, 1, all_there), "waits until 2026-03-29 01:00:00Z");
  step_of(reply, 1).clear_not_before_unix_ms();
  EXPECT_EQ(waits_for(reply, 1, all_there), "") << "no agent is waited for";
  EXPECT_EQ(step_state_text(reply.task(), reply.task().steps(1)), "pending");
}

TEST(task_show, a_step_whose_signal_did_not_come_has_timed_out) {
  auto reply = waiting_order();
  auto& charge = step_of(reply, 1);
  charge.clear_not_before_unix_ms();
  charge.set_state(v1::STEP_STATE_SKIPPED);
  EXPECT_EQ(step_state_text(reply.task(), charge), "skipped");
  charge.set_timed_out(true);
  EXPECT_EQ(step_state_text(reply.task(), charge), "timed_out");
}

TEST(task_show, a_step_says_how_many_attempts_count_for_rules_of_their_own) {
  auto reply = order_task();
  auto& rules = *reply.mutable_definition()->mutable_steps(1);
  for (const auto* code : {"busy", "http_502", "down"}) rules.add_retry()->add_on(code);
  rules.mutable_retry(1)->add_on("http_5*");
  rules.mutable_retry(1)->set_attempts(3);
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_FAILED);
  charge.set_not_before_unix_ms(1'774'746'000'000);
  for (const auto failed : {0U, 2U, 5U}) charge.add_retried()->set_failed(failed);
  const auto text = task_show_text(reply);
  EXPECT_NE(text.find("retrying, http_502… 2 of 3, down 5 failed "), std::string::npos) << text;
  auto steps = nlohmann::json::parse(task_show_json(reply)).at("steps");
  EXPECT_EQ(steps[1].at("retried"), nlohmann::json::parse(R"([{"on":["http_502","http_5*"],"failed":2},{"on":["down"],"failed":5}])"));
  EXPECT_EQ(steps[0].at("retried"), nlohmann::json::array());
  charge.set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(task_show_text(reply).find("http_502"), std::string::npos) << "it is over";
  reply.clear_definition();
  steps = nlohmann::json::parse(task_show_json(reply)).at("steps");
  EXPECT_EQ(steps[1].at("retried")[0], nlohmann::json::parse(R"({"on":[],"failed":2})"));
}

TEST(task_show, a_step_that_is_repeated_says_its_round_and_when_the_next_one_begins) {
  auto reply = repeated_order();
  EXPECT_EQ(waits_for(reply, 1, all_there), "waits for its next round until 2026-03-29 01:00:00Z");
  EXPECT_NE(task_show_text(reply).find("waiting, round 3"), std::string::npos) << task_show_text(reply);
  const auto steps = nlohmann::json::parse(task_show_json(reply)).at("steps");
  EXPECT_EQ(steps[1].at("rounds"), 2);
  EXPECT_EQ(steps[0].at("rounds"), 0);
  auto& charge = step_of(reply, 1);
  charge.clear_not_before_unix_ms();
  charge.set_state(v1::STEP_STATE_COMPLETED);
  charge.set_rounds(3);
  EXPECT_NE(task_show_text(reply).find("completed, 3 rounds"), std::string::npos) << task_show_text(reply);
}

TEST(task_show, a_step_that_was_accepted_waits_for_its_callback_and_has_no_fault) {
  auto reply = accepted_order();
  EXPECT_EQ(waits_for(reply, 1, all_there), "waits for its callback until 2026-03-29 01:00:00Z");
  EXPECT_EQ(step_state_text(reply.task(), step_of(reply, 1)), "waiting");
  EXPECT_EQ(fault_text(step_of(reply, 1)), "");
  const auto step = nlohmann::json::parse(task_show_json(reply)).at("steps")[1];
  EXPECT_EQ(step.at("state"), "waiting");
  EXPECT_EQ(step.at("fault").at("code"), "callback_awaited");
}

TEST(task_show, a_callback_that_came_early_is_named_beside_the_attempt) {
  auto reply = accepted_order();
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_RUNNING);
  charge.clear_awaits_callback();
  charge.clear_not_before_unix_ms();
  charge.set_complete_by_unix_ms(some_moment);
  EXPECT_EQ(waits_for(reply, 1, all_there), "ends by 2026-03-29 01:00:00Z");
  charge.mutable_early_answer()->mutable_output()->set_json("1");
  EXPECT_EQ(waits_for(reply, 1, all_there), "ends by 2026-03-29 01:00:00Z; its callback has come");
}

TEST(task_show, the_output_of_a_task_is_cut_in_the_text_and_whole_in_json) {
  auto reply = order_task();
  EXPECT_EQ(line_of(task_show_text(reply), "output "), "");
  EXPECT_TRUE(nlohmann::json::parse(task_show_json(reply)).at("output").is_null());
  reply.mutable_task()->mutable_output()->set_json(R"({"ticket":7})");
  EXPECT_EQ(line_of(task_show_text(reply), "output "), R"(output    {"ticket":7})");
  EXPECT_EQ(nlohmann::json::parse(task_show_json(reply)).at("output"), nlohmann::json({{"ticket", 7}}));
  reply.mutable_task()->mutable_output()->set_json('"' + std::string(5'000, 'x') + '"');
  EXPECT_LT(line_of(task_show_text(reply), "output ").size(), 400U);
  EXPECT_EQ(nlohmann::json::parse(task_show_json(reply)).at("output"), std::string(5'000, 'x'));
}

TEST(submission, that_was_waited_for_says_the_output_unless_it_may_not_be_seen) {
  v1::SubmitResult taken;
  taken.set_id("o-1");
  v1::TaskEnd end;
  end.set_state(v1::TASK_STATE_COMPLETED);
  const auto said = [&](const std::string& output) { return nlohmann::json::parse(submit_json(taken, &end, output)); };
  EXPECT_TRUE(said("").at("output").is_null()) << "its workflow has none";
  end.set_has_output(true);
  EXPECT_EQ(said(R"({"n":1})").at("output"), nlohmann::json({{"n", 1}}));
  EXPECT_TRUE(said("null").at("output").is_null());
  EXPECT_FALSE(said("").contains("output")) << "there is one";
  EXPECT_FALSE(nlohmann::json::parse(submit_json(taken)).contains("output"));
}

TEST(task_show, signals_that_no_step_has_taken_are_listed) {
  auto reply = waiting_order();
  EXPECT_EQ(line_of(task_show_text(reply), "signals"), "");
  EXPECT_EQ(nlohmann::json::parse(task_show_json(reply)).at("signals"), nlohmann::json::array());
  auto* early = reply.mutable_task()->add_signals();
  early->set_name("paid");
  early->mutable_data()->set_json(R"({"by":"ben"})");
  auto* large = reply.mutable_task()->add_signals();
  large->set_name("paid");
  large->mutable_data()->set_slot(3);
  large->mutable_data()->set_size(5'000);
  EXPECT_EQ(line_of(task_show_text(reply), "signals"), "signals   paid (12 bytes), paid (5000 bytes)");
  EXPECT_EQ(nlohmann::json::parse(task_show_json(reply)).at("signals"),
            nlohmann::json::parse(R"([{"name":"paid","size":12,"data":{"by":"ben"}},{"name":"paid","size":5000,"data":null}])"));
}

TEST(task_show, what_a_service_says_does_not_steer_the_terminal) {
  auto reply = parked_order();
  reply.mutable_task()->set_parked_reason("step charge failed: \x1b[2J\nwhy       nothing");
  const auto text = task_show_text(reply);
  EXPECT_EQ(line_of(text, "why "), "why       step charge failed: ?[2J?why       nothing.");
}

TEST(task_show, an_undo_shows_its_own_attempts_its_input_and_what_it_waits_for) {
  auto reply = order_task();
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  reply.mutable_task()->set_undo_reason("step ship failed (http_422)");
  auto& reserve = step_of(reply, 0);
  reserve.set_state(v1::STEP_STATE_UNDOING);
  reserve.set_direction(v1::DIRECTION_UNDO);
  reserve.mutable_undo()->set_made(3);
  reserve.mutable_undo()->set_failed(2);
  reserve.set_complete_by_unix_ms(some_moment);
  reserve.mutable_undo_input()->set_json(R"({"order":"o-1"})");
  const auto text = task_show_text(reply);
  EXPECT_EQ(line_of(text, "undo "), "undo      because step ship failed (http_422).");
  EXPECT_NE(text.find("UNDO ATTEMPTS"), std::string::npos) << text;
  EXPECT_NE(text.find("3, 2 failed"), std::string::npos) << text;
  EXPECT_NE(text.find("undo ends by 2026-03-29 01:00:00Z"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(undo input  {"order":"o-1"})"), std::string::npos) << text;
  EXPECT_EQ(text.find("LOOKUPS"), std::string::npos) << "nothing was looked up";
}

TEST(task_show, history_says_who_did_it_and_in_which_direction) {
  auto reply = order_task();
  auto* asked = reply.mutable_task()->add_recent();
  asked->set_sequence(1);
  asked->set_kind(v1::EVENT_KIND_OPERATOR_UNDO);
  asked->set_who("ana@desk");
  asked->set_detail("wrong address");
  auto* undo = reply.mutable_task()->add_recent();
  undo->set_sequence(2);
  undo->set_kind(v1::EVENT_KIND_STEP_STARTED);
  undo->set_step(1);
  undo->set_attempt(2);
  undo->set_direction(v1::DIRECTION_UNDO);
  const auto text = task_show_text(reply);
  EXPECT_NE(text.find("ana@desk  wrong address"), std::string::npos) << text;
  EXPECT_NE(text.find("2 undo"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(task_show_json(reply));
  EXPECT_EQ(json["history"][0]["who"], "ana@desk");
  EXPECT_EQ(json["history"][0]["event"], "operator_undo");
  EXPECT_EQ(json["history"][1]["direction"], "undo");
}

TEST(task_show, json_has_what_the_text_has) {
  auto reply = parked_order();
  step_of(reply, 0).mutable_undo()->set_made(2);
  step_of(reply, 1).set_doubtful(true);
  reply.mutable_task()->set_alert(7);
  reply.mutable_task()->mutable_reply()->set_client("shop");
  const auto json = nlohmann::json::parse(task_show_json(reply));
  EXPECT_EQ(json["what_helps"][0]["command"], "fairlead task retry o-1 charge");
  EXPECT_EQ(json["alert"], 7);
  EXPECT_EQ(json["reply"]["client"], "shop");
  EXPECT_EQ(json["undo_held"], false);
  EXPECT_EQ(json["steps"][0]["undo"]["made"], 2);
  EXPECT_EQ(json["steps"][1]["doubtful"], true);
  EXPECT_EQ(json["steps"][1]["given_up"], true);
  EXPECT_EQ(json["steps"][1]["waits_for"], "given up: waits for an operator");
}

TEST(task_waits, a_step_names_what_it_needs_or_the_agent_that_is_not_there) {
  auto reply = order_task();
  EXPECT_TRUE(may_wait_for_agent(reply));
  EXPECT_EQ(waits_for(reply, 0, all_there), "waits for agent reserve_agent");
  EXPECT_EQ(waits_for(reply, 0, there({"charge_agent"})), "waits for agent reserve_agent: no instance is registered");
  EXPECT_EQ(waits_for(reply, 0, {}), "") << "nobody knows who is there";
  EXPECT_EQ(waits_for(reply, 1, all_there), "needs reserve");
  step_of(reply, 0).set_state(v1::STEP_STATE_SKIPPED);
  EXPECT_EQ(waits_for(reply, 1, all_there), "waits for agent charge_agent");
}

TEST(task_waits, an_agent_that_is_only_waited_for_is_not_there) {
  v1::StatusReply status;
  status.add_agents()->set_agent("charge_agent");
  auto* there = status.add_agents();
  there->set_agent("reserve_agent");
  there->set_instance("n1/reserve_agent");
  const auto known = agents_of(status);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->count("charge_agent"), 0U);
  EXPECT_TRUE(known->at("reserve_agent").there);
}

TEST(task_waits, a_step_says_why_its_agent_takes_nothing) {
  v1::StatusReply status;
  auto* agent = status.add_agents();
  agent->set_agent("charge_agent");
  agent->set_instance("n1/charge_agent");
  auto* service = status.add_services();
  service->mutable_record()->set_agent("charge_agent");
  service->add_reasons("breaker of charge_agent is open until 12:03:04Z: 12 of 20 tries failed within 30s");
  service->add_reasons("limit 5 at a time for charge");
  service = status.add_services();
  service->mutable_record()->set_agent("reserve_agent");
  service->add_reasons("no instance of reserve_agent");
  const auto known = agents_of(status);

  auto reply = order_task();
  EXPECT_EQ(waits_for(reply, 0, known), "waits for agent reserve_agent: no instance is registered");
  EXPECT_EQ(waits_for(reply, 1, known), "needs reserve") << "it is not its turn yet";
  auto& reserve = step_of(reply, 0);
  reserve.set_state(v1::STEP_STATE_COMPLETED);
  const std::string why =
      "waits for agent charge_agent: breaker of charge_agent is open until 12:03:04Z: 12 of 20 tries failed within 30s; "
      "limit 5 at a time for charge";
  EXPECT_EQ(waits_for(reply, 1, known), why);
  step_of(reply, 1).set_state(v1::STEP_STATE_COMPLETED);
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  EXPECT_EQ(waits_for(reply, 1, known), why) << "an undo waits for the same";
}

TEST(task_waits, a_pivot_needs_all_that_does_not_come_after_it) {
  auto reply = order_task();
  auto* thank = reply.mutable_definition()->add_steps();
  thank->set_name("thank");
  thank->add_needs("ship");
  auto* wrap = reply.mutable_definition()->add_steps();
  wrap->set_name("wrap");
  for (const auto* name : {"thank", "wrap"}) {
    auto* record = reply.mutable_task()->add_steps();
    record->set_path(name);
    record->set_state(v1::STEP_STATE_PENDING);
    record->set_definition(static_cast<std::uint32_t>(reply.task().steps_size() - 1));
  }
  step_of(reply, 0).set_state(v1::STEP_STATE_COMPLETED);
  step_of(reply, 1).set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(waits_for(reply, 2, all_there), "needs wrap");
}

TEST(task_waits, says_until_when_and_for_what) {
  auto reply = order_task();
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_FAILED);
  charge.set_not_before_unix_ms(some_moment);
  EXPECT_EQ(waits_for(reply, 1, all_there), "again at 2026-03-29 01:00:00Z");
  auto* event = reply.mutable_task()->add_recent();
  event->set_kind(v1::EVENT_KIND_STEP_COOLING_OFF);
  event->set_step(2);
  EXPECT_EQ(waits_for(reply, 1, all_there), "cooling off, again at 2026-03-29 01:00:00Z");
  EXPECT_EQ(waits_for(reply, 0, all_there), "waits for agent reserve_agent") << "only charge is cooling off";
  charge.set_direction(v1::DIRECTION_LOOKUP);
  charge.set_state(v1::STEP_STATE_IN_DOUBT);
  reply.mutable_task()->clear_recent();
  EXPECT_EQ(waits_for(reply, 1, all_there), "lookup again at 2026-03-29 01:00:00Z");
  charge.clear_not_before_unix_ms();
  EXPECT_EQ(waits_for(reply, 1, all_there), "to be looked up");
  EXPECT_EQ(waits_for(reply, 1, there({"ship_agent"})), "waits for agent charge_agent: no instance is registered");
}

TEST(task_waits, while_a_task_stands_still_its_steps_wait_for_nothing_else) {
  auto reply = order_task();
  reply.mutable_task()->set_paused(true);
  EXPECT_EQ(waits_for(reply, 0, all_there), "");
  EXPECT_FALSE(may_wait_for_agent(reply));
  reply.mutable_task()->set_paused(false);
  reply.mutable_task()->set_state(v1::TASK_STATE_COMPLETED);
  EXPECT_EQ(waits_for(reply, 0, all_there), "");
  EXPECT_FALSE(may_wait_for_agent(reply));
}

TEST(task_waits, an_undo_without_its_agent_says_so) {
  auto reply = order_task();
  reply.mutable_task()->set_state(v1::TASK_STATE_UNDOING);
  step_of(reply, 0).set_state(v1::STEP_STATE_COMPLETED);
  step_of(reply, 2).set_state(v1::STEP_STATE_COMPLETED);
  EXPECT_EQ(waits_for(reply, 0, there({"ship_agent"})), "waits for agent reserve_agent: no instance is registered");
  EXPECT_EQ(waits_for(reply, 0, all_there), "to be undone");
  EXPECT_EQ(waits_for(reply, 1, all_there), "") << "it never began";
  EXPECT_EQ(waits_for(reply, 2, all_there), "") << "it says undo: none";
}

}  // namespace
}  // namespace fairlead::app
