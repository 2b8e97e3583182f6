#include <gtest/gtest.h>

#include "app/cli/task/waiting.hpp"
#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

constexpr std::int64_t moment_ms = 1'764'000'000'000;

v1::TaskShowReply retried(std::int64_t again_at_ms, const std::string& code) {
  auto reply = order_task();
  auto& charge = step_of(reply, 1);
  charge.set_state(v1::STEP_STATE_FAILED);
  charge.set_complete_by_unix_ms(0);
  charge.set_not_before_unix_ms(again_at_ms);
  charge.mutable_fault()->set_kind(v1::FAULT_KIND_TRANSIENT);
  charge.mutable_fault()->set_code(code);
  return reply;
}

TEST(told_waits, a_step_that_is_retried_is_told_once_and_again_when_the_fault_is_another) {
  told_waits told;
  const auto first = told.news(retried(moment_ms, "connection_refused"), {});
  EXPECT_NE(first.find("Step charge is retrying: again at "), std::string::npos) << first;
  EXPECT_NE(first.find("; last fault: transient connection_refused\n"), std::string::npos) << first;
  EXPECT_EQ(told.news(retried(moment_ms + 2'000, "connection_refused"), {}), "") << "another attempt is no news";
  EXPECT_NE(told.news(retried(moment_ms + 4'000, "http_503"), {}).find("http_503"), std::string::npos);
}

TEST(told_waits, an_attempt_of_a_step_that_is_retried_is_no_news) {
  told_waits told;
  told.news(retried(moment_ms, "http_503"), {});
  auto running = retried(0, "http_503");
  step_of(running, 1).set_state(v1::STEP_STATE_RUNNING);
  step_of(running, 1).set_complete_by_unix_ms(moment_ms);
  EXPECT_EQ(told.news(running, {}), "");
  told_waits other;
  EXPECT_NE(other.news(running, {}).find("Step charge is running: ends by "), std::string::npos) << "a long first attempt is";
}

TEST(told_waits, a_paused_task_is_told_once) {
  told_waits told;
  auto reply = order_task();
  reply.mutable_task()->set_paused(true);
  EXPECT_NE(told.news(reply, {}).find("Task o-1 is paused.\n"), std::string::npos);
  EXPECT_EQ(told.news(reply, {}).find("paused"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::app
