#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/cli/job/text.hpp"
#include "app/json/job/jobs.hpp"
#include "tests/app/cli/job/job_times.hpp"

namespace fairlead::app {
namespace {

v1::JobShowReply shown() {
  v1::JobShowReply out;
  auto& job = *out.mutable_job();
  job.mutable_spec()->set_name("report");
  job.mutable_spec()->set_schedule("30 2 * * *");
  job.mutable_spec()->set_workflow("monthly");
  job.set_mark_unix_ms(nominal_ms);
  job.set_next_unix_ms(nominal_ms + minute_ms);
  out.add_coming_unix_ms(nominal_ms + minute_ms);
  return out;
}

TEST(cli_job_show, a_paused_job_has_no_times_to_come) {
  auto reply = shown();
  reply.mutable_job()->set_paused(true);
  const auto text = job_show_text(reply, nominal_ms);
  EXPECT_NE(text.find("\nComing\nNothing while the job is paused: its times are skipped.\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("2026-03-29 01:01:00Z"), std::string::npos) << text;
  const auto read = nlohmann::json::parse(job_show_json(reply));
  EXPECT_TRUE(read["next"].is_null());
  EXPECT_TRUE(read["coming"].empty());
}

TEST(cli_job_show, a_single_skip_is_one_time) {
  auto reply = shown();
  reply.mutable_job()->set_skipped(1);
  EXPECT_NE(job_show_text(reply, nominal_ms).find("; 1 time skipped\n"), std::string::npos);
}

TEST(cli_job_show, knows_which_task_is_in_the_way) {
  auto reply = shown();
  auto& job = *reply.mutable_job();
  EXPECT_EQ(launch_in_the_way(job, {}), "");
  auto* running = job.add_open();
  running->set_nominal_unix_ms(nominal_ms);
  running->set_state(v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(launch_in_the_way(job, {}), "") << "nobody waits for it";
  EXPECT_EQ(launch_in_the_way(job, {nominal_ms}), "report@2026-03-29T01:00:00Z") << "it is parked";
}

}  // namespace
}  // namespace fairlead::app
