#!/usr/bin/env python3
"""Steps that have failed and are undone all the same (undo.also_if_failed), over a real node whose commands leave something behind when they fail: by
on_failure: undo, after the task has gone on without the step, with an undo that fails and is passed over, and through kill -9 in the
middle of an undo; and steps that a join does not need. Whether something is left says the folder in which the commands work.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/failed_steps.py
"""

import json
import os

import harness
from harness import expect, fairlead, fairlead_json, wait_until

# `make` leaves a file of the step's name, and fails where its input says so. One that is slow waits first while there is a file `slow-TASK`. `clear` erases it; it waits while there is a file `hold-TASK`, and
# fails while there is a file `locked-TASK`.
COMMAND = """#!/usr/bin/env python3
import json, os, sys, time
task, call = os.environ["FAIRLEAD_TASK"], os.environ["FAIRLEAD_CALL"]
given = json.load(sys.stdin)
made = task + "-" + given["name"] + ".made"
with open("book", "a") as book:
    book.write(json.dumps({"task": task, "step": os.environ["FAIRLEAD_STEP"], "call": call, "key": os.environ["FAIRLEAD_KEY"],
                           "of": os.environ.get("FAIRLEAD_PERFORM_KEY"), "in_doubt": os.environ.get("FAIRLEAD_IN_DOUBT")}) + "\\n")
if call == "make":
    while given.get("slow") and os.path.exists("slow-" + task):
        time.sleep(0.01)
    open(made, "w").close()
    if given.get("fails"):
        sys.exit(70)
else:
    while os.path.exists("hold-" + task):
        time.sleep(0.01)
    if os.path.exists("locked-" + task):
        sys.exit(70)
    if os.path.exists(made):
        os.remove(made)
print("{}")
"""

WORKFLOWS = {
    "cluster": """workflow: cluster
on_failure: undo
steps:
  network: { agent: cloud, call: make, with: { name: network }, undo: { call: clear, with: { name: network } } }
  machines:
    needs: network
    agent: cloud
    call: make
    with: { name: machines, fails: true }
    undo: { call: clear, with: { name: machines }, also_if_failed: true }
  disks:
    needs: machines
    agent: cloud
    call: make
    with: { name: disks }
    undo: { call: clear, with: { name: disks }, also_if_failed: true }
""",
    "sloppy": """workflow: sloppy
on_failure: undo
steps:
  machines:
    agent: cloud
    call: make
    with: { name: machines, fails: true }
    undo: { call: clear, with: { name: machines } }
""",
    "lenient": """workflow: lenient
on_failure: undo
steps:
  cache:
    agent: cloud
    call: make
    with: { name: cache, fails: true }
    on_failure: continue
    undo: { call: clear, with: { name: cache }, also_if_failed: true }
  site: { needs: cache, agent: cloud, call: make, with: { name: site }, undo: { call: clear, with: { name: site } } }
""",
    "race": """workflow: race
on_failure: undo
output: { slow: "${ .status.slow }" }
steps:
  quick: { agent: cloud, call: make, with: { name: quick }, undo: { call: clear, with: { name: quick } } }
  slow: { agent: cloud, call: make, with: { name: slow, slow: true }, undo: { call: clear, with: { name: slow } } }
  site: { needs: [quick, slow], join: any, agent: cloud, call: make, with: { name: site }, undo: { call: clear, with: { name: site } } }
""",
}


class failed_steps:
    def __init__(self, box):
        self.box = box
        (command := box.folder / "cloud.py").write_text(COMMAND)
        command.chmod(0o755)
        (port,) = harness.free_ports(1)
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
agents:
  cloud:
    kind: exec
    concurrency: 8
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
        return done.stdout

    def shown(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def until(self, task, check, what):
        def look():
            seen = self.shown(task)
            return seen if check(seen) else None
        return wait_until(look, 60, f"{task} {what}", every=0.05)

    def undone(self, task):
        return self.until(task, lambda seen: seen["state"] == "undone", "is undone")

    def states(self, seen):
        return {step["path"]: step["state"] for step in seen["steps"]}

    def left(self, task):
        return sorted(path.name for path in self.box.folder.glob(f"{task}-*.made"))

    def undos(self, task):
        """In their order, without what was sent again."""
        lines = [json.loads(line) for line in (self.box.folder / "book").read_text().splitlines()]
        found = [(one["step"], one["key"], one["of"], one["in_doubt"]) for one in lines if one["task"] == task and one["call"] == "clear"]
        return list(dict.fromkeys(found))

    # ---- parts ----

    def in_its_place(self):
        """What a failed step has left is erased, before what the step came from."""
        self.run("submit", "cluster", "--id", "c-1", "--wait", code=1)
        seen = self.undone("c-1")
        expect(self.states(seen) == {"network": "undone", "machines": "undone", "disks": "pending"}, f"{self.states(seen)}")
        expect(self.left("c-1") == [], f"{self.left('c-1')} is left")
        expect(self.undos("c-1") == [("machines", "c-1/machines/undo/0", "c-1/machines/perform/0", "false"),
                                     ("network", "c-1/network/undo/0", "c-1/network/perform/0", "false")], f"{self.undos('c-1')}")
        self.run("submit", "sloppy", "--id", "s-1", "--wait", code=1)
        self.undone("s-1")
        expect(self.left("s-1") == ["s-1-machines.made"] and not self.undos("s-1"), "without the key it is left, and nobody is asked")

    def passed_over(self):
        """The task has gone on without the step: undone later, it is undone too, after the steps that needed it."""
        self.run("submit", "lenient", "--id", "l-1", "--wait")
        expect(self.left("l-1") == ["l-1-cache.made", "l-1-site.made"], "while the task is completed")
        self.run("task", "undo", "l-1", "--reason", "tested")
        self.undone("l-1")
        expect(self.left("l-1") == [] and [one[0] for one in self.undos("l-1")] == ["site", "cache"], f"{self.undos('l-1')}")

    def by_operators(self):
        """An undo that fails parks the task; an operator has it tried again, and another one passes it over."""
        (lock := self.box.folder / "locked-c-2").touch()
        self.run("submit", "cluster", "--id", "c-2", "--wait", code=1)
        seen = self.until("c-2", lambda seen: seen["parked"], "is parked")
        expect(seen["reason"].startswith("step machines could not be undone (exit_70)"), seen["reason"])
        commands = [one["command"] for one in seen["what_helps"]]
        expect(commands[:2] == ["fairlead task retry c-2 machines", "fairlead task skip c-2 machines --reason TEXT"], f"{commands}")
        lock.unlink()
        self.run("task", "retry", "c-2", "machines")
        self.undone("c-2")
        expect(self.left("c-2") == [], f"{self.left('c-2')} is left")

        (self.box.folder / "locked-c-3").touch()
        self.run("submit", "cluster", "--id", "c-3", "--wait", code=1)
        self.until("c-3", lambda seen: seen["parked"], "is parked")
        (self.box.folder / "locked-c-3").unlink()
        self.run("task", "skip", "c-3", "machines", "--reason", "cleared by hand")
        self.undone("c-3")
        expect(self.left("c-3") == ["c-3-machines.made"], "what an operator passes over is left to the operator")

    def left_over(self):
        """What a join does not need is undone before the task ends, also when the node dies while it is performed, and while it is undone."""
        (slow := self.box.folder / "slow-r-1").touch()
        self.run("submit", "race", "--id", "r-1")
        self.until("r-1", lambda seen: self.states(seen)["site"] == "completed", "has its site")
        seen = self.shown("r-1")
        expect(seen["state"] == "running" and seen["steps"][1]["dropped"] and self.states(seen)["slow"] == "running", f"{self.states(seen)}")
        slow.unlink()
        ended = self.until("r-1", lambda seen: seen["state"] == "completed", "is completed")
        expect(self.states(ended) == {"quick": "completed", "slow": "undone", "site": "completed"}, f"{self.states(ended)}")
        expect(self.left("r-1") == ["r-1-quick.made", "r-1-site.made"] and ended["output"] == {"slow": "dropped"}, f"{self.left('r-1')}")

        (slow := self.box.folder / "slow-r-2").touch()
        (hold := self.box.folder / "hold-r-2").touch()
        self.run("submit", "race", "--id", "r-2")
        self.until("r-2", lambda seen: self.states(seen)["site"] == "completed", "has its site")
        self.node.kill()
        self.node.start()
        self.until("r-2", lambda seen: self.states(seen)["slow"] == "undoing" and self.undos("r-2"), "undoes what it does not need")
        self.node.kill()
        self.node.start()
        slow.unlink()
        hold.unlink()
        ended = self.until("r-2", lambda seen: seen["state"] == "completed", "is completed")
        expect(self.states(ended)["slow"] == "undone" and self.left("r-2") == ["r-2-quick.made", "r-2-site.made"], f"{self.left('r-2')}")
        expect(self.undos("r-2") == [("slow", "r-2/slow/undo/0", "r-2/slow/perform/0", "true")], f"{self.undos('r-2')}")

    def through_kills(self):
        """The node dies in the middle of the undo, twice: it is sent again under its key."""
        (hold := self.box.folder / "hold-c-4").touch()
        self.run("submit", "cluster", "--id", "c-4")
        for _ in range(2):
            self.until("c-4", lambda seen: self.states(seen)["machines"] == "undoing" and self.undos("c-4"), "is being undone")
            self.node.kill()
            self.node.start()
        hold.unlink()
        self.undone("c-4")
        expect(self.left("c-4") == [], f"{self.left('c-4')} is left")
        expect([one[:2] for one in self.undos("c-4")] == [("machines", "c-4/machines/undo/0"), ("network", "c-4/network/undo/0")],
               f"{self.undos('c-4')}")


def run():
    with harness.sandbox("failed_steps") as box:
        here = failed_steps(box)
        for part in (here.in_its_place, here.passed_over, here.by_operators, here.left_over, here.through_kills):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
