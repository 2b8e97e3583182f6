#include "actors/core/workflow/check_kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "actors/core/workflow/templates.hpp"
#include "actors/core/workflow/workflow.hpp"

namespace fairlead::core {
namespace {

using lines = std::vector<std::string>;

// `step/field: sentence; remedy`
lines problems_of_kinds(const v1::WorkflowDefinition& definition) {
  lines out;
  for (const auto& p : check_definition(definition, nullptr))
    out.push_back(p.step + "/" + p.field + ": " + p.sentence + (p.remedy.empty() ? "" : "; " + p.remedy));
  return out;
}

v1::StepDefinition* add_of_kind(v1::WorkflowDefinition& definition, v1::StepKind kind) {
  constexpr std::array names{"call", "value", "wait", "signal", "child"};
  auto* step = definition.add_steps();
  step->set_name(names.at(static_cast<std::size_t>(kind)));
  step->set_kind(kind);
  if (kind == v1::STEP_KIND_CALL) {
    step->set_agent("payment");
    step->set_call("charge");
    step->set_timeout_ms(5'000);
    step->set_attempts(3);
    step->mutable_backoff()->set_first_ms(100);
    step->mutable_backoff()->set_factor(2);
    step->mutable_backoff()->set_max_ms(1'000);
    return step;
  }
  if (kind == v1::STEP_KIND_WORKFLOW) {
    step->set_workflow("shipment");
    return step;
  }
  step->mutable_undo()->set_none(true);
  step->set_with_json(kind == v1::STEP_KIND_WAIT ? R"("10m")" : "null");
  if (kind == v1::STEP_KIND_SIGNAL) {
    step->set_signal("approved");
    step->set_timeout_ms(86'400'000);
  }
  return step;
}

v1::WorkflowDefinition one_of_kind(v1::StepKind kind) {
  v1::WorkflowDefinition out;
  out.set_name("w");
  add_of_kind(out, kind);
  return out;
}

constexpr std::array without_agent{v1::STEP_KIND_VALUE, v1::STEP_KIND_WAIT, v1::STEP_KIND_SIGNAL};

TEST(workflow_kinds, accepts_each_kind) {
  v1::WorkflowDefinition all;
  all.set_name("w");
  for (int kind = 0; kind < 5; ++kind) {
    EXPECT_EQ(problems_of_kinds(one_of_kind(static_cast<v1::StepKind>(kind))), lines{}) << kind;
    add_of_kind(all, static_cast<v1::StepKind>(kind));
  }
  all.mutable_steps(1)->set_with_json(
      R"({"sum":"${ .steps.call.a + .steps.signal.b }","by":"${ .status.wait }","it":"${ .steps.child }"})");
  for (const auto* need : {"call", "wait", "signal", "child"}) all.mutable_steps(1)->add_needs(need);
  all.mutable_steps(2)->set_with_json(R"("${ .steps.call.pause }")");
  all.mutable_steps(2)->add_needs("call");
  all.mutable_steps(3)->set_when_json(R"("${ .input.ask }")");
  all.mutable_steps(3)->set_goes_on_untimely(true);
  EXPECT_EQ(problems_of_kinds(all), lines{});
  EXPECT_TRUE(workflow::compile(all, "hash").ok());
}

TEST(workflow_kinds, refuses_each_field_that_has_no_effect) {
  using change = std::function<void(v1::StepDefinition&)>;
  struct field_case {
    std::string key;
    change set;
    std::vector<v1::StepKind> allowed;
  };
  const std::vector<field_case> cases{
      {"agent", [](auto& s) { s.set_agent("x"); }, {}},
      {"call", [](auto& s) { s.set_call("x"); }, {}},
      {"signal", [](auto& s) { s.set_signal("x"); }, {v1::STEP_KIND_SIGNAL}},
      {"with",
       [](auto& s) {
         if (s.kind() == v1::STEP_KIND_SIGNAL) s.set_with_json("1");
       },
       {v1::STEP_KIND_VALUE, v1::STEP_KIND_WAIT}},
      {"timeout", [](auto& s) { s.set_timeout_ms(1'000); }, {v1::STEP_KIND_SIGNAL}},
      {"on_timeout", [](auto& s) { s.set_goes_on_untimely(true); }, {v1::STEP_KIND_SIGNAL}},
      {"heartbeat", [](auto& s) { s.set_heartbeat_ms(500); }, {}},
      {"labels", [](auto& s) { s.add_labels()->set_key("zone"); }, {}},
      {"retry_for", [](auto& s) { s.set_retry_for_ms(1'000); }, {}},
      {"attempts", [](auto& s) { s.set_attempts(3); }, {}},
      {"backoff", [](auto& s) { s.mutable_backoff(); }, {}},
      {"in_doubt", [](auto& s) { s.set_in_doubt(v1::IN_DOUBT_RETRY); }, {}},
      {"on_failure", [](auto& s) { s.set_on_failure(v1::ON_FAILURE_FAIL); }, {v1::STEP_KIND_SIGNAL}},
      {"cool_off",
       [](auto& s) {
         s.set_cool_off_ms(1'000);
         if (s.kind() == v1::STEP_KIND_SIGNAL) s.set_on_failure(v1::ON_FAILURE_COOL_OFF);
       },
       {v1::STEP_KIND_SIGNAL}},
      {"pivot", [](auto& s) { s.set_pivot(true); }, {}},
      {"undo", [](auto& s) { s.clear_undo(); }, {}},
      {"undo", [](auto& s) { s.mutable_undo()->set_call("refund"); }, {}},
      {"undo", [](auto& s) { s.mutable_undo()->set_none(false); }, {}},
  };
  for (const auto kind : without_agent) {
    for (const auto& one : cases) {
      auto definition = one_of_kind(kind);
      one.set(*definition.mutable_steps(0));
      const auto found = check_definition(definition, nullptr);
      const auto about = v1::StepKind_Name(kind) + ", " + one.key;
      if (std::find(one.allowed.begin(), one.allowed.end(), kind) != one.allowed.end()) {
        EXPECT_TRUE(found.empty()) << about << ": " << found.front().sentence;
        continue;
      }
      ASSERT_EQ(found.size(), 1U) << about;
      EXPECT_EQ(found[0].field, one.key) << about;
      EXPECT_FALSE(found[0].sentence.empty()) << about;
      EXPECT_FALSE(found[0].remedy.empty()) << about;
    }
    for (const auto& type : {"input_type", "output_type"}) {
      auto definition = one_of_kind(kind);
      auto& step = *definition.mutable_steps(0);
      (type == std::string{"input_type"} ? step.mutable_input_type() : step.mutable_output_type())->assign("a.B");
      ASSERT_FALSE(check_definition(definition, nullptr).empty()) << type;
      EXPECT_EQ(check_definition(definition, nullptr)[0].field, type);
    }
  }
}

TEST(workflow_kinds, says_why_a_key_has_no_effect) {
  const auto words = [](v1::StepKind kind, const char* key) {
    const auto why = why_not(kind, key);
    return why ? why->sentence + "; " + why->remedy : std::string{};
  };
  EXPECT_EQ(words(v1::STEP_KIND_WAIT, "retry_for"), "a step that waits has no agent: `retry_for` has no effect here; remove retry_for");
  EXPECT_EQ(words(v1::STEP_KIND_SIGNAL, "attempts"),
            "a step that waits for a signal has no agent: `attempts` has no effect here; remove attempts");
  EXPECT_EQ(
      words(v1::STEP_KIND_VALUE, "timeout"),
      "a step that computes a value has no agent: `timeout` has no effect here; remove timeout, or give the step an agent and a call");
  EXPECT_EQ(words(v1::STEP_KIND_WAIT, "agent"), "`wait` and `agent` exclude one another; make two steps of it");
  EXPECT_EQ(words(v1::STEP_KIND_SIGNAL, "call"), "`signal` and `call` exclude one another; make two steps of it");
  EXPECT_EQ(words(v1::STEP_KIND_WAIT, "signal"),
            "`wait` and `signal` exclude one another; remove wait; timeout says how long the step waits for its signal");
  EXPECT_EQ(words(v1::STEP_KIND_WAIT, "with"), "a step that waits has no input: `with` has no effect here; remove with");
  EXPECT_EQ(words(v1::STEP_KIND_VALUE, "on_failure"),
            "a step that computes a value cannot fail: `on_failure` has no effect here; remove on_failure");
  EXPECT_EQ(words(v1::STEP_KIND_WAIT, "pivot"), "a step that waits changes nothing: `pivot` has no effect here; remove pivot");
  EXPECT_EQ(words(v1::STEP_KIND_CALL, "on_timeout"),
            "only a step that waits for a signal has `on_timeout`; remove on_timeout; on_failure says what follows a step that has failed");
  EXPECT_EQ(words(v1::STEP_KIND_WAIT, "on_timeout"), "only a step that waits for a signal has `on_timeout`; remove on_timeout");
  for (const auto* key : {"needs", "when", "undo"})
    for (int kind = 0; kind < 5; ++kind) EXPECT_EQ(words(static_cast<v1::StepKind>(kind), key), "") << key;
}

TEST(workflow_kinds, a_step_with_an_agent_has_nothing_of_a_signal) {
  auto definition = one_of_kind(v1::STEP_KIND_CALL);
  definition.mutable_steps(0)->set_signal("approved");
  definition.mutable_steps(0)->set_goes_on_untimely(true);
  EXPECT_EQ(problems_of_kinds(definition),
            (lines{"call/signal: only a step that waits for a signal has `signal`; remove signal",
                   "call/on_timeout: only a step that waits for a signal has `on_timeout`; remove on_timeout; on_failure says what follows "
                   "a step that has failed"}));
}

TEST(workflow_kinds, a_wait_is_a_duration_a_time_or_one_expression) {
  const auto of = [](const std::string& json) {
    auto definition = one_of_kind(v1::STEP_KIND_WAIT);
    definition.mutable_steps(0)->set_with_json(json);
    return problems_of_kinds(definition);
  };
  for (const auto* json : {R"("1ms")", R"("3660d")", R"("1m30s")", R"("2026-12-24T18:00:00.000Z")", R"("9999-12-31T00:00:00.000Z")",
                           R"("${ .input.pause }")", R"( "${ .input.at // \"10m\" }" )"})
    EXPECT_EQ(of(json), lines{}) << json;
  const std::string remedy = "give a duration such as 10m, or a time such as 2026-12-24T18:00:00Z";
  const std::string no_expression = R"(wait/wait: this is not one expression; write it as "${ … }", which gives a duration or a time)";
  const std::vector<std::pair<std::string, std::string>> refused{
      {"", "wait/wait: the duration or the time of the wait is missing; add wait: 10m"},
      {" ", "wait/wait: the duration or the time of the wait is missing; add wait: 10m"},
      {"null", "wait/wait: this is no text with a duration or a time; " + remedy},
      {"10", "wait/wait: this is no text with a duration or a time; " + remedy},
      {R"({"a":"10m"})", "wait/wait: this is no text with a duration or a time; " + remedy},
      {R"("soon")", "wait/wait: the text is neither a duration of at most 3660d nor a time; " + remedy},
      {R"("3661d")", "wait/wait: the text is neither a duration of at most 3660d nor a time; " + remedy},
      {R"("0s")", "wait/wait: 0s is not between 1ms and 3660d"},
      {R"("90s")", "wait/wait: the wait is not in the form in which it is stored; write it as 1m30s"},
      {R"( "10m")", "wait/wait: the wait is not in the form in which it is stored; write it as 10m"},
      {R"("2026-12-24T19:00:00+01:00")",
       "wait/wait: the wait is not in the form in which it is stored; write it as 2026-12-24T18:00:00.000Z"},
      {R"(["${ .input.a }"])", no_expression},
      {R"(["${ .input.a }","${ .input.b }"])", no_expression},
      {R"("${ .steps.wait }")", "wait/wait: an expression reads the output of its own step, which does not exist yet"},
      {R"("${ .steps.other }")", "wait/wait: an expression reads step \"other\", which is not in this workflow"},
  };
  for (const auto& [json, problem] : refused) EXPECT_EQ(of(json), lines{problem}) << json;
  for (const auto* json : {"{", R"("${ now }")", R"("in ${ .input.a }")", R"("${ .inputt }")"}) {
    const auto found = of(json);
    ASSERT_EQ(found.size(), 1U) << json;
    EXPECT_EQ(found[0].rfind("wait/wait: ", 0), 0U) << found[0];
  }
}

TEST(workflow_kinds, a_wait_reads_only_what_is_certain_to_be_there) {
  auto definition = one_of_kind(v1::STEP_KIND_WAIT);
  add_of_kind(definition, v1::STEP_KIND_CALL);
  definition.mutable_steps(0)->set_with_json(R"("${ .steps.call.pause }")");
  EXPECT_EQ(problems_of_kinds(definition), lines{"wait/wait: an expression reads step \"call\", which may not have ended when this step "
                                                 "starts; add call to the step's needs"});
  definition.mutable_steps(0)->add_needs("call");
  EXPECT_EQ(problems_of_kinds(definition), lines{});
}

TEST(workflow_kinds, a_signal_has_a_name_and_a_timeout) {
  const auto of = [](const std::function<void(v1::StepDefinition&)>& change) {
    auto definition = one_of_kind(v1::STEP_KIND_SIGNAL);
    change(*definition.mutable_steps(0));
    return problems_of_kinds(definition);
  };
  EXPECT_EQ(of([](auto& s) { s.clear_signal(); }), lines{"signal/signal: the name of the signal is missing; add signal: NAME"});
  EXPECT_EQ(of([](auto& s) { s.set_signal("Yes!\n"); }),
            lines{std::string{"signal/signal: \"Yes!?\" is not a valid name of a signal; "} + name_rule});
  EXPECT_EQ(of([](auto& s) { s.clear_timeout_ms(); }),
            lines{"signal/timeout: a step that waits for a signal needs a timeout; add timeout: 7d"});
  EXPECT_EQ(of([](auto& s) { s.set_timeout_ms(-1); }), lines{"signal/timeout: -1ms is not between 1ms and 3660d"});
  EXPECT_EQ(of([](auto& s) { s.set_timeout_ms(std::int64_t{3660} * 86'400'000 + 1); }),
            lines{"signal/timeout: 316224000001ms is not between 1ms and 3660d"});
  EXPECT_EQ(of([](auto& s) { s.set_timeout_ms(std::int64_t{3660} * 86'400'000); }), lines{});
  EXPECT_EQ(of([](auto& s) { s.set_on_failure(static_cast<v1::OnFailure>(99)); }),
            lines{"signal/on_failure: this release does not know this value"});
  EXPECT_EQ(of([](auto& s) { s.set_on_failure(v1::ON_FAILURE_COOL_OFF); }),
            lines{"signal/cool_off: on_failure: cool_off needs a duration; add cool_off: 10m to the step or the workflow"});
  EXPECT_EQ(
      of([](auto& s) {
        s.set_goes_on_untimely(true);
        s.set_on_failure(v1::ON_FAILURE_COOL_OFF);
        s.set_cool_off_ms(1'000);
      }),
      (lines{"signal/on_failure: with on_timeout: continue the step cannot fail: `on_failure` has no effect here; remove on_failure, or "
             "set on_timeout: fail",
             "signal/cool_off: with on_timeout: continue the step cannot fail: `cool_off` has no effect here; remove cool_off, or set "
             "on_timeout: fail"}));
}

TEST(workflow_kinds, a_value_is_never_the_whole_input_by_chance) {
  for (const auto* json : {"", " \n"}) {
    auto definition = one_of_kind(v1::STEP_KIND_VALUE);
    definition.mutable_steps(0)->set_with_json(json);
    EXPECT_EQ(problems_of_kinds(definition), lines{"value/with: the value of the step is missing; set with: null"});
  }
  for (const auto kind : without_agent) {
    auto stored = one_of_kind(kind);
    stored.mutable_steps(0)->clear_with_json();
    EXPECT_FALSE(workflow::compile(stored, "hash").ok()) << v1::StepKind_Name(kind);
  }
}

TEST(workflow_kinds, a_kind_of_a_later_release_is_refused) {
  auto definition = one_of_kind(v1::STEP_KIND_VALUE);
  definition.mutable_steps(0)->set_kind(static_cast<v1::StepKind>(9));
  EXPECT_EQ(problems_of_kinds(definition), lines{"value/: this release does not know this kind of step"});
  const auto stored = workflow::compile(definition, "hash");
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.failure().sentence, "step value is of a kind that this release does not know");
}

TEST(workflow_kinds, what_cannot_fail_takes_nothing_from_the_workflows_on_failure) {
  v1::WorkflowDefinition definition;
  definition.set_name("w");
  auto* charge = add_of_kind(definition, v1::STEP_KIND_CALL);
  charge->set_pivot(true);
  charge->mutable_undo()->set_none(true);
  charge->set_on_failure(v1::ON_FAILURE_PARK);
  for (const auto kind : without_agent) add_of_kind(definition, kind)->add_needs("call");
  definition.set_on_failure(v1::ON_FAILURE_UNDO);
  EXPECT_EQ(problems_of_kinds(definition), lines{"signal/on_failure: this step comes after the pivot call, so it can never be undone; set "
                                                 "on_failure: park, fail, continue or cool_off on this step"});
  definition.mutable_steps(3)->set_goes_on_untimely(true);
  EXPECT_EQ(problems_of_kinds(definition), lines{});

  definition.set_on_failure(v1::ON_FAILURE_CONTINUE);
  definition.set_ends_failed(true);
  EXPECT_EQ(problems_of_kinds(definition), lines{"/end: no on_failure here is continue, so end: failed has no effect"});
  definition.mutable_steps(3)->set_goes_on_untimely(false);
  EXPECT_EQ(problems_of_kinds(definition), lines{});
}

TEST(workflow_kinds, the_text_of_a_wait_is_shown_at_its_key) {
  const auto keys = [](v1::StepKind kind) {
    lines out;
    for (const auto& [key, text] : templates_of(one_of_kind(kind).steps(0))) out.push_back(key);
    return out;
  };
  EXPECT_EQ(keys(v1::STEP_KIND_WAIT).front(), "wait");
  EXPECT_EQ(keys(v1::STEP_KIND_VALUE).front(), "with");
}

TEST(workflow_kinds, a_step_that_is_repeated_says_what_ends_it) {
  auto definition = one_of_kind(v1::STEP_KIND_CALL);
  auto& repeat = *definition.mutable_steps(0)->mutable_repeat();
  repeat.set_most(3);
  const auto name = definition.steps(0).name();
  EXPECT_EQ(
      problems_of_kinds(definition),
      lines{name + "/repeat.until: the expression that ends the rounds is missing; add until: \"${ … }\", which gives true or false"});
  repeat.set_until_json("\"${ .steps." + name + ".done }\"");
  EXPECT_EQ(problems_of_kinds(definition), lines{});
}

TEST(workflow_kinds, what_ends_the_rounds_of_a_step_is_one_of_its_texts) {
  v1::StepDefinition step;
  step.mutable_repeat()->set_until_json(R"("${ .steps.a.done }")");
  lines found;
  for (const auto& [key, text] : templates_of(step)) found.push_back(key + "=" + *text);
  EXPECT_EQ(found, (lines{"with=", R"(repeat.until="${ .steps.a.done }")"}));
}

TEST(workflow_kinds, the_texts_of_a_workflow_are_those_of_its_steps_and_its_output) {
  auto definition = one_of_kind(v1::STEP_KIND_WAIT);
  const auto places = [&] {
    lines out;
    for (const auto& [where, text] : templates_of(definition)) out.push_back(where);
    return out;
  };
  const auto without = places();
  EXPECT_EQ(without.front(), "steps." + definition.steps(0).name() + ".wait");
  definition.set_output_json("\"${ .input }\"");
  auto expected = without;
  expected.push_back("output");
  EXPECT_EQ(places(), expected);
}

TEST(workflow_kinds, follow_from_the_keys) {
  EXPECT_EQ(kind_of_keys(false, false, false, true), v1::STEP_KIND_CALL);
  EXPECT_EQ(kind_of_keys(false, false, false, false), v1::STEP_KIND_VALUE);
  EXPECT_EQ(kind_of_keys(true, true, true, true), v1::STEP_KIND_WAIT);
  EXPECT_EQ(kind_of_keys(false, true, true, true), v1::STEP_KIND_SIGNAL);
  EXPECT_EQ(kind_of_keys(false, false, true, true), v1::STEP_KIND_WORKFLOW);
}

TEST(workflow_kinds, a_callback_belongs_to_a_call_and_has_an_end) {
  auto definition = one_of_kind(v1::STEP_KIND_CALL);
  auto& call = *definition.mutable_steps(0);
  for (const std::int64_t sound : {std::int64_t{1}, std::int64_t{3660} * 86'400'000}) {
    call.set_callback_ms(sound);
    EXPECT_EQ(problems_of_kinds(definition), lines{}) << sound;
  }
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{3660} * 86'400'000 + 1}) {
    call.set_callback_ms(bad);
    EXPECT_EQ(problems_of_kinds(definition), lines{"call/callback.timeout: " + std::to_string(bad) + "ms is not between 1ms and 3660d"});
  }
  for (const auto kind : without_agent) {
    auto other = one_of_kind(kind);
    other.mutable_steps(0)->set_callback_ms(1'000);
    EXPECT_EQ(problems_of_kinds(other).size(), 1U) << kind;
    EXPECT_TRUE(why_not(kind, "callback").has_value());
  }
}

}  // namespace
}  // namespace fairlead::core
