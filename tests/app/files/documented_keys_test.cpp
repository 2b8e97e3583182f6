// The defaults that docs/workflows.md and docs/cron.md name: writing one into a file changes nothing, and another value does.

#include <gtest/gtest.h>

#include "actors/system/time_zones.hpp"
#include "app/files/job_file.hpp"
#include "app/files/workflow_file.hpp"
#include "app/json/job/jobs.hpp"
#include "tests/app/documented.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

/// `a.b` with `1s` is `a: { b: 1s }`.
std::string line_of(const std::string& key, const std::string& value) {
  const auto dot = key.find('.');
  return dot == std::string::npos ? key + ": " + value : key.substr(0, dot) + ": { " + key.substr(dot + 1) + ": " + value + " }";
}

std::string workflow_bytes(const std::string& of_workflow, const std::string& of_step) {
  const auto file =
      parse_workflow("w.yaml", "workflow: w\n" + of_workflow + "\nsteps:\n  a:\n    agent: x\n    call: y\n    " + of_step + "\n", nullptr);
  EXPECT_EQ(shown(file.problems), lines{}) << of_step;
  return file.definition.SerializeAsString();
}

/// Of a step that waits for a signal.
std::string signal_bytes(const std::string& of_step) {
  const auto file = parse_workflow("w.yaml", "workflow: w\nsteps:\n  a:\n    signal: s\n    timeout: 1h\n    " + of_step + "\n", nullptr);
  EXPECT_EQ(shown(file.problems), lines{}) << of_step;
  return file.definition.SerializeAsString();
}

/// Of a step that needs another one.
std::string joined_bytes(const std::string& of_step) {
  const auto file =
      parse_workflow("w.yaml", "workflow: w\nsteps:\n  a: { with: 1 }\n  b:\n    needs: a\n    with: 2\n    " + of_step + "\n", nullptr);
  EXPECT_EQ(shown(file.problems), lines{}) << of_step;
  return file.definition.SerializeAsString();
}

/// A job as people see it: a spec keeps whether a key was written.
std::string job_shown(const std::string& more) {
  const auto file = parse_jobs("j.yaml", "job: a\nschedule: \"@daily\"\nworkflow: w\n" + more + "\n", time_zones::of_system());
  EXPECT_EQ(shown(file.problems), lines{});
  v1::JobShowReply reply;
  *reply.mutable_job()->mutable_spec() = file.jobs.at(0);
  return job_show_json(reply);
}

/// `read(key, value)`: a file that says so, as the program understands it; with an empty value: the same file without the key.
template <class Read>
void each_is_true(const std::map<std::string, std::string>& documented, const std::map<std::string, std::string>& others, Read read) {
  for (const auto& [key, value] : documented) {
    EXPECT_EQ(read(key, value), read(key, "")) << key << ": " << value << " is documented, and is not the default";
    const auto other = others.find(key);
    ASSERT_NE(other, others.end()) << "a new key with a default: " << key;
    EXPECT_NE(read(key, other->second), read(key, "")) << key << ": " << other->second << " changes nothing";
  }
  EXPECT_EQ(documented.size(), others.size()) << "a key has lost its default";
}

TEST(documented_keys, of_workflows_have_their_defaults) {
  each_is_true(documented_defaults("workflows.md", "Key"), {{"on_failure", "fail"}, {"end", "failed"}},
               [](const std::string& key, const std::string& value) {
                 return workflow_bytes(value.empty() ? "" : line_of(key, value), "on_failure: continue");
               });
}

TEST(documented_keys, of_steps_have_their_defaults) {
  each_is_true(documented_defaults("workflows.md", "Key", 1),
               {{"timeout", "31s"},
                {"retry_for", "2h"},
                {"backoff.first", "2s"},
                {"backoff.factor", "3"},
                {"backoff.max", "2m"},
                {"in_doubt", "park"},
                {"pivot", "true"},
                {"join", "any"},
                {"on_timeout", "continue"},
                {"retry.retry_for", "2h"},
                {"repeat.every", "1s"},
                {"repeat.max", "5"},
                {"for_each.at_once", "20"},
                {"for_each.failures", "collect"},
                {"undo.timeout", "31s"},
                {"undo.retry_for", "2h"},
                {"undo.also_if_failed", "true"}},
               [](const std::string& key, const std::string& value) {
                 if (key.starts_with("undo."))
                   return workflow_bytes("", "undo: { call: z" + (value.empty() ? "" : ", " + key.substr(5) + ": " + value) + " }");
                 if (key.starts_with("retry."))
                   return workflow_bytes("", "retry: [{ on: busy" + (value.empty() ? "" : ", " + key.substr(6) + ": " + value) + " }]");
                 if (key.starts_with("repeat."))
                   return workflow_bytes(
                       "", "repeat: { until: \"${ .steps.a }\"" + (value.empty() ? "" : ", " + key.substr(7) + ": " + value) + " }");
                 if (key.starts_with("for_each."))
                   return workflow_bytes(
                       "", "for_each: { items: \"${ .input.all }\"" + (value.empty() ? "" : ", " + key.substr(9) + ": " + value) + " }");
                 if (key == "join") return joined_bytes(value.empty() ? "" : line_of(key, value));
                 if (key == "on_timeout") return signal_bytes(value.empty() ? "" : line_of(key, value));
                 return workflow_bytes("", "undo: none" + (value.empty() ? "" : "\n    " + line_of(key, value)));
               });
}

TEST(documented_keys, of_undo_begin_with_the_same_defaults_as_those_of_the_step_whatever_the_step_says) {
  const auto step =
      parse_workflow("w.yaml",
                     "workflow: w\nsteps:\n  a:\n    agent: x\n    call: y\n    undo: { call: z }\n    timeout: 7s\n    attempts: 8\n"
                     "    backoff: { first: 2s, factor: 3, max: 9s }\n  b:\n    agent: x\n    call: y\n",
                     nullptr);
  ASSERT_EQ(shown(step.problems), lines{});
  const auto& undo = step.definition.steps(0).undo();
  const auto& plain = step.definition.steps(1);
  EXPECT_EQ(undo.timeout_ms(), plain.timeout_ms());
  EXPECT_EQ(undo.retry_for_ms(), plain.retry_for_ms());
  EXPECT_EQ(undo.attempts(), plain.attempts());
  EXPECT_EQ(undo.backoff().SerializeAsString(), plain.backoff().SerializeAsString());
}

TEST(documented_keys, of_jobs_have_their_defaults) {
  each_is_true(documented_defaults("cron.md", "Key"),
               {{"time_zone", "Europe/Berlin"},
                {"dst", "literal"},
                {"input", "{ a: 1 }"},
                {"count_parked", "true"},
                {"overlap", "queue"},
                {"catch_up", "none"},
                {"jitter", "1s"},
                {"priority", "1"},
                {"keep_launches", "5"},
                {"alert_after", "2"}},
               [](const std::string& key, const std::string& value) { return job_shown(value.empty() ? "" : line_of(key, value)); });
}

}  // namespace
}  // namespace fairlead::app
