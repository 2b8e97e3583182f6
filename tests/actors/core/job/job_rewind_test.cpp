// What a rewind would do, before it does it.

#include <functional>

#include "tests/actors/core/job/job_world.hpp"

namespace fairlead::core::testing {
namespace {

/// A job that was launched until noon because the clock was ahead.
job_world rewound_from(const std::string& schedule, const std::function<void(job_world&)>& more = {}) {
  job_world job;
  job.spec.set_schedule(schedule);
  job.create("10:02");
  if (more) more(job);
  job.due("12:00");
  return job;
}

struct foreseen {
  std::string what;
  job_world job;
  std::string first, last;  // of the times that would be launched
  int times;
  std::uint64_t passed_over;
  std::string sentence;  // behind the moments
};

TEST(JobRewind, ADryRunSaysWhatWouldBeLaunchedAndForgotten) {
  const foreseen table[] = {
      {"a launch and skips", rewound_from("*/5 * * * *"), "10:15", "11:55", 21, 1,
       "21 times would be launched when due, 1 time already has a launch; 21 skips and 0 waiting launches would be forgotten"},
      {"a launch that waits", rewound_from("*/5 * * * *", [](job_world& job) { job.gate.wait_for(v1::LAUNCH_WAIT_ROOM); }), "10:15",
       "12:00", 22, 0, "22 times would be launched when due; 21 skips and 1 waiting launch would be forgotten"},
      {"one time", rewound_from("20 10 * * *"), "10:20", "10:20", 1, 0,
       "1 time would be launched when due; 1 skip and 0 waiting launches would be forgotten"},
      {"a long row of skips, which now cuts", rewound_from("* * * * *"), "10:12", "11:59", 108, 1,
       "108 times would be launched when due, 1 time already has a launch; 108 skips and 0 waiting launches would be forgotten"},
      {"a paused job", rewound_from("*/5 * * * *", [](job_world& job) { job.operate("10:03", v1::JOB_VERB_PAUSE); }), "10:15", "12:00", 22,
       0,
       "22 times would be launched when due; 22 skips and 0 waiting launches would be forgotten; the job is paused: its times are skipped "
       "until it is resumed"},
  };
  for (auto one : table) {
    auto& job = one.job;
    const auto rows = job.rows.all.size();
    const auto mark = job.mark();
    const auto said = job.operate("10:11", v1::JOB_VERB_REWIND_DRY_RUN);
    EXPECT_NE(said.find("would be set back from 2026-03-02T"), std::string::npos) << one.what << ": " << said;
    EXPECT_EQ(job.answer.sentence().substr(std::min(job.answer.sentence().find("Z: "), job.answer.sentence().size() - 3) + 3), one.sentence)
        << one.what;
    ASSERT_EQ(job.answer.times_unix_ms_size(), one.times) << one.what;
    EXPECT_EQ(job.answer.times_unix_ms(0), at(one.first)) << one.what;
    EXPECT_EQ(job.answer.times_unix_ms(one.times - 1), at(one.last)) << one.what;
    EXPECT_EQ(job.answer.passed_over(), one.passed_over) << one.what;
    EXPECT_EQ(job.answer.launches(), 0U) << one.what;
    EXPECT_EQ(job.mark(), mark) << one.what;
    EXPECT_EQ(job.rows.all.size(), rows) << one.what;
    // It was right.
    EXPECT_NE(job.operate("10:11", v1::JOB_VERB_REWIND).find("set back from"), std::string::npos) << one.what;
    EXPECT_EQ(job.next_look(), one.first) << one.what;
  }
}

TEST(JobRewind, TimesThatAreLaunchedWhenTheyComeAreNotMissed) {
  auto job = rewound_from("*/5 * * * *");
  ASSERT_EQ(job.record.missed().count(), 11U) << "10:05 to 10:55";
  job.operate("10:11", v1::JOB_VERB_REWIND);
  EXPECT_EQ(job.record.missed().count(), 2U) << "10:05 and 10:10 have come, and were not launched";
  EXPECT_LE(job.record.missed().last_unix_ms(), at("10:11"));
  auto all = rewound_from("*/5 * * * *");
  all.operate("10:04", v1::JOB_VERB_REWIND);
  EXPECT_FALSE(all.record.has_missed());
}

TEST(JobRewind, ADryRunListsTheFirstThousandTimes) {
  job_world job;
  job.spec.set_schedule("* * * * * *");
  job.create("10:02");
  job.record.set_mark_unix_ms(at("12:00"));
  job.record.set_decided_until_unix_ms(at("12:00"));
  job.operate("10:11", v1::JOB_VERB_REWIND_DRY_RUN);
  ASSERT_EQ(job.answer.times_unix_ms_size(), 1'000);
  EXPECT_EQ(job.answer.times_unix_ms(0), at("10:11:01"));
  EXPECT_NE(job.answer.sentence().find(": more than 1000 times would be launched when due;"), std::string::npos) << job.answer.sentence();
}

TEST(JobRewind, ADryRunIsRefusedAsTheRewindWouldBe) {
  job_world job;
  job.create("10:02");
  job.due("10:05");
  const auto said = job.operate("10:06", v1::JOB_VERB_REWIND);
  EXPECT_EQ(said.substr(0, 8), "refused:");
  EXPECT_EQ(job.operate("10:06", v1::JOB_VERB_REWIND_DRY_RUN), said);
}

}  // namespace
}  // namespace fairlead::core::testing
