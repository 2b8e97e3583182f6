#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "actors/core/task/task.hpp"
#include "app/cli/labels.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/text.hpp"
#include "app/cli/task/watch.hpp"
#include "app/cli/words.hpp"
#include "app/json/writer.hpp"
#include "app/process/exit_codes.hpp"

namespace fairlead::app {
namespace {

TEST(cli_json, writes_what_a_parser_reads_back) {
  json_writer out;
  out.begin_object()
      .key("text")
      .string("a\"b\\c\n\x01ü")
      .key("list")
      .begin_array()
      .number(std::int64_t{-1})
      .boolean(true)
      .null()
      .begin_object();
  out.end_object().end_array().key("empty").begin_array().end_array().key("at").moment(0).key("s").seconds(1.5).end_object();
  auto read = nlohmann::json::parse(out.text());
  EXPECT_EQ(read["text"], "a\"b\\c\n\x01ü");
  EXPECT_EQ(read["list"].dump(), "[-1,true,null,{}]");
  EXPECT_EQ(read["empty"].dump(), "[]");
  EXPECT_TRUE(read["at"].is_null());
  EXPECT_EQ(read["s"], 1.5);
}

TEST(cli_json, puts_payloads_in_as_they_are) {
  v1::TaskShowReply reply;
  reply.mutable_task()->mutable_input()->set_json(R"({"n":12345678901234567890, "x":1e400})");
  auto* step = reply.mutable_task()->add_steps();
  step->set_path("ship");
  step->mutable_output()->set_json("1.10");
  auto* event = reply.mutable_task()->add_recent();
  event->set_kind(v1::EVENT_KIND_STEP_STARTED);
  event->set_step(1);
  auto text = task_show_json(reply);
  EXPECT_NE(text.find(R"("input":{"n":12345678901234567890, "x":1e400})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("input":null,"output":1.10,"fault":null)"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("event":"step_started","step":"ship")"), std::string::npos) << text;
}

TEST(cli_words, every_state_of_a_task_has_a_word_that_reads_back) {
  for (int i = v1::TASK_STATE_PENDING; i <= v1::TASK_STATE_UNDONE; ++i) {
    auto state = static_cast<v1::TaskState>(i);
    EXPECT_EQ(task_state_from_word(core::state_word(state)), state);
  }
  EXPECT_FALSE(task_state_from_word("unknown"));
}

TEST(cli_words, no_step_state_or_event_is_unknown) {
  for (int i = 1; i <= v1::StepState_MAX; ++i)
    if (v1::StepState_IsValid(i)) {
      EXPECT_STRNE(core::state_word(static_cast<v1::StepState>(i)), "unknown") << i;
    }
  for (int i = 1; i <= v1::EventKind_MAX; ++i)
    if (v1::EventKind_IsValid(i)) {
      EXPECT_STRNE(event_word(static_cast<v1::EventKind>(i)), "unknown") << i;
    }
}

TEST(cli_words, sizes_and_times_are_for_people) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{16} << 30), "16.0 GiB");
  EXPECT_EQ(time_text(0), "-");
  EXPECT_EQ(time_text(1'774'746'000'250), "2026-03-29 01:00:00Z");
}

TEST(cli_labels, reads_keys_and_values) {
  auto read = parse_labels({"a=1", "b=", "c=x=y"});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)[1].value(), "");
  EXPECT_EQ((*read)[2].value(), "x=y");
  EXPECT_FALSE(parse_labels({"a"}).ok());
  EXPECT_FALSE(parse_labels({"=1"}).ok());
  EXPECT_FALSE(parse_labels({"a=1", "a=2"}).ok());
}

TEST(cli_progress, says_how_far_a_batch_is) {
  batch_progress now;
  now.acknowledged = 420;
  EXPECT_EQ(progress_text(now), "submitted 420");
  now.lines = 1000;
  now.waiting = true;
  now.ended = 300;
  now.refused = 1;
  now.seconds = 2;
  EXPECT_EQ(progress_text(now), "submitted 420 of 1000, ended 300, refused 1, 150/s");
}

TEST(cli_progress, the_bar_is_full_when_all_lines_are_done_and_never_overflows) {
  batch_progress now;
  now.lines = 4;
  now.acknowledged = 1;
  EXPECT_EQ(progress_bar(now, 4), "[#...] submitted 1 of 4");
  now.acknowledged = 3;
  now.refused = 1;
  EXPECT_EQ(progress_bar(now, 4), "[####] submitted 3 of 4, refused 1");
  now.acknowledged = 9;
  EXPECT_EQ(progress_bar(now, 4).substr(0, 6), "[####]");
  now.lines = 0;
  EXPECT_EQ(progress_bar(now, 4), "submitted 9, refused 1");
}

TEST(cli_watch, shows_each_step_as_its_last_event_left_it) {
  v1::WatchReply reply;
  reply.add_step_paths("reserve");
  reply.add_step_paths("charge");
  auto add = [&](std::uint32_t step, v1::EventKind kind, std::uint32_t attempt) {
    auto* event = reply.add_events();
    event->set_step(step);
    event->set_kind(kind);
    event->set_attempt(attempt);
    event->set_at_unix_ms(1'774'746'000'250);
  };
  add(0, v1::EVENT_KIND_TASK_SUBMITTED, 0);
  add(1, v1::EVENT_KIND_STEP_STARTED, 1);
  add(1, v1::EVENT_KIND_STEP_FAILED, 1);
  add(1, v1::EVENT_KIND_STEP_RETRIED, 1);
  add(1, v1::EVENT_KIND_STEP_STARTED, 2);
  watch_view view;
  view.take(reply);
  EXPECT_EQ(view.table(),
            "STEP     STATE    ATTEMPT  SINCE                 DETAIL\n"
            "reserve  running        2  2026-03-29 01:00:00Z\n"
            "charge   pending        -  -\n");
  EXPECT_EQ(view.lines(reply).substr(0, 99),
            "2026-03-29T01:00:00.250Z  task_submitted\n2026-03-29T01:00:00.250Z  step_started reserve attempt 1\n2");
}

/// Sixty steps: the first ten completed, two running, one given up, the rest pending.
v1::WatchReply long_task() {
  v1::WatchReply out;
  out.set_state(v1::TASK_STATE_RUNNING);
  for (int i = 1; i <= 60; ++i) out.add_step_paths("device_" + std::to_string(i));
  const auto add = [&out](std::uint32_t step, v1::EventKind kind) {
    auto* event = out.add_events();
    event->set_step(step);
    event->set_kind(kind);
    event->set_attempt(1);
    event->set_at_unix_ms(1'774'746'000'250 + step);
  };
  for (std::uint32_t step = 1; step <= 10; ++step) add(step, v1::EVENT_KIND_STEP_COMPLETED);
  add(40, v1::EVENT_KIND_STEP_STARTED);
  add(41, v1::EVENT_KIND_STEP_STARTED);
  add(42, v1::EVENT_KIND_STEP_GIVEN_UP);
  return out;
}

TEST(cli_watch, more_steps_than_the_terminal_has_rows_are_cut_to_what_goes_on) {
  watch_view view;
  view.take(long_task());
  const auto text = view.table(9, 80);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9) << text;
  for (const auto* step : {"device_40 ", "device_41 ", "device_42 ", "device_10 ", "device_9 "})
    EXPECT_NE(text.find(std::string{"\n"} + step), std::string::npos) << step << "\n" << text;
  EXPECT_LT(text.find("\ndevice_7 "), text.find("\ndevice_40 ")) << "in the workflow's order\n" << text;
  EXPECT_NE(text.find("\n… and 53 more steps: 6 completed, 47 pending\n"), std::string::npos) << text;
  const auto whole = view.table(61, 80);
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 61) << "the titles and each step\n" << whole;
  EXPECT_EQ(whole.find("more step"), std::string::npos);
}

TEST(cli_watch, no_line_is_wider_than_the_terminal) {
  watch_view view;
  view.take(long_task());
  const auto text = view.table(10, 40);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    EXPECT_LE(text_width(text.substr(at, text.find('\n', at) - at)), 40U) << text;
}

TEST(cli_watch, shows_how_far_a_long_step_is_and_says_it_once) {
  v1::WatchReply reply;
  reply.set_state(v1::TASK_STATE_RUNNING);
  reply.add_step_paths("ship");
  auto* event = reply.add_events();
  event->set_step(1);
  event->set_kind(v1::EVENT_KIND_STEP_STARTED);
  event->set_attempt(1);
  event->set_at_unix_ms(1'774'746'000'250);
  watch_view view;
  view.take(reply);
  reply.clear_events();
  auto* told = reply.add_progress();
  told->set_step("ship");
  told->mutable_progress()->set_percent(40);
  told->mutable_progress()->set_note("loading\x1b pallets");
  told->mutable_progress()->set_at_unix_ms(1'774'746'001'000);
  view.take(reply);
  EXPECT_EQ(view.table(),
            "STEP  STATE    ATTEMPT  SINCE                 DETAIL\n"
            "ship  running        1  2026-03-29 01:00:00Z  40 %  loading? pallets\n");
  EXPECT_EQ(view.lines(reply), "2026-03-29T01:00:01.000Z  step_progress ship  40 %  loading? pallets\n");
  view.take(reply);
  EXPECT_EQ(view.lines(reply), "");
  told->mutable_progress()->set_at_unix_ms(1'774'746'002'000);
  told->mutable_progress()->clear_note();
  view.take(reply);
  EXPECT_EQ(view.lines(reply), "2026-03-29T01:00:02.000Z  step_progress ship  40 %\n");
  reply.clear_progress();
  view.take(reply);
  EXPECT_EQ(view.table().find("40 %"), std::string::npos) << "its attempt is over";
}

TEST(cli_task, shows_what_a_long_step_has_told) {
  v1::TaskShowReply reply;
  auto* step = reply.mutable_task()->add_steps();
  step->set_path("ship");
  step->set_heartbeat_by_unix_ms(1'774'746'010'000);
  step->mutable_progress()->set_percent(40);
  step->mutable_progress()->set_note("loading pallets");
  step->mutable_progress()->set_attempt(2);
  step->mutable_progress()->set_at_unix_ms(1'774'746'000'250);
  step->mutable_progress()->mutable_checkpoint()->set_json("[7]");
  const auto text = task_show_text(reply, {});
  EXPECT_NE(text.find("ship        2  2026-03-29 01:00:00Z  2026-03-29 01:00:10Z  40 %  loading pallets\n"), std::string::npos) << text;
  const auto read = nlohmann::json::parse(task_show_json(reply));
  EXPECT_EQ(
      read["steps"][0]["progress"].dump(),
      R"({"at":"2026-03-29T01:00:00.250Z","attempt":2,"checkpoint":[7],"direction":"perform","note":"loading pallets","percent":40})");
  EXPECT_EQ(read["steps"][0]["heartbeat_by"], "2026-03-29T01:00:10.000Z");
}

TEST(cli_watch, a_parked_task_says_why) {
  EXPECT_EQ(end_text("t1", v1::TASK_STATE_COMPLETED, false, ""), "Task t1 is completed.\n");
  EXPECT_EQ(end_text("t1", v1::TASK_STATE_RUNNING, true, "Step charge failed 4 times."),
            "Task t1 is parked: Step charge failed 4 times.\n");
  EXPECT_EQ(end_text("t1", v1::TASK_STATE_UNDONE, false, "step car failed (http_409) and another attempt cannot help: sold out"),
            "Task t1 is undone: step car failed (http_409) and another attempt cannot help: sold out.\n");
}

TEST(exit_codes, every_error_code_has_one_and_only_bugs_are_bugs) {
  for (int i = 0; i <= v1::ErrorCode_MAX; ++i) {
    auto code = static_cast<error_code>(i);
    EXPECT_EQ(exit_code_of(code) == exit_bug, code == v1::ERROR_CODE_INTERNAL) << v1::ErrorCode_Name(code);
    EXPECT_EQ(exit_code_of(code) == exit_ok, code == v1::ERROR_CODE_OK) << v1::ErrorCode_Name(code);
  }
}

}  // namespace
}  // namespace fairlead::app
