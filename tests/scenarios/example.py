#!/usr/bin/env python3
"""Runs the example program of the documentation against a real node: once, again under the same id, and through a kill -9 of the node."""

import os
import subprocess

import harness
import place
from harness import expect, wait_until

PROGRAM = os.environ["FAIRLEAD_EXAMPLE"]


def example(one, task_id):
    return subprocess.run([PROGRAM, one.node.address, "order", task_id], capture_output=True, text=True, timeout=60)


def completes(done, *begins):
    expect(done.returncode == 0, f"the example ended with {done.returncode}: {done.stdout}{done.stderr}")
    lines = done.stdout.splitlines()
    expect(lines[0] in begins, f"it began with '{lines[0]}', not with {begins}")
    expect(lines[-1] == "TASK_STATE_COMPLETED", f"it ended with '{lines[-1]}'")
    for step in ("reserve", "charge", "ship"):
        expect(any(line.endswith(f"EVENT_KIND_STEP_COMPLETED {step}") for line in lines), f"it did not see {step} complete: {lines}")


def run():
    with harness.sandbox("example") as box:
        # Slow enough that the kill comes while the order is under way.
        services = harness.services(box, seed=1, work_seconds=(0.3, 0.4), max_seconds=300)
        one = place.place(box, "one", services)
        one.node.start()
        place.deploy(one.node)
        completes(example(one, "first"), "first submitted")
        completes(example(one, "first"), "first was submitted before")
        expect(services.look() == 0 and services.effects == {"reserve": 1, "charge": 1, "dispatch": 1},
               f"the second run had an effect: {services.effects}")
        print("ok  the same id twice is one task", flush=True)

        through = subprocess.Popen([PROGRAM, one.node.address, "order", "second"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: services.look() > 0, 20, "a step of the second order is running")
        one.node.kill()
        one.node.start()
        out, err = through.communicate(timeout=60)
        # The kill may have come before the answer to the submission, which is then sent again.
        completes(subprocess.CompletedProcess(PROGRAM, through.returncode, out, err), "second submitted", "second was submitted before")
        print("ok  the client goes on when its node is killed and comes back", flush=True)


if __name__ == "__main__":
    harness.main(run)
