#!/usr/bin/env python3
"""A small store of each release, kept in tests/data, is opened by this one: `store check` finds nothing, what had ended is as it was, what was
parked can be mended, and what ran goes on.

    earlier_releases.py                 opens every store there is
    earlier_releases.py --make VERSION  makes tests/data/store-VERSION.tar.xz with the binary of that release (FAIRLEAD_BIN)
"""

import argparse
import json
import os
import pathlib
import sys
import tarfile

import harness
from harness import expect, fairlead, fairlead_json, free_ports, main, node, sandbox, wait_until

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"

COMMAND = """#!/bin/sh
case "$FAIRLEAD_TASK/$FAIRLEAD_STEP" in
  slow*/first) [ -e go ] || exec sleep 1000 ;;
  doubtful*/last) [ -e go ] || exit 1 ;;
  refused*/last) exit 65 ;;
esac
printf '"%05000d"' 7
"""

WORKFLOW = """workflow: sample
on_failure: undo
steps:
  first: { agent: desk, call: do, timeout: 10m, attempts: 5, with: { n: "${ .input.n + 1 }" }, undo: { call: do } }
  last: { needs: [first], agent: desk, call: do, timeout: 10m, attempts: 1, in_doubt: park, undo: none }
"""
WAITING = "workflow: waiting\non_failure: park\nsteps:\n  only: { agent: nobody, call: do }\n"
JOB = 'job: monthly\nschedule: "0 3 1 * *"\nworkflow: sample\ninput: { n: 4 }\n'


def config_of(folder, port):
    (command := folder / "desk.sh").write_text(COMMAND)
    command.chmod(0o755)
    (config := folder / "node.yaml").write_text(f"""node: {{ name: one, listen: "127.0.0.1:{port}" }}
store: {{ path: store, max_size: 64MiB }}
agents:
  desk: {{ kind: exec, directory: {folder}, calls: {{ do: {{ command: [{command}], exit_codes: {{ in_doubt: [1] }} }} }} }}
""")
    return config


def make(version):
    with sandbox("make_store_sample") as box:
        port, = free_ports(1)
        one = node(box, config_of(box.folder, port), f"127.0.0.1:{port}")
        one.start()
        for name, text in (("sample", WORKFLOW), ("waiting", WAITING)):
            (path := box.folder / f"{name}.yaml").write_text(text)
            expect(fairlead("workflow", "deploy", path, node=one.address).returncode == 0, f"{name} is deployed")
        (job := box.folder / "job.yaml").write_text(JOB)
        expect(fairlead("job", "deploy", job, node=one.address).returncode == 0, "the job is deployed")
        expect(fairlead("job", "run", "monthly", node=one.address).returncode == 0, "the job is run")
        for task in ("done-1", "done-2", "refused-1", "doubtful-1", "slow-1", "slow-2"):
            done = fairlead("submit", "sample", "--id", task, "--input", '{"n": 1}', "--label", "kind=sample", "--reply-client", "shop", node=one.address)
            expect(done.returncode == 0, done.stderr)
        expect(fairlead("submit", "waiting", "--id", "waiting-1", "--input", "{}", node=one.address).returncode == 0, "a task waits")

        def come_to_rest():
            states = {item["id"]: item["state"] + (", parked" if item["parked"] else "") for item in listed(one)}
            return states if list(states.values()).count("running") == 3 else None
        states = wait_until(come_to_rest, 30, "all tasks but three come to rest")
        one.kill()
        (box.folder / "expected.json").write_text(json.dumps(states, indent=1))
        DATA.mkdir(exist_ok=True)
        with tarfile.open(DATA / f"store-{version}.tar.xz", "w:xz") as out:
            for name in ("store", "expected.json"):
                out.add(box.folder / name, name, filter=lambda one: None if one.name.endswith("lock") else one)
    return 0


def listed(one):
    return fairlead_json("task", "list", "--limit", "100", node=one.address)["tasks"]


def opened(archive):
    with sandbox(f"earlier-{archive.name.split('.tar')[0]}") as box:
        with tarfile.open(archive) as kept:
            kept.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python has none
            kept.extractall(box.folder)
        expected = json.loads((box.folder / "expected.json").read_text())
        checked = fairlead("store", "check", box.folder / "store")
        expect(checked.returncode == 0, f"store check: {checked.stdout}{checked.stderr}")
        port, = free_ports(1)
        (box.folder / "go").touch()
        one = node(box, config_of(box.folder, port), f"127.0.0.1:{port}")
        one.start()

        def get_on():
            states = {item["id"]: item["state"] + (", parked" if item["parked"] else "") for item in listed(one)}
            return states if states["slow-1"] == states["slow-2"] == "completed" else None
        states = wait_until(get_on, 60, "what ran goes on")
        for task, was in expected.items():
            expect(task.startswith("slow") or states[task] == was, f"{task} was {was} and is {states[task]} now")
        done = fairlead("task", "retry", "doubtful-1", node=one.address)
        expect(done.returncode == 0, f"what was parked is not mended: {done.stderr}")
        wait_until(lambda: fairlead_json("task", "show", "doubtful-1", node=one.address)["state"] == "completed", 30, "what was parked is mended and completes")
        expect(fairlead("task", "undo", "done-1", "--reason", "tested", node=one.address).returncode == 0, "what had completed can be undone")
        wait_until(lambda: fairlead_json("task", "show", "done-1", node=one.address)["state"] == "undone", 30, "what had completed is undone")
        jobs = fairlead_json("job", "list", node=one.address)["jobs"]
        expect([job["job"] for job in jobs] == ["monthly"], f"the jobs are {jobs}")
    print(f"ok  {archive.name} is opened, checked and goes on", flush=True)


def run():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--make", metavar="VERSION")
    told = words.parse_args()
    if told.make:
        return make(told.make)
    stores = sorted(DATA.glob("store-*.tar.xz"))
    expect(stores, f"there is no store in {DATA}")
    for one in stores:
        opened(one)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(__file__))
    main(run)
