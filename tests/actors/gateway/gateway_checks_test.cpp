#include "actors/gateway/requests/checks.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "actors/core/request_limits.hpp"
#include "actors/protocol/requests.hpp"
#include "actors/queries/alert_queries.hpp"
#include "actors/queries/task_queries.hpp"
#include "store/memory/memory_store.hpp"

namespace fairlead {
namespace {

template <class Request>
std::string refused(const Request& what) {
  const auto why = check_request(what);
  return why ? why->sentence : "";
}

TEST(check_of_a_request, to_forget_effects_needs_a_name_and_no_repair_beside_it) {
  v1::DoctorRequest what;
  EXPECT_EQ(refused(what), "") << "to look is nobody's order";
  what.set_forget_effects(true);
  EXPECT_EQ(refused(what), "the request does not give the name of the operator (--by)");
  what.set_who("ann");
  EXPECT_EQ(refused(what), "");
  what.set_repair(true);
  EXPECT_EQ(refused(what), "the request asks both to repair tasks and to forget effects");
}

TEST(check_of_a_request, for_ended_tasks_needs_a_time_that_may_have_some_and_no_state_of_live_ones) {
  v1::TaskListRequest what;
  what.set_ended_until_unix_ms(10);
  EXPECT_EQ(refused(what), "");
  what.set_ended_since_unix_ms(9);
  EXPECT_EQ(refused(what), "");
  what.set_ended_since_unix_ms(10);
  EXPECT_NE(refused(what), "");
  what.clear_ended_since_unix_ms();
  what.add_states(v1::TASK_STATE_RUNNING);
  EXPECT_EQ(refused(what), "a list of ended tasks cannot have tasks that live");
}

TEST(check_of_a_request, for_children_needs_a_parent_that_may_be_one) {
  v1::TaskListRequest what;
  what.set_top_level(true);
  EXPECT_EQ(refused(what), "");
  what.set_parent("order-7");
  EXPECT_EQ(refused(what), "no task both has no parent and is a child of order-7");
  what.clear_top_level();
  EXPECT_EQ(refused(what), "");
  what.set_parent("order-7/ship~1");
  EXPECT_EQ(refused(what), "");
  for (const auto& id : {std::string{"a b"}, std::string(481, 'x'), std::string("a\0b", 3)}) {
    what.set_parent(id);
    EXPECT_EQ(refused(what), "the parent that the list is about is not a task id") << id;
  }
}

TEST(check_of_a_request, takes_the_ids_of_children_which_are_longer_than_chosen_ones) {
  v1::TaskShowRequest show;
  show.set_id(std::string(256, 'o') + "/ship~1");
  EXPECT_EQ(refused(show), "");
  v1::StatesRequest states;
  states.add_ids(std::string(480, 'o'));
  EXPECT_EQ(refused(states), "");
  states.add_ids(std::string(481, 'o'));
  EXPECT_EQ(refused(states), "the request names a task with an id of 481 bytes, and ids have at most 480");
}

TEST(check_of_a_request, to_submit_with_a_name_of_the_node_is_refused_to_all_but_the_node) {
  v1::SubmitRequest what;
  const std::pair<const char*, const char*> items[] = {
      {"order-1", "slow"}, {"fairlead:operation:abd", "slow"}, {"order-2", "slow"}, {"mine", "fairlead-operation"}};
  for (const auto& [id, workflow] : items) {
    auto& item = *what.add_items();
    item.set_id(id);
    item.set_workflow(workflow);
  }
  auto of_node = what;
  of_node.set_by_node(true);
  EXPECT_TRUE(take_reserved(of_node).empty());
  auto of_gateway = what;
  of_gateway.set_shard(0);
  EXPECT_TRUE(take_reserved(of_gateway).empty()) << "the gateway that cut it has checked it";
  auto refused_ones = take_reserved(what);
  ASSERT_EQ(refused_ones.size(), 2U);
  ASSERT_EQ(what.items_size(), 2);
  EXPECT_EQ(what.items(1).id(), "order-2");
  v1::SubmitReply reply;
  for (const auto& item : what.items()) reply.add_results()->set_id(item.id());
  reply = with_refused(std::move(reply), std::move(refused_ones));
  std::string all;
  for (const auto& one : reply.results()) all += one.id() + (one.has_error() ? " refused;" : ";");
  EXPECT_EQ(all, "order-1;fairlead:operation:abd refused;order-2;mine refused;") << "each at its place";
  v1::SubmitRequest other;
  other.add_items()->set_id("fairleads:1");
  EXPECT_EQ(refused(other), "");
}

TEST(check_of_a_request, to_deploy_or_delete_the_workflow_of_the_node_is_refused_to_all_but_the_node) {
  v1::DeployRequest what;
  what.mutable_definition()->set_name("fairlead-operation");
  EXPECT_EQ(refused(what), "the workflow fairlead-operation is the node's own");
  what.set_by_node(true);
  EXPECT_EQ(refused(what), "");
  v1::WorkflowDeleteRequest gone;
  gone.set_name("fairlead-operation");
  gone.set_who("ann");
  EXPECT_EQ(refused(gone), "the workflow fairlead-operation is the node's own, and cannot be deleted");
}

TEST(check_of_a_request, to_have_the_agent_of_operations_work_for_others_is_refused) {
  v1::DeployRequest what;
  what.mutable_definition()->set_name("mine");
  auto& step = *what.mutable_definition()->add_steps();
  step.set_name("all");
  step.set_agent("fairlead.operations");
  EXPECT_EQ(refused(what), "step all of workflow mine has the agent fairlead.operations, which works for the node's own operations alone");
  step.set_agent("payment");
  EXPECT_EQ(refused(what), "");
  v1::JobApplyRequest jobs;
  auto& job = *jobs.add_jobs();
  job.set_name("nightly");
  job.set_workflow("fairlead-operation");
  EXPECT_EQ(refused(jobs), "job nightly launches the workflow fairlead-operation, which is the node's own");
}

TEST(check_of_a_request, to_signal_a_task_needs_a_name_and_data_that_are_json) {
  v1::OperateRequest what;
  what.add_ids("order-1");
  auto& action = *what.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_SIGNAL);
  EXPECT_EQ(refused(what), "the request does not give a valid name of a signal");
  for (const auto* name : {"Approved", "-approved", "a b", "a/b"}) {
    action.set_signal(name);
    EXPECT_EQ(refused(what), "the request does not give a valid name of a signal") << name;
  }
  action.set_signal("approved");
  EXPECT_EQ(refused(what), "") << "without data it is null";
  action.set_json(R"({"by": "ben"})");
  EXPECT_EQ(refused(what), "");
  action.set_json("{");
  EXPECT_TRUE(refused(what).starts_with("the data of signal approved are not JSON: ")) << refused(what);
  action.set_json("");
  EXPECT_TRUE(refused(what).starts_with("the data of signal approved are not JSON: ")) << refused(what);
  action.set_json('"' + std::string(max_signal_bytes - 2, 'a') + '"');
  EXPECT_EQ(refused(what), "");
  action.set_json('"' + std::string(max_signal_bytes - 1, 'a') + '"');
  EXPECT_EQ(refused(what), "the data of signal approved have 262145 bytes, the limit is 262144");
}

TEST(check_of_a_request, of_a_callback_is_about_the_task_in_its_text) {
  v1::OperateRequest what;
  what.add_ids("order-1");
  auto& action = *what.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_CALLBACK);
  EXPECT_EQ(refused(what), "nothing here waits for this callback");
  action.set_callback("bm90IG9uZQ");
  EXPECT_EQ(refused(what), "nothing here waits for this callback");
  action.set_callback(make_callback(std::string(work_key_bytes, 'k'), {0, 1, 0, "order-2"}));
  EXPECT_EQ(refused(what), "nothing here waits for this callback") << "of another task";
  action.set_callback(make_callback(std::string(work_key_bytes, 'k'), {0, 1, 0, "order-1"}));
  EXPECT_EQ(refused(what), "");
  what.add_ids("order-1");
  EXPECT_EQ(refused(what), "nothing here waits for this callback") << "of one task";
  what.mutable_ids()->RemoveLast();
  action.set_json('"' + std::string(max_output_bytes - 1, 'a') + '"');
  EXPECT_EQ(refused(what), "the output of the step has 1048577 bytes, the limit is 1048576");
  action.set_json("null");
  action.mutable_fault()->set_kind(v1::FAULT_KIND_PERMANENT);
  EXPECT_EQ(refused(what), "the callback has both an output and a fault");
  action.clear_json();
  EXPECT_EQ(refused(what), "");
  action.mutable_fault()->set_kind(v1::FAULT_KIND_IN_DOUBT);
  EXPECT_EQ(refused(what), "the fault of the callback is neither transient nor permanent");
}

TEST(check_of_a_request, a_callback_belongs_to_no_other_action) {
  v1::OperateRequest what;
  what.add_ids("order-1");
  what.mutable_action()->set_verb(v1::OPERATOR_VERB_RETRY);
  what.mutable_action()->set_callback("x");
  EXPECT_EQ(refused(what), "the request has a callback, and its action is another one");
  what.mutable_action()->clear_callback();
  what.mutable_action()->mutable_fault()->set_code("x");
  EXPECT_EQ(refused(what), "the request has a callback, and its action is another one");
}

TEST(check_of_a_request, to_settle_no_step_gives_the_output_of_the_task) {
  v1::OperateRequest what;
  what.add_ids("order-1");
  auto& action = *what.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_SETTLE_COMPLETED);
  EXPECT_EQ(refused(what), "the request settles no step, and gives no output of the task");
  action.set_json("null");
  EXPECT_EQ(refused(what), "");
  action.set_json('"' + std::string(max_output_bytes - 1, 'a') + '"');
  EXPECT_EQ(refused(what), "the output of the task has 1048577 bytes, the limit is 1048576");
  action.clear_json();
  action.set_step("charge");
  EXPECT_EQ(refused(what), "") << "its shard says what a step lacks";
}

TEST(check_of_a_request, a_signal_belongs_to_no_other_action) {
  v1::OperateRequest what;
  what.add_ids("order-1");
  what.mutable_action()->set_verb(v1::OPERATOR_VERB_RETRY);
  EXPECT_EQ(refused(what), "");
  what.mutable_action()->set_signal("approved");
  EXPECT_EQ(refused(what), "the request names a signal, and its action is another one");
}

TEST(check_of_a_request, versions_belong_to_a_migration_which_needs_both) {
  v1::OperateRequest what;
  what.add_ids("order-1");
  auto& action = *what.mutable_action();
  action.set_verb(v1::OPERATOR_VERB_MIGRATE);
  action.set_from_hash(std::string(16, 'a'));
  const auto lacks = "the request does not name the versions by which the tasks go and are to go on";
  EXPECT_EQ(refused(what), lacks);
  action.set_to_hash(std::string(15, 'b'));
  EXPECT_EQ(refused(what), lacks);
  action.set_to_hash(std::string(16, 'b'));
  EXPECT_EQ(refused(what), "");
  action.set_verb(v1::OPERATOR_VERB_RETRY);
  EXPECT_EQ(refused(what), "the request names versions of a workflow, and its action is another one than migrate");
}

TEST(right_for_a_request, to_signal_or_to_call_back_is_that_of_whoever_submits_tasks) {
  v1::OperateRequest what;
  for (int verb = v1::OperatorVerb_MIN; verb <= v1::OperatorVerb_MAX; ++verb) {
    what.mutable_action()->set_verb(static_cast<v1::OperatorVerb>(verb));
    const bool is_of_programs = verb == v1::OPERATOR_VERB_SIGNAL || verb == v1::OPERATOR_VERB_CALLBACK;
    EXPECT_EQ(right_for(what), is_of_programs ? right::submit : right::act) << verb;
  }
}

TEST(check_of_a_request, to_forget_a_node_needs_a_name_of_who_asks) {
  v1::NodeOperateRequest what;
  what.set_verb(v1::NODE_VERB_FORGET);
  what.set_forgotten("b");
  EXPECT_EQ(refused(what), "the request does not give the name of the operator (--by)");
  what.set_who("ann");
  EXPECT_EQ(refused(what), "");
}

TEST(check_of_a_request, to_change_the_nodes_of_a_shard_needs_a_node_and_a_name_of_who_asks) {
  v1::ShardNodesRequest what;
  EXPECT_EQ(refused(what), "") << "to look is nobody's order";
  what.set_verb(v1::ShardNodesRequest::LEAVE);
  EXPECT_EQ(refused(what), "the request names no node");
  what.mutable_node()->set_name("n1");
  EXPECT_EQ(refused(what), "the request does not give the name of the operator (--by)");
  what.set_who("ann");
  EXPECT_EQ(refused(what), "");
  what.mutable_node()->set_address(std::string(1'000, 'a'));
  EXPECT_EQ(refused(what), "the address or the cluster of the node is too long");
}

TEST(check_of_a_request, to_begin_a_session_needs_names_that_a_shard_can_keep) {
  v1::WorkerSessionRequest sound;
  sound.set_name("payment");
  sound.set_instance("host-1/payment:4711");
  sound.set_who("ann");
  EXPECT_EQ(refused(sound), "");
  const auto with = [&](auto change) {
    auto what = sound;
    change(what);
    return refused(what);
  };
  EXPECT_EQ(with([](auto& what) { what.set_name("a b"); }), "The agent's name is not valid.");
  EXPECT_EQ(with([](auto& what) { what.set_name("fairlead.operations"); }), "The agent fairlead.operations is the node's own.");
  EXPECT_EQ(with([](auto& what) { what.clear_instance(); }), "The name of the worker instance is not valid.");
  EXPECT_EQ(with([](auto& what) { what.set_instance("a b"); }), "The name of the worker instance is not valid.");
  EXPECT_EQ(with([](auto& what) { what.set_session(std::string(1'025, 'a')); }), "The session has more than 1 KiB.");
  EXPECT_EQ(with([](auto& what) { what.clear_who(); }), "The request does not say who asks.");
  EXPECT_EQ(with([](auto& what) { what.set_digest(std::string(17, 'a')); }), "The digest of the registration has more than 16 bytes.");
}

/// Whether a gateway passes it on, and whether a shard answers it.
struct taken {
  bool by_gateway = false;
  bool by_shard = false;
};

template <class Request>
taken is_taken(const Request& what) {
  store::memory_store store;
  const auto view = store.read();
  taken out;
  out.by_gateway = !check_request(what);
  if constexpr (std::is_same_v<Request, v1::TaskListRequest>)
    out.by_shard = list_tasks(what, *view, moment{}).error().code() == v1::ERROR_CODE_OK;
  else
    out.by_shard = list_alerts(what, *view).error().code() == v1::ERROR_CODE_OK;
  return out;
}

TEST(check_of_a_request, takes_as_many_filters_as_shards_do_and_no_more) {
  for (int count = 0; count <= 40; ++count) {
    v1::TaskListRequest tasks;
    v1::TaskListRequest labelled;
    v1::AlertListRequest alerts;
    for (int i = 0; i < count; ++i) {
      tasks.add_states(v1::TASK_STATE_RUNNING);
      labelled.add_labels()->set_key("l" + std::to_string(i));
      alerts.add_states(v1::ALERT_STATE_OPEN);
    }
    for (const auto& [what, most] : {std::pair{is_taken(tasks), max_filter_states}, std::pair{is_taken(alerts), max_filter_states},
                                     std::pair{is_taken(labelled), max_filter_labels}}) {
      EXPECT_EQ(what.by_gateway, count <= most) << count;
      EXPECT_EQ(what.by_shard, count <= most) << count;
    }
  }
  v1::AlertListRequest many;
  for (int i = 0; i <= max_filter_states; ++i) many.add_states(v1::ALERT_STATE_OPEN);
  EXPECT_EQ(refused(many), "more than 16 states or 32 labels to filter by");
}

}  // namespace
}  // namespace fairlead
