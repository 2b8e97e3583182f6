// Flows with a planted flaw of each kind are found, sound ones are clean, and the command says so by its exit code.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cli/parse.hpp"
#include "app/simulate/campaign.hpp"
#include "app/simulate/command.hpp"
#include "app/simulate/report.hpp"
#include "tests/app/problems.hpp"
#include "tests/app/simulate/simulated_workflows.hpp"

namespace fairlead::app::simulate {
namespace {

constexpr const char* pay = R"(workflow: pay
on_failure: undo
steps:
  charge:
    agent: bank
    call: charge
    with: { order: "${ .task.id }" }
    timeout: 5s
    attempts: 8
    backoff: { first: 1s, factor: 2, max: 10s }
    undo: { call: refund, with: { order: "${ .task.id }" }, timeout: 5s }
  ship:
    needs: charge
    agent: depot
    call: ship
    timeout: 5s
    attempts: 3
    undo: none
    pivot: true
)";

TEST_F(simulated_workflows, are_clean_where_services_honour_keys) {
  const auto all = run(pay);
  EXPECT_EQ(found(all), names{});
  for (const auto* word : {"completed", "undone", "failed"}) EXPECT_EQ(ends(all).count(word), 1U) << word;
  EXPECT_EQ(ends(all).count("stalled"), 0U);
  EXPECT_EQ(all.tasks, 400U);
}

TEST_F(simulated_workflows, perform_twice_where_a_service_does_not_honour_keys) {
  wanted_simulation wanted;
  wanted.without_keys = {"bank.charge"};
  const auto all = run(pay, wanted);
  const auto* twice = find(all, finding_kind::twice);
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->what.step, "charge");
  EXPECT_EQ(twice->sentence,
            "The effect of step charge of workflow pay can happen twice; bank.charge does not honour Idempotency-Key, no look-up.");
  EXPECT_NE(twice->remedy.find("let the service of bank.charge honour Idempotency-Key"), std::string::npos) << twice->remedy;
  EXPECT_EQ(twice->shortest.troubles.size(), 1U) << "one lost answer is enough";
  EXPECT_TRUE(std::any_of(twice->shortest.lines.begin(), twice->shortest.lines.end(),
                          [](const auto& line) { return line.second.find("PERFORMED ONCE MORE") != std::string::npos; }));
}

TEST_F(simulated_workflows, perform_once_where_a_step_says_in_doubt_park) {
  wanted_simulation wanted;
  wanted.without_keys = {"bank.charge"};
  const auto all = run(replaced(pay, "    attempts: 8\n", "    attempts: 8\n    in_doubt: park\n"), wanted);
  EXPECT_EQ(find(all, finding_kind::twice), nullptr);
}

TEST_F(simulated_workflows, undo_twice_where_the_undo_does_not_honour_keys) {
  wanted_simulation wanted;
  wanted.without_keys = {"bank.refund"};
  const auto all = run(pay, wanted);
  const auto* twice = find(all, finding_kind::undone_twice);
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->what.call, "refund");
}

TEST_F(simulated_workflows, leave_an_effect_where_a_perform_comes_after_its_undo) {
  wanted_simulation wanted;
  wanted.without_keys = {"bank.charge"};
  const auto all = run(pay, wanted, 1'500);
  const auto* standing = find(all, finding_kind::standing);
  ASSERT_NE(standing, nullptr);
  EXPECT_EQ(standing->what.step, "charge");
}

TEST_F(simulated_workflows, need_an_operator_where_keys_are_forgotten_before_the_last_retry) {
  const auto all = run(pay, with_node(", idempotency: { valid_for: 3s }"));
  const auto* expired = find(all, finding_kind::key_expired);
  ASSERT_NE(expired, nullptr);
  EXPECT_NE(expired->sentence.find("bank.charge honours its key (3s)"), std::string::npos) << expired->sentence;
  EXPECT_NE(expired->remedy.find("declare a look-up for bank.charge"), std::string::npos) << expired->remedy;
  EXPECT_EQ(
      found(run(pay, with_node(", idempotency: { valid_for: 3s }, lookup: { path: \"/charges/{perform_key}\", never_happened: [410] }"))),
      names{})
      << "the remedy helps";
}

TEST_F(simulated_workflows, need_an_operator_where_an_undo_reads_what_nobody_knows) {
  const auto reads = replaced(pay, "undo: { call: refund, with: { order: \"${ .task.id }\" }",
                              "undo: { call: refund, with: { id: \"${ .steps.charge.id }\" }");
  const auto all = run(reads, with_node(""));
  const auto* unknown = find(all, finding_kind::undo_unknown);
  ASSERT_NE(unknown, nullptr);
  EXPECT_EQ(unknown->what.step, "charge");
  EXPECT_EQ(found(run(reads, with_node(", lookup: { path: \"/charges/{perform_key}\", never_happened: [410] }"))), names{})
      << "the remedy helps";
}

TEST_F(simulated_workflows, name_what_undo_none_leaves) {
  const auto all = run(replaced(pay, "undo: { call: refund, with: { order: \"${ .task.id }\" }, timeout: 5s }", "undo: none"));
  EXPECT_EQ(found(all), names{});
  EXPECT_EQ(all.left_as_said, lines{"charge"});
}

TEST_F(simulated_workflows, name_the_sub_workflow_that_undo_none_leaves) {
  wanted_simulation wanted;
  const auto paid = replaced(pay, "    pivot: true\n", "");
  wanted.with = {write("pay.yaml", paid)};
  const auto all = run(R"(workflow: sell
on_failure: undo
steps:
  send: { workflow: pay, undo: none }
  tell: { needs: send, agent: a, call: tell, attempts: 1, in_doubt: fail, undo: none }
)",
                       wanted);
  EXPECT_EQ(found(all), names{});
  EXPECT_EQ(std::count(all.left_as_said.begin(), all.left_as_said.end(), "send"), 1);
}

TEST_F(simulated_workflows, are_judged_with_all_the_tasks_that_they_begin) {
  std::string items;
  for (int i = 0; i < 70; ++i) items += (i == 0 ? "" : ", ") + std::to_string(i);
  wanted_simulation wanted;
  wanted.with = {write("pay.yaml", pay)};
  wanted.without_keys = {"bank.charge"};
  const auto all = run("workflow: many\nsteps:\n  each: { for_each: { items: [" + items +
                           "], at_once: 70, failures: collect }, agent: depot, call: send, with: { n: \"${ .item }\" }, undo: none }\n"
                           "  last: { needs: each, workflow: pay }\n",
                       wanted, 200);
  EXPECT_EQ(found(all).count("twice charge"), 1U) << "its task is the 72nd";
}

TEST_F(simulated_workflows, tell_that_a_signal_did_not_come) {
  const auto all = run(R"(workflow: wait
on_failure: undo
steps:
  ask: { agent: a, call: ask, undo: none }
  approve: { needs: ask, signal: ok, timeout: 2d }
)");
  for (const auto& one : all.endings) {
    if (one.word == "completed") continue;
    EXPECT_FALSE(one.shortest.troubles.empty()) << one.word << ": nothing goes wrong";
  }
}

TEST_F(simulated_workflows, take_no_output_from_answers_that_do_not_come) {
  const std::string flow = R"(workflow: sign
steps:
  draw: { agent: a, call: draw, undo: none }
  sign: { needs: draw, agent: a, call: ask, with: { id: "${ .steps.draw.id }" }, callback: { timeout: 1d }, undo: none }
  tell: { needs: sign, agent: a, call: tell, with: { by: "${ .steps.sign.by }" }, undo: none }
)";
  write("sign.yaml", flow);
  wanted_simulation wanted;
  wanted.values = write("sign.test.yaml", R"(test: sign.yaml
agents: { a.tell: {} }
cases:
  - name: neither an answer nor a callback
    agents:
      draw: [{ no_answer: true }, { output: { id: 7 } }]
      sign: [{ output: { accepted: true } }, { callback: { output: { by: ann } } }]
    expect: { end: completed }
)");
  const auto on = sound(flow, wanted);
  const auto& values = on.values.at("sign");
  const auto& steps = on.workflows.front().steps();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(nlohmann::json::parse(values.output(steps[0], dice{seed})), (nlohmann::json{{"id", 7}}));
    EXPECT_EQ(nlohmann::json::parse(values.output(steps[1], dice{seed})), (nlohmann::json{{"by", "ann"}}));
  }
}

TEST_F(simulated_workflows, take_no_values_from_a_test_of_another_workflow) {
  wanted_simulation wanted;
  wanted.values = write("order.test.yaml", "test: order.yaml\ncases:\n  - { name: one, expect: { end: parked } }\n");
  const auto refused = made(pay, wanted);
  ASSERT_EQ(refused.problems.size(), 1U);
  EXPECT_EQ(refused.problems[0].sentence, "it tests workflow order, and workflow pay is simulated");
}

TEST_F(simulated_workflows, with_signals_callbacks_and_values_end_in_all_their_ways) {
  const auto all = run(R"(workflow: sign
on_failure: undo
steps:
  draw: { agent: a, call: draw, undo: { call: discard } }
  sign: { needs: draw, agent: a, call: ask, with: { id: "${ .steps.draw.id }" }, callback: { timeout: 1d }, in_doubt: fail, undo: { call: withdraw } }
  approve: { needs: sign, signal: ok, timeout: 2d }
  tell: { needs: approve, agent: b, call: tell, with: { who: "${ .input.who }" }, undo: none }
)");
  EXPECT_EQ(found(all), names{});
  for (const auto* word : {"completed", "undone"}) EXPECT_EQ(ends(all).count(word), 1U) << word;
  EXPECT_EQ(ends(all).count("stalled"), 0U);
}

constexpr const char* sell = R"(workflow: sell
on_failure: undo
steps:
  pay: { agent: bank, call: charge, undo: { call: refund } }
  send: { needs: pay, workflow: pay }
)";

TEST_F(simulated_workflows, begin_other_workflows_where_their_files_are_there) {
  wanted_simulation wanted;
  const auto alone = made(sell, wanted);
  ASSERT_EQ(alone.notices.size(), 1U);
  EXPECT_NE(alone.notices[0].find("begins workflow pay, which is not there"), std::string::npos) << alone.notices[0];
  EXPECT_EQ(ends(run(sell, wanted, 50)).count("completed"), 0U) << "no_workflow";
  wanted.with = {write("pay.yaml", pay)};
  const auto both = run(sell, wanted);
  EXPECT_EQ(found(both), names{});
  EXPECT_EQ(ends(both).count("completed"), 1U);
  EXPECT_EQ(ends(both).count("stalled"), 0U);
  EXPECT_GT(both.tasks, both.seeds) << "children are tasks";
  wanted.without_keys = {"bank.refund"};
  EXPECT_EQ(found(run(sell, wanted)).count("undone_twice pay"), 1U);
}

TEST_F(simulated_workflows, that_stall_are_a_finding) {
  auto on = sound(pay);
  on.most_happenings = 5;
  const auto all = run_campaign(on, {20, 1, false});
  EXPECT_EQ(ends(all), names{"stalled"});
  const auto* stalled = find(all, finding_kind::stalled);
  ASSERT_NE(stalled, nullptr);
  EXPECT_EQ(stalled->runs, 20U);
  EXPECT_EQ(stalled->sentence,
            "A task of workflow pay can stay without an end, and nothing tells an operator; the endings say where it stops.");
  EXPECT_NE(report_text({"pay.yaml", all, {}, {}, false}).find("  stalled: A task of workflow pay"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(report_json({"pay.yaml", all, {}, {}, false}))["ok"], false);
}

TEST_F(simulated_workflows, keep_their_attempts_by_heartbeats) {
  // Services take up to 300ms, so without heartbeats every fourth attempt would be lost, and the step has only one.
  const auto on = sound(R"(workflow: slow
on_failure: undo
steps:
  work: { agent: a, call: work, timeout: 10s, heartbeat: 100ms, attempts: 1, in_doubt: fail, undo: { call: clean } }
)");
  int calm = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto once = world{on, seed, nullptr, false}.run();
    EXPECT_NE(once.word, "stalled") << seed;
    if (!once.troubles.empty()) continue;
    ++calm;
    EXPECT_EQ(once.word, "completed") << seed;
  }
  EXPECT_GT(calm, 100);
}

TEST_F(simulated_workflows, take_inputs_and_outputs_from_a_test_file) {
  wanted_simulation wanted;
  wanted.values = write("order.test.yaml", R"(test: order.yaml
cases:
  - name: one
    input: { amount: 4711 }
    agents:
      reserve: { output: { shelf: 815 } }
      charge: { output: 1 }
    expect: { end: completed }
)");
  const auto on = sound(order_workflow, wanted);
  const auto& values = on.values.at("order");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(nlohmann::json::parse(values.input(dice{seed})), (nlohmann::json{{"amount", 4711}}));
    EXPECT_EQ(nlohmann::json::parse(values.output(on.workflows.front().steps(0), dice{seed})), (nlohmann::json{{"shelf", 815}}));
  }
  std::uint64_t calm = 1;
  while (calm < 50 && !world{on, calm, nullptr, false}.run().troubles.empty()) ++calm;
  const auto once = world{on, calm, nullptr, true}.run();
  ASSERT_FALSE(once.story.empty());
  EXPECT_NE(once.story.front().second.find("4711"), std::string::npos) << once.story.front().second;
  EXPECT_EQ(nlohmann::json::parse(once.tasks.front().steps(0).output().json()), (nlohmann::json{{"shelf", 815}}));

  wanted.values = folder_ + "/none.test.yaml";
  const auto refused = made(order_workflow, wanted);
  ASSERT_EQ(refused.problems.size(), 1U);
  EXPECT_NE(to_text(refused.problems[0]).find("none.test.yaml"), std::string::npos) << to_text(refused.problems[0]);
}

TEST_F(simulated_workflows, are_the_same_with_the_same_seed) {
  const auto on = sound(pay);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto once = world{on, seed, nullptr, true}.run(), again = world{on, seed, nullptr, true}.run();
    EXPECT_EQ(once.story, again.story) << seed;
    EXPECT_EQ(once.word, again.word) << seed;
  }
}

TEST_F(simulated_workflows, are_refused_with_their_problems) {
  const auto without_undo = replaced(pay, "    undo: { call: refund, with: { order: \"${ .task.id }\" }, timeout: 5s }\n", "");
  EXPECT_FALSE(made(without_undo).problems.empty()) << "on_failure: undo, and a step does not say how";
  wanted_simulation unknown;
  unknown.without_keys = {"bank.pay"};
  ASSERT_EQ(made(pay, unknown).problems.size(), 1U);
  EXPECT_EQ(made(pay, unknown).problems[0].sentence, "bank.pay is no call of the workflow");
  wanted_simulation no_json;
  no_json.input = "{";
  EXPECT_EQ(made(pay, no_json).problems.size(), 1U);
}

TEST_F(simulated_workflows, say_what_no_node_file_declares) {
  EXPECT_EQ(made(pay).undeclared, (lines{"bank.charge", "bank.refund", "depot.ship"}));
  EXPECT_EQ(made(pay, with_node("")).undeclared, lines{});
}

TEST(simulated_samples, have_what_the_workflow_reads) {
  v1::WorkflowDefinition of;
  auto& step = *of.add_steps();
  step.set_name("a");
  step.set_agent("x");
  step.set_call("y");
  step.set_with_json(R"({"first":"${ .input.list[:2] }","name":"${ .input.who.name }"})");
  auto& next = *of.add_steps();
  next.set_name("b");
  next.set_when_json(R"("${ .steps.a.state == \"booked\" }")");
  const samples values{of};
  const auto input = nlohmann::json::parse(values.input(dice{1}));
  EXPECT_TRUE(input["list"].is_array());
  EXPECT_EQ(input["who"]["name"], "x");
  EXPECT_EQ(nlohmann::json::parse(values.output(step, dice{1}))["state"], "booked");
}

// ---- the command ----

struct heard final : command_output {
  std::string said, complaints;
  bool say(const std::string& text) override { return said += text, true; }
  void complain(const std::string& text) override { complaints += text; }
};

struct workflow_simulate_command : workflow_test_folder {
  int run(std::vector<std::string> words) {
    CLI::App app;
    app.require_subcommand(1);
    cli_context context;
    add_workflow_simulate(*app.add_subcommand("workflow", ""), context);
    words.insert(words.begin(), {"workflow", "simulate"});
    output = {};
    const speak_to here{output};
    return run_words(app, context, words, "fairlead ", " --help");
  }
  heard output;
};

TEST_F(workflow_simulate_command, ends_with_0_1_or_2) {
  const auto path = write("pay.yaml", pay);
  EXPECT_EQ(run({path, "--seeds", "100"}), exit_ok) << output.said << output.complaints;
  EXPECT_NE(output.said.find("No effect happened twice, and none was left where a task was undone.\n"), std::string::npos) << output.said;
  EXPECT_NE(output.said.find("Nothing is declared about bank.charge, bank.refund, depot.ship."), std::string::npos) << output.said;
  EXPECT_NE(output.said.find("  bank.charge: twice (step charge, seed "), std::string::npos) << "what it rests on: " << output.said;
  EXPECT_EQ(run({path, "--seeds", "100", "--without-keys", "bank.charge"}), exit_failed);
  EXPECT_NE(output.said.find("  twice: The effect of step charge"), std::string::npos) << output.said;
  EXPECT_EQ(run({write("bad.yaml", "workflow: bad\nsteps: {}\n")}), exit_usage);
  EXPECT_EQ(run({path, "--seeds", "0"}), exit_usage);
  EXPECT_EQ(run({path, "--seed", "1", "--from", "2"}), exit_usage);
  EXPECT_EQ(run({folder_ + "/none.yaml"}), exit_usage);
}

TEST_F(workflow_simulate_command, ends_with_2_where_the_input_does_not_fit) {
  const auto path = write("pick.yaml",
                          "workflow: pick\ninput: { type: object, required: [code, who] }\nsteps:\n"
                          "  a: { agent: x, call: pick, with: { code: \"${ .input.code }\" } }\n");
  EXPECT_EQ(run({path, "--seeds", "5", "--input", "{}"}), exit_usage) << output.said;
  EXPECT_NE(output.complaints.find("give an input that a node takes: --input JSON"), std::string::npos) << output.complaints;
  EXPECT_EQ(run({path, "--seeds", "5"}), exit_ok) << output.complaints;
}

TEST_F(workflow_simulate_command, shows_the_same_as_json_each_time) {
  const auto path = write("pay.yaml", pay);
  EXPECT_EQ(run({path, "--seeds", "50", "--json", "--without-keys", "bank.charge"}), exit_failed) << output.complaints;
  const auto once = output.said;
  const auto read = nlohmann::json::parse(once);
  EXPECT_EQ(read["ok"], false);
  EXPECT_EQ(read["seeds"], 50);
  EXPECT_EQ(read["findings"][0]["kind"], "twice");
  EXPECT_FALSE(read["findings"][0]["story"].empty());
  run({path, "--seeds", "50", "--json", "--without-keys", "bank.charge"});
  EXPECT_EQ(output.said, once);
}

TEST_F(workflow_simulate_command, tells_one_run) {
  const auto path = write("pay.yaml", pay);
  EXPECT_EQ(run({path, "--seed", "3"}), exit_ok) << output.complaints;
  EXPECT_EQ(output.said.rfind("workflow pay, seed 3: ", 0), 0U) << output.said;
  EXPECT_NE(output.said.find("bank.charge for step charge: PERFORMED under key task/charge/perform/0"), std::string::npos) << output.said;
}

constexpr const char* parcels = R"(workflow: parcels
on_failure: undo
steps:
  pack: { agent: depot, call: pack, undo: none }
  send:
    needs: pack
    for_each: { items: "${ .steps.pack.parcels }", at_once: 2, failures: collect }
    agent: depot
    call: send
    with: { to: "${ .item.address.city }", number: "${ .index }" }
    timeout: 5s
    attempts: 3
    backoff: { first: 1s, factor: 2 }
    undo: { call: fetch, with: { to: "${ .item.address.city }" } }
  tell: { needs: send, agent: mail, call: tell, with: { sent: "${ [.steps.send[] | select(.status == \"completed\")] | length }" }, undo: none }
)";

TEST_F(simulated_workflows, carry_out_each_item_of_a_list_that_is_made_for_them) {
  const auto all = run(parcels);
  EXPECT_EQ(found(all), names{});
  EXPECT_GT(all.tasks, 800U) << "items are tasks";
  EXPECT_EQ(ends(all).count("completed"), 1U);
  EXPECT_EQ(ends(all).count("undone"), 1U);
  for (const auto& one : all.endings) EXPECT_EQ(one.why.find("for_each"), std::string::npos) << one.why;
}

TEST_F(simulated_workflows, make_lists_where_the_input_is_to_have_them) {
  const std::string steps =
      "steps: { send: { for_each: \"${ .input.order.parcels }\", agent: depot, call: send, with: { to: \"${ .item.city }\" }, undo: none } "
      "}\n";
  const auto played = [&](const std::string& head) {
    const auto on = sound("workflow: parcels\n" + head + steps);
    std::set<std::size_t> sizes;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const auto input = nlohmann::json::parse(on.values.at("parcels").input(dice{seed}));
      const auto& list = input["order"]["parcels"];
      EXPECT_TRUE(list.is_array()) << input;
      for (const auto& one : list) EXPECT_TRUE(one["city"].is_string()) << input;
      sizes.insert(list.size());
    }
    return sizes;
  };
  using sizes = std::set<std::size_t>;
  EXPECT_EQ(played(""), (sizes{0, 1, 2, 3}));
  EXPECT_EQ(played("input: { type: object, required: [order] }\n"), (sizes{0, 1, 2, 3})) << "the schema says nothing of it";
  EXPECT_EQ(played("input: { properties: { order: { properties: { parcels: { type: array, minItems: 2, maxItems: 2, items: { type: "
                   "object, properties: { city: { type: string } } } } } } } }\n"),
            (sizes{2}));
}

TEST_F(simulated_workflows, name_an_item_whose_effect_happens_twice) {
  wanted_simulation wanted;
  wanted.without_keys = {"depot.send"};
  const auto all = run(parcels, wanted);
  const auto* twice = find(all, finding_kind::twice);
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->what.step, "send");
  EXPECT_EQ(twice->sentence,
            "The effect of an item of step send of workflow parcels can happen twice; depot.send does not honour Idempotency-Key, no "
            "look-up.");
  EXPECT_TRUE(std::any_of(twice->shortest.lines.begin(), twice->shortest.lines.end(), [](const auto& line) {
    return line.second.find("depot.send for step send of task/send~1.") != std::string::npos;
  }));
}

}  // namespace
}  // namespace fairlead::app::simulate
