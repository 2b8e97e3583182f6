#include "app/cli/workflow/starts.hpp"

#include <stdexcept>

namespace fairlead::app {

namespace {

struct start {
  const char* kind;
  const char* about;  // comments, each line with its `#`
  const char* text;   // what follows the name
};

constexpr start starts[] = {
    {"order",
     R"(# An order: reserve the goods, charge the customer, ship. If a step fails for good, what was done before is undone.
)",
     R"(timeout: 1d                 # of a whole task: if it has not ended by then, it is undone
on_failure: undo            # when a step has failed for good: undo, park, fail, cool_off or continue
input:                      # a JSON Schema: a task whose input does not fit is refused when it is submitted
  type: object
  required: [items, amount_cents]
  properties:
    items: { type: array }
    amount_cents: { type: integer, minimum: 0 }
output:                     # the result of a completed task
  dispatched: "${ .steps.ship }"
steps:
  reserve:                  # a step without `needs` starts at once
    agent: inventory        # an agent of the node file, and one of its calls
    call: reserve
    with: { order: "${ .task.id }", items: "${ .input.items }" }
    timeout: 10s            # of one attempt
    retry_for: 10m          # with pauses that grow; after that the step has failed for good
    undo: { call: release, with: { order: "${ .task.id }" } }
  charge:
    needs: reserve
    agent: payment
    call: charge
    with: { order: "${ .task.id }", amount_cents: "${ .input.amount_cents }" }
    retry:                  # by the code of the fault, in place of retry_for
      - { on: card_declined, attempts: 1 }
    undo: { call: refund, with: { order: "${ .task.id }" } }
  ship:
    needs: charge
    agent: shipping
    call: dispatch
    with: { order: "${ .task.id }" }
    undo: none
    pivot: true             # once this step has happened, nothing is undone any more
)"},
    {"poll",
     R"(# Work that a service takes at once and finishes later: start it, ask for its state until it is finished, then fetch the result.
)",
     R"(timeout: 2d                 # of a whole task: if it has not ended by then, on_failure says what happens
on_failure: park            # when a step has failed for good, the task waits for an operator
output: "${ .steps.fetch }" # the result of a completed task
steps:
  start:
    agent: reports          # an agent of the node file, and one of its calls
    call: start
    with: { report: "${ .task.id }", of: "${ .input }" }
    timeout: 30s            # of one attempt
  finished:
    needs: start
    agent: reports
    call: state
    with: { report: "${ .task.id }" }
    repeat:
      until: '${ .steps.finished.state? == "finished" }'
      every: 1m             # from the end of a round to the next one
      max: 1000             # after so many rounds the step has failed
    undo: none              # it only reads
  fetch:
    needs: finished
    agent: reports
    call: fetch
    with: { report: "${ .task.id }" }
    undo: none              # it only reads
)"},
    {"approval",
     R"(# A change that somebody has to approve: prepare it, ask, wait for the answer, then make it. Without an answer it is taken back.
#
#   fairlead task signal ID approve --data '{"by": "ann"}'     (to refuse it: fairlead task undo ID)
)",
     R"(on_failure: undo            # when a step has failed for good, what was done before is undone
steps:
  prepare:
    agent: changes          # an agent of the node file, and one of its calls
    call: prepare
    with: { change: "${ .task.id }", what: "${ .input }" }
    undo: { call: discard, with: { change: "${ .task.id }" } }
  ask:
    needs: prepare
    agent: mail
    call: send
    with: { to: "approvers@example.org", change: "${ .task.id }" }
    undo: none
  approval:
    needs: ask
    signal: approve
    timeout: 7d             # how long the step waits
    on_timeout: fail        # or continue: the task goes on, and .status.approval is "timed_out"
  apply:
    needs: approval
    agent: changes
    call: apply
    with: { change: "${ .task.id }", approved_by: "${ .steps.approval.by? }" }
    undo: none
    pivot: true             # once this step has happened, nothing is undone any more
)"},
    {"list",
     R"(# The same for many things: list them, do something with each, and tell somebody which of them have failed.
)",
     R"(timeout: 1d                 # of a whole task: if it has not ended by then, on_failure says what happens
on_failure: park            # when a step has failed for good, the task waits for an operator
steps:
  find:
    agent: customers        # an agent of the node file, and one of its calls
    call: list
    with: { of: "${ .input }" }
    undo: none              # it only reads
  each:
    needs: find
    for_each:
      items: "${ .steps.find.customers }"   # an expression that gives a list
      at_once: 20           # items in progress at the same time
      failures: collect     # or stop: after a failure no other item begins, and the step fails
    agent: mail
    call: send
    with: { to: "${ .item.address }", number: "${ .index }" }
    retry_for: 10m          # of each item by itself
    undo: none
  failed:                   # without agent and call: a value, here the customers whose mail has failed
    needs: each
    with: '${ [.steps.find.customers, .steps.each] | transpose | map(select(.[1].status == "failed") | .[0]) }'
  tell:
    needs: failed
    when: "${ .steps.failed | length > 0 }"
    agent: mail
    call: send
    with: { to: "office@example.org", failed: "${ .steps.failed }" }
    undo: none
)"},
};

constexpr const char* for_editors =
    R"(# yaml-language-server: $schema=workflow.schema.json
# By the line above an editor completes and checks this file. It needs the schema in this folder:
#   fairlead workflow schema > workflow.schema.json
)";

}  // namespace

std::vector<std::string> workflow_start_kinds() {
  std::vector<std::string> out;
  for (const auto& one : starts) out.emplace_back(one.kind);
  return out;
}

std::string workflow_start(const std::string& kind, const std::string& name) {
  for (const auto& one : starts)
    if (kind == one.kind) return std::string{for_editors} + "\n" + one.about + "workflow: " + name + "\n" + one.text;
  throw std::logic_error("there is no workflow to begin with of the kind " + kind);
}

}  // namespace fairlead::app
