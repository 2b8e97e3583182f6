#!/usr/bin/env python3
"""Nodes of a shard on three nodes lose their disks, one after the other, under load: the process is killed and its folder is empty when it starts
again. It gets what the others have, and votes again. Meanwhile it, or the node that leads, is killed once more. Judged by the services' records and the
client's history.

    tests/scenarios/replicated_lost_disks.py [--disks N] [--seed N]
"""

import argparse
import shutil
import time

import harness
import replicated_nodes
from harness import fairlead, wait_until
from replicated_load import load
from replicated_nodes import NAMES, pause


def run():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--disks", type=int, default=6)
    options, dice = harness.with_dice(parser)
    with harness.sandbox("replicated_lost_disks", options.keep) as box:
        working = load(box, options.seed, lambda ports: replicated_nodes.trio(
            box, ports, settings={**replicated_nodes.LAN, "journal.max_size": "64MiB", "alerts.replica_behind_after": "1s"}))
        whole, look = working.nodes, working.look
        took = []
        for number in range(options.disks):
            working.wait_for_work("lost disk")
            leader = whole.wait_for_leader()
            name = leader if number % 2 else dice.choice([name for name in NAMES if name != leader])
            took.append(lose(whole, name, number, dice, look))
            print(f"{name} has lost its {'disk' if number % 2 else 'store'}, and votes again {took[-1]:.1f} s after its start", flush=True)
        wait_until(lambda: look() or no_alert(whole), 60, "no replica is said to be behind any more", every=0.5)
        working.finish()
        print(f"{options.disks} disks were lost; a node voted again within {max(took):.1f} s of its start\n"
              f"{working.client.acknowledged} orders acknowledged, {working.services.arrivals} requests", flush=True)
        whole.end()
        return working.judge(options.disks)


def lose(whole, name, number, dice, look):
    """Seconds from its start on an empty folder until the shard survives the loss of a node again."""
    node, others = whole.nodes[name], [other for other in NAMES if other != name]
    node.kill()
    folder = whole.folder / name
    # A store alone can be lost, and then the node is still known to the others.
    for part in folder.iterdir():
        if number % 2 or part.name != "node":
            shutil.rmtree(part) if part.is_dir() else part.unlink()
    since = time.monotonic()
    node.launch()
    if number % 2:
        wait_until(lambda: look() or forgotten(whole, name, others), 30, f"the former {name} is forgotten", every=0.2)
    wait_until(lambda: look() or standby(whole) == [name] and "its store is new here" in told(whole), 30,
               f"{name} is said to be new, and not to vote yet", every=0.05)
    if number % 3 == 1:
        node.kill()
        pause(dice.uniform(0, 1), look)
        node.launch()
    elif number % 3 == 0:
        leader = whole.nodes[whole.wait_for_leader()]
        leader.kill()
        pause(dice.uniform(0, 1), look)
        leader.launch()
    wait_until(lambda: look() or whole.whole() and standby(whole) == [], 60, f"{name} votes again", every=0.1)
    return time.monotonic() - since


def forgotten(whole, name, others):
    done = fairlead("node", "forget", name, "--reason", "its disk is lost", node=",".join(whole.nodes[other].address for other in others))
    return done.returncode == 0


def standby(whole):
    known = whole.replication()
    return [one["node"] for one in known["replicas"] if not one["votes"]] if known and known["role"] == "leader" else None


def told(whole):
    return fairlead("cluster", "status", node=whole.address).stdout


def no_alert(whole):
    done = fairlead("alert", "list", "--json", node=whole.address)
    return done.returncode == 0 and "replica_behind" not in done.stdout


if __name__ == "__main__":
    harness.main(run)
