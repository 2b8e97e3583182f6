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

inline workflow firmware() {
  using namespace std::chrono_literals;
  workflow out{"firmware"};
  out.timeout(48h).on_failure(on_failure::park);
  out.input_schema(R"({"type": "object", "required": ["site", "version", "report_to"],
    "properties": {"site": {"type": "string"}, "version": {"type": "string"}, "report_to": {"type": "string"}}})");
  out.output(R"-({"updated": "${ [.steps.update[] | select(.status == \"completed\")] | length }",
    "not_updated": "${ .steps.not_updated }"})-");
  out.step("find").agent("devices").call("list").with(R"({"site": "${ .input.site }"})").undo_none();
  out.step("update")
      .needs("find")
      .for_each("${ .steps.find.devices }", 20, item_failures::collect)
      .agent("devices")
      .call("install")
      .with(R"({"version": "${ .input.version }", "devices": ["${ .item.id }"]})")
      .timeout(15min)
      .retry_for(4h)
      .in_doubt(in_doubt::retry)
      .undo(undo_call{"install"}
                .with(R"({"version": "${ .item.version }", "devices": ["${ .item.id }"]})")
                .timeout(15min)
                .retry_for(24h)
                .also_if_failed());
  out.step("not_updated")
      .needs("update")
      .with(R"-("${ [.steps.find.devices, .steps.update] | transpose | map(select(.[1].status == \"failed\") | )-"
            R"-({ id: .[0].id, why: .[1].error.message }) }")-");
  out.step("report")
      .needs("not_updated")
      .agent("mail")
      .call("send")
      .with(
          R"({"to": "${ .input.report_to }", "about": "firmware", "site": "${ .input.site }",
              "devices": "${ .steps.find.devices | length }", "not_updated": "${ .steps.not_updated }"})")
      .on_failure(on_failure::go_on)
      .undo_none();
  return out;
}

inline workflow sale() {
  using namespace std::chrono_literals;
  workflow out{"sale"};
  out.on_failure(on_failure::undo);
  out.input_schema(R"({"type": "object", "required": ["items", "amount_cents", "address", "customer"],
    "properties": {"items": {"type": "array", "minItems": 1}, "amount_cents": {"type": "integer", "minimum": 1},
      "address": {"type": "string"}, "customer": {"type": "string"}}})");
  out.output(R"({"tracking": "${ .steps.ship.tracking }"})");
  out.step("reserve")
      .agent("inventory")
      .call("reserve")
      .with(R"({"order": "${ .task.id }", "items": "${ .input.items }"})")
      .undo("release", R"({"order": "${ .task.id }"})");
  out.step("charge")
      .needs("reserve")
      .agent("payment")
      .call("charge")
      .with(R"({"order": "${ .task.id }", "amount_cents": "${ .input.amount_cents }"})")
      .undo("refund", R"({"order": "${ .task.id }"})");
  out.step("ship")
      .needs("charge")
      .sub_workflow("shipment")
      .with(R"({"order": "${ .task.id }", "address": "${ .input.address }", "items": "${ .input.items }"})")
      .timeout(48h);
  out.step("tell")
      .needs("ship")
      .agent("mail")
      .call("send")
      .with(R"({"to": "${ .input.customer }", "about": "shipped", "tracking": "${ .steps.ship.tracking }"})")
      .on_failure(on_failure::go_on)
      .undo_none();
  return out;
}

inline workflow shipment() {
  using namespace std::chrono_literals;
  workflow out{"shipment"};
  out.timeout(72h).on_failure(on_failure::undo);
  out.input_schema(R"({"type": "object", "required": ["order", "address", "items"],
    "properties": {"order": {"type": "string"}, "address": {"type": "string"}, "items": {"type": "array", "minItems": 1}}})");
  out.output(R"({"parcel": "${ .steps.pack.parcel }", "tracking": "${ .steps.hand_over.tracking }"})");
  out.step("van")
      .agent("couriers")
      .call("book")
      .with(R"({"order": "${ .input.order }", "address": "${ .input.address }"})")
      .retry_for(24h)
      .undo("cancel", R"({"order": "${ .input.order }"})");
  out.step("pack")
      .agent("depot")
      .call("pack")
      .with(R"({"order": "${ .input.order }", "items": "${ .input.items }"})")
      .undo("unpack", R"({"order": "${ .input.order }"})");
  out.step("hand_over")
      .needs("van", "pack")
      .agent("couriers")
      .call("hand_over")
      .with(R"({"order": "${ .input.order }", "parcel": "${ .steps.pack.parcel }"})")
      .undo(undo_call{"recall"}.with(R"({"order": "${ .input.order }"})").retry_for(72h));
  return out;
}

}  // namespace fairlead
