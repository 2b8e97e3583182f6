#!/usr/bin/env python3
"""A node of four shards on three nodes is away for longer than entries are kept, while the others work. It gets a copy of the state of each
shard, and of its archives. Meanwhile it, or a node that sends a copy, is killed: at each boundary of either side, and anywhere else. Judged
like tests/scenarios/replicated_faults.py.

    tests/scenarios/replicated_copies.py [--installs N] [--seed N]
"""

import argparse
import os
import re
import time

import harness
import replicated_nodes
from harness import expect, wait_until
from replicated_load import load
from replicated_nodes import NAMES, pause

CRASH_EXIT = 99
SHARDS = 4
# Of each shard 8 MiB of entries are kept.
SETTINGS = {**replicated_nodes.LAN, "shards.count": SHARDS, "shards.here": list(range(SHARDS)), "journal.max_size": "64MiB",
            "retention.archive_after": "150s"}  # the ends of orders are read once in each round, before they move to the archives
ENTRIES = 3_500
# Where the node that gets copies ends, or one that sends them; None: one of either is killed at a random moment.
BOUNDARIES = ("install.after", "copy.sent@3", "copy.chunk@3", None, "install.before", "copy.archive_sent", "copy.checked", "install.noted",
              "copy.archive")
OF_SENDERS = ("copy.sent@3", "copy.archive_sent")


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--installs", type=int, default=9, help="times that a node gets copies of the state")
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_copies", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(box, ports, settings=SETTINGS))
        whole, client, look = working.nodes, working.client, working.look
        ends = {}
        for number in range(options.installs):
            boundary = BOUNDARIES[number % len(BOUNDARIES)]
            away, sender = dice.sample(NAMES, 2)
            if boundary in OF_SENDERS:
                start_again(working, sender, boundary)
            whole.nodes[away].kill()
            fall_behind(whole, look)
            if boundary and boundary not in OF_SENDERS:
                launch_to_end_at(whole.nodes[away], boundary)
                ended(whole.nodes[away], boundary, look)
            whole.nodes[away].launch()
            if boundary in OF_SENDERS:
                ended(whole.nodes[sender], boundary, look)
                whole.nodes[sender].launch()
            elif not boundary:
                pause(dice.uniform(0, 1), look)
                node = whole.nodes[dice.choice((away, sender))]
                node.kill()
                pause(dice.uniform(0, 1), look)
                node.launch()
            since = time.monotonic()
            wait_until(lambda: look() or whole.whole(), 90, f"{away} follows again after a copy, boundary {boundary}", every=0.1)
            ends.update((task["id"], task) for task in whole.tasks() if task["state"] in ("completed", "undone"))
            print(f"{away} follows again after {time.monotonic() - since:.1f} s; the boundary was {boundary}", flush=True)
        logs = [node.log.read_text(encoding="utf-8", errors="replace") for node in whole.nodes.values()]
        installed = sum(log.count("the copy of the state is in place") for log in logs)
        expect(installed >= options.installs, f"only {installed} copies were put in place: the run says little")
        archives_are_whole(working, dice)
        working.finish()
        listed = {event["id"] for event in client.history.events if event["event"] == "final"}
        client.history.add_ends([task for id, task in ends.items() if id not in listed])
        whole.end()
        print(f"{installed} copies of the state were put in place\n{client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        return working.judge(options.installs)


def launch_to_end_at(node, boundary):
    name, _, hit = boundary.partition("@")
    os.environ["FAIRLEAD_FAILPOINTS"] = f"{name}=crash" + (f"@{hit}" if hit else "")
    try:
        node.launch()
    finally:
        del os.environ["FAIRLEAD_FAILPOINTS"]


def start_again(working, name, boundary):
    """It ends there once it sends a copy, of a shard that it leads by then."""
    whole, look = working.nodes, working.look
    whole.nodes[name].kill()
    launch_to_end_at(whole.nodes[name], boundary)
    wait_until(lambda: look() or whole.whole() and name in (whole.leaders() or []), 90, f"{name} leads a shard again", every=0.1)


def fall_behind(whole, look):
    """Until nobody keeps what the node that is away lacks, of any shard."""
    def last():
        return [known["last_index"] for known in whole.replications() if known is not None and known["role"] == "leader"]
    begun = wait_until(lambda: look() or len(last()) == SHARDS and last(), 30, "the leaders say how many entries there are", every=0.1)
    far = [index + ENTRIES for index in begun]
    wait_until(lambda: look() or all(now > then for now, then in zip(last() or far, far)), 180, f"{ENTRIES} entries more of each shard", every=0.3)


def ended(node, boundary, look):
    wait_until(lambda: look() or node.process.poll() is not None, 90, f"a node ends at {boundary}", every=0.02)
    expect(node.process.returncode == CRASH_EXIT, f"the node ended with {node.process.returncode}: {node.last_words()}")


def archives_are_whole(working, dice):
    """Each node in turn leads all shards, and shows orders that ended long ago."""
    whole, look = working.nodes, working.look
    taken = [event["id"] for event in working.client.history.events if event["event"] == "acknowledged"]
    orders = dice.sample(taken[:len(taken) // 2], 20)
    for name in NAMES:
        others = [one for one in NAMES if one != name]
        for one in others:
            harness.fairlead_json("node", "drain", one, node=whole.address)
        wait_until(lambda: look() or set(whole.leaders() or ["nobody"]) == {name}, 30, f"{name} leads all shards")
        for order in orders:
            shown = harness.fairlead("task", "show", order, node=whole.nodes[name].address)
            expect(shown.returncode == 0, f"{name} does not show {order}: {shown.stdout}{shown.stderr}")
        for one in others:
            harness.fairlead_json("node", "resume", one, node=whole.address)
    archived = sum(int(count) for count in re.findall(r"fairlead_tasks_archived\S* (\d+)", whole.figures(NAMES[-1])))
    expect(archived > len(orders), f"only {archived} orders are in archives: the run says little of them")
    print(f"each node showed {len(orders)} orders; {archived} are in archives", flush=True)


if __name__ == "__main__":
    harness.main(run)
