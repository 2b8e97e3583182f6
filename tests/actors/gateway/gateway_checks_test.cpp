#include "actors/gateway/requests/checks.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "actors/core/request_limits.hpp"
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
