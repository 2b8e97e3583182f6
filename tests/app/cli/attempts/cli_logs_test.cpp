#include "app/cli/attempts/logs.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

v1::TaskRecord task() {
  v1::TaskRecord out;
  out.set_id("nightly@2026-11-19T01:30:00Z");
  auto* run = out.add_steps();
  run->set_path("run");
  run->mutable_log()->mutable_text()->set_json(R"("one\r\n\ttwo\u001b[31m\nthree")");
  run->mutable_log()->set_attempt(2);
  run->mutable_log()->set_direction(v1::DIRECTION_PERFORM);
  out.add_steps()->set_path("quiet");
  auto* ship = out.add_steps();
  ship->set_path("ship");
  ship->mutable_log()->mutable_text()->set_json(R"("back\n")");
  ship->mutable_log()->set_attempt(1);
  ship->mutable_log()->set_direction(v1::DIRECTION_UNDO);
  ship->mutable_log()->set_cut(true);
  return out;
}

TEST(cli_logs, have_a_head_line_for_each_step_and_control_no_terminal) {
  EXPECT_EQ(logs_text(task()),
            "==> nightly@2026-11-19T01:30:00Z run attempt 2 <==\n"
            "one\n\ttwo?[31m\nthree\n"
            "\n"
            "==> nightly@2026-11-19T01:30:00Z ship undo attempt 1 (only the end is kept) <==\n"
            "back\n");
}

TEST(cli_logs, are_whole_in_json) {
  EXPECT_EQ(logs_json(task(), "run"), R"({"task":"nightly@2026-11-19T01:30:00Z","logs":[{"step":"run","direction":"perform","attempt":2,)"
                                      R"("cut":false,"log":"one\r\n\ttwo\u001b[31m\nthree"}]})");
  EXPECT_TRUE(has_logs(task(), "ship"));
  EXPECT_FALSE(has_logs(task(), "quiet"));
}

}  // namespace
}  // namespace fairlead::app
