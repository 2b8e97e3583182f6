// What expressions see as `.launch`, and the inputs of jobs.

#include "actors/core/job/launch_input.hpp"

#include <gtest/gtest.h>

#include "actors/core/job/check.hpp"
#include "tests/actors/core/task/task_world.hpp"

namespace fairlead::core {
namespace {

using namespace testing;

constexpr std::int64_t nominal_ms = 1'774'746'000'000;  // 2026-03-29T01:00:00Z: the clocks of Berlin have just jumped

v1::LaunchOf launch(std::int64_t unix_ms = nominal_ms) {
  v1::LaunchOf out;
  out.set_job("nightly-report");
  out.set_nominal_unix_ms(unix_ms);
  out.set_zone("Europe/Berlin");
  out.set_utc_offset_s(7200);
  out.set_trigger("schedule");
  return out;
}

/// What the task gets, or `refused: SENTENCE`.
std::string rendered(const std::string& input, const v1::LaunchOf& of = launch()) {
  const auto checked = check_job_input(input);
  if (!checked.ok()) return "refused: " + checked.failure().sentence;
  const auto out = render_job_input(input, of);
  return out.ok() ? *out : "failed: " + out.failure().sentence;
}

TEST(launch_document, says_when_the_launch_was_due_in_utc_and_on_the_clock_of_its_zone) {
  EXPECT_EQ(launch_document(launch()),
            R"({"job":"nightly-report","id":"nightly-report@2026-03-29T01:00:00Z","nominal_utc":"2026-03-29T01:00:00Z",)"
            R"("nominal_local":"2026-03-29T03:00:00+02:00","nominal_unix_s":1774746000,"zone":"Europe/Berlin","trigger":"schedule"})");
}

TEST(launch_document, keeps_the_offset_that_was_recorded_whatever_the_zone_says_today) {
  auto of = launch();
  of.set_utc_offset_s(-12'600);
  EXPECT_NE(launch_document(of).find(R"("nominal_local":"2026-03-28T21:30:00-03:30")"), std::string::npos) << launch_document(of);
}

TEST(launch_document, tells_launches_by_hand_apart_by_their_milliseconds) {
  const auto text = launch_document(launch(nominal_ms + 7));
  EXPECT_NE(text.find(R"("id":"nightly-report@2026-03-29T01:00:00.007Z","nominal_utc":"2026-03-29T01:00:00.007Z")"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("nominal_local":"2026-03-29T03:00:00.007+02:00","nominal_unix_s":1774746000,)"), std::string::npos) << text;
}

TEST(launch_document, counts_seconds_before_1970_downwards) {
  auto of = launch(-1);
  of.set_utc_offset_s(0);
  const auto text = launch_document(of);
  EXPECT_NE(text.find(R"("nominal_local":"1969-12-31T23:59:59.999+00:00","nominal_unix_s":-1,)"), std::string::npos) << text;
}

TEST(launch_document, names_the_zone_of_jobs_that_name_none) {
  auto of = launch();
  of.clear_zone();
  EXPECT_NE(launch_document(of).find(R"("zone":"UTC")"), std::string::npos);
}

TEST(job_inputs, without_expressions_reach_the_task_as_they_stand) {
  EXPECT_EQ(rendered(""), "null");
  EXPECT_EQ(rendered(" \n"), "null");
  EXPECT_EQ(rendered(R"({ "price" : 12.50, "note": "5 $ {or} more", "id": 12345678901234567890 })"),
            R"({"price":12.50,"note":"5 $ {or} more","id":12345678901234567890})");
  EXPECT_EQ(rendered(R"(["\u0041"])"), R"(["\u0041"])");
}

TEST(job_inputs, have_a_string_that_is_one_expression_replaced_by_its_value) {
  EXPECT_EQ(rendered(R"({"at":"${ .launch.nominal_unix_s }","day":" ${.launch.nominal_local} "})"),
            R"({"at":1774746000,"day":"2026-03-29T03:00:00+02:00"})");
  EXPECT_EQ(rendered(R"("${ .launch }")"), launch_document(launch()));
  EXPECT_EQ(rendered(R"(["\u0024{ .launch[\"job\"] }"])"), R"(["nightly-report"])") << "what counts is what the string says";
}

TEST(job_inputs, mix_text_and_expressions) {
  EXPECT_EQ(rendered(R"(["${ .launch.job }/${ .launch.nominal_utc }.csv"])"), R"(["nightly-report/2026-03-29T01:00:00Z.csv"])");
  EXPECT_EQ(rendered(R"({"n":"no. ${ .launch.nominal_unix_s }!"})"), R"({"n":"no. 1774746000!"})");
  EXPECT_EQ(rendered(R"(["\"${ .launch.job }\" \u00fc\n"])"), "[\"\\\"nightly-report\\\" ü\\n\"]");
}

TEST(job_inputs, take_a_doubled_dollar_sign_for_text) {
  EXPECT_EQ(rendered(R"(["echo $${HOME} ${ .launch.job }"])"), R"(["echo ${HOME} nightly-report"])");
  EXPECT_EQ(rendered(R"(["$${ .launch.job }"])"), R"(["${ .launch.job }"])");
  EXPECT_EQ(rendered(R"(["$$${x"])"), R"(["$${x"])");
}

TEST(job_inputs, are_refused_where_they_look_at_anything_but_the_launch) {
  for (const auto* path : {".input.a", ".task.id", ".steps.a.b", ".order", ".item", ".[0]"}) {
    const auto out = rendered("[\"${ " + std::string{path} + " }\"]");
    EXPECT_EQ(out.rfind("refused: expression ${ " + std::string{path} + " }: ", 0), 0u) << out;
  }
}

TEST(job_inputs, are_refused_where_they_need_jq) {
  const auto out = rendered(R"(["${ .launch.nominal_unix_s + 1 }"])");
  EXPECT_EQ(out, "refused: expression ${ .launch.nominal_unix_s + 1 }: it is not a plain path");
}

TEST(job_inputs, are_refused_where_a_launch_has_no_such_field) {
  EXPECT_EQ(rendered(R"(["${ .launch.nominal }"])"),
            "refused: expression ${ .launch.nominal }: there is no .launch.nominal: a launch has job, id, nominal_utc, nominal_local, "
            "nominal_unix_s, zone and trigger");
  EXPECT_EQ(rendered(R"(["at ${ .launch.job.name }"])"),
            "refused: expression ${ .launch.job.name }: .launch.job is a string, not an object");
  EXPECT_EQ(rendered(R"(["${ .launch[0] }"])").rfind("refused: ", 0), 0u);
}

TEST(job_inputs, are_refused_where_text_would_hold_an_object_or_null) {
  EXPECT_EQ(rendered(R"(["all of ${ .launch }"])"), "refused: expression ${ .launch }: inside text it gives an object");
  EXPECT_EQ(rendered(R"(["of ${ .launch.job.name? }"])"), "refused: expression ${ .launch.job.name? }: inside text it gives null");
}

TEST(job_inputs, are_refused_with_what_is_wrong_about_their_text) {
  EXPECT_EQ(rendered("[1,").rfind("refused: ", 0), 0u);
  EXPECT_EQ(rendered("[\"\xff\"]").rfind("refused: ", 0), 0u);
  EXPECT_EQ(rendered(R"(["${ .launch.job"])"), R"(refused: the string "${ .launch.job" begins an expression that does not end)");
  EXPECT_EQ(rendered(R"(["a ${ .launch.job } ${"])"),
            R"(refused: the string "a ${ .launch.job } ${" begins an expression that does not end)");
  EXPECT_EQ(rendered(R"({"${ .launch.job }":1})"), R"(refused: the key "${ .launch.job }" has an expression, but keys are not evaluated)");
  EXPECT_EQ(rendered("[\"${ ." + std::string(5000, 'x') + " }\"]").find("longer than 4096 bytes") != std::string::npos, true);
}

TEST(job_inputs, that_grow_beyond_what_a_task_may_have_are_not_rendered) {
  std::string input = "[1";
  while (input.size() < 200'000) input += ",\"${.launch}\"";
  const auto out = render_job_input(input + "]", launch());
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.failure().sentence, "the input of the launch is larger than 256 KiB");
}

TEST(launched_tasks, show_their_launch_to_the_expressions_of_their_steps) {
  world w{graph({step("a", {}, R"({"day":"${ .launch.nominal_local }","why":"${ .launch.trigger }"})"),
                 step("b", {"a"}, R"("${ .launch.job | ascii_upcase }")")})};
  w.launch = launch();
  w.started();
  EXPECT_EQ(w.at(0).input().json(), R"({"day":"2026-03-29T03:00:00+02:00","why":"schedule"})");
  const auto made = w.outcome(0, 1);
  ASSERT_EQ(made.evaluations.size(), 1u);
  EXPECT_EQ(made.evaluations[0].document(), R"({"launch":{"job":"nightly-report"}})");
}

TEST(submitted_tasks, have_null_for_their_launch) {
  world w{graph({step("a", {}, R"(["${ .launch }","${ .launch.job? }"])")})};
  w.started();
  EXPECT_EQ(w.at(0).input().json(), "[null,null]");
}

TEST(submitted_tasks, fail_at_a_step_that_needs_a_launch) {
  world w{graph({step("a", {}, R"("${ .launch.job }")")})};
  w.started();
  EXPECT_TRUE(w.record.parked());
  EXPECT_NE(w.record.parked_reason().find(".launch is null, not an object"), std::string::npos) << w.record.parked_reason();
}

TEST(workflows, that_name_a_field_no_launch_has_are_refused) {
  for (const auto* expression : {".launch.nominal", ".launch.nominal | length"}) {
    const auto compiled = input_template::compile("\"${ " + std::string{expression} + " }\"");
    ASSERT_FALSE(compiled.ok()) << expression;
    EXPECT_NE(compiled.failure().sentence.find("there is no .launch.nominal: a launch has job, id, "), std::string::npos)
        << compiled.failure().sentence;
  }
}

}  // namespace
}  // namespace fairlead::core
