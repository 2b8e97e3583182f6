#pragma once
// config/workflows/courier.yaml in C++.

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

}  // namespace fairlead
