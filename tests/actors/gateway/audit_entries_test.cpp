#include "actors/gateway/requests/audit_entries.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fairlead {
namespace {

static_assert(is_noted<v1::OperateRequest> && is_noted<v1::DeployRequest> && is_noted<v1::NodeOperateRequest>);
static_assert(!is_noted<v1::SubmitRequest> && !is_noted<v1::TaskListRequest> && !is_noted<v1::AuditListRequest>);

/// `POST /v1/tasks/a/actions skip ana`
std::string line_of(const noted_request& one) {
  return one.entry.method() + " " + one.entry.path() + " " + one.entry.verb() + " " + one.entry.who();
}

TEST(entries_of_requests, have_method_path_and_verb_as_the_api_has_them) {
  v1::OperateRequest tasks;
  tasks.mutable_action()->set_verb(v1::OPERATOR_VERB_SETTLE_NEVER_HAPPENED);
  tasks.mutable_action()->set_who("ana");
  tasks.mutable_action()->set_reason("seen at the bank");
  tasks.add_ids("order-1");
  tasks.add_ids("orders/7");
  const auto both = to_note(tasks);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(line_of(both[0]), "POST /v1/tasks/order-1/actions settle_never_happened ana");
  EXPECT_EQ(line_of(both[1]), "POST /v1/tasks/orders%2F7/actions settle_never_happened ana");
  EXPECT_EQ(both[1].entry.reason(), "seen at the bank");
  EXPECT_EQ(both[1].entry.object(), "orders/7");

  tasks.mutable_action()->set_verb(v1::OPERATOR_VERB_SIGNAL);
  tasks.mutable_action()->set_signal("approved");
  tasks.mutable_action()->set_json(R"({"amount": 4711})");
  const auto signals = to_note(tasks);
  ASSERT_EQ(signals.size(), 2U);
  EXPECT_EQ(line_of(signals[1]), "POST /v1/tasks/orders%2F7/signals/approved signal ana");
  EXPECT_EQ(signals[1].entry.object(), "orders/7");
  EXPECT_EQ(signals[1].entry.SerializeAsString().find("4711"), std::string::npos) << "its data are not noted";

  v1::OperateRequest answer;
  answer.add_ids("orders/7");
  answer.mutable_action()->set_verb(v1::OPERATOR_VERB_CALLBACK);
  answer.mutable_action()->set_who("10.0.0.7");
  answer.mutable_action()->set_callback(make_callback(std::string(work_key_bytes, 'k'), {0, 1, 0, "orders/7"}));
  const auto answers = to_note(answer);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(line_of(answers[0]), "POST /v1/callbacks/{callback} callback 10.0.0.7") << "whoever reads the text could call back";
  EXPECT_EQ(answers[0].entry.object(), "orders/7");
  EXPECT_EQ(answers[0].entry.reason(), "step 2 of the workflow");
  answer.mutable_action()->mutable_fault()->set_code("declined");
  EXPECT_EQ(line_of(to_note(answer).at(0)), "POST /v1/callbacks/{callback}/fail callback 10.0.0.7");

  v1::JobOperateRequest jobs;
  jobs.add_names("nightly");
  jobs.mutable_action()->set_verb(v1::JOB_VERB_BACKFILL);
  EXPECT_EQ(line_of(to_note(jobs).at(0)), "POST /v1/jobs/nightly/actions backfill ");
  jobs.mutable_action()->set_verb(v1::JOB_VERB_DELETE);
  EXPECT_EQ(line_of(to_note(jobs).at(0)), "DELETE /v1/jobs/nightly  ");

  v1::AgentOperateRequest agent;
  agent.set_verb(v1::AGENT_VERB_BREAKER_OPEN);
  agent.set_agent("payment");
  EXPECT_EQ(line_of(to_note(agent).at(0)), "POST /v1/agents/payment/actions breaker_open ");

  v1::NodeOperateRequest node;
  node.set_verb(v1::NODE_VERB_LOG_LEVEL);
  node.set_log_level("debug");
  EXPECT_EQ(line_of(to_note(node, "n1").at(0)), "POST /v1/nodes/n1/actions log_level ");
  node.set_node("n2");
  EXPECT_EQ(line_of(to_note(node, "n1").at(0)), "POST /v1/nodes/n2/actions log_level ");

  v1::RepliesRequest replies;
  replies.set_client("web/shop");
  EXPECT_TRUE(to_note(replies).empty()) << "it takes nothing away";
  replies.add_positions();
  EXPECT_EQ(line_of(to_note(replies).at(0)), "POST /v1/clients/web%2Fshop/replies:take take ");
}

TEST(entries_of_requests, are_none_where_nothing_is_changed_or_another_gateway_has_noted_it) {
  v1::OperateRequest tasks;
  tasks.add_ids("order-1");
  tasks.set_shard(1);
  EXPECT_TRUE(to_note(tasks).empty());
  v1::DeployRequest workflow;
  workflow.set_check_only(true);
  EXPECT_TRUE(to_note(workflow).empty());
  EXPECT_TRUE(to_note(v1::DoctorRequest{}).empty());
  v1::ShardNodesRequest nodes;
  EXPECT_TRUE(to_note(nodes).empty());
  nodes.set_verb(v1::ShardNodesRequest::LEAVE);
  EXPECT_EQ(to_note(nodes).size(), 1U);
  nodes.set_passed_on(true);
  EXPECT_TRUE(to_note(nodes).empty());
  v1::NodeOperateRequest node;
  node.set_verb(v1::NODE_VERB_DRAIN);
  node.set_passed_on(true);
  EXPECT_TRUE(to_note(node, "n1").empty());
  v1::NodeOperateRequest level;
  level.set_verb(v1::NODE_VERB_LOG_LEVEL);
  EXPECT_TRUE(to_note(level, "n1").empty()) << "it only asks";
}

TEST(entries_of_requests, say_what_became_of_each_task) {
  v1::OperateRequest tasks;
  for (const auto* const id : {"a", "b"}) tasks.add_ids(id);
  auto entries = to_note(tasks);
  v1::OperateReply reply;
  reply.add_results();
  reply.add_results()->mutable_error()->set_code(v1::ERROR_CODE_WRONG_STATE);
  reply.mutable_results(0)->set_state(v1::TASK_STATE_RUNNING);
  reply.mutable_results(0)->set_parked(true);
  note_ends(reply, entries);
  EXPECT_EQ(entries[0].entry.state_after(), "running, parked");
  EXPECT_EQ(entries[1].entry.state_after(), "");
  EXPECT_EQ(entries[0].end, v1::ERROR_CODE_OK);
  EXPECT_EQ(entries[1].end, v1::ERROR_CODE_WRONG_STATE);
  reply.mutable_error()->set_code(v1::ERROR_CODE_UNAVAILABLE);
  note_ends(reply, entries);
  EXPECT_EQ(entries[0].end, v1::ERROR_CODE_UNAVAILABLE);

  v1::AlertAckRequest alerts;
  alerts.add_numbers(12);
  alerts.add_numbers(13);
  auto each = to_note(alerts);
  ASSERT_EQ(each.size(), 2U);
  EXPECT_EQ(line_of(each[1]), "POST /v1/alerts:ack ack ");
  EXPECT_EQ(each[1].entry.object(), "13");

  auto one = to_note(v1::AlertAckRequest{});
  v1::AlertAckReply told;
  told.add_results();
  told.add_results()->mutable_error()->set_code(v1::ERROR_CODE_NOT_FOUND);
  note_ends(told, one);
  EXPECT_EQ(one.at(0).end, v1::ERROR_CODE_OK) << "some of it was done";
  told.mutable_results(0)->mutable_error()->set_code(v1::ERROR_CODE_NOT_FOUND);
  note_ends(told, one);
  EXPECT_EQ(one.at(0).end, v1::ERROR_CODE_NOT_FOUND);
}

}  // namespace
}  // namespace fairlead
