#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cli/node/agent_text.hpp"
#include "app/json/node/agents.hpp"
#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

v1::AgentStatus* add_instance(v1::StatusReply& to, const std::string& agent, const std::string& instance, std::uint64_t incarnation = 1) {
  auto* out = to.add_agents();
  out->set_agent(agent);
  out->set_instance(instance);
  out->set_kind("http");
  out->set_incarnation(incarnation);
  out->set_capacity(8);
  out->add_calls("charge");
  out->add_calls("refund");
  return out;
}

/// payment is in trouble, stock is well, mail is only waited for.
v1::StatusReply some_agents() {
  v1::StatusReply out;
  auto* sick = add_instance(out, "payment", "n1/payment");
  sick->set_held(2);
  sick->set_sick(true);
  sick->set_sickness("8 of 10 attempts fail");
  sick->set_error_percent(80);
  sick->set_latency_ms(1'250);
  sick->set_heard_unix_ms(some_moment);
  sick->set_handed_over(12);
  auto* label = sick->add_labels();
  label->set_key("zone");
  label->set_value("eu");
  auto* drained = add_instance(out, "payment", "n2/payment", 7);
  drained->set_draining(true);
  drained->set_drained_by("ana");
  drained->set_held(1);
  add_instance(out, "stock", "n1/stock");
  auto* service = out.add_services();
  service->mutable_record()->set_agent("payment");
  service->mutable_record()->set_breaker(v1::BREAKER_STATE_OPEN);
  service->mutable_record()->set_breaker_since_unix_ms(some_moment);
  service->mutable_record()->set_open_until_unix_ms(some_moment + 10'000);
  service->mutable_record()->set_breaker_reason("12 of 20 tries failed within 30s");
  service->mutable_record()->set_openings(2);
  service->mutable_record()->set_breaker_alert(17);
  service->set_waiting(4);
  service->set_oldest_wait_unix_ms(some_moment);
  service->set_window_tries(20);
  service->set_window_failed(12);
  service->add_reasons("breaker of payment is open until 01:00:10Z");
  auto* limit = service->add_limits();
  limit->mutable_policy()->set_call("charge");
  limit->mutable_policy()->set_key(".customer.id");
  limit->mutable_policy()->set_concurrency(1);
  limit->mutable_policy()->set_rate(50);
  limit->mutable_policy()->set_rate_per_ms(1'000);
  limit->set_held(2);
  limit->set_keys(2);
  limit->set_waiting(3);
  out.add_services()->mutable_record()->set_agent("stock");
  auto* absent = out.add_services();
  absent->mutable_record()->set_agent("mail");
  absent->mutable_record()->set_absent_since_unix_ms(some_moment);
  absent->set_waiting(1);
  absent->add_reasons("no instance of mail is there");
  return out;
}

TEST(cli_agent, lists_instances_with_their_health_and_the_services_in_trouble) {
  EXPECT_EQ(agent_list_text(some_agents()),
            "AGENT    INSTANCE    KIND  HEALTH                       HELD  CAPACITY  WAITING  LATENCY  LABELS   CALLS\n"
            "payment  n1/payment  http  sick: 8 of 10 attempts fail     2         8        0  1250 ms  zone=eu  charge refund\n"
            "payment  n2/payment  http  draining by ana                 1         8        0        -           charge refund\n"
            "stock    n1/stock    http  ok                              0         8        0        -           charge refund\n"
            "\n"
            "Services with waiting steps or a breaker that is not closed\n"
            "SERVICE  BREAKER  SINCE                 WAITING  OLDEST                WHY\n"
            "payment  open     2026-03-29 01:00:00Z        4  2026-03-29 01:00:00Z  breaker of payment is open until 01:00:10Z\n"
            "mail     closed   -                           1  -                     no instance of mail is there\n");
}

TEST(cli_agent, a_worker_of_which_nothing_is_heard_is_silent) {
  auto reply = some_agents();
  for (auto& agent : *reply.mutable_agents()) agent.set_silent(true);
  EXPECT_EQ(health_text(reply.agents(2)), "silent: it has sent no request for 15 s");
  EXPECT_EQ(health_text(reply.agents(1)), "silent: it has sent no request for 15 s, draining by ana");
}

TEST(cli_agent, an_instance_whose_node_is_gone_is_away) {
  auto reply = some_agents();
  for (auto& agent : *reply.mutable_agents()) {
    agent.set_away(true);
    agent.set_node("n1");
  }
  EXPECT_EQ(health_text(reply.agents(2)), "away: its node is not connected");
  EXPECT_EQ(health_text(reply.agents(1)), "away: its node is not connected, draining by ana");
  EXPECT_EQ(health_text(reply.agents(0)), "away: its node is not connected, sick: 8 of 10 attempts fail");
  EXPECT_NE(agent_list_text(reply).find("stock    n1/stock    http  away: its node is not connected "), std::string::npos);
  EXPECT_NE(agent_show_text(reply, {"stock", "n1/stock"}).find("health     away: its node is not connected\n"), std::string::npos);
  const auto read = nlohmann::json::parse(agent_list_json(reply));
  EXPECT_EQ(read["agents"][2]["away"], true);
  EXPECT_EQ(read["agents"][2]["node"], "n1");
  EXPECT_EQ(nlohmann::json::parse(agent_list_json(some_agents()))["agents"][2]["away"], false);
}

TEST(cli_agent, has_nothing_to_say_of_services_that_are_well) {
  v1::StatusReply reply;
  add_instance(reply, "stock", "n1/stock");
  reply.add_services()->mutable_record()->set_agent("stock");
  EXPECT_EQ(troubled_services_text(reply), "");
  EXPECT_EQ(agent_list_text({}), "No agent is registered: steps wait until one registers.\n");
}

TEST(cli_agent, gives_the_breakers_reason_while_no_step_waits) {
  auto reply = some_agents();
  auto* service = reply.mutable_services(0);
  service->clear_reasons();
  service->set_waiting(0);
  EXPECT_NE(troubled_services_text(reply).find("12 of 20 tries failed within 30s"), std::string::npos);
}

TEST(cli_agent, tells_programs_everything) {
  const auto read = nlohmann::json::parse(agent_list_json(some_agents()));
  const auto& sick = read["agents"][0];
  EXPECT_EQ(sick["agent"], "payment");
  EXPECT_EQ(sick["instance"], "n1/payment");
  EXPECT_EQ(sick["labels"]["zone"], "eu");
  EXPECT_EQ(sick["sick"], true);
  EXPECT_EQ(sick["sickness"], "8 of 10 attempts fail");
  EXPECT_EQ(sick["error_percent"], 80);
  EXPECT_EQ(sick["latency_ms"], 1'250);
  EXPECT_EQ(sick["heard_at"], "2026-03-29T01:00:00.250Z");
  EXPECT_EQ(sick["handed_over"], 12);
  EXPECT_EQ(sick["draining"], false);
  EXPECT_EQ(sick["silent"], false);
  EXPECT_TRUE(sick["drained_by"].is_null());
  EXPECT_EQ(read["agents"][1]["draining"], true);
  EXPECT_EQ(read["agents"][1]["drained_by"], "ana");
  const auto& payment = read["services"][0];
  EXPECT_EQ(payment["breaker"], "open");
  EXPECT_EQ(payment["breaker_reason"], "12 of 20 tries failed within 30s");
  EXPECT_EQ(payment["breaker_since"], "2026-03-29T01:00:00.250Z");
  EXPECT_EQ(payment["open_until"], "2026-03-29T01:00:10.250Z");
  EXPECT_TRUE(payment["breaker_by"].is_null());
  EXPECT_EQ(payment["openings"], 2);
  EXPECT_EQ(payment["waiting"], 4);
  EXPECT_EQ(payment["reasons"][0], "breaker of payment is open until 01:00:10Z");
  EXPECT_EQ(payment["window"]["tries"], 20);
  EXPECT_EQ(payment["window"]["failed"], 12);
  EXPECT_EQ(payment["limits"][0]["key"], ".customer.id");
  EXPECT_EQ(payment["limits"][0]["waiting"], 3);
  EXPECT_EQ(read["services"][1]["breaker"], "closed");
  EXPECT_EQ(read["services"][2]["absent_since"], "2026-03-29T01:00:00.250Z");
}

TEST(cli_agent, is_found_by_its_name_and_by_that_of_an_instance) {
  const auto reply = some_agents();
  const auto agent = find_agent(reply, "payment");
  ASSERT_TRUE(agent.ok());
  EXPECT_EQ(agent->agent, "payment");
  EXPECT_EQ(agent->instance, "");
  const auto instance = find_agent(reply, "n2/payment");
  ASSERT_TRUE(instance.ok());
  EXPECT_EQ(instance->agent, "payment");
  EXPECT_EQ(instance->instance, "n2/payment");
  EXPECT_EQ(find_agent(reply, "mail")->agent, "mail") << "steps wait for it";
  const auto unknown = find_agent(reply, "paymnt");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(unknown.failure().remedy, "Did you mean payment?");
}

TEST(cli_agent, shows_an_agent_with_its_breaker_limits_and_instances) {
  const auto reply = some_agents();
  EXPECT_EQ(agent_show_text(reply, {"payment", ""}),
            "agent      payment\n"
            "breaker    open until 2026-03-29 01:00:10Z: 12 of 20 tries failed within 30s\n"
            "since      2026-03-29 01:00:00Z\n"
            "window     20 tries, 12 failed, 0 slow\n"
            "waiting    4 steps, the oldest since 2026-03-29 01:00:00Z\n"
            "because    breaker of payment is open until 01:00:10Z\n"
            "limit      charge for each .customer.id: 1 at a time, 50 in 1s; 2 held under 2 keys, 3 waiting\n"
            "alert      17, see fairlead alert show 17\n"
            "\n"
            "Instances\n"
            "AGENT    INSTANCE    KIND  HEALTH                       HELD  CAPACITY  WAITING  LATENCY  LABELS   CALLS\n"
            "payment  n1/payment  http  sick: 8 of 10 attempts fail     2         8        0  1250 ms  zone=eu  charge refund\n"
            "payment  n2/payment  http  draining by ana                 1         8        0        -           charge refund\n");
  const auto absent = agent_show_text(reply, {"mail", ""});
  EXPECT_NE(absent.find("waiting    1 step\nbecause    no instance of mail is there\n"), std::string::npos) << absent;
  EXPECT_NE(absent.find("No instance of this agent is registered."), std::string::npos);
  const auto json = nlohmann::json::parse(agent_show_json(reply, {"payment", ""}));
  EXPECT_EQ(json["service"]["breaker"], "open");
  EXPECT_EQ(json["instances"].size(), 2U);
}

TEST(cli_agent, says_what_failed_while_the_breaker_is_still_closed) {
  auto reply = some_agents();
  auto& service = *reply.mutable_services(0);
  service.mutable_record()->set_breaker(v1::BREAKER_STATE_CLOSED);
  service.mutable_record()->set_breaker_reason("http_503 (9), connection_refused (3)");
  const auto text = agent_show_text(reply, {"payment", ""});
  EXPECT_NE(text.find("breaker    closed\n"), std::string::npos) << text;
  EXPECT_NE(text.find("window     20 tries, 12 failed, 0 slow\nfailed     http_503 (9), connection_refused (3)\n"), std::string::npos)
      << text;
}

TEST(cli_agent, shows_one_instance) {
  const auto reply = some_agents();
  EXPECT_EQ(agent_show_text(reply, {"payment", "n1/payment"}),
            "agent      payment\n"
            "instance   n1/payment, incarnation 1\n"
            "kind       http\n"
            "health     sick: 8 of 10 attempts fail\n"
            "failing    80 % of its latest attempts\n"
            "latency    1250 ms\n"
            "heard      2026-03-29 01:00:00Z\n"
            "holds      2 of 8, 12 handed over\n"
            "labels     zone=eu\n"
            "calls      charge, refund\n");
  const auto json = nlohmann::json::parse(agent_show_json(reply, {"payment", "n2/payment"}));
  ASSERT_EQ(json["instances"].size(), 1U);
  EXPECT_EQ(json["instances"][0]["instance"], "n2/payment");
}

TEST(cli_agent, says_who_opened_a_breaker_and_that_only_an_operator_closes_it) {
  auto reply = some_agents();
  auto* record = reply.mutable_services(0)->mutable_record();
  record->set_open_until_unix_ms(0);
  record->set_breaker_by("ana");
  record->set_breaker_reason("they repair it\x1b[2J");
  EXPECT_NE(agent_show_text(reply, {"payment", ""}).find("breaker    open until an operator closes it, by ana: they repair it?[2J\n"),
            std::string::npos);
  record->set_breaker(v1::BREAKER_STATE_HALF_OPEN);
  EXPECT_EQ(nlohmann::json::parse(agent_list_json(reply))["services"][0]["breaker"], "half_open");
}

TEST(cli_agent, a_drain_is_over_when_the_instance_holds_nothing_or_is_gone) {
  auto reply = some_agents();
  const auto at = [&reply](std::uint64_t incarnation) { return drain_of(reply, "n2/payment", incarnation); };
  EXPECT_EQ(at(7).state, drain_view::end::not_yet);
  EXPECT_EQ(at(7).held, 1U);
  reply.mutable_agents(1)->set_held(0);
  EXPECT_EQ(at(7).state, drain_view::end::drained);
  reply.mutable_agents(1)->set_draining(false);
  EXPECT_EQ(at(7).state, drain_view::end::resumed) << "somebody has changed their mind";
  EXPECT_EQ(at(6).state, drain_view::end::gone) << "another process has its name";
  EXPECT_EQ(drain_of(reply, "n3/payment", 1).state, drain_view::end::gone);
}

TEST(cli_agent, a_drain_is_not_over_while_a_shard_does_not_answer) {
  auto reply = some_agents();
  reply.mutable_agents(1)->set_held(0);
  reply.add_shards()->set_up(true);
  auto& away = *reply.add_shards();
  away.set_shard(1);
  away.set_reason("node n3 is not connected");
  for (const std::string instance : {"n2/payment", "n3/payment"}) {
    const auto view = drain_of(reply, instance, 7);
    EXPECT_EQ(view.state, drain_view::end::not_yet) << "that shard may have given it something";
    EXPECT_EQ(view.unanswered, "shard 1 does not answer (node n3 is not connected)");
  }
  away.set_up(true);
  EXPECT_EQ(drain_of(reply, "n2/payment", 7).state, drain_view::end::drained);
  EXPECT_EQ(drain_of(reply, "n2/payment", 0).state, drain_view::end::drained) << "what it was then no shard could say";
}

}  // namespace
}  // namespace fairlead::app
