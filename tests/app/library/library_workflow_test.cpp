#include <fairlead/workflow.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "app/files/workflow_file.hpp"
#include "messages/api.pb.h"
#include "store/content_hash.hpp"
#include "tests/app/library/example_workflows.hpp"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

std::string workflows_folder() {
  const auto* source = std::getenv("FAIRLEAD_SOURCE");
  return std::string{source == nullptr ? "." : source} + "/config/workflows/";
}

std::string hash_of(const result<v1::WorkflowDefinition>& definition) {
  EXPECT_TRUE(definition.ok()) << definition.failure().sentence;
  return definition ? store::to_hex(store::definition_hash(*definition)) : "";
}

std::string hash_of_file(const std::string& name) {
  const auto file = app::read_workflow(workflows_folder() + name, nullptr);
  EXPECT_TRUE(file.problems.empty()) << name;
  return store::to_hex(store::definition_hash(file.definition));
}

/// Of the YAML that the library makes.
std::string read_again(const workflow& what) {
  const auto file = app::parse_workflow("again.yaml", what.yaml(), nullptr);
  for (const auto& one : file.problems) ADD_FAILURE() << to_text(one) << "\n" << what.yaml();
  return store::to_hex(store::definition_hash(file.definition));
}

undo_call undo_of(const std::string& call) {
  return undo_call{call}.with(R"({"order": "${ .task.id }"})").timeout(5s).attempts(20).backoff(200ms, 2, 2s);
}

workflow_step order_step(const workflow_step& step) {
  auto out = step;
  out.timeout(5s).attempts(20).backoff(200ms, 2, 2s);
  return out;
}

workflow reserve_charge_ship(const std::string& name, duration timeout, bool side_by_side) {
  workflow out{name};
  out.timeout(timeout).on_failure(on_failure::undo);
  order_step(out.step("reserve"))
      .agent("inventory")
      .call("reserve")
      .with(R"({ "order": "${ .task.id }", "items": "${ .input.items }" })")
      .undo(undo_of("release"));
  auto charge = order_step(out.step("charge"));
  if (!side_by_side) charge.needs("reserve");
  charge.agent("payment")
      .call("charge")
      .with(R"({ "order": "${ .task.id }", "amount_cents": "${ .input.amount_cents }" })")
      .undo(undo_of("refund"));
  auto ship = order_step(out.step("ship"));
  if (side_by_side) ship.needs("reserve");
  ship.needs("charge")
      .agent("shipping")
      .call("dispatch")
      .with(R"({ "order": "${ .task.id }", "address": "${ .input.address }" })")
      .undo_none()
      .pivot();
  return out;
}

workflow replacement() {
  workflow out{"replacement"};
  out.timeout(24h).on_failure(on_failure::park);
  const auto patient = [](workflow_step step) { return step.timeout(5s).attempts(10).backoff(500ms, 2, 10s); };
  patient(out.step("recall")).agent("shipping").call("recall").with(R"({"order": "${ .input.damaged }"})");
  patient(out.step("reserve")).agent("inventory").call("reserve").with(R"({"order": "${ .task.id }", "items": "${ .input.items }"})");
  patient(out.step("ship"))
      .needs("recall", "reserve")
      .agent("shipping")
      .call("dispatch")
      .with(R"({"order": "${ .task.id }", "address": "${ .input.address }"})")
      .in_doubt(in_doubt::park);
  return out;
}

workflow travel() {
  workflow out{"travel"};
  out.timeout(2h)
      .on_failure(on_failure::undo)
      .input_schema(R"({"type": "object", "required": ["traveller", "flight", "hotel", "car", "amount_cents"],
        "properties": {"traveller": {"type": "string", "minLength": 1, "description": "the address that the tickets are sent to"},
                       "car": {"type": "boolean"}, "amount_cents": {"type": "integer", "minimum": 0}}})")
      .output(
          R"({"flight": "${ .steps.flight }", "hotel": "${ .steps.hotel }", "car": "${ .steps.car }", "voucher": "${ .steps.voucher }"})");
  const auto cancel = undo_call{"cancel"}.with(R"({"booking": "${ .task.id }"})");
  out.step("flight").agent("flights").call("book").undo(cancel).with(
      R"({"booking": "${ .task.id }", "traveller": "${ .input.traveller }", "flight": "${ .input.flight }"})");
  out.step("hotel").agent("hotels").call("book").undo(cancel).with(
      R"({"booking": "${ .task.id }", "traveller": "${ .input.traveller }", "hotel": "${ .input.hotel }"})");
  out.step("car")
      .when("${ .input.car }")
      .agent("cars")
      .call("book")
      .undo(cancel)
      .with(R"({"booking": "${ .task.id }", "traveller": "${ .input.traveller }"})");
  out.step("voucher")
      .needs("flight", "hotel", "car")
      .when("${ .input.amount_cents >= 200000 }")
      .agent("payment")
      .call("issue_voucher")
      .with(R"({"booking": "${ .task.id }", "amount_cents": 5000})")
      .undo("revoke_voucher", R"({"booking": "${ .task.id }"})");
  out.step("charge")
      .needs("voucher")
      .agent("payment")
      .call("charge")
      .with(R"({"order": "${ .task.id }", "amount_cents": "${ .input.amount_cents }"})")
      .undo("refund", R"({"order": "${ .task.id }"})");
  out.step("tickets")
      .needs("charge")
      .agent("mail")
      .call("send")
      .with(R"({"to": "${ .input.traveller }", "flight": "${ .steps.flight }", "hotel": "${ .steps.hotel }", "car": "${ .steps.car }"})")
      .undo_none()
      .pivot();
  return out;
}

workflow nightly_report() {
  workflow out{"nightly_report"};
  out.timeout(4h).on_failure(on_failure::park).end_failed();
  for (const std::string shop : {"north", "south", "web"})
    out.step(shop)
        .agent("shops")
        .call("sales")
        .with(R"({"shop": ")" + shop + R"(", "day": "${ .input.day }"})")
        .retry_for(30min)
        .undo_none()
        .on_failure(on_failure::go_on);
  out.step("report")
      .needs("north", "south", "web")
      .when(R"(${ [.status.north, .status.south, .status.web] | any(. == "completed") })")
      .agent("reports")
      .call("write")
      .with(R"({"day": "${ .input.day }", "sales": "${ [.steps.north, .steps.south, .steps.web] | map(select(. != null)) }",)"
            R"( "missing": "${ .status | to_entries | map(select(.value == \"failed\") | .key) }"})");
  out.step("mail").needs("report").agent("mail").call("send").with(R"({"to": "sales@example.org", "report": "${ .steps.report }"})");
  return out;
}

workflow rollout() {
  workflow out{"rollout"};
  out.timeout(30 * 24h).on_failure(on_failure::undo);
  out.step("waves").with(R"({"first": "${ .input.devices[:10] }", "second": "${ .input.devices[10:] }"})");
  const auto back = [](const std::string& wave, duration timeout) {
    return undo_call{"install"}
        .with(R"({"version": "${ .input.former_version }", "devices": "${ .steps.waves.)" + wave + R"( }"})")
        .timeout(timeout)
        .also_if_failed();
  };
  out.step("first_wave")
      .needs("waves")
      .agent("devices")
      .call("install")
      .with(R"({"version": "${ .input.version }", "devices": "${ .steps.waves.first }"})")
      .timeout(10min)
      .undo(back("first", 10min));
  out.step("trial_run").needs("first_wave").wait(48h);
  out.step("faults")
      .needs("trial_run")
      .agent("monitoring")
      .call("count_faults")
      .with(R"({"devices": "${ .steps.waves.first }"})")
      .undo_none();
  out.step("ask")
      .needs("faults")
      .agent("mail")
      .call("send")
      .with(R"({"to": "releases@example.org", "version": "${ .input.version }", "faults": "${ .steps.faults }", "task": "${ .task.id }"})")
      .undo_none();
  out.step("approval").needs("ask").signal("approve").timeout(7 * 24h);
  out.step("second_wave")
      .needs("approval")
      .agent("devices")
      .call("install")
      .with(R"({"version": "${ .input.version }", "devices": "${ .steps.waves.second }", "approved": "${ .steps.approval }"})")
      .timeout(1h)
      .undo(back("second", 1h));
  return out;
}

workflow trial() {
  workflow out{"trial"};
  const std::string account = R"({"customer": "${ .input.customer }", "trial": "${ .task.id }"})";
  out.step("start").wait("${ .input.starts_at }");
  out.step("open").needs("start").agent("accounts").call("open").with(account);
  out.step("cancelled").needs("open").signal("cancel").timeout(11 * 24h).on_timeout(on_timeout::go_on);
  out.step("remind")
      .needs("cancelled")
      .when(R"(${ .status.cancelled == "timed_out" })")
      .agent("mail")
      .call("send")
      .with(R"({"to": "${ .input.customer }", "about": "trial_ends_in_3_days"})");
  out.step("cancelled_late")
      .needs("remind")
      .when(R"(${ .status.cancelled == "timed_out" })")
      .signal("cancel")
      .timeout(3 * 24h)
      .on_timeout(on_timeout::go_on);
  out.step("charge")
      .needs("cancelled_late")
      .when(R"(${ .status.cancelled_late == "timed_out" })")
      .agent("payment")
      .call("charge")
      .with(R"({"order": "${ .task.id }", "amount_cents": "${ .input.amount_cents }"})");
  out.step("close").needs("charge").when(R"(${ .status.charge == "skipped" })").agent("accounts").call("close").with(account);
  return out;
}

workflow transfer() {
  workflow out{"transfer"};
  out.timeout(5 * 24h).on_failure(on_failure::park);
  out.input_schema(R"({"type": "object", "required": ["customer", "from", "to", "amount_cents"],
    "properties": {"customer": {"type": "string"}, "from": {"$ref": "#/$defs/account"}, "to": {"$ref": "#/$defs/account"},
                   "amount_cents": {"type": "integer", "minimum": 1}},
    "additionalProperties": false,
    "$defs": {"account": {"type": "string", "minLength": 15, "maxLength": 34, "description": "an IBAN without spaces"}}})");
  out.output(R"({"transfer": "${ .task.id }", "state": "${ .steps.decision.state }", "booked_at": "${ .steps.decision.booked_at? }"})");
  out.step("order")
      .agent("bank")
      .call("order_transfer")
      .with(
          R"({"transfer": "${ .task.id }", "from": "${ .input.from }", "to": "${ .input.to }", "amount_cents": "${ .input.amount_cents }"})")
      .retry(retry_rule{"http_429"}.on("bank_closed").retry_for(12h).backoff(1min, 2, 10min))
      .retry(retry_rule{"account_locked"}.attempts(1));
  out.step("decision")
      .needs("order")
      .agent("bank")
      .call("transfer_state")
      .with(R"({"transfer": "${ .task.id }"})")
      .repeat(R"(${ .steps.decision.state == "booked" or .steps.decision.state == "rejected" })", 10min, 500)
      .undo_none();
  out.step("tell")
      .needs("decision")
      .when(R"(${ .steps.decision.state == "booked" })")
      .agent("mail")
      .call("send")
      .with(R"({"to": "${ .input.customer }", "about": "transfer_booked", "transfer": "${ .task.id }"})");
  return out;
}

workflow contract() {
  workflow out{"contract"};
  out.timeout(30 * 24h).on_failure(on_failure::undo);
  out.output(R"({"contract": "${ .task.id }", "signed_at": "${ .steps.sign.signed_at }"})");
  out.step("draw_up")
      .agent("documents")
      .call("draw_up")
      .with(R"({"contract": "${ .task.id }", "customer": "${ .input.customer }", "terms": "${ .input.terms }"})")
      .undo("discard", R"({"contract": "${ .task.id }"})");
  out.step("sign")
      .needs("draw_up")
      .agent("signatures")
      .call("request_signature")
      .with(R"({"contract": "${ .task.id }", "to": "${ .input.customer }", "document": "${ .steps.draw_up.document }"})")
      .timeout(30s)
      .callback(14 * 24h)
      .in_doubt(in_doubt::fail)
      .undo("withdraw", R"({"contract": "${ .task.id }"})");
  out.step("tell")
      .needs("sign")
      .agent("mail")
      .call("send")
      .with(R"({"to": "${ .input.customer }", "about": "contract_signed", "contract": "${ .task.id }"})")
      .on_failure(on_failure::go_on)
      .undo_none();
  return out;
}

TEST(library_workflow, every_workflow_of_this_tree_has_the_same_hash_in_cpp_as_in_yaml) {
  const std::map<std::string, workflow> in_code{{"order.yaml", reserve_charge_ship("order", 10min, false)},
                                                {"preorder.yaml", reserve_charge_ship("preorder", 1h, true)},
                                                {"replacement.yaml", replacement()},
                                                {"travel.yaml", travel()},
                                                {"nightly_report.yaml", nightly_report()},
                                                {"rollout.yaml", rollout()},
                                                {"trial.yaml", trial()},
                                                {"transfer.yaml", transfer()},
                                                {"contract.yaml", contract()},
                                                {"courier.yaml", courier()},
                                                {"sale.yaml", sale()},
                                                {"shipment.yaml", shipment()},
                                                {"import.yaml", import_prices()},
                                                {"firmware.yaml", firmware()}};
  std::set<std::string> seen;
  for (const auto& file : std::filesystem::directory_iterator{workflows_folder()}) {
    const auto name = file.path().filename().string();
    if (file.path().extension() != ".yaml") continue;
    seen.insert(name);
    const auto found = in_code.find(name);
    ASSERT_NE(found, in_code.end()) << name << " is not described in C++ here";
    EXPECT_EQ(hash_of(found->second.definition()), hash_of_file(name)) << name;
    EXPECT_EQ(read_again(found->second), hash_of_file(name)) << found->second.yaml();
  }
  EXPECT_EQ(seen.size(), in_code.size());
}

TEST(library_workflow, what_is_not_said_is_as_in_yaml) {
  workflow one{"w"};
  one.keep_days(7).cool_off(10min).on_failure(on_failure::cool_off);
  one.step("a").agent("x").call("y").backoff(5min).heartbeat(10s).label("zone", "eu").undo("z", "null");
  const auto yaml = app::parse_workflow("w.yaml",
                                        "workflow: w\nretention: 7d\ncool_off: 10m\non_failure: cool_off\nsteps:\n  a:\n    agent: x\n"
                                        "    call: y\n    backoff: { first: 5m }\n    heartbeat: 10s\n    labels: { zone: eu }\n"
                                        "    undo: { call: z, with: null }\n",
                                        nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(read_again(one), hash_of(built));
}

TEST(library_workflow, steps_without_an_agent_are_as_in_yaml) {
  workflow one{"w"};
  one.on_failure(on_failure::undo);
  one.step("nothing");
  one.step("sum").with(R"({"total": "${ .input.a + .input.b }"})").undo_none();
  one.step("soon").needs("sum").wait(90s);
  one.step("noon").wait("2026-12-24T13:00:00+01:00").when("${ .input.wait }");
  one.step("computed").needs("sum").wait("${ .steps.sum.pause // \"10m\" }");
  one.step("approved").signal("approve").timeout(1h).on_timeout(on_timeout::fail).on_failure(on_failure::cool_off).cool_off(10min);
  one.step("cancelled").signal("cancel").timeout(24h).on_timeout(on_timeout::go_on);
  const auto yaml = app::parse_workflow("w.yaml", R"(workflow: w
on_failure: undo
steps:
  nothing: {}
  sum: { with: { total: "${ .input.a + .input.b }" } }
  soon: { needs: sum, wait: 1m30s }
  noon: { wait: "2026-12-24T12:00:00Z", when: "${ .input.wait }" }
  computed: { needs: sum, wait: "${ .steps.sum.pause // \"10m\" }" }
  approved: { signal: approve, timeout: 1h, on_failure: cool_off, cool_off: 10m }
  cancelled: { signal: cancel, timeout: 1d, on_timeout: continue }
)",
                                        nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(read_again(one), hash_of(built));
}

TEST(library_workflow, a_step_that_is_repeated_is_as_in_yaml) {
  workflow one{"w"};
  one.step("a").agent("x").call("y").repeat("${ .steps.a.done }");
  one.step("b").agent("x").call("y").repeat("${ .steps.b.done }", 90s, 7).undo_none();
  const auto yaml =
      app::parse_workflow("w.yaml",
                          "workflow: w\nsteps:\n  a: { agent: x, call: y, repeat: { until: \"${ .steps.a.done }\" } }\n"
                          "  b: { agent: x, call: y, repeat: { until: \"${ .steps.b.done }\", every: 1m30s, max: 7 }, undo: none }\n",
                          nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(read_again(one), hash_of(built));

  workflow bad{"w"};
  bad.step("a").agent("x").call("y").repeat("always", -1s, 0).pivot();
  bad.step("b").wait(1s).repeat("${ .input }");
  std::vector<std::string> found;
  for (const auto& problem : bad.problems()) found.push_back(problem.step + "/" + problem.field);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"a/pivot", "a/repeat.every", "a/repeat.max", "a/repeat.until", "b/repeat"}));
}

TEST(library_workflow, a_step_with_a_callback_is_as_in_yaml) {
  workflow one{"w"};
  one.step("a").agent("x").call("y").callback(7 * 24h).undo_none();
  const auto yaml =
      app::parse_workflow("w.yaml", "workflow: w\nsteps:\n  a: { agent: x, call: y, callback: { timeout: 7d }, undo: none }\n", nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(read_again(one), hash_of(built));

  workflow bad{"w"};
  bad.step("a").agent("x").call("y").callback(-1s);
  bad.step("b").agent("x").call("y").callback(0s);
  bad.step("c").wait(1s).callback(1h);
  std::vector<std::string> found;
  for (const auto& problem : bad.problems()) found.push_back(problem.step + "/" + problem.field);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"a/callback.timeout", "b/callback.timeout", "c/callback"}));
}

TEST(library_workflow, rules_for_classes_of_faults_are_as_in_yaml) {
  workflow one{"w"};
  one.step("a")
      .agent("x")
      .call("y")
      .retry(retry_rule{"rate_limited"}.attempts(20).backoff(5s, 1, 5s))
      .retry(retry_rule{"http_502"}.on("http_5*"))
      .retry(retry_rule{"busy"}.retry_for(90s).attempts(3));
  const auto yaml = app::parse_workflow("w.yaml", R"(workflow: w
steps:
  a:
    agent: x
    call: y
    retry:
      - { on: rate_limited, attempts: 20, backoff: { first: 5s, factor: 1, max: 5s } }
      - { on: [http_502, "http_5*"] }
      - { on: busy, retry_for: 90s, attempts: 3 }
)",
                                        nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->DebugString(), yaml.definition.DebugString());
  EXPECT_EQ(read_again(one), hash_of(built));

  workflow bad{"w"};
  bad.step("a").agent("x").call("y").retry(retry_rule{"no code"}.attempts(0)).retry(retry_rule{"restored"}.backoff(0s));
  bad.step("b").wait(1s).retry(retry_rule{"busy"});
  std::vector<std::string> found;
  for (const auto& problem : bad.problems()) found.push_back(problem.step + "/" + problem.field);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found,
            (std::vector<std::string>{"a/retry[0].attempts", "a/retry[0].on", "a/retry[1].backoff.first", "a/retry[1].on", "b/retry"}));
}

TEST(library_workflow, what_has_no_effect_in_a_step_without_an_agent_is_named_whatever_its_value) {
  workflow bad{"w"};
  bad.step("a").wait("soon").attempts(3).in_doubt(in_doubt::retry).with("1").undo("z", "null");
  bad.step("b").signal("Yes").on_failure(on_failure::park).on_timeout(on_timeout::go_on);
  bad.step("c").timeout(30s);
  bad.step("d").agent("x").call("y").on_timeout(on_timeout::fail);
  bad.step("e").wait(0s).signal("s").agent("x");
  bad.step("f").wait("90s");
  std::vector<std::string> found;
  for (const auto& one : bad.problems()) found.push_back(one.step + "/" + one.field);
  EXPECT_EQ(found, (std::vector<std::string>{"a/attempts", "a/in_doubt", "a/with", "c/timeout", "d/on_timeout", "e/agent", "e/signal",
                                             "a/undo", "a/wait", "b/signal", "b/timeout", "b/on_failure", "e/wait"}));
}

TEST(library_workflow, an_undo_of_a_failed_step_that_reads_the_step_is_named) {
  workflow bad{"w"};
  bad.step("a").agent("x").call("y").undo(undo_call{"z"}.with(R"("${ .steps.a.id }")").also_if_failed());
  const auto found = bad.problems();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].step + "/" + found[0].field, "a/undo.with");
}

TEST(library_workflow, types_from_generated_code_are_those_of_protocs_set) {
  workflow one{"w"};
  one.step("a").agent("x").call("y").with(R"({"ids": ["${ .input }"]})").types<v1::StatesRequest, v1::StatesReply>();
  const auto built = one.definition();
  ASSERT_TRUE(built.ok()) << built.failure().sentence;
  EXPECT_EQ(built->steps(0).input_type(), "fairlead.v1.StatesRequest");

  // The same through a file, as protoc would have left it beside the workflow.
  const auto place = std::filesystem::path{::testing::TempDir()} / "library_workflow_types";
  std::filesystem::create_directories(place);
  std::ofstream{place / "api.binpb", std::ios::binary} << built->types();
  const auto yaml =
      app::parse_workflow((place / "w.yaml").string(),
                          "workflow: w\ntypes: [api.binpb]\nsteps:\n  a:\n    agent: x\n    call: y\n    with: { ids: [\"${ .input }\"] }\n"
                          "    input_type: fairlead.v1.StatesRequest\n    output_type: fairlead.v1.StatesReply\n",
                          nullptr);
  ASSERT_TRUE(yaml.problems.empty()) << to_text(yaml.problems.front());
  EXPECT_EQ(store::definition_hash(*built), store::definition_hash(yaml.definition));
  std::filesystem::remove_all(place);
}

TEST(library_workflow, a_wrong_field_is_named_by_its_path) {
  workflow one{"w"};
  one.step("a")
      .agent("x")
      .call("y")
      .with(R"({"items": [{"workflow": "order", "prioriti": 1}, {"labels": [{"key": 5}]}]})")
      .input_type<v1::SubmitRequest>();
  std::vector<std::string> found;
  for (const auto& problem : one.problems()) found.push_back(problem.field + ": " + problem.sentence);
  EXPECT_EQ(found, (std::vector<std::string>{"with.items[0].prioriti: fairlead.v1.Submission has no field prioriti; nearest: priority",
                                             "with.items[1].labels[0].key: expected a string, found 5"}));
}

}  // namespace
}  // namespace fairlead
