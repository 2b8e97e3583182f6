#!/usr/bin/env python3
"""Expressions that are jq and no plain path, in every role that they have: to perform a step or to skip it, to undo it, to look it up, and in the
task of a launch. The real worker computes them; a command writes down what it was given. An undo whose expression fails parks its task."""

import json
import os
import sys

from harness import expect, fairlead, fairlead_json, free_ports, main, node, sandbox, wait_until

# What it is given, for what, stands in the file `given`. "fail" and "vanish" are told by the input.
COMMAND = """#!/usr/bin/env python3
import json, os, sys
given = json.load(sys.stdin)
with open("given", "a") as book:
    book.write(json.dumps({"step": os.environ["FAIRLEAD_TASK"] + "/" + os.environ["FAIRLEAD_STEP"],
                           "direction": os.environ["FAIRLEAD_DIRECTION"], "input": given}) + "\\n")
if os.environ["FAIRLEAD_DIRECTION"] == "lookup":
    print('{"booked": 7}')
    sys.exit(0)
if isinstance(given, dict) and given.get("how") == "fail":
    sys.exit(65)
if isinstance(given, dict) and given.get("how") == "vanish" and os.environ["FAIRLEAD_DIRECTION"] == "perform":
    sys.exit(1)
print('{"booked": 7}')
"""

WORKFLOWS = {
    "saga": """workflow: saga
on_failure: undo
steps:
  first:
    agent: desk
    call: book
    with: { total: "${ .input.items | map(.price) | add }" }
    undo: { call: free, with: { total: "${ .input.n + 1 }", again: '${ "undo of \\(.steps.first.booked)" }' } }
  last: { needs: [first], agent: desk, call: book, with: { how: "${ .input.how }" }, undo: none, attempts: 1 }
""",
    "doubt": """workflow: doubt
on_failure: park
steps:
  first: { agent: desk, call: seek, with: { how: "${ .input.how }", n: "${ .input.n * 2 }" }, attempts: 1, undo: none }
  last: { needs: [first], agent: desk, call: book, with: { seen: "${ .steps.first.booked + 1 }" }, undo: none }
""",
    "broken": """workflow: broken
on_failure: undo
steps:
  first: { agent: desk, call: book, with: { n: 1 }, undo: { call: free, with: { n: "${ .input.n | error }" } } }
  last: { needs: [first], agent: desk, call: book, with: { how: fail }, undo: none, attempts: 1 }
""",
    "branches": """workflow: branches
on_failure: undo
end: failed
steps:
  offer: { agent: desk, call: book, with: { how: "${ .input.how }" }, attempts: 1, undo: none, on_failure: continue }
  dear: { needs: offer, when: "${ .input.sum * 2 > 100 }", agent: desk, call: book, with: { n: 1 }, undo: none }
  told: { needs: [offer, dear], agent: desk, call: book, undo: none,
          with: { dear: "${ .status.dear }", dear_gave: "${ .steps.dear }", offer: '${ .status.offer + "!" }', why: "${ .errors.offer.code? }" } }
  never: { needs: told, when: "${ .steps.told.booked == 8 }", agent: desk, call: book, undo: none }
""",
    "report": """workflow: report
on_failure: park
steps:
  only: { agent: desk, call: book, with: { who: '${ .launch.job + " for " + .input.day }' } }
""",
}


def run():
    with sandbox("expressions") as box:
        (command := box.folder / "desk.py").write_text(COMMAND)
        command.chmod(0o755)
        port, = free_ports(1)
        calls = ", ".join([f"{name}: {{ command: [{command}] }}" for name in ("book", "free")] +
                          [f"seek: {{ command: [{command}], lookup: {{ command: [{command}] }} }}"])
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
agents:
  desk: {{ kind: exec, directory: {box.folder}, environment: {{ PATH: "{os.environ['PATH']}" }}, calls: {{ {calls} }} }}
""")
        one = node(box, config, f"127.0.0.1:{port}")
        one.start()
        for name, text in WORKFLOWS.items():
            (path := box.folder / f"{name}.yaml").write_text(text)
            done = fairlead("workflow", "deploy", path, node=one.address)
            expect(done.returncode == 0, f"{name} is not deployed: {done.stderr}")

        def given(step, direction):
            records = [json.loads(line) for line in (box.folder / "given").read_text().splitlines()]
            return [record["input"] for record in records if record["step"] == step and record["direction"] == direction]

        def ends(task, check, what):
            def look():
                seen = fairlead_json("task", "show", task, node=one.address)
                return seen if check(seen) else None
            return wait_until(look, 30, f"{task} {what}")

        def submit(workflow, task, value):
            done = fairlead("submit", workflow, "--id", task, "--input", json.dumps(value), node=one.address)
            expect(done.returncode == 0, done.stderr)

        submit("saga", "s1", {"n": 1, "how": "fail", "items": [{"price": 2}, {"price": 3}]})
        ends("s1", lambda task: task["state"] == "undone", "is undone after its second step has failed")
        expect(given("s1/first", "perform") == [{"total": 5}], f"performed with {given('s1/first', 'perform')}")
        expect(given("s1/first", "undo") == [{"total": 2, "again": "undo of 7"}], f"undone with {given('s1/first', 'undo')}")
        submit("saga", "s2", {"n": 41, "how": "well", "items": [{"price": 1}]})
        ends("s2", lambda task: task["state"] == "completed", "completes")
        expect(fairlead("task", "undo", "s2", "--reason", "tested", node=one.address).returncode == 0, "its undo is taken")
        ends("s2", lambda task: task["state"] == "undone", "is undone by an operator")
        expect(given("s2/first", "undo") == [{"total": 42, "again": "undo of 7"}], f"undone with {given('s2/first', 'undo')}")
        print("ok  what is performed and undone is computed by jq", flush=True)

        submit("doubt", "d1", {"how": "vanish", "n": 4})
        ends("d1", lambda task: task["state"] == "completed", "completes after a look-up")
        expect(given("d1/first", "lookup") == [{"how": "vanish", "n": 8}], f"looked up with {given('d1/first', 'lookup')}")
        expect(given("d1/last", "perform") == [{"seen": 8}], f"performed with {given('d1/last', 'perform')}")
        print("ok  a look-up goes with the input that jq gave the perform", flush=True)

        submit("branches", "w1", {"how": "well", "sum": 51})
        ended = ends("w1", lambda task: task["state"] == "completed", "completes")
        expect([step["state"] for step in ended["steps"]] == ["completed", "completed", "completed", "skipped"], f"{ended['steps']}")
        expect(given("w1/told", "perform") == [{"dear": "completed", "dear_gave": {"booked": 7}, "offer": "completed!", "why": None}],
               f"performed with {given('w1/told', 'perform')}")
        submit("branches", "w2", {"how": "fail", "sum": 50})
        ended = ends("w2", lambda task: task["state"] == "failed", "fails in the end")
        expect([step["state"] for step in ended["steps"]] == ["failed", "skipped", "completed", "skipped"], f"{ended['steps']}")
        expect(ended["steps"][0]["passed_over"] and "end: failed (failed: offer)" in ended["reason"], f"{ended['reason']}, {ended['steps'][0]}")
        expect(given("w2/told", "perform") == [{"dear": "skipped", "dear_gave": None, "offer": "failed!", "why": "exit_65"}],
               f"performed with {given('w2/told', 'perform')}")
        expect([event["event"] for event in ended["history"]].count("step_skipped") == 2, f"{ended['history']}")
        submit("branches", "w3", {"how": "well", "sum": None})
        parked = ends("w3", lambda task: task["parked"], "is parked, since null is no number")
        expect("step dear: " in parked["reason"] and any("task skip w3 dear" in one["command"] for one in parked["what_helps"]), f"{parked['reason']}")
        expect(fairlead("task", "skip", "w3", "dear", "--reason", "tested", node=one.address).returncode == 0, "a step without an answer is skipped")
        ends("w3", lambda task: task["state"] == "completed", "completes after an operator has decided")
        print("ok  steps are skipped by jq, and a task goes on without one that has failed", flush=True)

        submit("broken", "b1", {"n": 1})
        parked = ends("b1", lambda task: task["parked"], "is parked, since its undo's expression fails")
        expect("first" in parked["reason"] and not given("b1/first", "undo"), f"parked: {parked['reason']}")
        done = fairlead("task", "skip", "b1", "first", "--reason", "undone by hand", node=one.address)
        expect(done.returncode == 0, done.stderr)
        ends("b1", lambda task: task["state"] == "undone", "is undone once an operator has seen to it")
        print("ok  an undo whose expression fails parks its task", flush=True)

        (job := box.folder / "job.yaml").write_text(
            'job: nightly\nschedule: "0 3 1 1 *"\nworkflow: report\ninput: { day: "${ .launch.zone }" }\n')
        expect(fairlead("job", "deploy", job, node=one.address).returncode == 0, "the job is deployed")
        expect(fairlead("job", "run", "nightly", node=one.address).returncode == 0, "the job is run")
        wait_until(lambda: "nightly for UTC" in (box.folder / "given").read_text(), 30, "the launch computes with what it knows of itself")
        print("ok  a launch computes with what it knows of itself", flush=True)

        found = fairlead_json("task", "doctor", node=one.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    main(run)
