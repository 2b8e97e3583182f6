#!/usr/bin/env python3
"""A node of a shard on three nodes is away for longer than entries are kept, while the others work. It gets a copy of the state; meanwhile it, or
the leader that sends the copy, is killed, at the boundaries of an install and anywhere else. Judged like tests/scenarios/replicated_faults.py.

    tests/scenarios/replicated_copies.py [--installs N] [--seed N]
"""

import argparse
import os
import random
import time

import harness
import replicated_nodes
from harness import expect, wait_until
from replicated_load import load
from replicated_nodes import NAMES, pause

CRASH_EXIT = 99
# Where the node that gets the copy ends; None: it does not.
BOUNDARIES = ("install.after", None, "install.before", "install.noted")


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--installs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", help="leave everything in this folder")
    options = parser.parse_args()
    print(f"--seed {options.seed} makes the same dice", flush=True)
    dice = random.Random(options.seed)
    with harness.sandbox("replicated_copies", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(
            box, ports, settings={**replicated_nodes.LAN, "journal.max_size": "64MiB"}))
        whole, client, look = working.nodes, working.client, working.look
        for number in range(options.installs):
            away = dice.choice(NAMES)
            whole.nodes[away].kill()
            fall_behind(whole, look)
            boundary = BOUNDARIES[number % len(BOUNDARIES)]
            if boundary:
                crash_at(whole.nodes[away], boundary, look)
            whole.nodes[away].launch()
            if not boundary and number % 2:
                pause(dice.uniform(0, 1), look)
                leader = whole.nodes[whole.wait_for_leader()]
                leader.kill()
                pause(dice.uniform(0, 1), look)
                leader.launch()
            since = time.monotonic()
            wait_until(lambda: look() or whole.whole(), 60, f"{away} follows again after a copy, boundary {boundary}", every=0.1)
            print(f"{away} follows again {time.monotonic() - since:.1f} s after its start; it had ended at {boundary}", flush=True)
        installed = sum(node.log.read_text(encoding="utf-8", errors="replace").count("the copy of the state is in place") for node in whole.nodes.values())
        expect(installed >= options.installs // 2, f"only {installed} copies were put in place: the run says little")
        working.finish()
        whole.end()
        print(f"{installed} copies of the state were put in place\n{client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        return working.judge(options.installs)


def entries(whole):
    known = whole.replication()
    return known["last_index"] if known else None


def fall_behind(whole, look):
    """Until nobody keeps what the node that is away lacks."""
    begun = wait_until(lambda: look() or entries(whole), 30, "a leader says how many entries there are")
    wait_until(lambda: look() or (entries(whole) or 0) > begun + 12_000, 120, "12,000 entries more", every=0.2)


def crash_at(node, boundary, look):
    os.environ["FAIRLEAD_FAILPOINTS"] = f"{boundary}=crash"
    try:
        node.launch()
    finally:
        del os.environ["FAIRLEAD_FAILPOINTS"]
    wait_until(lambda: look() or node.process.poll() is not None, 60, f"the node gets a copy, and ends at {boundary}")
    expect(node.process.returncode == CRASH_EXIT, f"the node ended with {node.process.returncode}: {node.last_words()}")


if __name__ == "__main__":
    harness.main(run)
