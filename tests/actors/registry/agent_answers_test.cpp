#include "actors/registry/answers.hpp"

#include <gtest/gtest.h>

#include "actors/core/task/record.hpp"

namespace fairlead::testing {
namespace {

v1::Outcome faulted(const std::string& code, v1::FaultKind kind = v1::FAULT_KIND_IN_DOUBT) {
  v1::Outcome out;
  out.mutable_fault()->set_kind(kind);
  out.mutable_fault()->set_code(code);
  return out;
}

TEST(agent_answers, no_agent_says_what_only_the_scheduler_can_know) {
  auto said = faulted(std::string{core::key_expired_code});
  EXPECT_EQ(event_of(said).fault->code(), "agent_key_expired") << "its own API key, say: an operator's retry must not renew ours for it";
  auto other = faulted("http_504");
  EXPECT_EQ(event_of(other).fault->code(), "http_504");
}

TEST(agent_answers, a_fault_of_no_known_kind_leaves_doubt) {
  auto said = faulted("odd", v1::FAULT_KIND_UNSPECIFIED);
  EXPECT_EQ(event_of(said).fault->kind(), v1::FAULT_KIND_IN_DOUBT);
}

TEST(agent_answers, numbers_are_brought_within_bounds) {
  auto said = faulted("busy", v1::FAULT_KIND_TRANSIENT);
  said.set_tries(4'000'000'000U);
  said.set_busy_ms(-1);
  said.mutable_fault()->set_retry_after_ms(INT64_MAX);
  const auto e = event_of(said);
  EXPECT_EQ(e.tries, 1'000'000U);
  EXPECT_EQ(e.busy_ms, 0);
  EXPECT_EQ(e.fault->retry_after_ms(), 86'400'000);
}

}  // namespace
}  // namespace fairlead::testing
