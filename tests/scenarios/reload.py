#!/usr/bin/env python3
"""The node file of a running node is read again, by SIGHUP and by command: agents come, change and leave without a restart, steps in progress
end as they began, a wrong file changes nothing, and the service manager is told."""

import os
import signal

import harness
from harness import expect, fairlead, fairlead_json, wait_until
from metrics import listener

BASE = """node: {{ name: n1, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
shutdown_timeout: 2s
"""
SLOW = """  slow: { kind: exec, calls: { work: { command: [/bin/sh, -c, "until test -e WHERE/go; do sleep 0.05; done; echo FORMER"], output: text } } }
"""
CHANGED = """  slow: { kind: exec, calls: { work: { command: [/bin/echo, PRESENT], output: text } } }
"""
SPARE = """  spare: { kind: native, handler: echo }
"""
WORKFLOW = """workflow: work
steps:
  one: { agent: slow, call: work, timeout: 60s }
"""


class desk:
    def __init__(self, box):
        port, = harness.free_ports(1)
        self.base = BASE.format(port=port)
        self.folder = box.folder
        self.config = box.folder / "node.yaml"
        self.log = box.folder / "node.log"
        self.write("agents:\n" + self.slow())
        self.node = harness.node(box, self.config, f"127.0.0.1:{port}", self.log)

    def slow(self):
        return SLOW.replace("WHERE", str(self.folder))

    def write(self, more):
        self.config.write_text(self.base + more, encoding="utf-8")

    def run(self, *words):
        return fairlead(*words, node=self.node.address)

    def instances(self):
        return {one["instance"]: one for one in fairlead_json("agent", "list", node=self.node.address)["agents"]}

    def output(self, task):
        shown = fairlead_json("task", "show", task, node=self.node.address)
        return shown["steps"][0]["output"] if shown["state"] == "completed" else None

    def submit(self, task):
        done = self.run("submit", "work", "--id", task)
        expect(done.returncode == 0, f"submit {task}: {done.stderr}")

    def reload(self):
        return fairlead_json("node", "reload", node=self.node.address)

    def held(self, count):
        wait_until(lambda: self.instances()["n1/slow"]["held"] == count, 10, f"n1/slow holds {count}")


def changed(here):
    """A step that has begun ends by the definition that it began with; the next one begins by the new one."""
    here.submit("before")
    here.held(1)
    incarnation = fairlead_json("task", "show", "before", node=here.node.address)["steps"][0].get("incarnation")
    here.write("log: { level: debug }\nlimits: { running_tasks: 9 }\nagents:\n" + CHANGED + SPARE)
    took = here.reload()
    expect(took["agents"] == {"added": ["spare"], "changed": ["slow"], "removed": []}, f"it took {took}")
    expect(took["applied"] == ["log.level"] and took["needs_restart"] == ["limits.running_tasks"], f"it took {took}")
    wait_until(lambda: "n1/spare" in here.instances(), 10, "the new agent is there")
    here.submit("after")
    wait_until(lambda: here.output("after") == "PRESENT", 10, "a later task has the changed command")
    expect(here.output("before") is None, "the step in progress was cut off")
    (here.folder / "go").touch()
    wait_until(lambda: here.output("before") == "FORMER", 10, "the step in progress ends as it began")
    shown = fairlead_json("task", "show", "before", node=here.node.address)["steps"][0]
    expect(shown["attempts"] and len(shown["attempts"]) == 1, f"the step in progress was begun again: {shown['attempts']}")
    expect(shown.get("incarnation") == incarnation, "the agent is another process to its shard")
    print("ok  a changed agent: what has begun ends as it began", flush=True)


def wrong(here):
    """One wrong line: nothing changes, and the line is named."""
    before = here.instances()
    good = here.config.read_text(encoding="utf-8")
    here.config.write_text(good + "  more: { kind: native, handler: echo, concurency: 3 }\n", encoding="utf-8")
    line = good.count("\n") + 1
    done = here.run("node", "reload")
    expect(done.returncode == 2 and f"node.yaml:{line}:" in done.stderr and "nothing was changed" in done.stderr, f"{done.returncode}, {done.stderr}")
    here.node.process.send_signal(signal.SIGHUP)
    wait_until(lambda: here.log.read_text(encoding="utf-8").count("is refused") >= 2, 10, "the log says that the file is refused")
    expect(here.instances() == before, "a refused file has changed agents")
    here.config.write_text(good, encoding="utf-8")
    print("ok  a wrong line changes nothing and is named", flush=True)


def removed(here):
    """An agent that is gone from the file leaves with its last attempt, and its name may come back."""
    (here.folder / "go").unlink()
    here.write("agents:\n" + here.slow() + SPARE)
    here.reload()
    here.submit("last")
    here.held(1)
    here.write("agents:\n" + SPARE)
    here.node.process.send_signal(signal.SIGHUP)
    wait_until(lambda: here.instances()["n1/slow"]["draining"], 10, "the agent drains")
    here.submit("waits")
    (here.folder / "go").touch()
    wait_until(lambda: here.output("last") == "FORMER", 10, "its last attempt ends")
    wait_until(lambda: "n1/slow" not in here.instances(), 10, "the agent has left")
    expect(here.output("waits") is None, "a step found an agent that was leaving")
    here.write("agents:\n" + CHANGED + SPARE)
    here.node.process.send_signal(signal.SIGHUP)
    wait_until(lambda: here.output("waits") == "PRESENT", 10, "the step that waited is served by the agent that came back")
    print("ok  an agent that is gone from the file leaves with its last attempt", flush=True)


def killed(here):
    """What a restart reads is the file as it is now."""
    here.write("agents:\n" + SPARE)
    here.reload()
    here.write("agents:\n" + CHANGED)
    here.node.kill()
    here.node.start()
    wait_until(lambda: set(here.instances()) == {"n1/slow"}, 10, "the file's agents are there")
    here.submit("again")
    wait_until(lambda: here.output("again") == "PRESENT", 10, "they work")
    print("ok  after kill -9 the file counts as it is", flush=True)


def told(manager):
    at = manager.heard_at("RELOADING=1")
    expect(at is not None, f"the service manager was not told of the reload: {manager.heard}")
    expect(any(line.startswith("MONOTONIC_USEC=") for line in manager.heard[at].splitlines()), "it was not told when")
    later = [said for said in manager.heard[at + 1:] if "READY=1" in said.splitlines()]
    expect(any("concurency" in said for said in later), f"the status does not say why the file was refused: {later}")
    print("ok  the service manager is told", flush=True)


def run():
    with harness.sandbox("reload") as box:
        here = desk(box)
        name = f"@fairlead-reload-{os.getpid()}"
        manager = listener(name)
        os.environ["NOTIFY_SOCKET"] = name
        try:
            here.node.start()
        finally:
            del os.environ["NOTIFY_SOCKET"]
        (here.folder / "work.yaml").write_text(WORKFLOW, encoding="utf-8")
        done = here.run("workflow", "deploy", here.folder / "work.yaml")
        expect(done.returncode == 0, f"deploy: {done.stderr}")
        changed(here)
        wrong(here)
        removed(here)
        told(manager)
        killed(here)
        code, _ = here.node.end()
        expect(code == 0, f"the node ended with {code}: {here.node.last_words()}")
    return 0


if __name__ == "__main__":
    harness.main(run)
