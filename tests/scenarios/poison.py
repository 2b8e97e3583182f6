#!/usr/bin/env python3
"""A store that holds a task of a workflow version which this release does not compile: the node starts, again and again, runs everything else, and
that one task is parked with an alert. When the version can be used again, `fairlead task retry` lets the task go on."""

import os
import subprocess

import harness
from harness import expect, fairlead, fairlead_json, free_ports, wait_until

NODE = """\
node: {{ name: single, listen: "127.0.0.1:{port}" }}
store: {{ path: store }}
agents:
  shell:
    kind: exec
    calls:
      once_allowed: {{ command: [/bin/sh, -c, "test -e {gate} && echo 1 || exit 75"] }}
      hello: {{ command: [/bin/echo, "1"] }}
"""

WORKFLOW = """\
workflow: %s
steps:
  only: { agent: shell, call: %s, with: { n: "${ .input.n }" }, attempts: 1000, backoff: { first: 10s, max: 10s } }
"""

def make(store, what):
    done = subprocess.run([os.environ["FAIRLEAD_MAKE_POISON_STORE"], str(store), "fragile", what], capture_output=True, text=True)
    expect(done.returncode == 0, f"make_poison_store: {done.stderr}")


def said(sentence, done, codes=(1,)):
    """Refused with the sentence, by a node that lives on."""
    expect(done.returncode in codes and sentence.lower() in (done.stdout + done.stderr).lower(),
           f"`{' '.join(done.args[1:])}` ended with {done.returncode}: {done.stdout}{done.stderr}")


def expect_others_run(node, name):
    done = fairlead("submit", "solid", "--id", name, "--input", '{"n": 1}', "--wait", "--timeout", "20s", node=node.address)
    expect(done.returncode == 0, f"another task does not run: {done.stdout}{done.stderr}")


def run():
    with harness.sandbox("poison") as box:
        port, = free_ports(1)
        config = box.folder / "node.yaml"
        gate = box.folder / "gate"
        config.write_text(NODE.format(port=port, gate=gate))
        for name, call in (("fragile", "once_allowed"), ("solid", "hello")):
            (box.folder / f"{name}.yaml").write_text(WORKFLOW % (name, call))
        node = harness.node(box, config, f"127.0.0.1:{port}", box.folder / "node.log")
        node.start()
        for name in ("fragile", "solid"):
            done = fairlead("workflow", "deploy", box.folder / f"{name}.yaml", node=node.address)
            expect(done.returncode == 0, f"deploy: {done.stderr}")
        done = fairlead("submit", "fragile", "--id", "frail-1", "--input", '{"n": 1}', node=node.address)
        expect(done.returncode == 0, f"submit: {done.stderr}")
        wait_until(lambda: fairlead_json("task", "show", "frail-1", node=node.address)["steps"][0]["state"] == "retrying", 20,
                   "the first attempt of frail-1 has failed")
        node.end()

        make(box.folder / "store", "poison")
        for start in range(3):
            node.start()
            wait_until(lambda: fairlead_json("task", "show", "frail-1", node=node.address)["parked"], 40, "frail-1 is parked")
            expect_others_run(node, f"other-{start}")
            node.end()
        print("ok  three starts with a version that does not compile: others run, its task is parked", flush=True)

        node.start()
        shown = fairlead("task", "show", "frail-1", node=node.address)
        said("this release cannot use version", fairlead("task", "retry", "frail-1", node=node.address))
        for order in (["retry", "frail-1", "only"], ["skip", "frail-1", "only"], ["settle", "frail-1", "only", "--completed", "{}"],
                      ["undo", "frail-1"], ["cancel", "frail-1"], ["pause", "frail-1"], ["resume", "frail-1"]):
            said("this release cannot use version", fairlead("task", *order, "--reason", "tested", node=node.address))
        said("this release cannot use version", shown, (0,))
        said("fairlead task retry frail-1", shown, (0,))
        expect("task skip" not in shown.stdout and "task undo" not in shown.stdout, f"what is offered would be refused: {shown.stdout}")
        alerts = [one for one in fairlead_json("alert", "list", node=node.address)["alerts"] if one["task"] == "frail-1"]
        expect(len(alerts) == 1 and alerts[0]["kind"] == "task_parked", f"alerts about frail-1: {alerts}")
        said("this release cannot use version", fairlead("submit", "fragile", "--id", "frail-2", "--input", '{"n": 1}', node=node.address), (1, 3, 5))
        print(f"ok  every order is answered with a sentence: {shown.stdout.split('why', 1)[1].splitlines()[0].strip()[:160]}", flush=True)
        node.end()

        make(box.folder / "store", "mend")
        gate.touch()
        node.start()
        done = fairlead("task", "retry", "frail-1", node=node.address)
        expect(done.returncode == 0, f"retry after the upgrade: {done.stderr}")
        wait_until(lambda: fairlead_json("task", "show", "frail-1", node=node.address)["state"] == "completed", 20, "frail-1 completes")
        expect(not [one for one in fairlead_json("alert", "list", node=node.address)["alerts"] if one["task"] == "frail-1"],
               "its alert is still open")
        node.end()
        checked = fairlead("store", "check", box.folder / "store")
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
        print("ok  with a release that can use the version a retry lets the task go on to its end", flush=True)


if __name__ == "__main__":
    harness.main(run)
