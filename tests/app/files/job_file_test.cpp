#include "app/files/job_file.hpp"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "actors/system/time_zones.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

job_file read(const std::string& text) { return parse_jobs("jobs.yaml", text, time_zones::of_system()); }
lines problems_of(const std::string& text) { return shown(read(text).problems); }

/// A sound job with these lines at its end; they begin on line 4.
std::string with_lines(const std::string& text) { return "job: a\nschedule: \"@daily\"\nworkflow: w\n" + text; }

const std::string report = R"(job: nightly-report
schedule: "30 2 * * MON-FRI"
time_zone: Europe/Berlin
dst: literal
workflow: report
input: { day: "${ .launch.nominal_local }", count: 9007199254740993 }
overlap: queue
catch_up: { policy: all, within: 2h }
start_window: 10m
jitter: 2m
deadline: 2h
priority: 10
labels: { team: billing, level: 5 }
needs: [ { agent: reports, slots: 2, labels: { region: eu } }, { agent: mail } ]
max_in_flight: 5
keep_launches: 100
alert_after: 0
paused: true
notes: Who to call.
)";

TEST(job_file, reads_every_key) {
  const auto file = read(report);
  EXPECT_EQ(shown(file.problems), lines{});
  ASSERT_EQ(file.jobs.size(), 1U);
  const auto& job = file.jobs.front();
  EXPECT_EQ(job.name(), "nightly-report");
  EXPECT_EQ(job.schedule(), "30 2 * * MON-FRI");
  EXPECT_EQ(job.zone(), "Europe/Berlin");
  EXPECT_EQ(job.dst(), v1::DST_POLICY_LITERAL);
  EXPECT_EQ(job.workflow(), "report");
  EXPECT_EQ(job.input(), R"({"day":"${ .launch.nominal_local }","count":9007199254740993})");
  EXPECT_EQ(job.overlap(), v1::OVERLAP_POLICY_QUEUE);
  EXPECT_EQ(job.catch_up(), v1::CATCH_UP_POLICY_ALL);
  EXPECT_EQ(job.catch_up_window_ms(), 7'200'000);
  EXPECT_EQ(job.start_window_ms(), 600'000);
  EXPECT_EQ(job.jitter_ms(), 120'000);
  EXPECT_EQ(job.deadline_ms(), 7'200'000);
  EXPECT_EQ(job.priority(), 10);
  ASSERT_EQ(job.labels_size(), 2);
  EXPECT_EQ(job.labels(1).value(), "5");
  ASSERT_EQ(job.needs_size(), 2);
  EXPECT_EQ(job.needs(0).agent(), "reports");
  EXPECT_EQ(job.needs(0).slots(), 2U);
  EXPECT_EQ(job.needs(0).labels(0).value(), "eu");
  EXPECT_EQ(job.needs(1).slots(), 1U) << "one slot unless another number is given";
  EXPECT_EQ(job.max_in_flight(), 5U);
  EXPECT_EQ(job.keep_launches(), 100U);
  ASSERT_TRUE(job.has_alert_after());
  EXPECT_EQ(job.alert_after(), 0U);
  EXPECT_TRUE(job.paused());
  EXPECT_EQ(job.notes(), "Who to call.");
}

TEST(job_file, what_is_not_said_is_left_to_the_defaults) {
  const auto file = read(with_lines(""));
  EXPECT_EQ(shown(file.problems), lines{});
  const auto& job = file.jobs.front();
  EXPECT_FALSE(job.has_paused());
  EXPECT_FALSE(job.has_start_window_ms());
  EXPECT_FALSE(job.has_alert_after());
  EXPECT_EQ(job.overlap(), v1::OVERLAP_POLICY_UNSPECIFIED);
  EXPECT_EQ(read(with_lines("catch_up: none\n")).jobs.front().catch_up(), v1::CATCH_UP_POLICY_NONE);
  EXPECT_EQ(read(with_lines("start_window: 0s\n")).jobs.front().start_window_ms(), 0);
}

TEST(job_file, one_file_may_hold_several_jobs) {
  const auto file =
      read("# jobs\n---\njob: a\nschedule: \"@daily\"\nworkflow: w\n---\njob: b\nschedule: '@hourly'\nworkflow: w\n---\n# the end\n");
  EXPECT_EQ(shown(file.problems), lines{});
  ASSERT_EQ(file.jobs.size(), 2U);
  EXPECT_EQ(file.jobs[0].name(), "a");
  EXPECT_EQ(file.jobs[1].name(), "b");
  EXPECT_EQ(read("job: a\nschedule: 0 5 1 1 0\nworkflow: w\nnotes: a --- b\n").jobs.size(), 1U);
  EXPECT_EQ(problems_of(""), lines{"1:1: the file is empty"});
  EXPECT_EQ(problems_of("# nothing\n---\n# at all\n").size(), 1U);
}

TEST(job_file, lines_are_counted_through_the_whole_file) {
  EXPECT_EQ(problems_of(
                "job: a\nschedule: \"@daily\"\nworkflow: w\n---\njob: b\nschedule: \"@daily\"\nworkflw: w\npriority: high\npriority: 3\n"),
            (lines{"5:1: workflow: this key is missing; expected the name of the workflow to launch",
                   "7:1: workflw: this key is not known here; did you mean workflow?",
                   "8:11: priority: expected a whole number from -1000 to 1000, found \"high\"",
                   "9:1: priority: this key is defined twice, first on line 8; remove one of them"}));
  EXPECT_EQ(problems_of("job: a\nschedule: \"@daily\"\nworkflow: w\n---\njob: a\nschedule: \"@daily\"\nworkflow: w\n"),
            lines{"5:1: job: the job a is defined twice, first on line 1; give each job a different name"});
}

TEST(job_file, a_bad_schedule_is_shown_at_its_very_place) {
  const auto quoted = read("job: a\nschedule: \"0 61 * * *\"\nworkflow: w\n").problems;
  ASSERT_EQ(quoted.size(), 1U);
  EXPECT_EQ(quoted[0].line, 2);
  EXPECT_EQ(quoted[0].column, 14) << "the 6 of 61, behind the key and the quote";
  EXPECT_EQ(quoted[0].where, "schedule");
  EXPECT_EQ(quoted[0].sentence.rfind("at position 3: ", 0), 0U) << quoted[0].sentence;
  const auto plain = read("---\njob: a\nworkflow: w\nschedule: 0 61 * * *\n").problems;
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].line, 4);
  EXPECT_EQ(plain[0].column, 13);
  const auto folded = read("job: a\nworkflow: w\nschedule: >-\n  0 61\n  * * *\n").problems;
  ASSERT_EQ(folded.size(), 1U);
  EXPECT_EQ(folded[0].line, 3) << "the key, where the text is not written as it is";
}

TEST(job_file, a_schedule_without_its_quotes_is_told_so) {
  for (const auto* schedule : {"*/5 * * * *", "@daily", "* * * * *"}) {
    const auto found = problems_of("job: a\nworkflow: w\nschedule: " + std::string{schedule} + "\n");
    ASSERT_EQ(found.size(), 1U) << schedule;
    EXPECT_EQ(found[0].rfind("3:", 0), 0U) << found[0];
    EXPECT_NE(found[0].find("put the schedule in quotes"), std::string::npos) << found[0];
  }
}

TEST(job_file, unknown_zones_and_words_are_told_the_nearest_one) {
  const auto zone = problems_of(with_lines("time_zone: Europe/Berlim\n"));
  ASSERT_EQ(zone.size(), 1U);
  EXPECT_NE(zone[0].find("did you mean Europe/Berlin?"), std::string::npos) << zone[0];
  EXPECT_EQ(problems_of(with_lines("overlap: skp\n")),
            lines{"4:10: overlap: expected allow, skip, queue or replace, found \"skp\"; did you mean skip?"});
  EXPECT_EQ(problems_of(with_lines("catch_up: { polcy: all }\n")),
            lines{"4:13: catch_up.polcy: this key is not known here; did you mean policy?"});
  EXPECT_EQ(problems_of(with_lines("needs: [ { agent: a, slot: 1 } ]\n")),
            lines{"4:22: needs[0].slot: this key is not known here; did you mean slots?"});
}

TEST(job_file, zones_are_meant_in_whatever_case_they_are_written) {
  EXPECT_EQ(zone_remedy("utc"), "did you mean UTC?");
  EXPECT_EQ(zone_remedy("EUROPE/BERLIN"), "did you mean Europe/Berlin?");
  EXPECT_EQ(zone_remedy("europe/berlim"), "did you mean Europe/Berlin?");
  EXPECT_EQ(zone_remedy("nowhere at all").find("did you mean"), std::string::npos);
}

TEST(job_file, limits_are_the_ones_of_a_node) {
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"priority: 1001", "4:11: priority: expected a whole number from -1000 to 1000, found the number 1001"},
           {"max_in_flight: 2000", "4:16: max_in_flight: expected a whole number from 1 to 1000, found the number 2000"},
           {"keep_launches: 0", "4:16: keep_launches: expected a whole number from 1 to 100000, found the number 0"},
           {"jitter: 30d", "4:9: jitter: expected a duration from 0s to 1d, found \"30d\""},
           {"start_window: 367d", "4:15: start_window: expected a duration from 0s to 366d, found \"367d\""},
           {"deadline: 367d", "4:11: deadline: expected a duration from 1ms to 366d, found \"367d\""}})
    EXPECT_EQ(problems_of(with_lines(line + "\n")), lines{says});
  EXPECT_EQ(problems_of(with_lines("priority: -1000\nmax_in_flight: 1000\nkeep_launches: 100000\njitter: 24h\ndeadline: 366d\n")), lines{});
}

TEST(job_file, what_could_not_be_read_is_complained_about_once) {
  EXPECT_EQ(problems_of("job: 5\nschedule: \"@daily\"\nworkflow: [w]\n"),
            (lines{"1:6: job: expected text, found the number 5", "3:11: workflow: expected text, found a list"}));
  EXPECT_EQ(problems_of("- a\n"), lines{"1:1: expected a map, found a list"});
  const auto never = problems_of("job: a\nschedule: 0 0 30 2 *\nworkflow: w\n");
  ASSERT_EQ(never.size(), 1U);
  EXPECT_EQ(never[0].rfind("2:11: schedule: ", 0), 0U) << never[0];
}

TEST(job_file, problems_of_a_need_stand_where_it_stands) {
  const auto found = problems_of(with_lines("needs:\n  - { agent: good }\n  - agent: \"not good\"\n"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rfind("6:12: needs[1].agent: ", 0), 0U) << found[0];
}

TEST(job_file, a_file_that_is_not_there_is_a_problem_of_its_own) {
  const auto file = read_jobs("/nowhere/jobs.yaml", time_zones::of_system());
  ASSERT_EQ(file.problems.size(), 1U);
  EXPECT_EQ(file.problems[0].sentence, "there is no such file");
}

TEST(job_file, one_job_in_two_files_is_refused) {
  auto first = read(with_lines(""));
  auto second = first;
  second.file = "more.yaml";
  EXPECT_TRUE(doubled_jobs({first}).empty());
  const auto found = doubled_jobs({first, second});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(to_text(found[0]), "more.yaml: job: the job a is also in jobs.yaml; give each job a different name");
}

void expect_reads_back(const v1::JobSpec& job) {
  const auto text = job_yaml(job);
  const auto back = read(text);
  EXPECT_EQ(shown(back.problems), lines{}) << text;
  ASSERT_EQ(back.jobs.size(), 1U) << text;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(back.jobs.front(), job)) << text << "\n"
                                                                                          << job.DebugString() << "\n"
                                                                                          << back.jobs.front().DebugString();
}

TEST(job_yaml, reads_back_as_the_same_job) {
  expect_reads_back(read(report).jobs.front());
  expect_reads_back(read(with_lines("")).jobs.front());
  auto job = read(with_lines("")).jobs.front();
  job.set_catch_up_window_ms(60'000);
  expect_reads_back(job);
  job.set_name("a:b/c-1");
  job.set_zone("America/Argentina/Buenos_Aires");
  job.set_alert_after(3);
  job.set_paused(false);
  job.mutable_labels()->Add()->set_key("true");
  job.mutable_labels(0)->set_value("");
  expect_reads_back(job);
}

TEST(job_yaml, any_text_survives) {
  auto job = read(with_lines("")).jobs.front();
  for (const std::string notes : {"one line", "5", "true", "~", "null", "two\nlines", "two\nlines\n", "a\n\nb", " begins with a blank\nb",
                                  "ends \nso", "tab\tquote\"\\", "\xc3\xa4\xc2\x85 \xe2\x80\xa8 \xef\xbb\xbf \xf0\x9f\x98\x80",
                                  "# no remark: a", "--- \n---\nb", "\n", "a: b", "x\n\n", "\x01\x7f"}) {
    job.set_notes(notes);
    expect_reads_back(job);
  }
}

TEST(job_yaml, any_input_survives_with_the_spelling_of_its_numbers) {
  auto job = read(with_lines("")).jobs.front();
  const std::string longer(150, 'x');
  for (const std::string& input :
       {std::string{"null"}, std::string{"{}"}, std::string{"[]"}, std::string{"[[],{},null,true,1.50,-0,1E5,12345678901234567890]"},
        std::string{R"("text")"}, std::string{R"({"a b":"c: d","true":"5","n":{"x":["${ .launch.id }"]}})"},
        R"({"long":")" + longer + R"(","list":[{"a":")" + longer + R"(","b":[1,")" + longer + R"("]},2,[],{}],"":{}})",
        std::string{R"(["a\nb\u0001\"\\ä"])"}}) {
    job.set_input(input);
    const auto back = read(job_yaml(job));
    EXPECT_EQ(shown(back.problems), lines{}) << job_yaml(job);
    ASSERT_EQ(back.jobs.size(), 1U);
    EXPECT_EQ(back.jobs.front().input(), input) << job_yaml(job);
  }
}

TEST(job_yaml, is_what_a_person_would_write) {
  EXPECT_EQ(job_yaml(read(report).jobs.front()), R"(job: nightly-report
schedule: "30 2 * * MON-FRI"
time_zone: Europe/Berlin
dst: literal
workflow: report
input: { day: "${ .launch.nominal_local }", count: 9007199254740993 }
overlap: queue
catch_up: { policy: all, within: 2h }
start_window: 10m
jitter: 2m
deadline: 2h
priority: 10
labels: { team: billing, level: "5" }
needs:
  - { agent: reports, slots: 2, labels: { region: eu } }
  - { agent: mail, slots: 1 }
max_in_flight: 5
keep_launches: 100
alert_after: 0
paused: true
notes: "Who to call."
)");
}

}  // namespace
}  // namespace fairlead::app
