#include <gtest/gtest.h>

#include "app/cli/node/workflow_show.hpp"

namespace fairlead::app {
namespace {

TEST(workflow_show, says_what_steps_without_an_agent_wait_for) {
  v1::WorkflowShowReply reply;
  auto& definition = *reply.mutable_workflow()->mutable_definition();
  auto& rest = *definition.add_steps();
  rest.set_name("rest");
  rest.set_kind(v1::STEP_KIND_WAIT);
  rest.set_with_json(R"("10m")");
  auto& approval = *definition.add_steps();
  approval.set_name("approval");
  approval.set_kind(v1::STEP_KIND_SIGNAL);
  approval.set_signal("approved");
  approval.set_timeout_ms(172'800'000);
  const auto text = workflow_show_text(reply);
  EXPECT_NE(text.find("\nwait      rest: 10m\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nsignal    approval: approved, at most 2d, then it fails\n"), std::string::npos) << text;
  approval.set_goes_on_untimely(true);
  EXPECT_NE(workflow_show_text(reply).find("at most 2d, then it is left out\n"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::app
