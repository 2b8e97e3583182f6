#!/usr/bin/env python3
"""Tasks that start later, and records that are deleted, with kill -9 between the promise and what follows from it: no start is lost or early, and
nothing of a deleted task comes back."""

import json
import pathlib
import time

import harness
from harness import expect, fairlead, fairlead_json, wait_until

NODE = """node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
retention: {{ archive_after: {archive_after} }}
supervisor: {{ scan_period: 100ms }}
agents:
  echo: {{ kind: native, handler: echo }}
"""
WORKFLOW = """workflow: work
steps:
  one: { agent: echo, call: echo }
"""
SECRET = "a-name-that-must-go"


class desk:
    def __init__(self, box):
        self.port, = harness.free_ports(1)
        self.config = box.folder / "node.yaml"
        self.write("1h")
        self.node = harness.node(box, self.config, f"127.0.0.1:{self.port}")
        self.store = box.folder / "store"

    def write(self, archive_after):
        self.config.write_text(NODE.format(port=self.port, archive_after=archive_after), encoding="utf-8")

    def run(self, *words):
        return fairlead(*words, node=self.node.address)

    def submit(self, task, *words):
        return fairlead_json("submit", "work", "--id", task, *words, node=self.node.address)

    def show(self, task):
        return fairlead_json("task", "show", task, node=self.node.address)

    def state(self, task):
        return self.show(task)["state"]

    def ended(self, task):
        wait_until(lambda: self.state(task) == "completed", 15, f"{task} is completed")

    def again(self):
        self.node.kill()
        self.node.start()

    def refused(self, code, words, *command):
        done = self.run(*command)
        expect(done.returncode == code and words.lower() in done.stderr.lower(), f"{command}: {done.returncode}, {done.stderr}")


def starts(here):
    began = time.time()
    taken = here.submit("later", "--delay", "8s")
    expect(taken["created"] and taken["start_at"], f"it took {taken}")
    here.submit("now")
    here.ended("now")
    expect(here.state("later") == "pending", "the delayed task has begun")
    listed = fairlead_json("task", "list", "--state", "pending", node=here.node.address)["tasks"]
    expect([one["reason"] for one in listed] == ["starts at " + taken["start_at"]], f"the list says {listed}")
    here.refused(1, "has not started", "task", "pause", "later")
    here.again()
    expect(not here.submit("later", "--delay", "8s")["created"], "the same submission is another task after kill -9")
    here.refused(4, "another workflow, input, label, priority, reply address or start", "submit", "work", "--id", "later", "--delay", "9s")
    here.ended("later")
    expect(time.time() - began >= 8, "the task was over before its delay")
    step = here.show("later")["steps"][0]["attempts"][0]
    expect(step["started_at"] >= taken["start_at"], f"began at {step['started_at']}, was to start at {taken['start_at']}")
    # A moment that comes while the node is away.
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    here.submit("missed", "--at", at)
    here.node.kill()
    wait_until(lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > at, 10, "the moment has passed")
    here.node.start()
    here.ended("missed")
    here.submit("never", "--at", "2999-01-01T00:00:00Z")
    expect(here.run("task", "cancel", "never").returncode == 0, "a task that waits for its start can be cancelled")
    expect(here.state("never") == "undone", "it is undone")


def refusals(here):
    for words, sentence in ((("--at", "tomorrow"), "'tomorrow' is not a valid time for --at"),
                            (("--at", "2026-11-24"), "is not a valid time for --at"),
                            (("--delay", "soon"), "'soon' is not a duration for --delay"),
                            (("--delay", "0s"), "is not a duration for --delay"),
                            (("--delay", "4000d"), "is not a duration for --delay"),
                            (("--delay", "1s", "--at", "2999-01-01T00:00:00Z"), "--at")):
        here.refused(2, sentence, "submit", "work", *words)


def batch(here, folder):
    lines = folder / "batch.jsonl"
    lines.write_text(json.dumps({"id": "b1", "delay": "1h"}) + "\n" + json.dumps({"id": "b2"}) + "\n")
    done = fairlead_json("submit", "work", "--batch", lines, "--delay", "2h", node=here.node.address)
    expect(done["submitted"] == 2, f"it took {done}")
    hour = [here.show(one)["start_at"] for one in ("b1", "b2")]
    expect(hour[0] and hour[0] < hour[1], f"the starts are {hour}")
    for one in ("b1", "b2"):
        expect(here.run("task", "terminate", one).returncode == 0, f"{one} can be terminated")


def bytes_of(folder):
    return b"".join(one.read_bytes() for one in pathlib.Path(folder).rglob("data.mdb"))


def deletions(here):
    here.submit("gone", "--input", json.dumps({"name": SECRET}), "--label", "customer=4711")
    here.ended("gone")
    expect(SECRET in json.dumps(here.show("gone")), "the record has the name")
    here.submit("live", "--delay", "1h")
    here.refused(1, "only an ended task can be deleted", "task", "delete", "live", "--yes")
    here.refused(3, "there is no task", "task", "delete", "nobody", "--yes")
    here.refused(2, "a confirmation is needed to delete the record of task gone", "task", "delete", "gone")
    done = here.run("task", "delete", "gone", "--yes", "--reason", "the customer asked for it", "--by", "ann")
    expect(done.returncode == 0 and "is deleted" in done.stdout, f"{done.stdout} {done.stderr}")
    here.again()
    here.refused(3, "ann deleted its record", "task", "show", "gone")
    again = here.run("task", "delete", "gone", "--yes")
    expect(again.returncode == 0 and "was deleted before" in again.stdout, f"{again.stdout} {again.stderr}")
    expect(not here.submit("gone", "--input", json.dumps({"name": SECRET}), "--label", "customer=4711")["created"], "the id is free again")
    expect(here.run("task", "list", "--label", "customer=4711", "-q").stdout == "", "the label still finds it")


def archived(here):
    """Of two archived tasks one is deleted, by a filter; its copy goes although the node is killed at once."""
    for task in ("a1", "a2"):
        here.submit(task, "--input", json.dumps({"name": SECRET if task == "a1" else "stays"}), "--label", f"of={task}")
        here.ended(task)
    here.node.end()
    here.write("1s")
    here.node.start()
    wait_until(lambda: here.show("a1")["archived"] and here.show("a2")["archived"], 60, "both are archived")
    expect(bytes_of(here.store / "archive").count(SECRET.encode()) > 0, "the archive has no copy")
    done = here.run("task", "delete", "--label", "of=a1", "--yes")
    here.node.kill()
    expect(done.returncode == 0, f"{done.stdout} {done.stderr}")
    here.node.start()
    here.refused(3, "deleted its record", "task", "show", "a1")
    expect(here.show("a2")["archived"], "the other one is there")
    listed = [one["id"] for one in here.node.tasks("--archived")]
    expect("a1" not in listed and "a2" in listed, f"archived are {listed}")
    # Only what the log says after the deletion: it has said the same of another task before.
    wait_until(lambda: "hold nothing any more of 1 deleted task" in here.node.log.read_text().rpartition("of task a1 was deleted")[2], 30,
               "the archiver has erased the copy")
    wait_until(lambda: [one["id"] for one in here.node.tasks() if one["state"] != "pending"] == [], 60, "all others are archived, too")
    count = len(here.node.tasks("--archived"))
    code, _ = here.node.end()
    expect(code == 0, f"the node ended with {code}")
    checked = fairlead("store", "check", here.store, "--json")
    expect(checked.returncode == 0, f"store check: {checked.stdout} {checked.stderr}")
    expect(json.loads(checked.stdout)["archived_tasks"] == count, f"a copy is left of {count}: {checked.stdout}")


def workflows(here):
    here.node.start()
    done = here.run("job", "add", "nightly", "--schedule", "0 3 * * *", "--workflow", "work")
    expect(done.returncode == 0, f"job add: {done.stderr}")
    here.refused(1, "job nightly launches workflow work", "workflow", "delete", "work")
    expect(here.run("job", "delete", "nightly", "--yes").returncode == 0, "the job can be deleted")
    done = here.run("workflow", "delete", "work", "--by", "ann")
    expect(done.returncode == 0 and "Workflow work is deleted" in done.stdout, f"{done.stdout} {done.stderr}")
    here.again()
    here.refused(3, "there is no workflow work", "submit", "work")
    here.refused(3, "there is no workflow work", "workflow", "delete", "work")
    expect(here.show("a2")["archived"], "tasks of a deleted workflow can be read")


def run():
    with harness.sandbox("starts_and_deletions") as box:
        here = desk(box)
        here.node.start()
        flow = box.folder / "work.yaml"
        flow.write_text(WORKFLOW, encoding="utf-8")
        done = here.run("workflow", "deploy", flow)
        expect(done.returncode == 0, f"deploy: {done.stderr}")
        starts(here)
        refusals(here)
        batch(here, box.folder)
        deletions(here)
        archived(here)
        workflows(here)
    return 0


if __name__ == "__main__":
    harness.main(run)
