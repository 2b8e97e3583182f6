#pragma once
// Workflows of config/workflows in C++.

#include <chrono>
#include <fairlead/workflow.hpp>
#include <string>

namespace fairlead {

inline workflow courier() {
  using namespace std::chrono_literals;
  workflow out{"courier"};
  out.timeout(4h).on_failure(on_failure::undo);
  out.output(R"({"booked": "${ .steps.booked }", "label": "${ .steps.label.id }"})");
  for (const auto* name : {"green", "swift"})
    out.step(name)
        .agent(std::string{name} + "_couriers")
        .call("book")
        .with(R"({"pickup": "${ .task.id }", "address": "${ .input.address }"})")
        .retry_for(20min)
        .on_failure(on_failure::go_on)
        .undo("cancel", R"({"pickup": "${ .task.id }"})");
  out.step("booked").needs("green", "swift").join_any().with(R"("${ .steps.green // .steps.swift }")");
  out.step("label")
      .needs("booked")
      .agent("depot")
      .call("print_label")
      .with(R"({"pickup": "${ .task.id }", "van": "${ .steps.booked.van }"})")
      .undo("void_label", R"({"pickup": "${ .task.id }"})");
  out.step("hand_over")
      .needs("label")
      .agent("depot")
      .call("hand_over")
      .with(R"({"pickup": "${ .task.id }", "label": "${ .steps.label.id }"})")
      .undo_none()
      .pivot();
  return out;
}

inline workflow import_prices() {
  using namespace std::chrono_literals;
  workflow out{"import"};
  out.timeout(2h).on_failure(on_failure::undo);
  out.step("lock")
      .agent("suppliers")
      .call("lock_account")
      .with(R"({"supplier": "${ .input.supplier }", "by": "${ .task.id }"})")
      .undo_none();
  out.step("load")
      .needs("lock")
      .agent("prices")
      .call("load")
      .with(R"({"supplier": "${ .input.supplier }", "date": "${ .input.date }", "import": "${ .task.id }"})")
      .timeout(10min)
      .undo("discard", R"({"import": "${ .task.id }"})");
  out.step("publish")
      .needs("load")
      .agent("prices")
      .call("publish")
      .with(R"({"import": "${ .task.id }", "rows": "${ .steps.load.rows }"})")
      .undo("restore_former", R"({"import": "${ .task.id }"})");
  out.step("unlock")
      .finally()
      .agent("suppliers")
      .call("unlock_account")
      .with(R"({"supplier": "${ .input.supplier }", "by": "${ .task.id }"})");
  out.step("tell").finally_after_failure().agent("mail").call("send").with(
      R"({"to": "buyers", "about": "import_failed", "supplier": "${ .input.supplier }", "end": "${ .task.end }", "why": "${ .errors }"})");
  return out;
}

}  // namespace fairlead
