#!/usr/bin/env python3
"""Steps that are tasks of their own, three levels deep over a real node: flows that complete, flows that fail at the bottom, undo from the top,
doubt that goes up, and kill -9 while children live, some of which are then undone. What was done, and in which order, stands in a book that the
commands of the steps write.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/children.py
"""

import json
import os

import harness
from harness import expect, fairlead, fairlead_json, wait_until

# A command waits while there is a file `hold-TASK-STEP`, and ends as its input says.
COMMAND = """#!/usr/bin/env python3
import json, os, sys, time
task, step = os.environ["FAIRLEAD_TASK"], os.environ["FAIRLEAD_STEP"]
given = json.load(sys.stdin)
with open("book", "a") as book:
    book.write(json.dumps({"task": task, "step": step, "call": os.environ["FAIRLEAD_CALL"], "key": os.environ["FAIRLEAD_KEY"],
                           "given": given}) + "\\n")
while os.path.exists("hold-" + task.replace("/", "+") + "-" + step):
    time.sleep(0.01)
if given.get("end") == "fail":
    sys.exit(70)
if given.get("end") == "doubt" and os.environ["FAIRLEAD_CALL"] == "make":
    sys.exit(3)
print(json.dumps({"made": step}))
"""

WORKFLOWS = {
    "outer": """workflow: outer
on_failure: undo
steps:
  lock: { agent: shop, call: make, with: {}, undo: { call: clear, with: {} } }
  order: { needs: lock, workflow: middle, with: { end: "${ .input.end? }", from: top } }
  tell: { needs: order, agent: shop, call: make, with: { parcel: "${ .steps.order.parcel }" }, undo: { call: clear, with: {} } }
""",
    "middle": """workflow: middle
on_failure: undo
steps:
  pay: { agent: shop, call: make, with: { from: "${ .input.from }" }, undo: { call: clear, with: {} } }
  ship: { needs: pay, workflow: inner, with: { end: "${ .input.end }" } }
output: "${ .steps.ship }"
""",
    "inner": """workflow: inner
on_failure: undo
steps:
  pack: { agent: shop, call: make, with: {}, undo: { call: clear, with: {} } }
  send: { needs: pack, agent: shop, call: make, with: { end: "${ .input.end }" }, in_doubt: park, undo: { call: clear, with: {} } }
output: { parcel: "${ .task.id }" }
""",
}

MIDDLE, INNER = "/order~1", "/order~1/ship~1"


class children:
    def __init__(self, box):
        self.box = box
        (command := box.folder / "shop.py").write_text(COMMAND)
        command.chmod(0o755)
        (port,) = harness.free_ports(1)
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
agents:
  shop:
    kind: exec
    concurrency: 16
    directory: {box.folder}
    environment: {{ PATH: "{os.environ['PATH']}" }}
    calls: {{ make: {{ command: [{command}] }}, clear: {{ command: [{command}] }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        for name, text in WORKFLOWS.items():
            (path := box.folder / f"{name}.yaml").write_text(text)
            self.run("workflow", "deploy", path)

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address, seconds=60)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def until(self, task, check, what):
        def look():
            if fairlead("task", "show", task, "--json", node=self.node.address).returncode != 0:
                return None  # a child that has not begun
            seen = self.shown(task)
            return seen if check(seen) else None
        return wait_until(look, 60, f"{task} {what}", every=0.05)

    def step(self, seen, name):
        return next(one for one in seen["steps"] if one["path"] == name)

    def until_at(self, task, name, state):
        return self.until(task, lambda seen: self.step(seen, name)["state"] == state, f"has {name} {state}")

    def hold(self, task, step):
        (path := self.box.folder / f"hold-{task.replace('/', '+')}-{step}").touch()
        return path

    def done(self, task):
        """What was done for the task and its children, in its order, without what was sent again."""
        lines = [json.loads(line) for line in (self.box.folder / "book").read_text().splitlines()]
        return list(dict.fromkeys((one["task"][len(task):], one["step"], one["call"]) for one in lines
                                  if one["task"] == task or one["task"].startswith(task + "/")))

    def ends(self, task, state):
        for level in ("", MIDDLE, INNER):
            self.until(task + level, lambda seen: seen["state"] == state, f"is {state}")

    # ---- parts ----

    DOWN = [("", "lock", "make"), (MIDDLE, "pay", "make"), (INNER, "pack", "make"), (INNER, "send", "make"), ("", "tell", "make")]

    def one_that_completes_and_is_undone(self):
        self.run("submit", "outer", "--id", "t-1", "--input", "{}", "--label", "shop=north", "--wait")
        expect(self.done("t-1") == self.DOWN, f"{self.done('t-1')}")
        top, middle, inner = (self.shown("t-1" + level) for level in ("", MIDDLE, INNER))
        expect(self.step(top, "order")["child"] == middle["id"] and self.step(middle, "ship")["child"] == inner["id"], f"{top} {middle}")
        expect(top["parent"] is None and middle["parent"] == "t-1" and inner["parent"] == "t-1" + MIDDLE, f"{middle} {inner}")
        expect(middle["labels"] == top["labels"] == inner["labels"], f"labels: {middle['labels']} {inner['labels']}")
        expect(middle["output"] == inner["output"] == {"parcel": "t-1" + INNER}, f"{middle} {inner}")
        given = [json.loads(line)["given"] for line in (self.box.folder / "book").read_text().splitlines()]
        expect(given[-1] == {"parcel": "t-1" + INNER}, f"tell was given {given[-1]}")
        listed = [one["id"] for one in self.node.tasks()]
        expect(sorted(listed) == ["t-1", "t-1" + MIDDLE, "t-1" + INNER], f"{listed}")
        refused = self.run("task", "undo", "t-1" + MIDDLE, "--reason", "tested", code=1)
        expect("t-1" in refused, refused)
        self.run("task", "delete", "t-1" + INNER, "--yes", "--reason", "tested", code=1)
        self.run("task", "undo", "t-1", "--reason", "tested")
        self.ends("t-1", "undone")
        expect(self.done("t-1")[5:] == [(at, step, "clear") for at, step, _ in reversed(self.DOWN)], f"{self.done('t-1')}")

    def one_that_fails_at_the_bottom(self):
        self.run("submit", "outer", "--id", "t-2", "--input", '{"end":"fail"}', "--wait", code=1)
        self.ends("t-2", "undone")
        expect(self.done("t-2")[4:] == [(INNER, "pack", "clear"), (MIDDLE, "pay", "clear"), ("", "lock", "clear")], f"{self.done('t-2')}")
        for task, step in (("t-2", "order"), ("t-2" + MIDDLE, "ship")):
            fault = self.step(self.shown(task), step)["fault"]
            expect(fault["code"] == "child_undone", f"{fault}")

    def doubt_that_goes_up(self):
        """The parents park for their child, one alert tells it, and an answer at the bottom lets all of them go on."""
        self.run("submit", "outer", "--id", "t-3", "--input", '{"end":"doubt"}')
        for level, child in ((MIDDLE, INNER), ("", MIDDLE)):
            seen = self.until("t-3" + level, lambda one: one["parked"], "is parked")
            expect("t-3" + child in seen["reason"], f"{seen['reason']}")
        alerts = [one for one in fairlead_json("alert", "list", node=self.node.address)["alerts"] if one["kind"] == "task_parked"]
        expect([one["task"] for one in alerts] == ["t-3" + INNER], f"{alerts}")
        refused = self.run("task", "retry", "t-3", code=1)
        expect("t-3" + MIDDLE in refused, refused)
        self.run("task", "settle", "t-3" + INNER, "send", "--completed", "{}", "--reason", "tested")
        self.ends("t-3", "completed")

    def through_kills(self):
        """The node dies while children live, twice. Half of the flows are cancelled in between: they are undone from the bottom to the top."""
        tasks = [f"k-{number}" for number in range(6)]
        holds = [self.hold(task + INNER, "send") for task in tasks]
        for task in tasks:
            self.run("submit", "outer", "--id", task, "--input", "{}")
        for task in tasks:
            self.until_at(task + INNER, "send", "running")
        self.node.kill()
        self.node.start()
        for task in tasks[::2]:
            self.run("task", "cancel", task, "--reason", "tested")
        self.node.kill()
        self.node.start()
        for one in holds:
            one.unlink()
        for number, task in enumerate(tasks):
            self.ends(task, "undone" if number % 2 == 0 else "completed")
        for number, task in enumerate(tasks):
            done = self.done(task)
            if number % 2 == 1:
                expect(done == self.DOWN, f"{task}: {done}")
                continue
            made = [one[:2] for one in done if one[2] == "make"]
            cleared = [one[:2] for one in done if one[2] == "clear"]
            expect(made == [one[:2] for one in self.DOWN[:4]] and cleared == made[::-1], f"{task}: {done}")


def run():
    with harness.sandbox("children") as box:
        here = children(box)
        for part in (here.one_that_completes_and_is_undone, here.one_that_fails_at_the_bottom, here.doubt_that_goes_up, here.through_kills):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
