#!/usr/bin/env python3
"""Live tasks go on by another version of their workflow, on a real node: versions in the list, what differs, a dry run, the migration itself, and kill -9
right behind it, with attempts in progress. What was performed is what a command has written down.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/migrate.py
"""

import json
import os

import harness
from api import api
from harness import expect, fairlead, fairlead_json, wait_until

# Each attempt is written down once it is carried out. The steps `ask` wait as long as there is a file `hold`.
COMMAND = """#!/usr/bin/env python3
import json, os, sys, time
task, step = os.environ["FAIRLEAD_TASK"], os.environ["FAIRLEAD_STEP"]
while step == "ask" and os.path.exists("hold"):
    time.sleep(0.01)
with open("done", "a") as book:
    book.write(json.dumps({"task": task, "step": step, "key": os.environ["FAIRLEAD_KEY"], "input": json.load(sys.stdin)}) + "\\n")
print('{"by": "' + step + '"}')
"""

FIRST = """workflow: order
on_failure: park
steps:
  first: { agent: desk, call: do, with: { n: 1 }, undo: none }
  ask: { needs: first, agent: desk, call: do, with: { n: 2 }, undo: none }
  mail: { needs: ask, agent: desk, call: do, with: { n: 3 }, undo: none }
"""
# `first` has ended, so its attempts may differ. `mail` has not begun, so it may wait for a new step.
SECOND = """workflow: order
on_failure: park
steps:
  first: { agent: desk, call: do, with: { n: 1 }, attempts: 7, undo: none }
  ask: { needs: first, agent: desk, call: do, with: { n: 2 }, undo: none }
  bill: { needs: ask, agent: desk, call: do, with: { of: "${ .steps.ask.by }" }, undo: none }
  mail: { needs: bill, agent: desk, call: do, with: { n: 4 }, undo: none }
"""
# `ask` is in progress, and is another one here.
THIRD = SECOND.replace("{ n: 2 }", "{ n: 22 }")
TASKS = [f"o-{number}" for number in range(20)]


class migrate_scenario:
    def __init__(self, box):
        self.box = box
        (command := box.folder / "desk.py").write_text(COMMAND)
        command.chmod(0o755)
        port, self.port = harness.free_ports(2)
        (config := box.folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 256MiB }}
api: {{ listen: "127.0.0.1:{self.port}" }}
agents:
  desk:
    kind: exec
    concurrency: 32
    directory: {box.folder}
    environment: {{ PATH: "{os.environ['PATH']}" }}
    calls: {{ do: {{ command: [{command}] }} }}
""")
        self.node = harness.node(box, config, f"127.0.0.1:{port}")
        self.node.start()
        self.versions = {}

    def run(self, *words, code=0):
        done = fairlead(*words, node=self.node.address)
        expect(done.returncode == code, f"fairlead {' '.join(map(str, words))}: {done.returncode} and not {code}: {done.stdout} {done.stderr}")
        return done.stdout if code in (0, 1) and done.stdout else done.stderr

    def deploy(self, name, text):
        (path := self.box.folder / f"{name}.yaml").write_text(text)
        said = json.loads(self.run("workflow", "deploy", path, "--json"))
        self.versions[name] = said["deployed"][0]["content_hash"]

    def live(self):
        """Live tasks by version."""
        listed = fairlead_json("workflow", "list", node=self.node.address)["workflows"]
        return {one["content_hash"]: one["live_tasks"] for work in listed if work["name"] == "order" for one in work["live"]}

    def done(self, task):
        book = self.box.folder / "done"
        records = [json.loads(line) for line in book.read_text().splitlines()] if book.exists() else []
        return [one for one in records if one["task"] == task]

    # ---- parts ----

    def compared(self):
        """A file with a file, with the current version, and two versions."""
        self.deploy("first", FIRST)
        (self.box.folder / "hold").touch()
        for task in TASKS:
            self.run("submit", "order", "--id", task)
        wait_until(lambda: all(any(one["step"] == "first" for one in self.done(task)) for task in TASKS), 60, "all first steps are done")
        (self.box.folder / "second.yaml").write_text(SECOND)
        said = json.loads(self.run("workflow", "diff", self.box.folder / "second.yaml", "--json", code=1))
        found = {(one["step"], one["change"], one["key"]) for one in said["differences"]}
        expect(("bill", "added", None) in found and ("mail", "changed", "needs") in found and ("first", "changed", "attempts") in found, f"{said}")
        self.run("workflow", "diff", self.box.folder / "first.yaml")
        self.run("workflow", "diff", self.box.folder / "first.yaml", self.box.folder / "second.yaml", code=1)
        self.deploy("second", SECOND)
        expect(self.live() == {self.versions["second"]: 0, self.versions["first"]: len(TASKS)}, f"{self.live()}")
        short = self.versions["first"][:9]
        expect("(added)" in self.run("workflow", "diff", "order", "--from", short, code=1), "two versions are compared")
        self.run("workflow", "diff", "order", "--from", short, "--to", short)
        shown = fairlead_json("workflow", "show", "order", "--version", short, node=self.node.address)
        expect(shown["content_hash"] == self.versions["first"] and len(shown["steps"]) == 3, f"{shown}")
        self.run("workflow", "show", "order", "--version", "00000000", code=3)
        self.run("workflow", "show", "order", "--version", "0000", code=2)

    def refused(self):
        """What has begun differs: the refusal names it. Nothing is changed."""
        self.deploy("third", THIRD)
        said = json.loads(self.run("workflow", "migrate", "order", "--from", self.versions["first"], "--dry-run", "--json", code=1))
        expect((said["count"], said["done"], said["refused"]) == (len(TASKS), 0, len(TASKS)), f"{said}")
        expect("step ask has begun, and its 'with' differs" in said["refusals"][0]["error"], f"{said['refusals'][0]}")
        self.deploy("second", SECOND)
        expect(self.live()[self.versions["first"]] == len(TASKS), "a dry run changes nothing")

    def migrated(self):
        """All but two, one of which goes over the API; then the node is killed, with each step `ask` in progress."""
        said = json.loads(self.run("workflow", "migrate", "order", "--from", self.versions["first"], "--dry-run", "--json"))
        expect((said["count"], said["done"], said["dry_run"]) == (len(TASKS), len(TASKS), True), f"{said}")
        door = api(self.port)
        body = {"verb": "migrate", "from": self.versions["first"], "to": self.versions["second"], "reason": "over the API"}
        _, tried = door.expect(200, "POST", "/v1/tasks/o-0/actions", {**body, "dry_run": True})
        expect(tried["repeated"] is False and self.live()[self.versions["first"]] == len(TASKS), f"{tried}")
        door.expect(200, "POST", "/v1/tasks/o-0/actions", body)
        _, again = door.expect(200, "POST", "/v1/tasks/o-0/actions", body)
        expect(again["repeated"] is True, f"{again}")
        door.expect(400, "POST", "/v1/tasks/o-0/actions", {**body, "to": "abc"}, pointer="/to")
        said = json.loads(self.run("workflow", "migrate", "order", "--from", self.versions["first"], "--yes", "--reason", "bill them", "--json"))
        expect((said["count"], said["done"]) == (len(TASKS) - 1, len(TASKS) - 1), f"{said}")
        self.node.kill()
        self.node.start()
        expect(self.live() == {self.versions["second"]: len(TASKS)}, f"{self.live()}")
        (self.box.folder / "hold").unlink()
        for task in TASKS:
            def ended(task=task):
                seen = fairlead_json("task", "show", task, node=self.node.address)
                return seen if seen["state"] == "completed" else None
            seen = wait_until(ended, 60, f"{task} is completed", every=0.05)
            events = [one for one in seen["history"] if one["event"] == "operator_migrate"]
            expect(len(events) == 1 and self.versions["second"][:12] in events[0]["detail"], f"{task}: {events}")
            inputs = {}
            for one in self.done(task):
                inputs.setdefault(one["step"], set()).add(json.dumps(one["input"], sort_keys=True))
            expect(inputs == {"first": {'{"n": 1}'}, "ask": {'{"n": 2}'}, "bill": {'{"of": "ask"}'}, "mail": {'{"n": 4}'}}, f"{task}: {inputs}")
            expect(len({one["key"] for one in self.done(task) if one["step"] == "ask"}) == 1, f"{task}: asked under several keys")


def run():
    with harness.sandbox("migrate") as box:
        here = migrate_scenario(box)
        for part in (here.compared, here.refused, here.migrated):
            part()
            print(f"ok  {part.__name__}", flush=True)
        found = fairlead_json("task", "doctor", node=here.node.address)
        expect(not found["findings"], f"the doctor finds {found['findings']}")
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
