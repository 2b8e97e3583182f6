#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/job/add.hpp"
#include "app/cli/job/job.hpp"
#include "app/cli/job/operate.hpp"
#include "app/cli/job/text.hpp"
#include "app/files/job_words.hpp"
#include "app/json/job/jobs.hpp"
#include "app/json/job/operations.hpp"
#include "messages/error.hpp"
#include "tests/app/cli/job/job_times.hpp"

namespace fairlead::app {
namespace {

v1::LaunchRecord launch(v1::LaunchState state, std::int64_t at = nominal_ms) {
  v1::LaunchRecord out;
  out.set_job("report");
  out.set_nominal_unix_ms(at);
  out.set_state(state);
  out.set_zone("Europe/Berlin");
  out.set_utc_offset_s(7'200);
  return out;
}

v1::LaunchRecord skip(v1::SkipReason why, std::int64_t at = nominal_ms) {
  auto out = launch(v1::LAUNCH_STATE_SKIPPED, at);
  out.set_skip(why);
  out.set_reason("an earlier launch was open");
  return out;
}

v1::JobShowReply shown_job() {
  v1::JobShowReply out;
  auto& job = *out.mutable_job();
  auto& spec = *job.mutable_spec();
  spec.set_name("report");
  spec.set_schedule("30 2 * * *");
  spec.set_zone("Europe/Berlin");
  spec.set_workflow("monthly");
  spec.set_notes("call\x1b[31m ana");
  job.set_revision(3);
  job.set_changed_at_unix_ms(nominal_ms);
  job.set_changed_by("ana");
  job.set_mark_unix_ms(nominal_ms);
  job.set_next_unix_ms(nominal_ms + minute_ms);
  job.set_launched(7);
  job.set_completed(5);
  job.set_undone(2);
  job.set_skipped(4);
  out.add_coming_unix_ms(nominal_ms + minute_ms);
  return out;
}

std::set<std::string> commands_of(const v1::JobShowReply& reply, std::int64_t now_ms = nominal_ms, bool can_cancel = false) {
  std::set<std::string> out;
  for (const auto& one : job_remedies(reply, now_ms, {}, can_cancel)) out.insert(one.command);
  return out;
}

TEST(cli_job, a_list_tells_people_how_each_job_is) {
  v1::JobListReply reply;
  EXPECT_EQ(job_list_text(reply), "There are no jobs.\n");
  EXPECT_EQ(job_list_text(reply, true), "No job matches.\n") << "there may be others";
  auto& job = *reply.add_items();
  job.set_name("report");
  job.set_schedule("30 2 * * *");
  job.set_workflow("monthly");
  job.set_paused(true);
  job.set_bad_in_a_row(2);
  job.set_next_unix_ms(nominal_ms);
  *job.mutable_last() = skip(v1::SKIP_REASON_OVERLAP);
  job.set_started(1);
  job.set_waiting(2);
  job.set_launched(30);
  job.set_skipped(4);
  reply.set_after("report");
  EXPECT_EQ(job_list_text(reply),
            "JOB     SCHEDULE    ZONE  WORKFLOW  STATE                NEXT  LATEST                                  "
            "RUNNING  WAITING  "
            "LAUNCHED  SKIPPED\n"
            "report  30 2 * * *  UTC   monthly   paused, failing (2)  -     2026-03-29 01:00:00Z skipped (overlap)        "
            "1        "
            "2        30        4\n"
            "\nThere are more: continue with --after report, or raise --limit.\n");
  const auto read = nlohmann::json::parse(job_list_json(reply));
  EXPECT_EQ(read["after"], "report");
  EXPECT_EQ(read["jobs"][0]["time_zone"], "UTC");
  EXPECT_EQ(read["jobs"][0]["latest"]["id"], "report@2026-03-29T01:00:00Z");
  EXPECT_EQ(read["jobs"][0]["latest"]["skip"], "overlap");
  EXPECT_EQ(read["jobs"][0]["bad_in_a_row"], 2);
  EXPECT_TRUE(read["jobs"][0]["next"].is_null()) << "a time that will be skipped is not the next one";
  job.set_paused(false);
  EXPECT_EQ(nlohmann::json::parse(job_list_json(reply))["jobs"][0]["next"], "2026-03-29T01:00:00.000Z");
  EXPECT_NE(job_list_text(reply).find("  failing (2)  2026-03-29 01:00:00Z  "), std::string::npos) << job_list_text(reply);
}

TEST(cli_job, a_list_says_of_a_job_behind_a_parked_task_that_it_stands_still) {
  v1::JobListReply reply;
  auto& job = *reply.add_items();
  job.set_name("report");
  job.set_started(1);
  job.set_parked(1);
  *job.mutable_last() = skip(v1::SKIP_REASON_OVERLAP);
  EXPECT_NE(job_list_text(reply).find("  parked (1)  -     2026-03-29 01:00:00Z skipped (overlap)  "), std::string::npos)
      << job_list_text(reply);
  EXPECT_EQ(nlohmann::json::parse(job_list_json(reply))["jobs"][0]["parked"], 1);
  job.set_paused(true);
  job.set_bad_in_a_row(2);
  EXPECT_NE(job_list_text(reply).find("  paused, failing (2), parked (1)  "), std::string::npos) << job_list_text(reply);
  job.set_parked(0);
  EXPECT_EQ(job_list_text(reply).find("parked"), std::string::npos) << job_list_text(reply);
  EXPECT_EQ(nlohmann::json::parse(job_list_json(reply))["jobs"][0]["parked"], 0);
}

TEST(cli_job, a_history_shows_runs_of_skips_with_their_count) {
  v1::JobHistoryReply reply;
  EXPECT_EQ(job_history_text(reply), "No launch matches.\n");
  auto& done = *reply.add_items();
  *done.mutable_launch() = launch(v1::LAUNCH_STATE_STARTED, nominal_ms + minute_ms);
  done.mutable_launch()->set_started_at_unix_ms(nominal_ms + minute_ms);
  done.mutable_launch()->set_trigger(v1::LAUNCH_TRIGGER_BACKFILL);
  done.mutable_launch()->set_who("ana");
  done.mutable_launch()->set_skipped_before(v1::SKIP_REASON_PAUSED);
  done.set_id("report@2026-03-29T01:01:00Z");
  done.set_task_state(v1::TASK_STATE_RUNNING);
  done.set_parked(true);
  auto& run = *reply.add_items();
  *run.mutable_launch() = skip(v1::SKIP_REASON_OVERLAP, nominal_ms - 40 * minute_ms);
  run.mutable_launch()->set_last_nominal_unix_ms(nominal_ms);
  run.mutable_launch()->set_count(41);
  run.set_id("report@2026-03-29T00:20:00Z");
  reply.set_before_unix_ms(nominal_ms - 40 * minute_ms);
  EXPECT_EQ(job_history_text(reply),
            "TIME                  LOCAL                      STATE              COUNT  STARTED               ENDED  TASK                  "
            "       WHY\n"
            "2026-03-29 01:01:00Z  2026-03-29T03:01:00+02:00  started, parked        1  2026-03-29 01:01:00Z  -      "
            "report@2026-03-29T01:01:00Z  "
            "backfill, by ana; skipped before: paused\n"
            "2026-03-29 00:20:00Z  2026-03-29T02:20:00+02:00  skipped (overlap)     41  -                     -      -                     "
            "       "
            "all until 2026-03-29 01:00:00Z: an earlier launch was open\n"
            "\nThere are more: continue with --to 2026-03-29T00:20:00.000Z, or raise --limit.\n");
  const auto read = nlohmann::json::parse(job_history_json(reply));
  EXPECT_EQ(read["launches"][0]["task_state"], "running");
  EXPECT_TRUE(read["launches"][0]["parked"]);
  EXPECT_EQ(read["launches"][0]["skipped_before"], "paused");
  EXPECT_EQ(read["launches"][0]["count"], 1);
  EXPECT_TRUE(read["launches"][1]["task_state"].is_null());
  EXPECT_EQ(read["launches"][1]["count"], 41);
  EXPECT_EQ(read["launches"][1]["last_nominal"], "2026-03-29T01:00:00.000Z");
  EXPECT_EQ(read["before"], "2026-03-29T00:20:00.000Z");
}

TEST(cli_job, a_launch_of_a_job_without_a_zone_is_in_utc) {
  v1::JobHistoryReply reply;
  *reply.add_items()->mutable_launch() = launch(v1::LAUNCH_STATE_COMPLETED);
  EXPECT_EQ(nlohmann::json::parse(job_history_json(reply))["launches"][0]["time_zone"], "Europe/Berlin");
  reply.mutable_items(0)->mutable_launch()->clear_zone();
  EXPECT_EQ(nlohmann::json::parse(job_history_json(reply))["launches"][0]["time_zone"], "UTC");
}

TEST(cli_job, one_job_is_shown_with_what_comes) {
  const auto text = job_show_text(shown_job(), nominal_ms);
  EXPECT_EQ(text,
            "job         report, revision 3 of 2026-03-29 01:00:00Z by ana\n"
            "schedule    30 2 * * * in Europe/Berlin, dst vixie\n"
            "workflow    monthly\n"
            "state       next launch at 2026-03-29 01:01:00Z\n"
            "overlap     skip\n"
            "catch up    latest within 1h\n"
            "launches    7: 5 completed, 2 undone, 0 failed; 4 times skipped\n"
            "decided     until 2026-03-29 01:00:00Z\n"
            "notes       call?[31m ana\n"
            "\nComing\n"
            "UTC                   LOCAL\n"
            "2026-03-29 01:01:00Z  2026-03-29T03:01:00+02:00\n");
  const auto read = nlohmann::json::parse(job_show_json(shown_job()));
  EXPECT_EQ(read["job"], "report");
  EXPECT_EQ(read["catch_up"]["policy"], "latest");
  EXPECT_EQ(read["catch_up"]["within_ms"], 3'600'000);
  EXPECT_TRUE(read["start_window_ms"].is_null());
  EXPECT_TRUE(read["input"].is_null());
  EXPECT_EQ(read["coming"][0], "2026-03-29T01:01:00.000Z");
}

TEST(cli_job, the_start_window_that_counts_is_shown) {
  auto reply = shown_job();
  auto& spec = *reply.mutable_job()->mutable_spec();
  EXPECT_EQ(job_show_text(reply, nominal_ms).find("start window"), std::string::npos);
  spec.add_needs()->set_agent("reports");
  EXPECT_NE(job_show_text(reply, nominal_ms).find("\nlimits      start window 10m\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(job_show_json(reply))["start_window_ms"], 600'000);
  EXPECT_EQ(job_show_yaml(reply).find("start_window"), std::string::npos) << "it is not one of its own";
  spec.set_start_window_ms(0);
  EXPECT_NE(job_show_text(reply, nominal_ms).find("\nlimits      start window 0s\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(job_show_json(reply))["start_window_ms"], 0);
}

TEST(cli_job, notes_of_several_lines_stand_below_each_other) {
  auto reply = shown_job();
  reply.mutable_job()->mutable_spec()->set_notes("Call ana\x1b[31m.\r\n\n\tThen bob.\nNobody else.\n\n");
  const auto text = job_show_text(reply, nominal_ms);
  EXPECT_NE(text.find("\nnotes       Call ana?[31m.\n\n             Then bob.\n            Nobody else.\n\nComing\n"), std::string::npos)
      << text;
  reply.mutable_job()->mutable_spec()->set_notes("\n");
  EXPECT_NE(job_show_text(reply, nominal_ms).find("\nnotes"), std::string::npos);
}

TEST(cli_job, a_paused_job_is_written_as_one) {
  auto reply = shown_job();
  EXPECT_EQ(job_show_yaml(reply).find("paused"), std::string::npos);
  reply.mutable_job()->set_paused(true);
  EXPECT_NE(job_show_yaml(reply).find("paused: true\n"), std::string::npos);
}

TEST(cli_job, says_why_a_launch_waits) {
  v1::JobSpec job;
  auto* need = job.add_needs();
  need->set_agent("reports");
  need->set_slots(2);
  v1::OpenLaunch open;
  open.set_start_at_unix_ms(nominal_ms);
  open.set_waits_for(v1::LAUNCH_WAIT_TIME);
  EXPECT_EQ(wait_text(job, open), "its start time with jitter, 2026-03-29 01:00:00Z");
  open.set_waits_for(v1::LAUNCH_WAIT_AGENTS);
  open.set_start_by_unix_ms(nominal_ms);
  EXPECT_EQ(wait_text(job, open), "free slots: reports 2; skipped if it has not started by 2026-03-29 01:00:00Z");
  open.clear_start_by_unix_ms();
  open.set_waits_for(v1::LAUNCH_WAIT_OVERLAP);
  EXPECT_EQ(wait_text(job, open), "an earlier launch to end");
  open.set_waits_for(v1::LAUNCH_WAIT_ROOM);
  EXPECT_EQ(wait_text(job, open), "room: a limit is reached (cron.in_flight, cron.starts_per_second, or the size of the store)");
  open.set_waits_for(v1::LAUNCH_WAIT_PAUSE);
  EXPECT_EQ(wait_text(job, open), "the job to be resumed");
}

TEST(cli_job, names_the_commands_that_fit_and_no_others) {
  auto reply = shown_job();
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{}));
  EXPECT_EQ(commands_of(reply, nominal_ms - minute_ms), (std::set<std::string>{"fairlead job rewind report"}));

  reply.mutable_job()->set_paused(true);
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{"fairlead job resume report"}));

  auto* held = reply.mutable_job()->add_open();
  held->set_state(v1::LAUNCH_STATE_WAITING);
  held->set_waits_for(v1::LAUNCH_WAIT_PAUSE);
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{"fairlead job resume report", "fairlead job skip report"}));

  reply = shown_job();
  auto* running = reply.mutable_job()->add_open();
  running->set_nominal_unix_ms(nominal_ms);
  running->set_state(v1::LAUNCH_STATE_STARTED);
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{}));
  auto* waiting = reply.mutable_job()->add_open();
  waiting->set_nominal_unix_ms(nominal_ms + minute_ms);
  waiting->set_state(v1::LAUNCH_STATE_WAITING);
  waiting->set_waits_for(v1::LAUNCH_WAIT_OVERLAP);
  EXPECT_EQ(commands_of(reply, nominal_ms, true),
            (std::set<std::string>{"fairlead task show report@2026-03-29T01:00:00Z", "fairlead task cancel report@2026-03-29T01:00:00Z"}));
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{"fairlead task show report@2026-03-29T01:00:00Z"})) << "a cancel would be refused";
  reply.mutable_job()->mutable_open(0)->set_cancelling(true);
  EXPECT_EQ(commands_of(reply, nominal_ms, true), (std::set<std::string>{"fairlead task show report@2026-03-29T01:00:00Z"}))
      << "it has been cancelled";
  waiting->set_waits_for(v1::LAUNCH_WAIT_AGENTS);
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{"fairlead agent list"}));
  waiting->set_waits_for(v1::LAUNCH_WAIT_ROOM);
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{"fairlead status", "fairlead task list --state running"}));

  reply = shown_job();
  reply.mutable_job()->set_bad_in_a_row(1);
  *reply.add_latest() = launch(v1::LAUNCH_STATE_UNDONE);
  EXPECT_EQ(commands_of(reply), (std::set<std::string>{"fairlead task show report@2026-03-29T01:00:00Z", "fairlead job run report"}));

  reply = shown_job();
  *reply.add_latest() = skip(v1::SKIP_REASON_OUTSIDE_WINDOW);
  *reply.add_latest() = skip(v1::SKIP_REASON_PAUSED, nominal_ms - minute_ms);
  *reply.add_latest() = skip(v1::SKIP_REASON_OVERLAP, nominal_ms - 2 * minute_ms);
  EXPECT_EQ(commands_of(reply),
            (std::set<std::string>{"fairlead job backfill report --from 2026-03-29T01:00:00.000Z --to 2026-03-29T01:00:00.000Z"}));
  EXPECT_EQ(commands_of(reply, nominal_ms - minute_ms), (std::set<std::string>{"fairlead job rewind report"}))
      << "a node launches nothing for times beyond now";
}

TEST(cli_job, says_when_an_open_launch_waits_for_an_operator) {
  auto reply = shown_job();
  auto* running = reply.mutable_job()->add_open();
  running->set_nominal_unix_ms(nominal_ms);
  running->set_state(v1::LAUNCH_STATE_STARTED);
  *reply.add_latest() = launch(v1::LAUNCH_STATE_STARTED);
  const auto text = job_show_text(reply, nominal_ms, {nominal_ms});
  EXPECT_NE(text.find("started  report@2026-03-29T01:00:00Z  an operator: the task is parked\n"), std::string::npos) << text;
  EXPECT_NE(text.find("started, parked"), std::string::npos) << text;
  EXPECT_NE(text.find("fairlead task show report@2026-03-29T01:00:00Z  shows why the task is parked, and the commands that help\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(job_show_text(reply, nominal_ms).find("parked"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(job_show_json(reply, {nominal_ms}))["open"][0]["parked"]);
  EXPECT_FALSE(nlohmann::json::parse(job_show_json(reply))["open"][0]["parked"]);

  *reply.mutable_job()->mutable_last() = skip(v1::SKIP_REASON_OVERLAP);
  EXPECT_EQ(commands_of(reply, nominal_ms, true),
            (std::set<std::string>{"fairlead task show report@2026-03-29T01:00:00Z", "fairlead task cancel report@2026-03-29T01:00:00Z"}))
      << "a launch that has others skipped is in the way, parked or not";
}

TEST(cli_job, of_very_many_open_launches_the_first_are_shown) {
  auto reply = shown_job();
  for (int i = 0; i < 1'000; ++i) {
    auto& open = *reply.mutable_job()->add_open();
    open.set_nominal_unix_ms(nominal_ms + i * minute_ms);
    open.set_state(v1::LAUNCH_STATE_WAITING);
  }
  const auto text = job_show_text(reply, nominal_ms);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_NE(text.find("\n… and 970 more\n"), std::string::npos) << text;
}

TEST(cli_job, tells_of_each_job_that_was_applied) {
  std::vector<v1::JobApplyResult> done(4);
  done[0].set_name("a");
  done[0].set_created(true);
  done[0].set_next_unix_ms(nominal_ms);
  done[0].add_warnings("its workflow is not deployed");
  done[1].set_name("b");
  done[1].set_changed(true);
  done[2].set_name("c");
  *done[3].mutable_error() = error{v1::ERROR_CODE_STORE_FULL, "no room", "wait"}.to_proto();
  done[3].set_name("d");
  EXPECT_EQ(applied_text(done, false),
            "Job a is new; next time 2026-03-29 01:00:00Z.\n"
            "  warning: its workflow is not deployed\n"
            "Job b is changed; no next launch is planned.\n"
            "Job c is not changed; no next launch is planned.\n");
  const auto read = nlohmann::json::parse(job_applied_json(done))["jobs"];
  ASSERT_EQ(read.size(), 4U);
  EXPECT_TRUE(read[0]["created"]);
  EXPECT_EQ(read[0]["code"], "ok");
  EXPECT_TRUE(read[1]["next"].is_null());
  EXPECT_EQ(read[3]["code"], "store_full");
  EXPECT_EQ(read[3]["error"], "no room");
}

TEST(cli_job, tells_what_an_operator_s_words_have_done) {
  v1::JobAction action;
  std::vector<v1::JobOperateResult> results(2);
  results[0].set_name("a");
  *results[1].mutable_error() = error{v1::ERROR_CODE_NOT_FOUND, "there is no job b", ""}.to_proto();
  action.set_verb(v1::JOB_VERB_PAUSE);
  results[0].set_sentence("paused: its times are skipped until it is resumed");
  EXPECT_EQ(operated_text(action, results), "Job a: paused: its times are skipped until it is resumed.\n")
      << "what was refused is an error";
  action.set_verb(v1::JOB_VERB_RUN);
  results[0].set_launch("a@2026-03-29T01:00:00.250Z");
  results[0].set_state(v1::LAUNCH_STATE_SKIPPED);
  results[0].set_sentence("skipped: an earlier launch is open");
  EXPECT_EQ(operated_text(action, results), "Job a, launch a@2026-03-29T01:00:00.250Z: skipped: an earlier launch is open.\n");
  const auto read = nlohmann::json::parse(job_operated_json(results))["results"];
  EXPECT_EQ(read[0]["state"], "skipped");
  EXPECT_EQ(read[1]["code"], "not_found");
  action.set_verb(v1::JOB_VERB_REWIND);
  EXPECT_EQ(operated_text(action, {}), "No job is ahead of the clock: nothing to do.\n");
  job_operate_options options;
  options.verb = v1::JOB_VERB_REWIND;
  options.dry_run = true;
  EXPECT_EQ(job_action(options)->verb(), v1::JOB_VERB_REWIND_DRY_RUN);
  EXPECT_EQ(operated_text(*job_action(options), {}), "No job is ahead of the clock: nothing to do.\n");
}

TEST(cli_job, an_operator_s_words_are_read_before_a_node_is_asked) {
  job_operate_options options;
  options.verb = v1::JOB_VERB_BACKFILL;
  options.range.from = "2026-03-29T01:00:00Z";
  options.range.to = "2026-03-29T03:00:00+02:00";
  options.overlap = "allow";
  options.by = "ana";
  auto action = job_action(options);
  ASSERT_TRUE(action.ok());
  const auto range = asked_range::read(options.range, nominal_ms + 1);
  EXPECT_EQ(range->in(nullptr)->from_unix_ms, nominal_ms);
  EXPECT_EQ(range->in(nullptr)->to_unix_ms, nominal_ms);
  EXPECT_EQ(action->overlap(), v1::OVERLAP_POLICY_ALLOW);
  EXPECT_EQ(action->who(), "ana");
  options.range.to = "2026-03-29T00:59:59Z";
  EXPECT_EQ(job_action(options).failure().sentence, "--to is before --from");
  options.range.to = "1969-12-31T23:59:59Z";
  options.range.from = "1969-12-31T23:59:59Z";
  EXPECT_EQ(job_action(options).failure().sentence, "--from is before 1970");
  options.range.from = "2026-03-29T01:00:00Z";
  options.range.to = options.range.from;
  for (const auto* passed_by : {"skip", "replace"}) {
    options.overlap = passed_by;
    EXPECT_NE(job_action(options).failure().sentence.find(std::string{"--overlap "} + passed_by), std::string::npos)
        << "a node would launch all the same";
  }
  options.overlap = "queue";
  EXPECT_TRUE(job_action(options).ok());
  options.range.to = "noon";
  EXPECT_NE(job_action(options).failure().sentence.find("--to"), std::string::npos);
  options = {};
  options.verb = v1::JOB_VERB_RUN;
  options.input = "{";
  EXPECT_EQ(job_action(options).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  options.input = "[1]";
  EXPECT_EQ(job_action(options)->input(), "[1]");
}

TEST(cli_job, options_make_the_job_that_a_file_would) {
  job_options options;
  options.name = "report";
  options.schedule = "30 2 * * *";
  options.zone = "Europe/Berlin";
  options.workflow = "monthly";
  options.dst = "skip_once";
  options.input = R"({"a":1})";
  options.overlap = "replace";
  options.catch_up = "all";
  options.within = "2h";
  options.start_window = "0s";
  options.jitter = "1m";
  options.deadline = "3h";
  options.priority = -4;
  options.labels = {"team=billing"};
  options.needs = {"reports=2", "mail"};
  options.alert_after = 0;
  options.keep = 50;
  options.paused = true;
  const auto job = job_of(options);
  ASSERT_TRUE(job.ok()) << job.failure().sentence;
  EXPECT_EQ(job->dst(), v1::DST_POLICY_SKIP_ONCE);
  EXPECT_EQ(job->overlap(), v1::OVERLAP_POLICY_REPLACE);
  EXPECT_EQ(job->catch_up_window_ms(), 7'200'000);
  EXPECT_TRUE(job->has_start_window_ms());
  EXPECT_EQ(job->needs(0).slots(), 2U);
  EXPECT_EQ(job->needs(1).slots(), 1U);
  EXPECT_TRUE(job->has_alert_after());
  EXPECT_TRUE(job->paused());
  options.paused = false;
  EXPECT_FALSE(job_of(options)->has_paused()) << "a job that is there stays as it is";
}

TEST(cli_job, an_option_that_cannot_be_read_is_named) {
  const auto refusal = [](auto change) {
    job_options options;
    change(options);
    const auto job = job_of(options);
    return job.ok() ? std::string{} : job.failure().sentence;
  };
  EXPECT_NE(refusal([](auto& o) { o.jitter = "soon"; }).find("--jitter"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.within = "0s"; }).find("--within"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.deadline = "0s"; }).find("--deadline"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.overlap = "maybe"; }).find("--overlap"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.catch_up = "some"; }).find("--catch-up"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.labels = {"x"}; }).find("'x'"), std::string::npos);
  for (const auto* need : {"", "=1", "a=", "a=0", "a=x", "a=1x", "a=-1", "a=99999999999"})
    EXPECT_NE(refusal([&](auto& o) { o.needs = {need}; }).find("--need"), std::string::npos) << need;
}

TEST(job_words, every_value_has_a_word_of_its_own) {
  std::set<std::string> words;
  for (int i = 1; i <= v1::SkipReason_MAX; ++i) words.insert(skip_word(static_cast<v1::SkipReason>(i)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(v1::SkipReason_MAX));
  EXPECT_EQ(words.count("unknown"), 0U);
  words.clear();
  for (int i = 1; i <= v1::LaunchState_MAX; ++i) words.insert(launch_state_word(static_cast<v1::LaunchState>(i)));
  for (int i = 1; i <= v1::LaunchWait_MAX; ++i) words.insert(wait_word(static_cast<v1::LaunchWait>(i)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(v1::LaunchState_MAX) + static_cast<std::size_t>(v1::LaunchWait_MAX));
  EXPECT_EQ(words.count("unknown"), 0U);
  EXPECT_EQ(overlap_words().size(), static_cast<std::size_t>(v1::OverlapPolicy_MAX));
  EXPECT_EQ(catch_up_words().size(), static_cast<std::size_t>(v1::CatchUpPolicy_MAX));
  EXPECT_EQ(dst_words().size(), static_cast<std::size_t>(v1::DstPolicy_MAX));
}

}  // namespace
}  // namespace fairlead::app
