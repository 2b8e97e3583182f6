#include <gtest/gtest.h>

#include <algorithm>

#include "app/cli/graph/graph.hpp"
#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

v1::WorkflowDefinition read(const std::string& text) {
  auto file = parse_workflow("w.yaml", text, nullptr);
  EXPECT_EQ(shown(file.problems), lines{});
  return file.definition;
}

const std::string travel = R"(workflow: travel
on_failure: undo
steps:
  tickets: { needs: charge, agent: mail, call: send, undo: none, pivot: true }
  price: { with: { cents: 5 } }
  flight: { agent: flights, call: book, undo: { call: cancel } }
  car: { when: "${ .input.car }", agent: cars, call: book, undo: { call: cancel }, on_failure: continue }
  approval: { needs: [flight, car, price], signal: approve, timeout: 7d, on_timeout: continue }
  pause: { needs: flight, wait: 10m }
  charge:
    needs: approval
    agent: payment
    call: charge
    callback: { timeout: 1d }
    undo: { call: refund }
  ask:
    needs: flight
    agent: bank
    call: state
    repeat: { until: "${ .steps.ask.done }" }
    undo: none
  tell: { needs: tickets, agent: mail, call: tell, undo: none, on_failure: park }
)";

TEST(workflow_graph, lists_the_steps_level_by_level) {
  EXPECT_EQ(graph_text(read(travel)), R"(workflow travel: 9 steps in 5 levels

LEVEL  STEP      DOES            NEEDS                MARKS
1      price     value
       flight    flights.book                         undo cancel
       car       cars.book                            when, on_failure continue, undo cancel
2      approval  signal approve  flight, car, price   on_timeout continue
       pause     wait 10m        flight
       ask       bank.state      flight               repeat
3      charge    payment.charge  approval             callback, undo refund
4      tickets   mail.send       charge (pause, ask)  pivot
5      tell      mail.tell       tickets
)");
}

TEST(workflow_graph, names_the_workflow_of_a_step) {
  const auto definition = read(R"(workflow: w
on_failure: undo
steps:
  ship: { workflow: shipment }
  tell: { needs: ship, workflow: letter, on_failure: continue, undo: none }
)");
  EXPECT_EQ(graph_text(definition), R"(workflow w: 2 steps in 2 levels

LEVEL  STEP  DOES               NEEDS  MARKS
1      ship  workflow shipment
2      tell  workflow letter    ship   on_failure continue, undo none
)");
  const auto dot = graph_dot(definition);
  EXPECT_NE(dot.find(R"("ship" [label="ship\nworkflow shipment", shape=component];)"), std::string::npos) << dot;
}

TEST(workflow_graph, says_what_is_carried_out_for_each_item) {
  const auto definition = read(R"(workflow: w
steps:
  letters: { for_each: "${ .input.all }", agent: mail, call: send, undo: { call: recall, with: "${ .item }" } }
  ship: { needs: letters, for_each: { items: "${ .input.parcels }", at_once: 20, failures: collect }, workflow: shipment }
)");
  EXPECT_EQ(graph_text(definition), R"(workflow w: 2 steps in 2 levels

LEVEL  STEP     DOES               NEEDS    MARKS
1      letters  mail.send                   for each item, 10 at once, undo recall
2      ship     workflow shipment  letters  for each item, 20 at once, failures collect
)");
  const auto dot = graph_dot(definition);
  EXPECT_NE(dot.find(R"("letters" [label="letters\nmail.send\nfor each item, 10 at once\nundo recall", shape=box];)"), std::string::npos)
      << dot;
}

v1::WorkflowDefinition with_end() {
  auto out = read(R"(workflow: w
steps:
  a: { agent: x, call: y }
  b: { agent: x, call: y }
  c: { needs: [a, b], agent: x, call: y }
  d: { needs: [a, b, c], agent: x, call: y }
  unlock: { agent: lock, call: release }
  log: { needs: unlock, agent: log, call: write }
  tell: { needs: log, agent: mail, call: send }
)");
  out.mutable_steps(2)->set_join(1);
  out.mutable_steps(3)->set_join(2);
  for (int i = 4; i < 6; ++i) out.mutable_steps(i)->set_finally(v1::FINALLY_ALWAYS);
  out.mutable_steps(6)->set_finally(v1::FINALLY_AFTER_FAILURE);
  return out;
}

TEST(workflow_graph, shows_joins_and_the_steps_of_the_end) {
  EXPECT_EQ(graph_text(with_end()), R"(workflow w: 7 steps in 3 levels

LEVEL          STEP    DOES          NEEDS         MARKS
1              a       x.y                         no undo
               b       x.y                         no undo
2              c       x.y           any of a, b   no undo
3              d       x.y           2 of a, b, c  no undo
end            unlock  lock.release                finally
end 2          log     log.write     unlock        finally
after failure  tell    mail.send     log           finally after_failure
)");
}

TEST(workflow_graph, is_a_graph_for_graphviz) {
  EXPECT_EQ(graph_dot(read(R"(workflow: w
steps:
  one: { agent: x, call: y, undo: { call: z } }
  two: { when: "${ .input.b }", needs: one, agent: x, call: y }
  other: { wait: 5m }
  last: { needs: two, agent: x, call: y, pivot: true }
)")),
            R"(digraph "w" {
  rankdir=LR;
  node [fontname="sans-serif"];
  edge [fontname="sans-serif"];
  "one" [label="one\nx.y\nundo z", shape=box];
  "two" [label="two\nx.y\nwhen\nno undo", shape=box, style=dashed];
  "other" [label="other\nwait 5m", shape=ellipse];
  "last" [label="last\nx.y\npivot\nno undo", shape=box, peripheries=2];
  "one" -> "two";
  "two" -> "last";
  "other" -> "last" [style=dotted];
}
)");
  const auto dot = graph_dot(with_end());
  EXPECT_NE(dot.find("  subgraph cluster_end {\n    label=\"at the end\";\n    \"unlock\" ["), std::string::npos) << dot;
  EXPECT_NE(dot.find("  subgraph cluster_after_failure {\n    label=\"after a failure\";\n    \"tell\" ["), std::string::npos) << dot;
  EXPECT_NE(dot.find("  \"a\" -> \"c\" [style=dashed, label=\"any of 2\"];\n"), std::string::npos) << dot;
  EXPECT_NE(dot.find("  \"c\" -> \"d\" [style=dashed, label=\"2 of 3\"];\n"), std::string::npos) << dot;
}

TEST(workflow_graph, quotes_what_a_stored_definition_may_hold) {
  v1::WorkflowDefinition odd;
  odd.set_name("a\"b\n");
  auto& step = *odd.add_steps();
  step.set_name("x\\");
  step.set_kind(v1::STEP_KIND_WAIT);
  step.set_with_json("7");
  EXPECT_EQ(graph_dot(odd).substr(0, 16), "digraph \"a\\\"b?\" ");
  EXPECT_NE(graph_dot(odd).find("  \"x\\\\\" [label=\"x\\\\\\nwait \""), std::string::npos) << graph_dot(odd);
}

TEST(workflow_graph, takes_a_definition_whose_steps_wait_for_each_other) {
  v1::WorkflowDefinition circle;
  for (const auto* name : {"a", "b"}) circle.add_steps()->set_name(name);
  circle.mutable_steps(0)->add_needs("b");
  circle.mutable_steps(1)->add_needs("a");
  circle.mutable_steps(1)->set_pivot(true);
  EXPECT_NE(graph_text(circle).find("2 steps in 1 level\n"), std::string::npos) << graph_text(circle);
  EXPECT_NE(graph_dot(circle).find("\"b\" -> \"a\";"), std::string::npos);
  EXPECT_NE(graph_text({}).find("0 steps in 0 levels\n"), std::string::npos);
}

TEST(workflow_graph, of_fifty_steps_has_a_line_for_each) {
  std::string text = "workflow: big\nsteps:\n";
  for (int i = 0; i < 50; ++i)
    text += "  s" + std::to_string(i) + ": { agent: x, call: y" + (i < 5 ? "" : ", needs: [s" + std::to_string(i - 5) + "]") + " }\n";
  const auto shown = graph_text(read(text));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 53);
  EXPECT_NE(shown.find("50 steps in 10 levels"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::app
