#include "actors/scheduler/books/workflow_catalog.hpp"

#include <gtest/gtest.h>

#include "store/memory/memory_store.hpp"

namespace fairlead {
namespace {

v1::WorkflowDefinition call_and_signal() {
  v1::WorkflowDefinition out;
  out.set_name("w");
  auto* call = out.add_steps();
  call->set_name("charge");
  call->set_agent("payment");
  call->set_call("charge");
  call->set_timeout_ms(5'000);
  call->set_attempts(3);
  call->mutable_backoff()->set_first_ms(100);
  call->mutable_backoff()->set_factor(2);
  call->mutable_backoff()->set_max_ms(1'000);
  auto* signal = out.add_steps();
  signal->set_name("approval");
  signal->set_kind(v1::STEP_KIND_SIGNAL);
  signal->set_signal("approve");
  signal->set_timeout_ms(7 * 86'400'000);
  signal->set_with_json("null");
  signal->mutable_undo()->set_none(true);
  return out;
}

TEST(workflow_catalog, its_longest_timeout_is_that_of_attempts_and_not_of_signals) {
  store::memory_store store;
  store::batch write;
  write.epoch = *store.raise_epoch();
  write.sequence = 1;
  workflow_catalog first;
  ASSERT_TRUE(first.open(*store.read()).ok());
  const auto deployed = first.deploy(call_and_signal(), "", 1, &write);
  ASSERT_TRUE(deployed.ok()) << deployed.failure().sentence;
  ASSERT_TRUE(store.commit({write}).ok());

  // After a start a task that waits for days must not be taken up by the sweep: nothing of it may be in progress.
  workflow_catalog again;
  ASSERT_TRUE(again.open(*store.read()).ok());
  EXPECT_EQ(again.longest_timeout_ms(), 5'000);
}

TEST(workflow_catalog, refuses_what_the_check_refuses_whoever_sends_it) {
  workflow_catalog catalog;
  auto hostile = call_and_signal();
  hostile.mutable_steps(1)->set_agent("payment");
  const auto refused = catalog.deploy(hostile, "", 1, nullptr);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().sentence, "workflow w, step approval, agent: `signal` and `agent` exclude one another");
}

}  // namespace
}  // namespace fairlead
