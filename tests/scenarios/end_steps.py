#!/usr/bin/env python3
"""Steps of the end (finally) over a real node: in a task that completes, in one that is undone, when such a step fails, and through kill -9 while one
is in progress. What was done, and in which order, stands in a book that the commands of the steps write.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/end_steps.py
"""

import json
import os

import harness
from harness import expect, fairlead, fairlead_json, wait_until

# A command waits while there is a file `hold-TASK-STEP`, and fails for good where its input says so.
COMMAND = """#!/usr/bin/env python3
import json, os, sys, time
task, step = os.environ["FAIRLEAD_TASK"], os.environ["FAIRLEAD_STEP"]
given = json.load(sys.stdin)
with open("book", "a") as book:
    book.write(json.dumps({"task": task, "step": step, "call": os.environ["FAIRLEAD_CALL"], "key": os.environ["FAIRLEAD_KEY"],
                           "end": given.get("end")}) + "\\n")
while os.path.exists("hold-" + task + "-" + step):
    time.sleep(0.01)
if given.get("fails"):
    sys.exit(70)
print("{}")
"""

WORKFLOW = """workflow: guarded
on_failure: undo
steps:
  lock: { agent: shop, call: make, with: {}, undo: { call: clear, with: {} } }
  work: { needs: lock, agent: shop, call: make, with: { fails: "${ .input.work_fails? }" }, undo: { call: clear, with: {} } }
  unlock:
    finally: true
    agent: shop
    call: make
    with: { end: "${ .task.end }", fails: "${ .input.unlock_fails? }" }
  tell:
    finally: after_failure
    agent: shop
    call: make
    with: { end: "${ .task.end }", why: "${ .errors.work }" }
"""


class end_steps:
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
    concurrency: 8
    directory: {box.folder}
    environment: {{ PATH: "{os.environ['PATH']}" }}
    calls: {{ make: {{ command: [{command}] }}, clear: {{ command: [{command}] }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        (path := box.folder / "guarded.yaml").write_text(WORKFLOW)
        self.run("workflow", "deploy", path)

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address, seconds=60)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def until(self, task, check, what):
        def look():
            seen = self.shown(task)
            return seen if check(seen) else None
        return wait_until(look, 60, f"{task} {what}", every=0.05)

    def states(self, seen):
        return {step["path"]: step["state"] for step in seen["steps"]}

    def done(self, task):
        """In their order, without what was sent again."""
        lines = [json.loads(line) for line in (self.box.folder / "book").read_text().splitlines()]
        return list(dict.fromkeys((one["step"], one["call"], one["key"], one["end"]) for one in lines if one["task"] == task))

    # ---- parts ----

    def of_a_task_that_completes(self):
        self.run("submit", "guarded", "--id", "t-1", "--input", "{}", "--wait")
        expect(self.states(self.shown("t-1")) == {"lock": "completed", "work": "completed", "unlock": "completed", "tell": "skipped"},
               f"{self.states(self.shown('t-1'))}")
        expect([one[0] for one in self.done("t-1")] == ["lock", "work", "unlock"] and self.done("t-1")[-1][3] == "completed", f"{self.done('t-1')}")
        self.run("task", "undo", "t-1", "--reason", "tested")
        self.until("t-1", lambda seen: seen["state"] == "undone", "is undone")
        expect([one[:2] for one in self.done("t-1")[3:]] == [("work", "clear"), ("lock", "clear"), ("tell", "make")], f"{self.done('t-1')}")

    def of_a_task_that_is_undone(self):
        self.run("submit", "guarded", "--id", "t-2", "--input", '{"work_fails":true}', "--wait", code=1)
        self.until("t-2", lambda seen: seen["state"] == "undone", "is undone")
        expect([(step, call, end) for step, call, _, end in self.done("t-2")]
               == [("lock", "make", None), ("work", "make", None), ("unlock", "make", "undone"), ("lock", "clear", None), ("tell", "make", "undone")],
               f"{self.done('t-2')}")

    def one_that_fails(self):
        """Tasks share an alert that outlives them, and nothing else changes."""
        self.run("submit", "guarded", "--id", "t-3", "--input", '{"unlock_fails":true}', "--wait")
        self.run("submit", "guarded", "--id", "t-3b", "--input", '{"unlock_fails":true}', "--wait")
        found = [one for one in fairlead_json("alert", "list", node=self.node.address)["alerts"] if one["kind"] == "finally_failed"]
        expect([(one["task"], one["step"], one["state"], one["tasks"]) for one in found] == [("t-3", "unlock", "open", 2)], f"{found}")
        self.run("alert", "ack", "--kind", "finally_failed", "--workflow", "guarded", "--step", "lock")
        expect(fairlead_json("alert", "list", node=self.node.address)["alerts"], "an alert about another step stays open")
        self.run("alert", "ack", "--kind", "finally_failed", "--workflow", "guarded", "--step", "unlock")
        expect(not fairlead_json("alert", "list", node=self.node.address)["alerts"], "an acknowledged one is resolved")

    def through_kills(self):
        """The node dies while a step of the end is in progress, twice: it is sent again under its key, and nothing is undone before."""
        (hold := self.box.folder / "hold-t-4-unlock").touch()
        self.run("submit", "guarded", "--id", "t-4", "--input", '{"work_fails":true}')
        for _ in range(2):
            self.until("t-4", lambda seen: self.states(seen)["unlock"] == "running", "performs unlock")
            self.node.kill()
            self.node.start()
        expect([one for one in self.done("t-4") if one[1] == "clear"] == [], f"{self.done('t-4')}")
        hold.unlink()
        self.until("t-4", lambda seen: seen["state"] == "undone", "is undone")
        expect([one[2] for one in self.done("t-4")]
               == ["t-4/lock/perform/0", "t-4/work/perform/0", "t-4/unlock/perform/0", "t-4/lock/undo/0", "t-4/tell/perform/0"],
               f"{self.done('t-4')}")


def run():
    with harness.sandbox("end_steps") as box:
        here = end_steps(box)
        for part in (here.of_a_task_that_completes, here.of_a_task_that_is_undone, here.one_that_fails, here.through_kills):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
