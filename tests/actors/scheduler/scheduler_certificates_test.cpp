// Reports about certificates of nodes, as the Scheduler of a shard takes them.

#include <gtest/gtest.h>

#include "store/rows/alert_rows.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class scheduler_certificates_test : public scheduler_fixture {
 protected:
  void report(std::int64_t days_left) {
    v1::CertificateReport what;
    what.set_node("n2");
    what.set_use(v1::CERTIFICATE_USE_API);
    what.set_ends_at_unix_ms(start_ms + days_left * 86'400'000);
    node->shell.look_at_certificate(what);
    node->settle();
  }
  v1::AlertState state_of(std::uint64_t number) {
    const auto found = store::load_alert(*store.read(), number);
    return found.ok() && *found ? (*found)->state() : v1::ALERT_STATE_UNSPECIFIED;
  }
};

TEST_F(scheduler_certificates_test, an_alert_outlives_the_process_and_ends_with_the_next_certificate) {
  report(3);
  EXPECT_EQ(state_of(1), v1::ALERT_STATE_OPEN);
  restart();
  report(3);
  EXPECT_EQ(state_of(2), v1::ALERT_STATE_UNSPECIFIED) << "there is no second one";
  report(90);
  EXPECT_EQ(state_of(1), v1::ALERT_STATE_RESOLVED);
}

TEST_F(scheduler_certificates_test, a_node_that_says_nothing_for_a_day_has_no_alert_any_more) {
  report(20);
  time.now_ms += 86'400'000;
  deploy(workflow_of({step("a")}));
  EXPECT_EQ(state_of(1), v1::ALERT_STATE_RESOLVED);
}

TEST_F(scheduler_certificates_test, only_shard_0_keeps_these_alerts) {
  scheduler_limits limits;
  limits.shard = 1;
  limits.shard_count = 2;
  restart(limits);
  report(3);
  EXPECT_EQ(state_of(1), v1::ALERT_STATE_UNSPECIFIED);
  v1::StatusReply status;
  node->shell.describe(status);
  EXPECT_EQ(status.traffic().misdirected(), 1u);
}

}  // namespace
}  // namespace fairlead::testing
