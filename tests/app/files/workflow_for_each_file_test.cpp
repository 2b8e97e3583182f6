// Steps with `for_each` in workflow files.

#include <gtest/gtest.h>

#include "app/files/workflow_file.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

/// A file whose only step calls an agent and has these lines; they begin on line 6.
workflow_file letters_with(const std::string& lines_of_step) {
  return parse_workflow("mailing.yaml", "workflow: mailing\nsteps:\n  letters:\n    agent: mail\n    call: send\n" + lines_of_step,
                        nullptr);
}

lines problems_of_letters(const std::string& lines_of_step) { return shown(letters_with(lines_of_step).problems); }

std::string for_each_of(const workflow_file& file) {
  EXPECT_EQ(shown(file.problems), lines{});
  return file.definition.steps(0).for_each().ShortDebugString();
}

TEST(workflow_for_each_file, is_read_in_its_short_form_and_as_a_map) {
  EXPECT_EQ(for_each_of(letters_with("    for_each: \"${ .input.all }\"\n")), R"(list_json: "\"${ .input.all }\"" at_once: 10)");
  EXPECT_EQ(for_each_of(letters_with("    for_each: { items: \"${ .input.all }\" }\n")), R"(list_json: "\"${ .input.all }\"" at_once: 10)")
      << "the same";
  EXPECT_EQ(for_each_of(letters_with("    for_each: [ana, { to: \"${ .input.to }\" }, 3]\n")),
            R"(list_json: "[\"ana\",{\"to\":\"${ .input.to }\"},3]" at_once: 10)");
  EXPECT_EQ(for_each_of(letters_with("    for_each:\n      items: [1]\n      at_once: 1000\n      failures: collect\n")),
            R"(list_json: "[1]" at_once: 1000 collect: true)");
  EXPECT_EQ(for_each_of(letters_with("    for_each: { items: [1], at_once: 1, failures: stop }\n")), R"(list_json: "[1]" at_once: 1)");
  const auto plain = letters_with("    for_each: [1]\n");
  EXPECT_EQ(plain.definition.steps(0).kind(), v1::STEP_KIND_CALL);
  EXPECT_TRUE(plain.definition.steps(0).with_json().empty()) << "the item itself is the input";
}

TEST(workflow_for_each_file, carries_out_a_sub_workflow) {
  const auto file =
      parse_workflow("order.yaml",
                     "workflow: order\nsteps:\n  ship:\n    for_each: { items: \"${ .input.parcels }\", at_once: 20 }\n"
                     "    workflow: shipment\n    with: { parcel: \"${ .item }\", order: \"${ .input.id }\" }\n    undo: none\n",
                     nullptr);
  EXPECT_EQ(for_each_of(file), R"(list_json: "\"${ .input.parcels }\"" at_once: 20)");
  EXPECT_EQ(file.definition.steps(0).kind(), v1::STEP_KIND_WORKFLOW);
}

TEST(workflow_for_each_file, reads_the_item_in_with_and_in_the_with_of_the_undo) {
  EXPECT_EQ(problems_of_letters("    for_each: \"${ .input.all }\"\n    with: { to: \"${ .item.to }\", n: \"${ .index }\" }\n"
                                "    undo: { call: recall, with: { id: \"${ .steps.letters.id }\", to: \"${ .item.to }\" } }\n"),
            lines{});
  const std::string known = ", which is known only in `with` and `undo.with` of a step with for_each; ";
  EXPECT_EQ(problems_of_letters("    with: { to: \"${ .item.to }\" }\n"),
            lines{"6:11: steps.letters.with: an expression reads .item" + known + "add for_each to the step"});
  EXPECT_EQ(problems_of_letters("    for_each: \"${ .input.all }\"\n    when: \"${ .index < 3 }\"\n"),
            lines{"7:11: steps.letters.when: an expression reads .index" + known +
                  "read the list itself here, as for_each does; to leave items out, filter the list: ${ [ … | select(…) ] }"});
}

TEST(workflow_for_each_file, shows_what_is_wrong_at_its_place) {
  const std::string expected = "expected an expression that gives a list, such as \"${ .input.items }\", or a list, found ";
  const std::pair<std::string, lines> table[] = {
      {"    for_each: parcels\n", {"6:15: steps.letters.for_each: " + expected + "\"parcels\""}},
      {"    for_each: 7\n", {"6:15: steps.letters.for_each: " + expected + "the number 7"}},
      {"    for_each: { items: true }\n", {"6:24: steps.letters.for_each.items: " + expected + "the truth value true"}},
      {"    for_each: { at_once: 3 }\n",
       {"6:15: steps.letters.for_each.items: this key is missing; expected an expression that gives a list, or a list"}},
      {"    for_each: { items: [1], at_once: 0 }\n",
       {"6:38: steps.letters.for_each.at_once: expected a whole number from 1 to 1000, found the number 0"}},
      {"    for_each: { items: [1], at_once: 1001 }\n",
       {"6:38: steps.letters.for_each.at_once: expected a whole number from 1 to 1000, found the number 1001"}},
      {"    for_each: { items: [1], failures: ignore }\n",
       {"6:39: steps.letters.for_each.failures: expected stop or collect, found \"ignore\""}},
      {"    for_each: { items: [1], atonce: 3 }\n",
       {"6:29: steps.letters.for_each.atonce: this key is not known here; did you mean at_once?"}},
      {"    for_each: []\n",
       {"6:15: steps.letters.for_each.items: the list is empty, so nothing is ever carried out; add items, or remove the step"}},
      {"    for_each: \"${ .steps.gone }\"\n",
       {"6:15: steps.letters.for_each.items: an expression reads step \"gone\", which is not in this workflow"}},
      {"    for_each: [1]\n    pivot: true\n",
       {"7:12: steps.letters.pivot: each item would be a pivot of its own; put the pivot into a step of its own"}},
      {"    for_each: [1]\n    repeat: { until: \"${ .input.a }\" }\n",
       {"7:13: steps.letters.repeat: a step with for_each is not repeated; remove repeat, or put the repeated step into a sub-workflow"}},
      {"    for_each: [1]\n    finally: true\n",
       {"7:14: steps.letters.finally: a step with for_each cannot be a step of the end; remove finally, or let one call at the end do it "
        "for "
        "the whole list"}},
      {"    for_each: [1]\n    on_failure: cool_off\n",
       {"7:17: steps.letters.on_failure: a step with for_each does not cool off; set on_failure: undo, park, fail or continue; retry_for "
        "is "
        "for each item"}},
  };
  for (const auto& [text, found] : table) EXPECT_EQ(problems_of_letters(text), found) << text;
}

TEST(workflow_for_each_file, needs_a_call_or_a_sub_workflow) {
  const auto problems = [](const std::string& step) {
    return shown(parse_workflow("w.yaml", "workflow: w\nsteps:\n  a:\n    for_each: [1]\n" + step, nullptr).problems);
  };
  EXPECT_EQ(problems("    with: 1\n"), lines{"4:5: steps.a.for_each: for_each needs a call or a sub-workflow; add agent and call, or "
                                             "workflow; jq's map computes a list of values"});
  EXPECT_EQ(problems("    wait: 1h\n"),
            lines{"4:5: steps.a.for_each: a step that waits does so once: for_each needs a call or a "
                  "sub-workflow; remove for_each, or put the step into a sub-workflow that for_each carries out"});
  EXPECT_EQ(problems("    signal: s\n    timeout: 1h\n").size(), 1U);
}

}  // namespace
}  // namespace fairlead::app
