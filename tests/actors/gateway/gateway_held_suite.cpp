// What a gateway does with requests while the lead of a shard moves, under CAF's deterministic scheduler. The lead of shard 1 moves from n2 to n4,
// and n3 is asked.

#define CAF_SUITE gateway_held_suite

#include "tests/actors/gateway/gateway_world.hpp"

using namespace fairlead;

namespace {

struct fixture : testing::gateway_world {
  gateway_actor n4;

  fixture() {
    n4 = gateway("n4", {1}, count);
    connect();
    led_by(n2, "n2");
  }
  ~fixture() override {
    caf::anon_send_exit(n4, caf::exit_reason::user_shutdown);
    consume_messages();
  }

  void led_by(const gateway_actor& whom, const std::string& node, const std::string& why = "") {
    route(n3, 1, whom, node, why, true);
    consume_messages();
  }
  void led_by_nobody() { led_by(gateway_actor{}, "n2", "it leads no longer"); }

  void pass(int ms) {
    advance_time(std::chrono::milliseconds{ms});
    consume_messages();
  }
  bool is_answered() { return !self->mailbox().empty(); }

  static v1::OperateRequest cancel() {
    v1::OperateRequest out;
    out.mutable_action()->set_verb(v1::OPERATOR_VERB_PAUSE);
    out.add_ids(task_of(1));
    return out;
  }
  static v1::SubmitRequest submission() {
    v1::SubmitRequest out;
    out.add_items()->set_id(task_of(1));
    return out;
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(gateway_held_tests, fixture)

CAF_TEST(a_request_waits_while_the_lead_moves) {
  led_by_nobody();
  pass(100);
  auto waiting = self->request(n3, caf::infinite, cancel());
  consume_messages();
  pass(200);
  CAF_CHECK(!is_answered());
  led_by(n4, "n4");
  const auto reply = get<v1::OperateReply>(waiting);
  CAF_REQUIRE_EQUAL(reply.results_size(), 1);
  CAF_CHECK_EQUAL(reply.results(0).error().sentence(), "");
  CAF_CHECK_EQUAL(reply.results(0).reason(), "1");
}

CAF_TEST(no_request_waits_for_longer_than_half_a_second_after_the_leader_was_lost) {
  led_by_nobody();
  pass(400);
  auto waiting = self->request(n3, caf::infinite, submission());
  consume_messages();
  CAF_CHECK(!is_answered());
  pass(50);
  CAF_CHECK(!is_answered());
  pass(50);
  const auto reply = get<v1::SubmitReply>(waiting);
  CAF_CHECK_EQUAL(reply.results(0).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  CAF_CHECK_EQUAL(reply.results(0).error().sentence(), "shard 1 of node n2 cannot be reached from node n3: it leads no longer");
  // Whoever comes later hears it at once.
  const auto late = ask<v1::SubmitReply>(n3, submission());
  CAF_CHECK_EQUAL(late.results(0).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

CAF_TEST(what_a_node_has_not_taken_goes_to_the_next_leader) {
  // n3 still believes n1, which leads no longer.
  led_by(n1, "n1");
  auto waiting = self->request(n3, caf::infinite, cancel());
  consume_messages();
  CAF_CHECK(!is_answered());
  pass(300);
  CAF_CHECK(!is_answered());
  led_by(n4, "n4");
  const auto reply = get<v1::OperateReply>(waiting);
  CAF_CHECK_EQUAL(reply.error().sentence(), "");
  CAF_REQUIRE_EQUAL(reply.results_size(), 1);
  CAF_CHECK_EQUAL(reply.results(0).reason(), "1");
}

CAF_TEST(what_no_node_takes_is_refused_after_half_a_second) {
  led_by(n1, "n1");
  auto waiting = self->request(n3, caf::infinite, cancel());
  consume_messages();
  for (int i = 0; i < 9; ++i) pass(50);
  CAF_CHECK(!is_answered());
  pass(50);
  const auto reply = get<v1::OperateReply>(waiting);
  CAF_CHECK_EQUAL(reply.results(0).error().sentence(), "shard 1 is not on node n1");
}

CAF_TEST(a_submission_that_a_lost_leader_may_have_taken_is_sent_to_the_next_one) {
  seen[1]->answers = false;
  auto waiting = self->request(n3, caf::infinite, submission());
  consume_messages();
  CAF_CHECK_EQUAL(seen[1]->submissions, 1);
  led_by_nobody();
  CAF_CHECK(!is_answered());
  seen[1]->answers = true;
  led_by(n4, "n4");
  CAF_CHECK_EQUAL(seen[1]->submissions, 2);
  const auto reply = get<v1::SubmitReply>(waiting);
  CAF_CHECK(reply.results(0).created());
}

CAF_TEST(what_must_not_be_done_twice_is_not_sent_to_the_next_one) {
  seen[1]->answers = false;
  v1::JobOperateRequest what;
  what.mutable_action()->set_verb(v1::JOB_VERB_PAUSE);
  for (int i = 0; what.names().empty(); ++i)
    if (core::shard_of_key("j" + std::to_string(i), count) == 1) what.add_names("j" + std::to_string(i));
  auto waiting = self->request(n3, caf::infinite, what);
  consume_messages();
  led_by_nobody();
  const auto reply = get<v1::JobOperateReply>(waiting);
  CAF_CHECK_EQUAL(reply.results(0).error().code(), v1::ERROR_CODE_UNAVAILABLE);
  led_by(n4, "n4");
  CAF_CHECK_EQUAL(seen[1]->job_operations, 1);
}

CAF_TEST(the_status_tells_at_once_that_there_is_no_leader) {
  led_by_nobody();
  const auto reply = ask<v1::StatusReply>(n3, v1::StatusRequest{});
  CAF_REQUIRE_EQUAL(reply.shards_size(), 3);
  CAF_CHECK(!reply.shards(1).up());
  CAF_CHECK(reply.shards(0).up());
}

CAF_TEST(a_definition_waits_for_the_leader_too) {
  led_by_nobody();
  auto waiting = self->request(n3, caf::infinite, v1::DeployRequest{});
  consume_messages();
  CAF_CHECK(!is_answered());
  led_by(n4, "n4");
  const auto reply = get<v1::DeployReply>(waiting);
  CAF_CHECK(reply.created());
}

CAF_TEST(a_definition_goes_to_no_shard_where_one_has_had_no_leader_for_longer) {
  led_by_nobody();
  pass(600);
  const auto reply = ask<v1::DeployReply>(n3, v1::DeployRequest{});
  CAF_CHECK_EQUAL(reply.error().code(), v1::ERROR_CODE_UNAVAILABLE);
  CAF_CHECK_EQUAL(seen[0]->deployments + seen[1]->deployments + seen[2]->deployments, 0);
}

CAF_TEST(a_request_that_is_sent_again_is_answered_within_the_time_of_the_first) {
  seen[1]->answers = false;
  auto waiting = self->request(n3, caf::infinite, submission());
  consume_messages();
  pass(3'800);
  led_by_nobody();
  CAF_CHECK(!is_answered());
  led_by(n4, "n4");
  pass(150);
  CAF_CHECK(!is_answered());
  pass(50);
  const auto reply = get<v1::SubmitReply>(waiting);
  CAF_CHECK_EQUAL(reply.results(0).error().code(), v1::ERROR_CODE_UNAVAILABLE);
}

CAF_TEST_FIXTURE_SCOPE_END()
