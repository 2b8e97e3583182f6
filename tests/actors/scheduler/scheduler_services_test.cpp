// What a Scheduler keeps of services: it becomes durable by itself, and says nothing of steps that wait no more.

#include <optional>
#include <stdexcept>

#include "store/rows/service_rows.hpp"
#include "tests/actors/agent_host/agent_host_world.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_services_test : public scheduler_fixture {
 protected:
  scheduler_services_test() { deploy(workflow_of({step("a")})); }

  std::optional<v1::ServiceRecord> service(const std::string& agent) {
    std::optional<v1::ServiceRecord> out;
    const auto read = store::for_each_service(*store.read(), [&](const v1::ServiceRecord& record) {
      if (record.agent() == agent) out = record;
      return true;
    });
    EXPECT_TRUE(read.ok());
    return out;
  }

  void cancel(const std::string& id) {
    v1::OperateRequest request;
    request.add_ids(id);
    request.mutable_action()->set_verb(v1::OPERATOR_VERB_CANCEL);
    request.mutable_action()->set_who("ops");
    node->shell.answer(request, next_ticket++);
    node->settle();
  }
};

TEST_F(scheduler_services_test, writes_what_a_registration_alone_has_changed) {
  add_agent(agent("n1/svc", 10, 1));
  v1::AgentOperateRequest drain;
  drain.set_verb(v1::AGENT_VERB_DRAIN);
  drain.set_instance("n1/svc");
  drain.set_who("ops");
  node->shell.answer(drain, next_ticket++);
  node->settle();
  ASSERT_TRUE(service("svc"));
  ASSERT_EQ(service("svc")->drained_size(), 1);
  add_agent(agent("n1/svc", 10, 2));
  EXPECT_FALSE(service("svc")) << "its successor is not drained, and there is no other message that would have it written";
}

TEST_F(scheduler_services_test, does_not_call_an_agent_absent_for_which_nothing_waits_any_more) {
  submit(submission("t1"));
  ASSERT_TRUE(service("svc"));
  EXPECT_NE(service("svc")->absent_since_unix_ms(), 0);
  cancel("t1");
  ASSERT_EQ(stored("t1")->state(), v1::TASK_STATE_UNDONE);
  EXPECT_FALSE(service("svc"));
  time.now_ms += 120'000;
  node->shell.offer();
  node->settle();
  EXPECT_FALSE(service("svc")) << "nobody is told of an absence that holds nothing up";
}

TEST_F(scheduler_services_test, does_not_call_an_agent_absent_for_which_only_a_skipped_step_had_waited) {
  auto other = step("b");
  other.set_agent("other");
  deploy(workflow_of({step("a"), other}));
  add_agent(agent("n1/svc"));
  submit(submission("t1"));
  ASSERT_TRUE(service("other"));
  v1::OperateRequest request;
  request.add_ids("t1");
  request.mutable_action()->set_verb(v1::OPERATOR_VERB_SKIP);
  request.mutable_action()->set_step("b");
  request.mutable_action()->set_who("ops");
  node->shell.answer(request, next_ticket++);
  node->settle();
  ASSERT_EQ(stored("t1")->state(), v1::TASK_STATE_RUNNING);
  EXPECT_FALSE(service("other"));
}

/// Fails in the middle of its start.
class throwing_backend final : public agents::backend {
 public:
  void start(const v1::Perform&, agents::completion done) override {
    completion = std::move(done);
    throw std::runtime_error{"no memory"};
  }
  void stop(const agents::attempt_key&) override {}
  std::vector<std::string> calls() const override { return {"do"}; }
  std::uint32_t capacity() const override { return 3; }
  void shut_down() override {}
  agents::completion completion;
};

TEST(agent_host_start_test, takes_nothing_at_once_from_a_backend_that_has_thrown) {
  manual_clock time;
  throwing_backend backend;
  fake_outbox out;
  agent_host host{{"svc", "n1/svc", 1, "native", {}, nullptr}, backend, time, out};
  v1::PerformBatch batch;
  batch.set_epoch(1);
  auto& one = *batch.add_items();
  one.set_task_number(7);
  one.set_attempt(1);
  one.set_call("do");
  one.set_complete_by_unix_ms(time.now_ms + 5'000);
  EXPECT_THROW(host.perform(batch), std::runtime_error);
  backend.completion({7, 0, v1::DIRECTION_PERFORM, 1}, {"1", std::nullopt, 1});
  EXPECT_EQ(out.later.size(), 1u) << "it is not inside `start` any more";
}

}  // namespace
}  // namespace fairlead::testing
